//! The state folder is full, read-only, or in the wrong place.

use support::assert_same;

use super::{mounted, understudy, with_patch};

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"));
    let understudy = understudy();
    let goal = understudy.run(&project.path(), ["prove", "--patch", &patch, "--json"]).ended_with(0).json();
    let before = project.fingerprint();
    // From too small for a journal to nearly enough for a build; what was there before lies below the mount.
    for kilobytes in [16, 128, 512, 1024, 4096] {
        let script = format!("mount -t tmpfs -o size={kilobytes}k tmpfs \"$STATE\"");
        let arguments = ["prove", "--patch", &patch, "--json"];
        let Some(finished) = mounted(&understudy, &project.path(), &script, &arguments) else { return };
        let said = format!("{}{}", finished.text(), finished.stderr);
        assert!(matches!(finished.code(), Some(3 | 5)), "{kilobytes} KiB: {:?} {said}", finished.status);
        assert!(said.contains("space") || said.contains("full"), "{kilobytes} KiB: {said}");
        assert!(!said.contains("panicked"), "{said}");
        assert_same(&before, &project.fingerprint());
    }
    understudy.assert_nothing_left();
    let again = understudy.run(&project.path(), ["prove", "--patch", &patch, "--json"]).ended_with(0).json();
    assert_eq!(again["tree"], goal["tree"]);
}

#[test]
fn a_read_only_state_folder_is_said() {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"));
    let understudy = understudy();
    let arguments = ["prove", "--patch", &patch, "--json"];
    understudy.run(&project.path(), arguments).ended_with(0);
    let before = project.fingerprint();
    let script = "mount --bind \"$STATE\" \"$STATE\"; mount -o remount,bind,ro \"$STATE\"";
    let Some(finished) = mounted(&understudy, &project.path(), script, &arguments) else { return };
    let finished = finished.ended_with(5);
    assert!(finished.stderr.to_lowercase().contains("read-only"), "{}", finished.stderr);
    assert_same(&before, &project.fingerprint());
}

#[test]
fn a_state_folder_inside_the_workspace_is_refused_without_a_trace() {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"));
    let before = project.fingerprint();
    let inside = project.path().join("state");
    let understudy = understudy().with("UNDERSTUDY_STATE_DIR", inside.to_str().unwrap());
    let finished = understudy.run(&project.path(), ["prove", "--patch", &patch, "--json"]).ended_with(2);
    assert!(finished.stderr.contains("lies inside the workspace"), "{}", finished.stderr);
    assert_same(&before, &project.fingerprint());
}
