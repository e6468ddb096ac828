//! The developer works on while a task waits to be continued: what git throws away, the task still has.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use support::{Project, assert_same};

use super::{KILLED, newest, resume, text, understudy, with_patch};

/// Freezes a task, lets something happen, resumes and applies; everything is as if nothing had happened.
fn between_freeze_and_resume(happens: impl FnOnce(&Project)) {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"));
    // Part of the base and in no commit.
    project.write("src/notes.txt", "only in the folder\n");
    let prove = ["prove", "--patch", patch.as_str(), "--json"];
    let goal = understudy().run(&project.path(), prove).ended_with(0).json();
    let understudy = understudy();
    let crash = [("UNDERSTUDY_CRASH_AT", "after:3")];
    assert_eq!(understudy.start_with(&project.path(), prove, &crash).finish().signal(), KILLED);
    let id = newest(&understudy, &project);

    happens(&project);
    let before = project.fingerprint();
    let report = resume(&understudy, &project, &id).ended_with(0).json();
    for key in ["verdict", "base", "tree", "diff"] {
        assert_eq!(report[key], goal[key], "{key}");
    }
    assert_same(&before, &project.fingerprint());

    let tree = text(&report["tree"]);
    understudy.run(&project.path(), ["tasks", "apply", &id, "--tree", &tree]).ended_with(0);
    assert!(project.text("src/lib.rs").contains("let sum"));
    let rest = |print: support::Fingerprint| print.without("src");
    assert_same(&rest(before), &rest(project.fingerprint()));
    understudy.run(&project.path(), ["tasks", "undo", &id]).ended_with(0);
}

#[test]
fn collected_garbage_is_not_missed() {
    between_freeze_and_resume(|project| {
        project.git(["reflog", "expire", "--expire=now", "--all"]);
        project.git(["gc", "--quiet", "--prune=now"]);
    });
}

#[test]
fn an_amended_commit_is_not_missed() {
    between_freeze_and_resume(|project| {
        project.git(["commit", "--quiet", "--amend", "--message", "Begin again"]);
        project.git(["reflog", "expire", "--expire=now", "--all"]);
        project.git(["gc", "--quiet", "--prune=now"]);
    });
}

/// Packs and loose objects, all of them: the repository is broken, the task is not.
#[test]
fn lost_objects_are_not_missed() {
    between_freeze_and_resume(|project| {
        let objects = project.path().join(".git/objects");
        for entry in fs::read_dir(&objects).unwrap() {
            let path = entry.unwrap().path();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            fs::remove_dir_all(path).unwrap();
        }
        fs::create_dir(objects.join("info")).unwrap();
        fs::create_dir(objects.join("pack")).unwrap();
    });
}

#[test]
fn a_branch_that_is_gone_is_not_missed() {
    let project = Project::data("warns").committed();
    project.git(["switch", "--quiet", "--create", "other"]);
    project.replace("src/lib.rs", "let mut sum", "let sum");
    project.commit("Mend");
    project.git(["switch", "--quiet", "main"]);
    let understudy = understudy();
    let prove = ["prove", "--branch", "other", "--json"];
    let crash = [("UNDERSTUDY_CRASH_AT", "after:3")];
    assert_eq!(understudy.start_with(&project.path(), prove, &crash).finish().signal(), KILLED);
    project.git(["branch", "--quiet", "-D", "other"]);
    project.git(["reflog", "expire", "--expire=now", "--all"]);
    project.git(["gc", "--quiet", "--prune=now"]);
    let report = resume(&understudy, &project, &newest(&understudy, &project)).ended_with(0).json();
    assert_eq!(report["verdict"], "verified");
    assert!(report["diff"].as_str().unwrap().contains("+    let sum"), "{report}");
}

#[test]
fn a_workspace_that_was_moved_away_is_named() {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"));
    let understudy = understudy();
    let prove = ["prove", "--patch", patch.as_str(), "--json"];
    let crash = [("UNDERSTUDY_CRASH_AT", "after:3")];
    assert_eq!(understudy.start_with(&project.path(), prove, &crash).finish().signal(), KILLED);
    let id = newest(&understudy, &project);
    let (here, away) = (project.path(), project.beside("away"));
    fs::rename(&here, &away).unwrap();
    let finished = understudy.run(&away, ["tasks", "resume", &id, "--json"]).ended_with(2);
    assert!(finished.stderr.contains("project is not a folder"), "{}", finished.stderr);
    understudy.run(&away, ["tasks", "list"]).ended_with(0);
    fs::rename(&away, &here).unwrap();
    assert_eq!(resume(&understudy, &project, &id).ended_with(0).json()["verdict"], "verified");
}
