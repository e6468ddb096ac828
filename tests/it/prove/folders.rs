//! Folders of every kind: nested Cargo workspaces, no git, no commit yet, a detached HEAD, nothing that checks anything.

use support::Project;

use super::{Change, assert_answers};
use crate::stage::{Stage, patch_of};

const NESTED: &str = "\
-- Cargo.toml --
[package]
name = \"outer\"
version = \"0.1.0\"
edition = \"2024\"

[workspace]
exclude = [\"tools\"]
-- Cargo.lock --
version = 4

[[package]]
name = \"outer\"
version = \"0.1.0\"
-- src/lib.rs --
pub fn one() -> u32 {
    1
}

#[test]
fn is_one() {
    assert_eq!(one(), 1);
}
-- tools/Cargo.toml --
[workspace]
members = [\"inner\"]
resolver = \"3\"
-- tools/Cargo.lock --
version = 4

[[package]]
name = \"inner\"
version = \"0.1.0\"
-- tools/inner/Cargo.toml --
[package]
name = \"inner\"
version = \"0.1.0\"
edition = \"2024\"
-- tools/inner/src/lib.rs --
pub fn two() -> u32 {
    2
}

#[test]
fn is_two() {
    assert_eq!(two(), 2);
}
";

#[test]
fn each_nested_workspace_is_judged_by_its_own_checks() {
    let stage = Stage::text(NESTED);
    assert_answers(
        &stage,
        &[
            Change {
                name: "the outer one",
                edit: |it| it.replace("src/lib.rs", "    1\n", "    2 - 1\n"),
                verdict: "verified",
                because: "",
            },
            Change {
                name: "the inner one breaks",
                edit: |it| it.replace("tools/inner/src/lib.rs", "    2\n", "    3\n"),
                verdict: "not verified",
                because: "cargo test in tools: 1 new failure: inner lib is_two",
            },
            Change {
                name: "both, one of them broken",
                edit: |it| {
                    it.replace("src/lib.rs", "    1\n", "    2 - 1\n");
                    it.replace("tools/inner/src/lib.rs", "    2\n", "    3\n");
                },
                verdict: "not verified",
                because: "cargo test in tools: 1 new failure: inner lib is_two",
            },
        ],
    );
    let answer = stage.prove(0, &stage.patch(|it| it.replace("tools/inner/src/lib.rs", "    2\n", "    1 + 1\n")));
    let ids: Vec<&str> = answer.list("checks").iter().filter_map(|check| check["check"].as_str()).collect();
    assert_eq!(ids, ["cargo build in tools", "cargo test in tools"]);
}

const BREAKS: Change = Change {
    name: "a change that breaks a test",
    edit: |it| it.replace("src/lib.rs", "add(a, a)", "add(a, a) + 1"),
    verdict: "not verified",
    because: "cargo test: 1 new failure: sums lib tests::doubles",
};
const GOOD: Change = Change {
    name: "a good change",
    edit: |it| it.replace("src/lib.rs", "a + b", "b + a"),
    verdict: "verified",
    because: "",
};

#[test]
fn a_plain_folder_without_git_is_a_base_too() {
    let stage = Stage::new(Project::data("sums"));
    assert_answers(&stage, &[GOOD, BREAKS]);
    assert!(!stage.project.path().join(".git").exists());
    for arguments in [["prove", "--worktree"], ["prove", "--branch=main"]] {
        let finished = stage.understudy.run(&stage.project.path(), arguments);
        let said = format!("{}{}", finished.text(), finished.stderr);
        assert!(!matches!(finished.code(), Some(0 | 1) | None), "{arguments:?}: {said}");
        assert!(said.contains("git"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_repository_without_a_commit_is_a_base_too() {
    let stage = Stage::new(Project::data("sums"));
    stage.project.git(["init", "--quiet", "--initial-branch=main"]);
    let edited = stage.edited(|it| {
        it.commit("What is there");
        it.replace("src/lib.rs", "a + b", "b + a");
    });
    let answer = stage.prove(0, &patch_of(&edited));
    answer.says("verified", "");
    stage.apply_and_undo(&answer, &edited);
    // Against no commit at all, everything in the working tree is new.
    let answer = stage.ask_any(&["prove", "--worktree"]);
    assert!(!matches!(answer.code, Some(1) | None), "{answer:?}");
}

#[test]
fn a_detached_head_is_as_good_as_a_branch() {
    let stage = Stage::data("sums");
    stage.project.git(["checkout", "--quiet", "--detach"]);
    assert_answers(&stage, &[GOOD, BREAKS]);
    stage.project.replace("src/lib.rs", "a + b", "b + a");
    stage.ask(0, &["prove", "--worktree"]).says("verified", "");
}

#[test]
fn a_folder_inside_a_repository_means_the_whole_repository() {
    let stage = Stage::data("sums");
    stage.project.replace("src/lib.rs", "a + b", "b + a");
    let repo = stage.project.path().join("src");
    let answer = stage.ask(0, &["prove", "--repo", repo.to_str().unwrap()]);
    answer.says("verified", "");
    assert_eq!(answer.report["hunks"][0]["path"], "src/lib.rs");
}

#[test]
fn without_a_manifest_nothing_can_be_verified() {
    let stage = Stage::text("-- notes.txt --\none\n-- main.py --\nprint(1)\n");
    assert_answers(
        &stage,
        &[Change {
            name: "some text",
            edit: |it| it.write("notes.txt", "two\n"),
            verdict: "not verified",
            because: "no check judges this change: there is no Cargo.toml",
        }],
    );
}

#[test]
fn a_path_that_is_no_folder_gets_one_clear_sentence() {
    let stage = Stage::data("sums");
    for (repo, because) in [("nowhere", "nowhere"), ("Cargo.toml", "is not a folder")] {
        let finished = stage.understudy.run(&stage.project.path(), ["prove", "--repo", repo]).ended_with(2);
        assert!(finished.stderr.contains(because) && finished.stdout.is_empty(), "{}", finished.stderr);
    }
    let finished = stage.understudy.run(&stage.project.path(), ["prove", "--patch", "no.patch"]).ended_with(2);
    assert!(finished.stderr.contains("no.patch"), "{}", finished.stderr);
}
