//! Hunks kept and rejected: for every selection "verified" is said exactly when the project's own checks pass on those
//! bytes, and those bytes are the base with the kept hunks.

use support::{Project, assert_same};

use crate::stage::{Answer, Stage, contents};

/// `double` is a new function that another hunk uses; the limit and its test go together.
const BASE: &str = "\
-- .gitignore --
/target
-- Cargo.toml --
[package]
name = \"limits\"
version = \"0.1.0\"
edition = \"2024\"
-- Cargo.lock --
version = 4

[[package]]
name = \"limits\"
version = \"0.1.0\"
-- src/lib.rs --
// What helps.

pub fn one() -> u32 {
    1
}

pub const LIMIT: u32 = 10;

pub fn clamp(value: u32) -> u32 {
    value.min(LIMIT)
}

pub fn four() -> u32 {
    4
}

#[test]
fn works() {
    assert_eq!(one(), 1);
    assert_eq!(four(), 4);
    assert_eq!(clamp(99), 10);
}
";

/// The hunks in the order of the file.
const HUNKS: [(&str, &str); 4] = [
    ("// What helps.\n", "fn double(value: u32) -> u32 {\n    2 * value\n}\n"),
    ("LIMIT: u32 = 10", "LIMIT: u32 = 12"),
    ("    4\n", "    double(2)\n"),
    ("clamp(99), 10", "clamp(99), 12"),
];

/// Which hunks a number from 0 to 15 keeps.
fn kept<T: Clone>(all: &[T], selection: usize) -> Vec<T> {
    all.iter().enumerate().filter(|(at, _)| selection & (1 << at) != 0).map(|(_, it)| it.clone()).collect()
}

fn edit(project: &Project, selection: usize) {
    for (from, to) in kept(&HUNKS, selection) {
        project.replace("src/lib.rs", from, to);
    }
}

/// What cargo itself says about these bytes, without us.
fn passes(project: &Project) -> bool {
    let mut cargo = support::command("cargo");
    cargo.current_dir(project.path()).args(["test", "--quiet", "--offline"]).env_remove("CARGO_TARGET_DIR");
    cargo.output().unwrap().status.success()
}

fn whole(stage: &Stage) -> Answer {
    let answer = stage.prove(0, &stage.patch(|it| edit(it, 15)));
    answer.says("verified", "");
    assert_eq!(answer.hunks().len(), HUNKS.len(), "{:#}", answer.report["hunks"]);
    answer
}

