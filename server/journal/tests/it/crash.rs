//! What was acknowledged is there after a kill at any moment.

use journal::Journal;
use task::port::Journal as _;

use crate::support::{Other, note, notes, wait_until};

#[test]
fn every_acknowledged_event_survives_a_kill_in_full_flight() {
    for acknowledged in [1, 7, 40] {
        let state = tempfile::tempdir().unwrap();
        let mut other = Other::start(state.path(), &[]);
        let task = other.ask("begin").unwrap().parse().unwrap();
        other.send("flood");
        let mut last = 0;
        while last < acknowledged {
            last = other.answer().unwrap().parse().unwrap();
        }
        other.kill();
        while let Some(answer) = other.answer() {
            last = answer.parse().unwrap();
        }
        let journal = Journal::open(state.path()).unwrap();
        let found = notes(&journal, &task).len() as u64 + 1;
        assert!(found == last || found == last + 1, "{last} acknowledged, {found} found");
        wait_until("the killed process is gone", || journal.owner(&task).unwrap().is_none());
        let lease = journal.acquire(&task).unwrap();
        assert_eq!(journal.append(&lease, &note("on")).unwrap().0, found + 1);
    }
}

#[cfg(feature = "crash-points")]
#[test]
fn a_crash_point_kills_on_its_side_of_durable() {
    for number in 1..=4_usize {
        for (side, durable) in [("before", number - 1), ("after", number)] {
            let state = tempfile::tempdir().unwrap();
            let point = format!("{side}:{number}");
            let mut other = Other::start(state.path(), &[("UNDERSTUDY_CRASH_AT", &point)]);
            let orders = ["begin", "append a", "append b", "append c"];
            let answered = orders.iter().take_while(|order| other.ask(order).is_some()).count();
            assert_eq!(answered, number - 1, "{point}");
            let journal = Journal::open(state.path()).unwrap();
            let events: usize = journal.tasks().unwrap().iter().map(|task| journal.records(task).unwrap().len()).sum();
            assert_eq!(events, durable, "{point}");
        }
    }
}
