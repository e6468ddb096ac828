//! Words on the command line that mean nothing, or not what was meant.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::{project, refused};

#[test]
fn free_text_is_answered_with_the_grammar() {
    let (project, understudy) = project();
    for text in ["please make it faster", "", " ", "fix", "fix everything", "\u{202E}rename", "rename", "rename a b"] {
        let finished = refused(&understudy, &project, ["run", text], 2, "rename SYMBOL [at PATH:LINE:COLUMN] to NEW");
        for form in ["fix warnings", "fix clippy [LINT...]", "fix errors", "replace PATTERN", "language model"] {
            assert!(finished.stderr.contains(form) || text.starts_with("rename"), "{form} in:\n{}", finished.stderr);
        }
        assert!(!finished.stderr.contains('\u{202E}'), "nothing hides in what is said");
    }
    assert!(!understudy.state().exists());
}

#[test]
fn engines_tools_and_numbers_that_do_not_exist_are_named() {
    let (project, understudy) = project();
    let cases: [(&[&str], &str); 9] = [
        (&["--engine", "magic"], "`magic` is not an engine"),
        (&["--engine", "model"], "no model is configured"),
        (&["--engine", "patch"], "understudy prove --patch"),
        (&["--tools", "edit,hammer"], "hammer"),
        (&["--budget-usd", "NaN"], "--budget-usd"),
        (&["--budget-usd=-1"], "--budget-usd"),
        (&["--max-attempts", "0"], "--max-attempts"),
        (&["--timeout", "0"], "--timeout"),
        (&["--request-id", ""], "request"),
    ];
    for (words, part) in cases {
        refused(&understudy, &project, ["run", "fix warnings"].into_iter().chain(words.iter().copied()), 2, part);
    }
}

#[test]
fn a_misspelt_lint_is_named_with_a_near_spelling() {
    let (project, understudy) = project();
    let sentence = "clippy has no lint `needles_return`; did you mean `needless_return`?";
    refused(&understudy, &project, ["run", "fix clippy needles_return"], 2, sentence);
}

#[test]
fn globs_that_are_none_are_named() {
    let (project, understudy) = project();
    refused(&understudy, &project, ["run", "fix warnings", "--paths", "src/[a"], 2, "src/[a");
    refused(&understudy, &project, ["run", "fix warnings", "--allow-file", "[a"], 2, "[a");
}

#[test]
fn tasks_that_do_not_exist_are_named() {
    let (project, understudy) = project();
    let verbs: [&[&str]; 7] = [&["show"], &["diff"], &["resume"], &["cancel"], &["apply"], &["undo"], &["purge"]];
    for verb in verbs {
        let words = |id| ["tasks"].into_iter().chain(verb.iter().copied()).chain([id]);
        refused(&understudy, &project, words("00000000"), 2, "00000000");
        for odd in ["../../etc", "x'; DROP TABLE task; --", "", &"a".repeat(100_000)] {
            refused(&understudy, &project, words(odd), 2, "");
        }
    }
    refused(&understudy, &project, ["tasks", "list"], 0, "there are no tasks");
}

#[test]
fn hunks_and_trees_that_do_not_exist_are_named() {
    let (project, understudy) = project();
    project.replace("src/lib.rs", "let mut sum", "let sum");
    let report = understudy.run(&project.path(), ["prove", "--json"]).ended_with(0).json();
    let id = report["task"]["id"].as_str().unwrap();
    refused(&understudy, &project, ["tasks", "diff", id, "--select", "0123456789abcdef"], 2, "0123456789abcdef");
    refused(&understudy, &project, ["tasks", "diff", id, "--select", "first"], 2, "first");
    refused(&understudy, &project, ["tasks", "apply", id, "--tree", "main"], 2, "main");
    refused(&understudy, &project, ["tasks", "show", id], 0, "verified");
}

#[test]
fn a_patch_that_is_none_is_said() {
    let (project, understudy) = project();
    let patch = project.beside("odd.patch");
    let name = patch.to_str().unwrap();
    refused(&understudy, &project, ["prove", "--patch", name], 2, "odd.patch cannot be read");
    refused(&understudy, &project, ["prove", "--patch", "."], 2, "cannot be read");
    let header = "diff --git a/src/lib.rs b/src/lib.rs\n--- a/src/lib.rs\n+++ b/src/lib.rs\n";
    let malformed = [
        "not a patch at all\n".to_owned(),
        format!("{header}@@ -1,99999999999999999999 +1 @@\n-x\n+y\n"),
        format!("{header}@@ -1,3 +1,3 @@\n cut off"),
        format!("{header}@@ -1 +1 @@\n-not what stands there\n+y\n"),
        header.replace("src/lib.rs", "../outside") + "@@ -0,0 +1 @@\n+y\n",
        header.replace("src/lib.rs", ".git/config") + "@@ -0,0 +1 @@\n+y\n",
        "\0".repeat(4096),
    ];
    for text in &malformed {
        std::fs::write(&patch, text).unwrap();
        let before = project.fingerprint();
        let finished = understudy.run(&project.path(), ["prove", "--patch", name, "--json"]);
        assert!(matches!(finished.code(), Some(0 | 8)), "{text:?}: {:?}\n{}", finished.status, finished.text());
        super::one_sentence(&finished, "");
        let report = finished.json();
        assert_ne!(report["verdict"], "verified", "{text:?}");
        assert_eq!(report["diff"], "", "{text:?}");
        support::assert_same(&before, &project.fingerprint());
    }
    std::fs::write(&patch, "").unwrap();
    refused(&understudy, &project, ["prove", "--patch", name], 0, "nothing to do");
}

#[test]
fn branches_and_revisions_that_do_not_exist_are_named() {
    let (project, understudy) = project();
    for name in ["nowhere", "--help", "", "main~99", "a..b"] {
        let before = project.fingerprint();
        let branch = format!("--branch={name}");
        let finished = understudy.run(&project.path(), ["prove", branch.as_str()]);
        assert_eq!(finished.code(), Some(2), "{name}: {}", finished.text());
        super::one_sentence(&finished, name);
        support::assert_same(&before, &project.fingerprint());
    }
    let finished = understudy.run(&project.path(), ["run", "fix warnings", "--base", "nowhere"]);
    assert!(matches!(finished.code(), Some(2 | 5)), "{:?}", finished.status);
    super::one_sentence(&finished, "nowhere");
}

#[test]
fn arguments_that_are_not_utf8_or_huge_are_refused() {
    let (project, understudy) = project();
    let odd = OsStr::from_bytes(b"fix \xFF");
    refused(&understudy, &project, [OsStr::new("run"), odd], 2, "UTF-8");
    refused(&understudy, &project, [OsStr::new("tasks"), OsStr::new("show"), odd], 2, "UTF-8");
    let huge = "x".repeat(120_000);
    let finished = refused(&understudy, &project, ["run", huge.as_str()], 2, "is not a task");
    assert!(finished.stderr.len() < 4000, "{} bytes are no sentence", finished.stderr.len());
    refused(&understudy, &project, ["frobnicate"], 2, "frobnicate");
}
