//! One owner a task: taken over from the dead and the stopped, refused while somebody runs.

use journal::Journal;
use rustix::process::Signal;
use task::port::{Journal as _, JournalError};
use task::{Epoch, Event};

use crate::support::{Other, begun, note, notes, request, wait_until};

#[test]
fn a_task_begins_with_its_request() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = journal.begin(&request(None)).unwrap();
    assert_eq!(lease.unwrap().epoch, Epoch(1));
    let records = journal.records(&task).unwrap();
    let [record] = &records[..] else { panic!("{records:?}") };
    assert!(matches!(&record.event, Ok(Event::Requested { request }) if request.id == task));
    assert_eq!(journal.owner(&task).unwrap(), Some(std::process::id()));
}

#[test]
fn the_same_request_id_is_the_same_task() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = journal.begin(&request(Some("nightly-7"))).unwrap();
    assert!(lease.is_some());
    assert_eq!(journal.begin(&request(Some("nightly-7"))).unwrap(), (task.clone(), None));
    assert_eq!(journal.by_request_id(&"nightly-7".parse().unwrap()).unwrap(), Some(task));
    assert_eq!(journal.by_request_id(&"nightly-8".parse().unwrap()).unwrap(), None);
    assert_eq!(journal.tasks().unwrap().len(), 1);
}

#[test]
fn an_id_that_is_taken_is_replaced_by_a_fresh_one() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let request = request(None);
    let (one, _) = journal.begin(&request).unwrap();
    let (two, _) = journal.begin(&request).unwrap();
    assert_eq!(one, request.id);
    assert_ne!(one, two);
    assert_eq!(journal.tasks().unwrap(), [two, one]);
}

#[test]
fn a_running_owner_keeps_its_task_and_a_dead_one_loses_it() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let mut other = Other::start(state.path(), &[]);
    let task = other.ask("begin").unwrap().parse().unwrap();
    assert_eq!(other.ask("append one").unwrap(), "2");
    let refused = journal.acquire(&task);
    assert!(matches!(refused, Err(JournalError::Owned { process, .. }) if process == other.id()), "{refused:?}");
    assert!(matches!(journal.purge(&task), Err(JournalError::Owned { .. })));
    assert_eq!(journal.owner(&task).unwrap(), Some(other.id()));
    other.kill();
    wait_until("the owner is gone", || journal.owner(&task).unwrap().is_none());
    let lease = journal.acquire(&task).unwrap();
    assert_eq!(lease.epoch, Epoch(2));
    journal.append(&lease, &note("two")).unwrap();
    assert_eq!(notes(&journal, &task), ["one", "two"]);
}

#[test]
fn a_stopped_and_continued_process_changes_nothing_any_more() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let mut other = Other::start(state.path(), &[]);
    let task = other.ask("begin").unwrap().parse().unwrap();
    assert_eq!(other.ask("fence").unwrap(), "holds");
    other.stop();
    assert_eq!(journal.owner(&task).unwrap(), None);
    let lease = journal.acquire(&task).unwrap();
    journal.append(&lease, &note("ours")).unwrap();
    other.send("append theirs");
    other.signal(Signal::CONT);
    let superseded = format!("task {task} was taken over by another process; this one may no longer change it");
    assert_eq!(other.answer().unwrap(), superseded);
    assert_eq!(other.ask("fence").unwrap(), superseded);
    assert_eq!(other.ask("release").unwrap(), "released");
    assert!(other.ask(&format!("acquire {task}")).unwrap().contains("is being worked on by process"));
    journal.fence(&lease).unwrap();
    assert_eq!(notes(&journal, &task), ["ours"]);
}

#[test]
fn a_lease_that_was_given_back_is_spent_and_the_next_process_need_not_wait() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    let mut other = Other::start(state.path(), &[]);
    assert!(other.ask(&format!("acquire {task}")).unwrap().contains("is being worked on by process"));
    journal.release(&lease).unwrap();
    assert!(matches!(journal.append(&lease, &note("late")), Err(JournalError::Superseded { .. })));
    assert_eq!(other.ask(&format!("acquire {task}")).unwrap(), "3");
    assert_eq!(other.ask("append theirs").unwrap(), "2");
}

#[test]
fn a_process_may_take_its_own_task_again() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, old) = begun(&journal);
    let new = journal.acquire(&task).unwrap();
    assert!(matches!(journal.fence(&old), Err(JournalError::Superseded { .. })));
    journal.release(&old).unwrap();
    journal.append(&new, &note("still ours")).unwrap();
}

#[test]
fn of_many_processes_one_gets_the_task() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    journal.release(&lease).unwrap();
    let mut others: Vec<_> = (0..6).map(|_| Other::start(state.path(), &[])).collect();
    others.iter_mut().for_each(|other| other.send(&format!("acquire {task}")));
    let answers: Vec<_> = others.iter_mut().map(|other| other.answer().unwrap()).collect();
    assert_eq!(answers.iter().filter(|answer| *answer == "3").count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.contains("worked on by process")).count(), 5, "{answers:?}");
}

#[test]
fn only_the_owner_that_was_asked_to_end_the_task_is_told_so() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    assert!(!journal.cancel_requested(&lease).unwrap());
    journal.request_cancel(&task).unwrap();
    assert!(journal.cancel_requested(&lease).unwrap());
    let later = journal.acquire(&task).unwrap();
    assert!(!journal.cancel_requested(&later).unwrap());
    let missing = journal.request_cancel(&journal::fresh_id().unwrap());
    assert!(matches!(missing, Err(JournalError::NoSuchTask(_))));
}

#[test]
fn of_many_processes_that_ask_under_one_request_id_one_begins_the_task() {
    let state = tempfile::tempdir().unwrap();
    let mut others: Vec<_> = (0..4).map(|_| Other::start(state.path(), &[])).collect();
    others.iter_mut().for_each(|other| other.send("begin nightly-7"));
    let answers: Vec<_> = others.iter_mut().map(|other| other.answer().unwrap()).collect();
    let [task] = &Journal::open(state.path()).unwrap().tasks().unwrap()[..] else { panic!("{answers:?}") };
    assert_eq!(answers.iter().filter(|answer| **answer == task.to_string()).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == format!("found {task}")).count(), 3, "{answers:?}");
}
