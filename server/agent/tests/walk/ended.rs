//! A process dies between the diff and the end: whoever goes on says what ended the task, and nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agent::{Audience, Walk};
use task::{AttemptId, Conclusion, Event, StopReason};

use crate::home::Home;

const PATCH: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n";

/// A task whose journal stops after these facts.
fn interrupted(home: &Home, ended: Option<Conclusion>) -> Walk<'_> {
    let request = home.patch(PATCH);
    let id = home.walked(home.patch(PATCH));
    let done = home.take(&id);
    let (base, tree) = (done.state().base.clone().unwrap(), done.state().tree.clone().unwrap());
    done.give_back().unwrap();
    let (id, lease) = home.house.journal.begin(&request).unwrap();
    let lease = lease.unwrap();
    let attempt = AttemptId(1);
    for event in [
        Event::Snapshotted { base: base.clone(), candidate: Some(tree.clone()), limitations: Vec::new() },
        Event::AttemptStarted { attempt, from: base, configuration: None },
        Event::DiffReady { tree, limitations: Vec::new(), ended, ran: 2 },
    ] {
        home.house.journal.append(&lease, &event).unwrap();
    }
    home.house.journal.release(&lease).unwrap();
    Walk::resume(&home.house, &id).unwrap()
}

#[test]
fn what_ended_a_task_is_not_forgotten() {
    let home = Home::new("-- a.txt --\none\n");
    let reason = StopReason::Time { limit_ms: 1000 };
    let stopped = Conclusion::Stopped { reason };
    assert_eq!(interrupted(&home, Some(stopped.clone())).run().unwrap(), stopped);
    // Even where the next process is to end it too.
    interrupted(&home, Some(stopped.clone())).cancel().unwrap();
    let lines = agent::list(&*home.house.journal).unwrap();
    assert_eq!(lines[0].verdict.as_deref(), Some("stopped"), "{lines:?}");
    // Without a reason the judgement of the tree is the end, and there is none.
    let mut walk = interrupted(&home, None);
    assert!(matches!(walk.run().unwrap(), Conclusion::NotVerified { .. }));
    assert_eq!(walk.report(None).unwrap().usage.commands, 2);
}

#[test]
fn a_diff_that_is_there_is_not_cut_short() {
    let home = Home::new("-- a.txt --\none\n");
    let mut walk = interrupted(&home, None);
    home.house.cancel.cancel();
    assert!(matches!(walk.run().unwrap(), Conclusion::NotVerified { .. }));
}

#[test]
fn a_fault_in_one_act_does_not_hold_the_task() {
    let mut home = Home::new("-- a.txt --\none\n");
    home.house.audience = Audience::new(|_| panic!("whoever listens fails"));
    let request = home.patch(PATCH);
    let id = request.id.clone();
    let fault = catch_unwind(AssertUnwindSafe(|| Walk::begin(&home.house, request).unwrap().unwrap().run()));
    assert!(fault.is_err());
    assert_eq!(home.house.journal.owner(&id).unwrap(), None, "other processes may work on it");
    home.house.audience = Audience::none();
    let mut walk = Walk::resume(&home.house, &id).unwrap();
    assert!(matches!(walk.run().unwrap(), Conclusion::NotVerified { .. }));
}
