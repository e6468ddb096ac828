//! The developer's text moved on between the snapshot and the approval.

use support::assert_same;

use super::{Task, mend};
use crate::crash::text;

#[test]
fn a_change_elsewhere_makes_another_tree_that_is_checked_and_approved_anew() {
    let task = Task::proved("warns", mend, 0);
    task.project.write("src/notes.txt", "written since\n");
    let before = task.project.fingerprint();
    let moved = task.apply(&task.tree(), &["--json"]).ended_with(7).json();
    assert_eq!(moved["verdict"], "verified");
    let rebased = text(&moved["tree"]);
    assert_ne!(rebased, task.tree());
    assert_eq!(moved["diff"], task.report["diff"]);
    assert_same(&before, &task.project.fingerprint());

    // The old approval is void, and says the same again.
    let again = task.apply(&task.tree(), &["--json"]).ended_with(7).json();
    assert_eq!(text(&again["tree"]), rebased);
    assert_same(&before, &task.project.fingerprint());

    task.apply(&rebased, &[]).ended_with(0);
    assert!(!task.project.text("src/lib.rs").contains("let mut"));
    assert_eq!(task.project.text("src/notes.txt"), "written since\n");
    task.undo().ended_with(0);
    assert_same(&before.without_times(), &task.project.fingerprint().without_times());
}

#[test]
fn a_change_in_the_same_file_is_kept() {
    let task = Task::proved("warns", mend, 0);
    task.project.replace("src/lib.rs", "\"two\",", "\"zwei\",");
    let moved = task.apply(&task.tree(), &["--json"]).ended_with(7).json();
    let expected = task.project.text("src/lib.rs").replace("let mut ", "let ");
    task.apply(moved["tree"].as_str().unwrap(), &[]).ended_with(0);
    assert_eq!(task.project.text("src/lib.rs"), expected);
}

/// Here the change was fine and on the new text it is not: said so before anything is written.
#[test]
fn a_change_that_no_longer_works_on_the_new_text_is_not_verified() {
    let task = Task::proved(
        "warns",
        |project| {
            project.replace("src/lib.rs", "pub fn add(", "pub fn sum(");
            project.replace("src/lib.rs", "super::add(1, 2)", "super::sum(1, 2)");
        },
        0,
    );
    task.project.write("tests/adds.rs", "#[test]\nfn adds() {\n    assert_eq!(warns::add(2, 2), 4);\n}\n");
    let before = task.project.fingerprint();
    let moved = task.apply(&task.tree(), &["--json"]).ended_with(7).json();
    assert_eq!(moved["verdict"], "not verified");
    let tree = text(&moved["tree"]);
    task.apply(&tree, &[]).ended_with(7);
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn a_change_in_the_same_place_writes_nothing() {
    let task = Task::proved("warns", mend, 0);
    task.project.replace("src/lib.rs", "let mut sum = one", "let mut sum = 0 + one");
    let before = task.project.fingerprint();
    let diverged = task.apply(&task.tree(), &["--json"]).ended_with(8).json();
    assert!(diverged["reasons"][0].as_str().unwrap().contains("src/lib.rs"), "{diverged}");
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn a_file_that_is_gone_writes_nothing() {
    let task = Task::proved("warns", mend, 0);
    task.project.remove("src/lib.rs");
    let before = task.project.fingerprint();
    task.apply(&task.tree(), &[]).ended_with(8);
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn what_the_developer_did_alike_is_there_already() {
    let task = Task::proved("warns", mend, 0);
    mend(&task.project);
    let before = task.project.fingerprint();
    let there = task.apply(&task.tree(), &[]).ended_with(0);
    assert!(there.text().contains("nothing was written"), "{}", there.text());
    task.project.write("src/notes.txt", "and more\n");
    task.apply(&task.tree(), &[]).ended_with(0);
    assert_same(&before.without("src"), &task.project.fingerprint().without("src"));
}

#[test]
fn nothing_is_taken_back_where_the_text_went_on() {
    let task = Task::proved(
        "warns",
        |project| {
            mend(project);
            project.write("notes/why.txt", "not needed\n");
        },
        0,
    );
    task.apply(&task.tree(), &[]).ended_with(0);
    task.project.replace("src/lib.rs", "let sum = one", "let sum = 0 + one");
    let before = task.project.fingerprint();
    let refused = task.undo().ended_with(8);
    assert!(refused.text().contains("src/lib.rs"), "{}", refused.text());
    assert_same(&before, &task.project.fingerprint());

    // Elsewhere the text may go on.
    task.project.replace("src/lib.rs", "let sum = 0 + one", "let sum = one");
    task.project.write("src/notes.txt", "elsewhere\n");
    task.undo().ended_with(0);
    assert!(task.project.text("src/lib.rs").contains("let mut sum"));
    assert!(!task.project.path().join("notes").exists());
    assert_eq!(task.project.text("src/notes.txt"), "elsewhere\n");
}

#[test]
fn what_was_taken_back_can_be_written_again() {
    let task = Task::proved("warns", mend, 0);
    let base = task.project.text("src/lib.rs");
    for _ in 0..2 {
        task.apply(&task.tree(), &[]).ended_with(0);
        assert_eq!(task.project.text("src/lib.rs"), base.replace("let mut ", "let "));
        task.undo().ended_with(0);
        assert_eq!(task.project.text("src/lib.rs"), base);
    }
}
