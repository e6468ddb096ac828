//! Folders that are none, or hold nothing to work on.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use support::Project;

use super::{project, refused};

/// Each way to ask for work on a folder.
fn in_each_way(project: &Project, repo: &str, part: &str) {
    let understudy = crate::crash::understudy();
    for words in [&["run", "fix warnings"][..], &["prove"], &["doctor"]] {
        refused(&understudy, project, words.iter().copied().chain(["--repo", repo]), 2, part);
    }
    assert!(!understudy.state().exists(), "nothing is made for what cannot be worked on");
}

#[test]
fn a_folder_that_is_none_is_named() {
    let (project, _) = project();
    in_each_way(&project, "no/such/place", "no/such/place is not a folder");
    in_each_way(&project, "src/lib.rs", "src/lib.rs is not a folder");
}

#[test]
fn a_bare_repository_has_no_files_to_work_on() {
    let (project, _) = project();
    let bare = project.beside("bare.git");
    project.git(["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    in_each_way(&project, bare.to_str().unwrap(), "is a bare git repository");
}

#[test]
fn a_folder_name_that_is_not_utf8_is_refused() {
    let (project, understudy) = project();
    let odd = project.beside("x").with_file_name(std::ffi::OsStr::from_bytes(b"caf\xE9"));
    fs::create_dir(&odd).unwrap();
    let words: [&std::ffi::OsStr; 4] = ["run".as_ref(), "fix warnings".as_ref(), "--repo".as_ref(), odd.as_ref()];
    refused(&understudy, &project, words, 2, "is not UTF-8");
}

#[test]
fn where_nothing_checks_the_project_a_change_is_not_verified() {
    let project = Project::new("-- notes.txt --\none\n").committed();
    let understudy = crate::crash::understudy();
    project.write("notes.txt", "two\n");
    let report = refused(&understudy, &project, ["prove", "--json"], 3, "Cargo").json();
    assert_eq!(report["verdict"], "not verified");
    assert!(report["diff"].as_str().unwrap().contains("+two"), "{report}");
}

#[test]
fn where_nothing_checks_the_project_there_are_no_warnings_to_mend() {
    let project = Project::new("-- notes.txt --\none\n").committed();
    let understudy = crate::crash::understudy();
    let finished = refused(&understudy, &project, ["run", "fix warnings", "--json"], 3, "Cargo.toml");
    assert_eq!(finished.json()["verdict"], "not verified");
}

#[test]
fn an_empty_repository_and_an_empty_folder_are_said() {
    let understudy = crate::crash::understudy();
    let folder = Project::new("");
    refused(&understudy, &folder, ["run", "fix warnings", "--json"], 3, "Cargo.toml");
    // Without a commit there is nothing that the folder could be proved against.
    let finished = understudy.run(&folder.path(), ["prove", "--json"]);
    assert!(matches!(finished.code(), Some(2 | 5)), "{:?}", finished.status);
    super::one_sentence(&finished, "HEAD");
    folder.git(["init", "--quiet", "--initial-branch=main"]);
    refused(&understudy, &folder, ["run", "fix warnings", "--json"], 3, "Cargo.toml");
    let finished = understudy.run(&folder.path(), ["prove", "--json"]);
    assert!(matches!(finished.code(), Some(0 | 2 | 5)), "{:?} {}", finished.status, finished.text());
    super::one_sentence(&finished, "");
}

#[test]
fn a_project_that_does_not_compile_is_no_place_to_mend_warnings_and_says_why() {
    let (project, understudy) = project();
    project.replace("src/lib.rs", "pub fn add(", "pub fn add((");
    let finished = refused(&understudy, &project, ["run", "fix warnings", "--json"], 4, "does not build at base");
    assert_eq!(finished.json()["verdict"], "stopped");
}

/// What does not build at base is no excuse: a library has to build in the end.
#[test]
fn a_change_in_a_project_that_does_not_compile_is_not_verified() {
    let (project, understudy) = project();
    project.replace("src/lib.rs", "pub fn add(", "pub fn add((");
    project.commit("Break");
    project.write("src/lib.rs", project.text("src/lib.rs").replace("number * 2", "2 * number"));
    let report = refused(&understudy, &project, ["prove", "--json"], 3, "lib").json();
    assert_eq!(report["verdict"], "not verified");
}

#[test]
fn a_manifest_that_cannot_be_read_is_quoted() {
    let (project, understudy) = project();
    project.write("Cargo.toml", "[package\n");
    let report = refused(&understudy, &project, ["prove", "--json"], 3, "Cargo.toml").json();
    assert_eq!(report["verdict"], "not verified");
}
