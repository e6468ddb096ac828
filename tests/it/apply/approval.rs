//! What counts as a yes, and to what.

use support::{Project, assert_same};

use super::{Task, mend};
use crate::crash::{text, understudy, with_patch};

#[test]
fn nothing_is_written_without_the_name_of_the_tree() {
    let task = Task::proved("warns", mend, 0);
    let before = task.project.fingerprint();
    let (id, tree) = (task.id(), task.tree());
    let asked = task.tasks("apply", &[]).ended_with(7);
    assert!(asked.stderr.contains(&format!("understudy tasks apply {id} --tree {tree}")), "{}", asked.stderr);

    let base = text(&task.report["base"]);
    for wrong in [base.as_str(), &"0".repeat(40)] {
        let refused = task.apply(wrong, &[]).ended_with(7);
        assert!(refused.text().contains("has no tree"), "{}", refused.text());
    }
    task.apply("HEAD", &[]).ended_with(2);
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn the_tree_of_another_task_is_no_approval() {
    let one = Task::proved("warns", mend, 0);
    let other = Task::proved("warns", |project| project.replace("src/lib.rs", "let mut sum", "let sum"), 0);
    let before = one.project.fingerprint();
    one.apply(&other.tree(), &[]).ended_with(7);
    assert_same(&before, &one.project.fingerprint());
}

#[test]
fn a_tree_that_is_not_verified_needs_a_word_of_its_own() {
    let task = Task::proved("warns", |project| project.replace("src/lib.rs", "one + other", "one - other"), 3);
    let before = task.project.fingerprint();
    let refused = task.apply(&task.tree(), &[]).ended_with(7);
    assert!(refused.text().contains("--unverified"), "{}", refused.text());
    assert_same(&before, &task.project.fingerprint());
    task.apply(&task.tree(), &["--unverified"]).ended_with(0);
    assert!(task.project.text("src/lib.rs").contains("one - other"));
}

#[test]
fn a_file_that_runs_by_itself_needs_consent_of_its_own() {
    let task = Task::proved(
        "warns",
        |project| {
            mend(project);
            project.write("build.rs", "fn main() {}\n");
            project.write(".cargo/config.toml", "[build]\n");
        },
        0,
    );
    let before = task.project.fingerprint();
    let tree = task.tree();
    // What needs consent is named; no line to paste consents to it.
    let next = &task.report["next"][0];
    assert!(!next["command"].as_str().unwrap().contains("--consent"), "{next}");
    let note = next["note"].as_str().unwrap();
    assert!(note.contains(".cargo/config.toml") && note.contains("build.rs"), "{note}");
    let refused = task.apply(&tree, &[]).ended_with(7);
    assert!(refused.text().contains("`--consent .cargo/config.toml`, and 1 more"), "{}", refused.text());
    let refused = task.apply(&tree, &["--consent", ".cargo/**"]).ended_with(7);
    assert!(refused.text().contains("--consent build.rs"), "{}", refused.text());
    let refused = task.apply(&tree, &["--consent", "src/**"]).ended_with(7);
    assert!(refused.text().contains("--consent"), "{}", refused.text());
    assert_same(&before, &task.project.fingerprint());

    // Without the hunks that need it, nothing needs it.
    let hunks = task.hunks("src/lib.rs").join(",");
    let shown = task.tasks("diff", &["--select", &hunks, "--json"]).ended_with(0).json();
    task.apply(shown["tree"].as_str().unwrap(), &[]).ended_with(0);
    assert!(!task.project.path().join("build.rs").exists());
    task.undo().ended_with(0);

    task.apply(&tree, &["--consent", ".cargo/**,build.rs"]).ended_with(0);
    assert_eq!(task.project.text("build.rs"), "fn main() {}\n");
}

#[test]
fn asking_to_write_without_a_terminal_answers_with_the_command() {
    let (project, patch) = with_patch("warns", mend);
    let understudy = understudy();
    let before = project.fingerprint();
    for json in [&["--json"][..], &[]] {
        let words = ["prove", "--patch", &patch, "--apply"].into_iter().chain(json.iter().copied());
        let finished = understudy.run(&project.path(), words).ended_with(7);
        assert!(finished.text().contains("understudy tasks apply"), "{}", finished.text());
        assert_same(&before, &project.fingerprint());
    }
}

#[test]
fn writing_is_not_offered_to_a_terminal_where_the_tree_is_not_verified() {
    let (project, patch) = with_patch("warns", |project| project.replace("src/lib.rs", "one + other", "one - other"));
    let before = project.fingerprint();
    let words = ["prove", "--patch", &patch, "--apply"];
    let finished = understudy().start(&project.path(), words).feed(b"y\n");
    assert!(matches!(finished.code(), Some(3 | 7)), "{:?}", finished.status);
    assert_same(&before, &project.fingerprint());
}

#[test]
fn a_selection_that_is_another_tree_than_the_approved_one_is_not_written() {
    let task = Task::proved("warns", mend, 0);
    let before = task.project.fingerprint();
    let hunk = &task.hunks("src/lib.rs")[0];
    let refused = task.apply(&task.tree(), &["--select", hunk]).ended_with(7);
    assert!(refused.stderr.contains("this selection is tree"), "{}", refused.stderr);
    // Hunks alone name no tree, and the tree is the approval.
    let unnamed = task.tasks("apply", &["--select", hunk]).ended_with(7);
    assert!(unnamed.stderr.contains("naming the tree is the approval"), "{}", unnamed.stderr);
    assert_same(&before, &task.project.fingerprint());
}

#[test]
fn each_selection_is_base_and_the_kept_hunks_exactly() {
    let task = Task::proved("warns", mend, 0);
    let base = task.project.text("src/lib.rs");
    let hunks = task.hunks("src/lib.rs");
    let expected = [base.replace("let mut sum", "let sum"), base.replace("let mut result", "let result")];
    for (hunk, expected) in hunks.iter().zip(&expected) {
        let shown = task.tasks("diff", &["--select", hunk, "--json"]).ended_with(0).json();
        assert_eq!(shown["verdict"], "verified");
        assert_eq!(task.project.text("src/lib.rs"), base);
        task.apply(shown["tree"].as_str().unwrap(), &[]).ended_with(0);
        assert_eq!(task.project.text("src/lib.rs"), *expected);
        task.undo().ended_with(0);
        assert_eq!(task.project.text("src/lib.rs"), base);
    }
}

/// Half of a change that belongs together: what is not verified is not called verified.
#[test]
fn a_selection_that_does_not_build_needs_the_word_too() {
    let task = Task::proved(
        "warns",
        |project: &Project| {
            project.replace("src/lib.rs", "pub fn add(", "pub fn sum(");
            project.replace("src/lib.rs", "super::add(1, 2)", "super::sum(1, 2)");
        },
        0,
    );
    let before = task.project.fingerprint();
    let hunk = &task.hunks("src/lib.rs")[0];
    let shown = task.tasks("diff", &["--select", hunk, "--json"]).ended_with(3).json();
    assert_eq!(shown["verdict"], "not verified");
    let tree = text(&shown["tree"]);
    task.apply(&tree, &["--select", hunk]).ended_with(7);
    task.tasks("apply", &["--select", hunk, "--unverified"]).ended_with(7);
    assert_same(&before, &task.project.fingerprint());
    task.apply(&tree, &["--select", hunk, "--unverified"]).ended_with(0);
    assert!(task.project.text("src/lib.rs").contains("pub fn sum("));
}
