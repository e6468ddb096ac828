//! Disks that are full, read-only or damaged, and journals of a later version: one sentence, nothing lost.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use journal::Journal;
use task::EventVersion;
use task::port::{Journal as _, JournalError};

use crate::support::{begun, command, note, notes, request};

/// A small file system of its own, mounted for one test. Only root can.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Self> {
        let mounted = command("mount").args(["-t", "tmpfs", "-o", "size=512k", "understudy-test"]).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("not run: a file system cannot be mounted here");
        None
    }

    fn remount(&self, option: &str) {
        let status = command("mount").args(["-o", &format!("remount,{option}")]).arg(&self.0).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(command("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_said_and_what_was_acknowledged_stays() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else { return };
    let state = folder.path().join("state");
    let journal = Journal::open(&state).unwrap();
    let (task, lease) = begun(&journal);
    let kept = journal.put_artifact(b"small").unwrap();
    let mut acknowledged = 0;
    let error = loop {
        match journal.append(&lease, &note("x".repeat(5000))) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("the journal cannot be written: the disk that holds "), "{error}");
    let error = journal.put_artifact(&[7; 600_000]).unwrap_err().to_string();
    assert!(error.contains("is full; nothing was changed, free some space"), "{error}");
    assert!(journal.begin(&request(None)).is_err());
    assert_eq!(notes(&journal, &task).len(), acknowledged);
    assert_eq!(journal.artifact(&kept).unwrap().unwrap(), b"small");

    // To the last byte: what is there can still be read, also by a journal that is opened only now.
    let filler = folder.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write_all(&[7; 64]).is_ok() {}
    assert_eq!(notes(&Journal::open(&state).unwrap(), &task).len(), acknowledged);
    let error = Journal::open(&folder.path().join("new")).unwrap_err().to_string();
    assert!(error.starts_with("the journal cannot be opened: the disk that holds "), "{error}");

    fs::remove_file(filler).unwrap();
    disk.remount("size=4m");
    journal.append(&lease, &note("room")).unwrap();
    drop(journal);
    assert_eq!(notes(&Journal::open(&state).unwrap(), &task).len(), acknowledged + 1);
}

#[test]
fn a_read_only_disk_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else { return };
    let state = folder.path().join("state");
    let (task, _) = begun(&Journal::open(&state).unwrap());
    disk.remount("ro");
    let error = Journal::open(&state).unwrap_err().to_string();
    assert!(error.starts_with("the journal cannot be opened: "), "{error}");
    assert!(error.contains("is read-only or not ours to write; make it writable"), "{error}");
    let error = Journal::open(&folder.path().join("new")).unwrap_err().to_string();
    assert!(error.contains("read-only"), "{error}");
    disk.remount("rw");
    assert_eq!(Journal::open(&state).unwrap().tasks().unwrap(), [task]);
}

#[test]
fn a_damaged_database_is_said_and_left_as_it_is() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("journal.db");
    let damaged = vec![b'?'; 9000];
    fs::write(&path, &damaged).unwrap();
    let error = Journal::open(state.path()).unwrap_err().to_string();
    assert!(error.contains("journal.db is damaged; nothing was changed, move it aside"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), damaged);
}

#[test]
fn damage_in_the_middle_is_found_when_it_is_read() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    for _ in 0..40 {
        journal.append(&lease, &note("y".repeat(3000))).unwrap();
    }
    drop(journal);
    let path = state.path().join("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xEE);
    fs::write(&path, bytes).unwrap();
    let error = Journal::open(state.path()).unwrap().records(&task).unwrap_err().to_string();
    assert!(error.starts_with("the journal cannot be read: ") && error.contains("damaged"), "{error}");
}

#[test]
fn a_later_schema_is_shown_and_not_written() {
    let state = tempfile::tempdir().unwrap();
    let (task, lease) = begun(&Journal::open(state.path()).unwrap());
    let raw = rusqlite::Connection::open(state.path().join("journal.db")).unwrap();
    raw.pragma_update(None, "user_version", 9).unwrap();
    drop(raw);
    let journal = Journal::open(state.path()).unwrap();
    let sentence = journal.newer_schema().unwrap().to_string();
    assert!(sentence.ends_with("was written by a newer version of Understudy (schema 9, this one knows 1)"));
    assert_eq!(journal.tasks().unwrap(), std::slice::from_ref(&task));
    assert_eq!(journal.records(&task).unwrap().len(), 1);
    let refused = [
        journal.append(&lease, &note("no")).unwrap_err(),
        journal.acquire(&task).unwrap_err(),
        journal.purge(&task).unwrap_err(),
        journal.put_artifact(b"no").unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.to_string() == sentence), "{refused:?}");
}

#[test]
fn an_event_of_a_later_version_makes_its_task_read_only() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (task, lease) = begun(&journal);
    journal.release(&lease).unwrap();
    let raw = rusqlite::Connection::open(state.path().join("journal.db")).unwrap();
    raw.execute("INSERT INTO event VALUES (?1, 2, 1, 0, 7, 'closed', '{\"why\":1}')", [task.as_str()]).unwrap();
    let records = journal.records(&task).unwrap();
    let unknown = records[1].event.as_ref().unwrap_err();
    assert_eq!((unknown.version, unknown.kind.as_str()), (EventVersion(7), "closed"));
    assert!(matches!(journal.acquire(&task), Err(JournalError::Newer { .. })));
    let (another, _) = begun(&journal);
    assert_eq!(journal.tasks().unwrap(), [another, task]);
}

#[test]
fn only_the_owner_can_read_the_state() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().join("a/b");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let journal = Journal::open(&state).unwrap();
    begun(&journal);
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.lock"] {
        assert_eq!(fs::metadata(state.join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn an_empty_database_of_a_process_that_died_at_once_is_made_whole() {
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("journal.db"), b"").unwrap();
    begun(&Journal::open(state.path()).unwrap());
}

#[test]
fn order_does_not_follow_a_clock_that_jumps_back() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path()).unwrap();
    let (one, lease) = begun(&journal);
    // As if the events so far had been written by a clock that was ahead.
    let raw = rusqlite::Connection::open(state.path().join("journal.db")).unwrap();
    raw.execute("UPDATE event SET at = 99999999999999", []).unwrap();
    journal.append(&lease, &note("after the jump")).unwrap();
    let (two, _) = begun(&journal);
    let records = journal.records(&one).unwrap();
    assert!(records[0].at > records[1].at);
    assert_eq!(notes(&journal, &one), ["after the jump"]);
    assert_eq!(journal.tasks().unwrap(), [two, one]);
}
