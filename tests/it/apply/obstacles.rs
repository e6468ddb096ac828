//! What stands where something is to be written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use support::{Project, assert_same};

use super::{Task, mend};

fn set_mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// The folder now leads elsewhere; nothing is written through it.
#[test]
fn a_link_in_place_of_a_folder_is_not_followed() {
    let task = Task::proved("warns", mend, 0);
    let elsewhere = task.project.beside("elsewhere");
    fs::rename(task.project.path().join("src"), &elsewhere).unwrap();
    symlink(&elsewhere, task.project.path().join("src")).unwrap();
    let (before, outside) = (task.project.fingerprint(), support::Fingerprint::of(&elsewhere));
    let refused = task.apply(&task.tree(), &["--unverified"]);
    assert!(matches!(refused.code(), Some(7 | 8)), "{:?} {}", refused.status, refused.text());
    assert_same(&before, &task.project.fingerprint());
    assert_same(&outside, &support::Fingerprint::of(&elsewhere));
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    let task = Task::proved("warns", mend, 0);
    let elsewhere = task.project.beside("elsewhere.rs");
    fs::rename(task.project.path().join("src/lib.rs"), &elsewhere).unwrap();
    symlink(&elsewhere, task.project.path().join("src/lib.rs")).unwrap();
    let (before, outside) = (task.project.fingerprint(), fs::read(&elsewhere).unwrap());
    task.apply(&task.tree(), &["--unverified"]).ended_with(8);
    assert_same(&before, &task.project.fingerprint());
    assert_eq!(outside, fs::read(&elsewhere).unwrap());
}

/// An ignored file that is not part of the base stands where a new one is to be written.
#[test]
fn a_file_that_is_in_no_snapshot_is_not_overwritten() {
    let task = Task::proved(
        "warns",
        |project| {
            mend(project);
            project.write("notes/why.txt", "not needed\n");
        },
        0,
    );
    task.project.write(".git/info/exclude", "/notes\n");
    task.project.write("notes/why.txt", "mine\n");
    let before = task.project.fingerprint();
    let refused = task.apply(&task.tree(), &[]);
    assert!(matches!(refused.code(), Some(5 | 8)), "{:?} {}", refused.status, refused.text());
    assert!(refused.text().contains("notes/why.txt"), "{}", refused.text());
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn a_folder_in_place_of_a_file_is_not_removed() {
    let task = Task::proved(
        "warns",
        |project| {
            mend(project);
            project.write("notes", "not needed\n");
        },
        0,
    );
    task.project.write("notes/mine.txt", "mine\n");
    let before = task.project.fingerprint();
    task.apply(&task.tree(), &[]).ended_with(8);
    assert_same(&before, &task.project.fingerprint());
}

/// Read-only is no protection against root, and a rename does not ask the file; its mode stays what it was.
#[test]
fn a_read_only_file_keeps_its_mode() {
    let task = Task::proved("warns", mend, 0);
    set_mode(&task.project, "src/lib.rs", 0o444);
    task.apply(&task.tree(), &[]).ended_with(0);
    let mode = fs::metadata(task.project.path().join("src/lib.rs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o444);
    assert!(!task.project.text("src/lib.rs").contains("let mut"));
}

/// Root may write anywhere, so the folder lies on a file system that nobody may write.
#[test]
fn a_folder_that_cannot_be_written_leaves_everything_as_it_is() {
    let task = Task::proved(
        "warns",
        |project| {
            mend(project);
            project.write("a-first.txt", "before src\n");
        },
        0,
    );
    let before = task.project.fingerprint();
    let src = task.project.path().join("src");
    let script = format!("mount --bind '{0}' '{0}'; mount -o remount,bind,ro '{0}'", src.display());
    let (id, tree) = (task.id(), task.tree());
    let words = ["tasks", "apply", &id, "--tree", &tree];
    let Some(refused) = crate::crash::mounted(&task.understudy, &task.project.path(), &script, &words) else { return };
    let refused = refused.ended_with(5);
    assert!(refused.text().contains("nothing was written"), "{}", refused.text());
    assert!(refused.text().contains("src/lib.rs"), "{}", refused.text());
    assert_same(&before.without_times(), &task.project.fingerprint().without_times());
    task.apply(&task.tree(), &[]).ended_with(0);
}
