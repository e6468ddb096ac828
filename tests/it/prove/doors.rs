//! The ways in which a change comes: a patch from a file or standard input, a branch, the working tree.

use serde_json::json;
use support::{Project, assert_same};

use crate::stage::{Stage, contents, patch_of};

#[test]
fn a_patch_comes_from_standard_input_too() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| it.replace("src/lib.rs", "a + b", "b + a"));
    let answer = stage.ask_with(0, &["prove", "--patch", "-"], &patch_of(&edited));
    answer.says("verified", "");
    stage.apply_and_undo(&answer, &edited);
    // A plain diff and a mail say the same.
    let from_file = stage.prove(0, &patch_of(&edited));
    assert_eq!((from_file.tree(), &from_file.report["hunks"]), (answer.tree(), &answer.report["hunks"]));
    edited.commit("Swap");
    let mail = edited.git(["format-patch", "--stdout", "HEAD~1"]);
    assert_eq!(stage.prove(0, mail.as_bytes()).tree(), answer.tree());
}

#[test]
fn the_diff_of_the_answer_is_one_that_git_applies() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        it.replace("src/lib.rs", "a + b", "b + a");
        it.write("data.bin", b"\x00\x01\xff\n\x00");
        it.remove("README.md");
    });
    let answer = stage.prove(0, &patch_of(&edited));
    let copy = stage.edited(|_| {});
    std::fs::write(copy.beside("said.patch"), answer.text("diff")).unwrap();
    copy.git(["apply", copy.beside("said.patch").to_str().unwrap()]);
    assert_same(&contents(edited.fingerprint()), &contents(copy.fingerprint()));
}

#[test]
fn a_branch_is_judged_against_where_it_left_head() {
    let stage = Stage::data("sums");
    let git = |arguments: &[&str]| stage.project.git(arguments);
    git(&["checkout", "--quiet", "-b", "good"]);
    stage.project.replace("src/lib.rs", "a + b", "b + a");
    stage.project.commit("Swap");
    git(&["checkout", "--quiet", "-b", "bad", "main"]);
    stage.project.replace("src/lib.rs", "add(a, a)", "add(a, a) + 1");
    stage.project.commit("Break");
    git(&["checkout", "--quiet", "main"]);
    stage.project.replace("README.md", "Adds.", "Adds on.");
    stage.project.commit("Main went on");

    let answer = stage.ask(0, &["prove", "--branch", "good"]);
    answer.says("verified", "");
    assert_eq!(answer.report["hunks"][0]["path"], "src/lib.rs");
    assert_eq!(answer.hunks().len(), 1, "what main did since is no part of the change");
    let answer = stage.ask(3, &["prove", "--branch", "bad"]);
    answer.says("not verified", "cargo test: 1 new failure: sums lib tests::doubles");
}

#[test]
fn a_branch_that_does_not_exist_gets_one_clear_sentence() {
    let stage = Stage::data("sums");
    let before = stage.project.fingerprint();
    let finished = stage.understudy.run(&stage.project.path(), ["prove", "--branch", "nowhere"]);
    let said = format!("{}{}", finished.text(), finished.stderr);
    assert!(
        matches!(finished.code(), Some(2 | 5 | 7 | 8)) && said.contains("nowhere"),
        "{:?}: {said}",
        finished.code()
    );
    assert_same(&before, &stage.project.fingerprint());
}

/// Two hunks in the working tree: one good, one that breaks a test.
fn half_good(project: &Project) {
    project.replace("src/lib.rs", "a + b", "b + a");
    project.replace("src/lib.rs", "add(a, a)", "add(a, a) + 1");
}

#[test]
fn in_the_working_tree_keeping_writes_nothing_and_rejecting_writes_base_bytes() {
    let stage = Stage::data("sums");
    let base = stage.edited(|_| {});
    half_good(&stage.project);
    let candidate = stage.edited(|_| {});
    let answer = stage.ask(3, &["prove", "--worktree"]);
    answer.says("not verified", "cargo test: 1 new failure: sums lib tests::doubles");
    let [good, bad] = answer.hunks().try_into().unwrap();
    let id = answer.id();

    // Keeping all of it writes nothing.
    let before = stage.project.fingerprint();
    stage.say(0, &["tasks", "apply", &id, "--tree", &answer.tree(), "--unverified"], b"");
    assert_same(&before, &stage.project.fingerprint());

    // Rejecting the bad hunk is a tree that is verified; writing it puts the base's bytes there.
    let selection = stage.ask(0, &["tasks", "diff", &id, "--select", &good]);
    selection.says("verified", "");
    stage.say(0, &["tasks", "apply", &id, "--tree", &selection.tree()], b"");
    let expected = base.text("src/lib.rs").replace("a + b", "b + a");
    assert_eq!(stage.project.text("src/lib.rs"), expected);
    stage.say(0, &["tasks", "undo", &id], b"");
    assert_same(&contents(candidate.fingerprint()), &contents(stage.project.fingerprint()));

    // Rejecting everything is the base.
    let selection = stage.ask_any(&["tasks", "diff", &id, "--select", ""]);
    assert_eq!(selection.tree(), answer.text("base"));
    stage.say(0, &["tasks", "apply", &id, "--tree", &selection.tree(), "--unverified"], b"");
    assert_same(&contents(base.fingerprint()), &contents(stage.project.fingerprint()));
    let _ = bad;
}

#[test]
fn the_working_tree_is_the_default_and_ignored_files_are_no_change() {
    let stage = Stage::data("sums");
    stage.project.write("scratch/notes.txt", "mine");
    stage.project.write("target/debug/x", "built");
    let answer = stage.ask(0, &["prove"]);
    assert_eq!((answer.verdict().as_str(), answer.hunks().len()), ("nothing to do", 0), "{answer:?}");
    // New files count as soon as git would see them.
    stage.project.write("tests/new.rs", "#[test]\nfn new() {\n    assert_eq!(sums::add(1, 1), 2);\n}\n");
    let answer = stage.ask(0, &["prove"]);
    answer.says("verified", "");
    assert_eq!(answer.report["hunks"][0]["kind"], json!("create"));
}

#[test]
fn a_patch_that_touches_only_ignored_files_is_not_verified() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        it.write("scratch/notes.txt", "mine\n");
        it.git(["add", "--force", "scratch/notes.txt"]);
    });
    let answer = stage.prove(3, &patch_of(&edited));
    answer.says("not verified", "no passing check read the changed file scratch/notes.txt");
    stage.apply_and_undo(&answer, &edited);
}

#[test]
fn a_source_whose_time_is_older_than_the_build_is_built_again() {
    let stage = Stage::data("sums");
    stage.project.replace("src/lib.rs", "a + b", "b + a");
    stage.ask(0, &["prove"]).says("verified", "");
    // The same file again, broken, from before anything was built.
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    stage.project.replace("src/lib.rs", "b + a", "b - a");
    let path = stage.project.path().join("src/lib.rs");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    stage.ask(3, &["prove"]).says("not verified", "cargo test: 3 new failures");
    // And back to what was good, older still.
    stage.project.replace("src/lib.rs", "b - a", "b + a + 0");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    stage.ask(0, &["prove"]).says("verified", "");
}
