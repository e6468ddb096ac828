//! Who may know whom: the table of crates in ARCHITECTURE.md, held against the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::{assert_none, metadata, packages, word};

/// Each crate with those of our own crates that it uses, all of them.
const ARROWS: [(&str, &[&str]); 12] = [
    ("task", &[]),
    ("journal", &["task"]),
    ("worktree", &["task"]),
    ("sandbox", &[]),
    ("semantics", &["sandbox", "task"]),
    ("checks", &["sandbox", "task"]),
    ("model", &["task"]),
    ("agent", &["checks", "sandbox", "task", "worktree"]),
    ("bench", &["agent", "journal", "model", "sandbox", "task", "worktree"]),
    ("lsp", &["agent", "task"]),
    (
        "understudy",
        &["agent", "bench", "checks", "journal", "lsp", "model", "sandbox", "semantics", "task", "worktree"],
    ),
    ("support", &[]),
];

/// What tests may use on top of that: the journal is real in them, like everything that a temporary folder can hold.
const ARROWS_OF_TESTS: [(&str, &str); 11] = [
    ("agent", "journal"),
    ("agent", "model"),
    ("agent", "support"),
    ("checks", "support"),
    ("lsp", "journal"),
    ("lsp", "support"),
    ("model", "support"),
    ("sandbox", "support"),
    ("semantics", "support"),
    ("understudy", "journal"),
    ("understudy", "support"),
];

/// Libraries that stay in one room, with the crates that may name them. A `*` stands for any ending.
const CONFINED: [(&str, &[&str]); 14] = [
    ("git2", &["worktree"]),
    ("libc", &["sandbox"]),
    ("linux-keyutils", &["understudy"]),
    ("lsp-types", &["lsp", "semantics"]),
    ("ra_ap_*", &["semantics"]),
    ("reqwest", &["model"]),
    ("rmcp", &["mcp"]),
    ("rusqlite", &["journal"]),
    // The journal sends itself SIGKILL at a crash point; tests send signals.
    ("rustix", &["journal", "sandbox", "semantics", "support", "worktree"]),
    ("salsa*", &["semantics"]),
    ("seccompiler", &["sandbox"]),
    ("similar", &["worktree"]),
    ("tower-lsp*", &["lsp"]),
    ("tree-sitter*", &["semantics"]),
];

fn ours() -> Vec<Value> {
    packages(&metadata(&["--no-deps"])).to_vec()
}

fn dependencies(package: &Value) -> impl Iterator<Item = (&str, bool, &Value)> {
    let all = package["dependencies"].as_array().unwrap();
    all.iter().map(|dependency| (word(dependency, "name"), dependency["kind"] == "dev", dependency))
}

fn is_confined(library: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => library.starts_with(start),
        None => library == pattern,
    }
}

#[test]
fn crates_use_exactly_the_crates_of_the_table() {
    let arrows = BTreeMap::from(ARROWS);
    let packages = ours();
    let names: BTreeSet<_> = packages.iter().map(|package| word(package, "name")).collect();
    let mut broken = Vec::new();
    for package in &packages {
        let name = word(package, "name");
        let used: BTreeSet<_> = dependencies(package)
            .filter(|(used, dev, _)| !dev && names.contains(used))
            .map(|(used, ..)| used)
            .collect();
        let expected = arrows.get(name).map(|arrows| arrows.iter().copied().collect::<BTreeSet<_>>());
        if expected.as_ref() != Some(&used) {
            broken.push(format!("{name} uses {used:?}, the table says {expected:?}"));
        }
        for (used, _, _) in dependencies(package).filter(|(used, dev, _)| *dev && names.contains(used)) {
            if !ARROWS_OF_TESTS.contains(&(name, used)) {
                broken.push(format!("the tests of {name} use {used}"));
            }
        }
    }
    assert_none("the arrows between crates are law", &broken);
}

#[test]
fn libraries_stay_in_their_rooms() {
    let mut broken = Vec::new();
    for package in &ours() {
        let name = word(package, "name");
        for (library, _, dependency) in dependencies(package) {
            let rooms = CONFINED.iter().filter(|(pattern, _)| is_confined(library, pattern));
            broken.extend(
                rooms
                    .filter(|(_, rooms)| !rooms.contains(&name))
                    .map(|(_, rooms)| format!("{name} names {library}, which belongs to {rooms:?}")),
            );
            if (name, library, dependency["kind"].is_null()) == ("journal", "rustix", true) {
                assert_eq!(dependency["optional"], true, "journal needs rustix for crash points alone");
            }
        }
    }
    assert_none("these libraries are confined", &broken);
}

#[test]
fn members_are_listed_by_name_and_never_published() {
    let manifest = std::fs::read_to_string(support::repository().join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    assert!(!members.contains('*'), "members are listed by name:{members}");
    let mut broken = Vec::new();
    for package in &ours() {
        let name = word(package, "name");
        let folder = Path::new(word(package, "manifest_path")).parent().unwrap();
        if folder.file_name() != Some(name.as_ref()) {
            broken.push(format!("{name} lies in {}", folder.display()));
        }
        if package["publish"] != Value::Array(Vec::new()) {
            broken.push(format!("{name} lacks `publish.workspace = true`"));
        }
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        if !manifest.contains("[lints]\nworkspace = true") {
            broken.push(format!("{name} does not take the lints of the workspace"));
        }
    }
    assert_none("folder = package, and none is published", &broken);
}