#[test]
fn every_selection_is_verified_exactly_when_the_checks_pass_on_its_bytes() {
    let stage = Stage::text(BASE);
    let answer = whole(&stage);
    let by_hand = Project::new(BASE);
    let mut wrong = Vec::new();
    for selection in 1..16 {
        by_hand.write("src/lib.rs", Project::new(BASE).read("src/lib.rs"));
        edit(&by_hand, selection);
        let truth = passes(&by_hand);
        assert_eq!(truth, (selection & 1 != 0 || selection & 4 == 0) && (selection >> 1 & 1 == selection >> 3 & 1));
        let hunks = kept(&answer.hunks(), selection).join(",");
        let code = if truth { 0 } else { 3 };
        let selected = stage.ask_any(&["tasks", "diff", &answer.id(), "--select", &hunks]);
        let verified = selected.verdict() == "verified";
        if (verified, selected.code) != (truth, Some(code)) {
            wrong.push(format!(
                "{selection:04b}: {} though cargo says {truth}: {}",
                selected.verdict(),
                selected.reasons()
            ));
        }
        assert_eq!(selected.hunks(), kept(&answer.hunks(), selection), "ids survive");
        // An unverified selection is written only on the word that says so.
        let mut apply = vec!["tasks", "apply", "", "--select", &hunks, "--tree", ""];
        let (id, tree) = (answer.id(), selected.tree());
        (apply[2], apply[6]) = (&id, &tree);
        if !truth {
            stage.ask(7, &apply);
            apply.push("--unverified");
        }
        stage.say(0, &apply, b"");
        let expected = stage_copy(selection);
        assert_same(&contents(expected.fingerprint()), &contents(stage.project.fingerprint()));
        stage.say(0, &["tasks", "undo", &id], b"");
        assert_eq!(stage.project.read("src/lib.rs"), Project::new(BASE).read("src/lib.rs"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn stage_copy(selection: usize) -> Project {
    let project = Project::new(BASE);
    edit(&project, selection);
    project
}

#[test]
fn a_selection_is_approved_as_the_tree_that_it_is() {
    let stage = Stage::text(BASE);
    let answer = whole(&stage);
    let first = answer.hunks()[0].clone();
    // Naming the whole tree is no approval of a part of it.
    let arguments = ["tasks", "apply", &answer.id(), "--select", &first, "--tree", &answer.tree()];
    let before = stage.project.fingerprint();
    let finished = stage.understudy.run(&stage.project.path(), arguments).ended_with(7);
    assert!(finished.stderr.contains("not the tree"), "{}", finished.stderr);
    // A hunk that does not exist is a mistake, not an empty selection.
    let arguments = ["tasks", "diff", &answer.id(), "--select", "0123456789abcdef"];
    let finished = stage.understudy.run(&stage.project.path(), arguments).ended_with(2);
    assert!(finished.stderr.contains("0123456789abcdef"), "{}", finished.stderr);
    assert_same(&before, &stage.project.fingerprint());
}

#[test]
fn hunks_and_trees_are_named_by_their_first_digits() {
    let stage = Stage::text(BASE);
    let answer = whole(&stage);
    let (id, hunks, tree) = (answer.id(), answer.hunks(), answer.tree());
    let short = format!("{},{}", &hunks[0][..8], &hunks[2][..8]);
    let selected = stage.ask(0, &["tasks", "diff", &id, "--select", &short]);
    assert_eq!(selected.hunks(), [hunks[0].clone(), hunks[2].clone()]);
    for (arguments, because) in [
        (["--select", &hunks[0][..3]], "at least 4 digits"),
        (["--select", "zzzz"], "is not a hunk of task"),
        (["--tree", "zzzz"], "is not a tree of task"),
    ] {
        let words = ["tasks", "apply", &id, arguments[0], arguments[1]];
        let refused = stage.understudy.run(&stage.project.path(), words).ended_with(2);
        assert!(refused.stderr.contains(because), "{}", refused.stderr);
    }
    stage.say(0, &["tasks", "apply", &id, "--tree", &tree[..10]], b"");
    assert_eq!(stage.project.read("src/lib.rs"), stage_copy(15).read("src/lib.rs"));
}

#[test]
fn of_a_change_whose_files_moved_hunks_are_selected_as_well() {
    let stage = Stage::text(BASE);
    let answer = whole(&stage);
    let (id, tree) = (answer.id(), answer.tree());
    stage.project.replace("src/lib.rs", "pub fn one", "/// The first number.\npub fn one");
    stage.ask(7, &["tasks", "apply", &id, "--tree", &tree]);
    let shown = stage.ask(0, &["tasks", "show", &id]);
    assert_ne!(shown.tree(), tree, "the diff under review is the one on what is there now");
    let hunks = shown.hunks();
    assert_eq!(hunks.len(), HUNKS.len());
    let select = format!("{},{}", hunks[0], hunks[2]);
    let selected = stage.ask(0, &["tasks", "diff", &id, "--select", &select]);
    selected.says("verified", "");
    stage.say(0, &["tasks", "apply", &id, "--tree", &selected.tree()], b"");
    let expected = Project::new(BASE);
    edit(&expected, 5);
    expected.replace("src/lib.rs", "pub fn one", "/// The first number.\npub fn one");
    assert_eq!(stage.project.text("src/lib.rs"), expected.text("src/lib.rs"));
}
