//! Receipts and artifacts: kept, replaced, and gone with the last task that needs them.

use journal::Journal;
use task::port::{Journal as _, JournalError, Lease, Note};
use task::{
    AttemptId, Check, CheckId, CheckKind, Digest, Event, Features, Receipt, SandboxLevel, TreeId, UnixMillis, Verdict,
};

use crate::support::{Other, begun};

fn tree() -> TreeId {
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()
}

fn receipt(id: &str, output: &[&Digest]) -> Receipt {
    Receipt {
        tree: tree(),
        check: Check {
            id: CheckId(id.into()),
            kind: CheckKind::Test,
            root: None,
            features: Features::Default,
            command: vec!["cargo".into(), "test".into()],
            required: true,
        },
        environment: Digest::of(["environment"]),
        sandbox: SandboxLevel::Bubblewrap,
        verdict: Verdict::Passed,
        reason: None,
        items: Vec::new(),
        read: Vec::new(),
        exit_code: Some(0),
        output: output.iter().map(|digest| (*digest).clone()).collect(),
        started: UnixMillis(1),
        rewritten: Vec::new(),
        duration_ms: 2,
        configuration: None,
    }
}

fn checked(journal: &Journal, lease: &Lease, receipts: &[&Digest]) {
    let receipts = receipts.iter().map(|digest| (*digest).clone()).collect();
    let event = Event::Checked { attempt: AttemptId(1), tree: tree(), receipts, judgement: None, ran: 0 };
    journal.append(lease, &event).unwrap();
}

#[test]
fn the_latest_receipt_under_a_key_counts() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let first = receipt("test", &[]);
    let second = Receipt { verdict: Verdict::Failed, ..first.clone() };
    let key = journal.put_receipt(&first).unwrap();
    assert_eq!(journal.receipt(&key).unwrap(), Some(first));
    assert_eq!(journal.put_receipt(&second).unwrap(), key);
    assert_eq!(journal.receipt(&key).unwrap(), Some(second));
    assert_eq!(journal.receipt(&Digest::of(["none"])).unwrap(), None);
}

#[test]
fn a_purged_task_takes_along_what_only_it_needs() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (one, first) = begun(&journal);
    let (_, second) = begun(&journal);
    let [ours, shared, pending] =
        [&b"ours"[..], b"shared", b"pending"].map(|bytes| journal.put_artifact(bytes).unwrap());
    let only = journal.put_receipt(&receipt("only", &[&ours, &shared])).unwrap();
    let both = journal.put_receipt(&receipt("both", &[&shared])).unwrap();
    checked(&journal, &first, &[&only, &both]);
    checked(&journal, &second, &[&both]);

    assert!(matches!(journal.purge(&one), Err(JournalError::Owned { .. })));
    journal.release(&first).unwrap();
    journal.release(&second).unwrap();
    journal.purge(&one).unwrap();

    assert!(matches!(journal.records(&one), Err(JournalError::NoSuchTask(_))));
    assert!(matches!(journal.append(&first, &Event::Closed {}), Err(JournalError::NoSuchTask(_))));
    assert!(matches!(journal.purge(&one), Err(JournalError::NoSuchTask(_))));
    assert_eq!(journal.receipt(&only).unwrap(), None);
    assert!(journal.receipt(&both).unwrap().is_some());
    assert_eq!(journal.artifact(&ours).unwrap(), None);
    assert!(journal.artifact(&shared).unwrap().is_some());
    // Nothing names it yet, but this process may be about to.
    assert!(journal.artifact(&pending).unwrap().is_some());
}

#[test]
fn nothing_is_swept_while_another_process_has_the_journal_open() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    let output = journal.put_artifact(b"output").unwrap();
    let key = journal.put_receipt(&receipt("test", &[&output])).unwrap();
    checked(&journal, &lease, &[&key]);
    journal.release(&lease).unwrap();
    let mut other = Other::start(state.path(), &[]);
    other.ask("begin").unwrap();
    journal.purge(&task).unwrap();
    assert!(journal.artifact(&output).unwrap().is_some());
    drop(journal);
    drop(other);
    let journal = Journal::open(state.path()).unwrap();
    assert_eq!(journal.artifact(&output).unwrap(), None);
    assert_eq!(journal.receipt(&key).unwrap(), None);
}

#[test]
fn purged_words_are_not_left_in_the_files() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    journal.append(&lease, &crate::support::note("a word to be forgotten")).unwrap();
    journal.release(&lease).unwrap();
    journal.purge(&task).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        let bytes = std::fs::read(state.path().join(name)).unwrap_or_default();
        assert!(!bytes.windows(15).any(|window| window == b"to be forgotten"), "{name}");
    }
}

#[test]
fn notes_wait_for_the_owner_in_the_order_they_were_left() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap();
    let (task, _lease) = begun(&journal);
    let steer = |text: &str| Note::Steer { text: text.into() };
    journal.post(&task, &steer("first")).unwrap();
    // Another process is as good.
    Journal::open(home.path()).unwrap().post(&task, &steer("second")).unwrap();
    assert_eq!(journal.notes(&task, 0).unwrap(), [(1, steer("first")), (2, steer("second"))]);
    assert_eq!(journal.notes(&task, 1).unwrap(), [(2, steer("second"))]);
    let nobody = journal.post(&"nobody".parse().unwrap(), &steer("x")).unwrap_err();
    assert!(matches!(nobody, JournalError::NoSuchTask(_)), "{nobody}");
}
