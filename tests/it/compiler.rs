//! The compiler engine through the whole product, on the crate that `try` shows: semver as its author published it.

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Finished, Project, Understudy, assert_same, repository};

fn understudy() -> Understudy {
    Understudy::new(env!("CARGO_BIN_EXE_understudy"))
}

pub fn semver() -> Project {
    let project = Project::new("");
    copy(&repository().join("server/understudy/sample"), &project.path());
    project.committed()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

/// Runs a task, sees to it that nothing of the developer's changed, and answers with its report.
fn run(project: &Project, understudy: &Understudy, task: &str, code: i32) -> Value {
    let before = project.fingerprint();
    let report = understudy.run(&project.path(), ["run", task, "--json"]).ended_with(code).json();
    assert_same(&before, &project.fingerprint());
    report
}

fn apply(project: &Project, understudy: &Understudy, report: &Value) -> Finished {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (id, tree) = (text(&report["task"]["id"]), text(&report["tree"]));
    understudy.run(&project.path(), ["tasks", "apply", &id, "--tree", &tree]).ended_with(0)
}

fn diff(report: &Value) -> &str {
    report["diff"].as_str().unwrap()
}

#[test]
fn a_method_is_renamed_by_meaning_in_code_doc_links_and_doc_tests() {
    let (project, understudy) = (semver(), understudy());
    let report = run(&project, &understudy, "rename `VersionReq::matches` to `accepts`", 0);
    assert_eq!(report["verdict"], "verified");
    apply(&project, &understudy, &report);
    let lib = project.text("src/lib.rs");
    assert!(lib.contains("pub fn accepts(&self, version: &Version) -> bool"), "{lib}");
    // The method of the same name of another type stays, with its own uses.
    assert_eq!(lib.matches("pub fn matches(&self, version: &Version) -> bool").count(), 1);
    assert!(project.text("tests/test_version_req.rs").contains("req.accepts(&parsed)"), "{}", diff(&report));
    assert!(project.text("README.md").contains("req.accepts(&version)") || has_limitation(&report, "README.md"));
    understudy.assert_nothing_left();
}

fn has_limitation(report: &Value, path: &str) -> bool {
    report["limitations"].as_array().unwrap().iter().any(|it| it["path"] == path)
}

#[test]
fn a_module_is_renamed_with_its_file() {
    let (project, understudy) = (semver(), understudy());
    let report = run(&project, &understudy, "rename eval to evaluation", 0);
    assert_eq!(report["verdict"], "verified", "{}", diff(&report));
    apply(&project, &understudy, &report);
    assert!(!project.path().join("src/eval.rs").exists());
    assert!(project.text("src/lib.rs").contains("mod evaluation;"));
    assert!(project.path().join("src/evaluation.rs").exists());
}

#[test]
fn a_name_that_means_several_things_or_none_is_a_question() {
    let (project, understudy) = (semver(), understudy());
    let several = run(&project, &understudy, "rename matches to accepts", 7);
    let options = several["question"]["options"].to_string();
    assert!(options.contains("VersionReq::matches") && options.contains("Comparator::matches"), "{options}");
    // Each answer is a task that means only one of them.
    let mut lines = Vec::new();
    for option in several["question"]["options"].as_array().unwrap() {
        let report = run(&project, &understudy, option.as_str().unwrap(), 0);
        assert_eq!(report["verdict"], "verified", "{option}");
        lines.push(report["hunks"][0]["base_start"].clone());
    }
    assert_eq!(lines.len(), 2);
    assert_ne!(lines[0], lines[1]);
    let wrong = run(&project, &understudy, "rename matches at src/lib.rs:1:1 to accepts", 4);
    assert!(wrong["reasons"].to_string().contains("is not called `matches`"), "{}", wrong["reasons"]);
    let none = run(&project, &understudy, "rename VersionReq::match to accepts", 7);
    assert!(none["question"]["options"].to_string().contains("VersionReq::matches"), "{none}");
}

#[test]
fn a_name_that_cannot_be_given_is_refused_with_the_reason() {
    let (project, understudy) = (semver(), understudy());
    for (task, why) in
        [("rename VersionReq::matches to parse", "parse"), ("rename Comparator to VersionReq", "VersionReq")]
    {
        let report = run(&project, &understudy, task, 4);
        assert!(report["reasons"].to_string().contains(why), "{task}: {}", report["reasons"]);
        assert_eq!(diff(&report), "");
    }
}

#[test]
fn an_import_that_was_dropped_comes_back() {
    let (project, understudy) = (semver(), understudy());
    project.replace("src/error.rs", "use crate::parse::Error;\n", "");
    project.commit("Drop an import");
    let report = run(&project, &understudy, "fix errors", 0);
    assert_eq!(report["verdict"], "verified", "{report}");
    assert!(
        diff(&report).contains("+use crate::parse::Error;") || diff(&report).contains("Error"),
        "{}",
        diff(&report)
    );
}

#[test]
fn calls_are_replaced_by_structure_and_not_by_text() {
    let (project, understudy) = (semver(), understudy());
    let task = "replace eval::matches_req($requirement, $version) ==>> eval::matches_req(&*$requirement, $version)";
    let report = run(&project, &understudy, task, 0);
    assert_eq!(report["verdict"], "verified", "{report}");
    assert!(diff(&report).contains("+        eval::matches_req(&*self, version)"), "{}", diff(&report));
    assert_eq!(report["hunks"].as_array().unwrap().len(), 1, "{}", diff(&report));
}

#[test]
fn a_replacement_that_changes_no_byte_is_nothing_to_do() {
    let (project, understudy) = (semver(), understudy());
    let task =
        "replace eval::matches_req($requirement, $version) ==>> crate::eval::matches_req($requirement, $version)";
    assert_eq!(run(&project, &understudy, task, 0)["verdict"], "nothing to do");
}
