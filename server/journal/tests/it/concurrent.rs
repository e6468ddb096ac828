//! Several connections at once: sequences without gaps, and leases that mean what the port says.

use std::path::Path;

use journal::Journal;
use proptest::prelude::*;
use task::TaskId;
use task::port::{Journal as _, JournalError, Lease};

use crate::support::{begun, note, notes};

#[derive(Debug, Clone)]
enum Act {
    Acquire,
    Release,
    Append,
    Fence,
    Reopen,
}

fn acts() -> impl Strategy<Value = Vec<(usize, usize, Act)>> {
    let act = prop_oneof![
        2 => Just(Act::Acquire),
        1 => Just(Act::Release),
        5 => Just(Act::Append),
        1 => Just(Act::Fence),
        1 => Just(Act::Reopen),
    ];
    proptest::collection::vec((0..2_usize, 0..3_usize, act), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two connections, three tasks, any order of acts: exactly the appends under the latest lease are in the journal.
    #[test]
    fn only_the_latest_lease_appends(acts in acts()) {
        let state = tempfile::tempdir().unwrap();
        let open = || Journal::open(state.path()).unwrap();
        let mut journals = [open(), open()];
        let tasks: Vec<TaskId> = (0..3).map(|_| begun(&journals[0]).0).collect();
        let mut leases: [[Option<Lease>; 3]; 2] = Default::default();
        let mut holder: [Option<usize>; 3] = [None; 3];
        let mut expected: [Vec<String>; 3] = Default::default();
        for (index, (who, which, act)) in acts.into_iter().enumerate() {
            let (journal, task) = (&journals[who], &tasks[which]);
            match (act, leases[who][which].clone()) {
                (Act::Acquire, _) => {
                    leases[who][which] = Some(journal.acquire(task).unwrap());
                    holder[which] = Some(who);
                }
                (Act::Release, Some(lease)) => {
                    journal.release(&lease).unwrap();
                    holder[which] = holder[which].filter(|holder| *holder != who);
                }
                (Act::Append, Some(lease)) => {
                    let appended = journal.append(&lease, &note(index));
                    if holder[which] == Some(who) {
                        expected[which].push(index.to_string());
                        prop_assert_eq!(appended.unwrap().0 as usize, expected[which].len() + 1);
                    } else {
                        let superseded = matches!(appended, Err(JournalError::Superseded { .. }));
                        prop_assert!(superseded);
                    }
                }
                (Act::Fence, Some(lease)) => {
                    prop_assert_eq!(journal.fence(&lease).is_ok(), holder[which] == Some(who));
                }
                (Act::Reopen, _) => journals[who] = open(),
                (_, None) => {}
            }
        }
        for (task, expected) in tasks.iter().zip(expected) {
            prop_assert_eq!(notes(&journals[0], task), expected);
        }
    }
}

fn appends(state: &Path, count: usize) -> TaskId {
    let journal = Journal::open(state).unwrap();
    let (task, lease) = begun(&journal);
    for number in 0..count {
        assert_eq!(journal.append(&lease, &note(number)).unwrap().0 as usize, number + 2);
    }
    task
}

#[test]
fn connections_that_open_a_new_journal_and_append_at_once_lose_nothing() {
    let state = tempfile::tempdir().unwrap();
    let tasks: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| appends(state.path(), 30))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let journal = Journal::open(state.path()).unwrap();
    for task in tasks {
        assert_eq!(notes(&journal, &task), (0..30).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
