//! Machines that lack what is needed.

use std::fs;

use support::{Project, assert_same};

use super::{one_sentence, project};
use crate::crash::{mounted, text};

/// Hides bubblewrap behind something that is no program, in a mount namespace of this command alone.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null \"$(command -v bwrap)\"";

#[test]
fn without_bubblewrap_nothing_runs_and_the_remedy_is_said() {
    let (project, understudy) = project();
    let before = project.fingerprint();
    let run = ["run", "fix warnings", "--json"];
    let Some(finished) = mounted(&understudy, &project.path(), WITHOUT_BUBBLEWRAP, &run) else { return };
    let finished = finished.ended_with(5);
    one_sentence(&finished, "bwrap");
    one_sentence(&finished, "install it");
    assert_eq!(finished.json()["verdict"], "infrastructure");

    project.replace("src/lib.rs", "let mut sum", "let sum");
    let finished = mounted(&understudy, &project.path(), WITHOUT_BUBBLEWRAP, &["prove", "--json"]).unwrap();
    let report = finished.ended_with(3).json();
    assert_eq!(report["verdict"], "not verified");
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["verdict"] == "unavailable"), "{report}");
    assert!(report["diff"].as_str().unwrap().contains("+    let sum"), "{report}");

    let doctor = mounted(&understudy, &project.path(), WITHOUT_BUBBLEWRAP, &["doctor"]).unwrap().ended_with(5);
    one_sentence(&doctor, "bwrap");
    assert_same(&before.without("src"), &project.fingerprint().without("src"));
}

/// A change in a project of its own, judged where the toolchain that it asks for is missing.
fn unavailable(change: impl FnOnce(&Project), variables: &[(&str, &str)], part: &str) {
    let (project, understudy) = project();
    change(&project);
    project.commit("Prepare");
    project.replace("src/lib.rs", "let mut sum", "let sum");
    let before = project.fingerprint();
    let finished = understudy.start_with(&project.path(), ["prove", "--json"], variables).finish().ended_with(3);
    one_sentence(&finished, part);
    let report = finished.json();
    assert_eq!(report["verdict"], "not verified");
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["verdict"] == "unavailable"), "{report}");
    assert!(text(&checks[0]["reason"]).contains(part), "{report}");

    let finished = understudy.start_with(&project.path(), ["run", "fix warnings", "--json"], variables).finish();
    assert!(matches!(finished.code(), Some(4 | 5)), "{:?}", finished.status);
    one_sentence(&finished, part);
    assert_same(&before, &project.fingerprint());
}

#[test]
fn a_toolchain_that_is_not_installed_is_named() {
    unavailable(|project| project.write("rust-toolchain", "1.0.0\n"), &[], "1.0.0");
}

/// A path in a repository would be a compiler of the repository's own.
#[test]
fn a_toolchain_at_a_path_is_refused() {
    let pinned = "[toolchain]\npath = \"/tmp/mine\"\n";
    unavailable(|project| project.write("rust-toolchain.toml", pinned), &[], "path");
}

#[test]
fn a_toolchain_file_that_cannot_be_read_is_named() {
    unavailable(|project| project.write("rust-toolchain.toml", "[toolchain\n"), &[], "rust-toolchain");
}

#[test]
fn a_machine_without_a_toolchain_says_how_to_get_one() {
    let empty = tempfile::tempdir().unwrap();
    fs::create_dir(empty.path().join("bin")).unwrap();
    let folder = empty.path().to_str().unwrap();
    let variables = [("RUSTUP_HOME", folder), ("CARGO_HOME", folder), ("PATH", folder)];
    unavailable(|_| {}, &variables, "rustup");
}
