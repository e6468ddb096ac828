//! Workspaces as repositories really lay them out.

use task::{CheckKind, Features, TreePath};

use crate::files::FileMap;
use crate::find::{Found, Wanted, find};
use crate::needed::{check, lock_inputs};

fn tree(files: &[(&str, &str)]) -> FileMap {
    FileMap(files.iter().map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec())).collect())
}

fn package(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n{more}")
}

fn found(files: &[(&str, &str)]) -> Found {
    find(&tree(files), Wanted::default())
}

fn ids(found: &Found, touched: &[&str]) -> Vec<String> {
    let touched: Vec<TreePath> = touched.iter().map(|path| path.parse().unwrap()).collect();
    found.checks_for(&touched).checks.into_iter().map(|check| check.id.0).collect()
}

#[test]
fn no_manifest_is_no_check_with_the_sentence() {
    let found = found(&[("src/main.py", "")]);
    let needed = found.checks_for(&["src/main.py".parse().unwrap()]);
    assert_eq!((needed.checks.len(), needed.nothing.as_deref()), (0, Some("there is no Cargo.toml")));
}

#[test]
fn members_come_by_pattern_by_path_and_without_the_excluded() {
    let found = found(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"tool\"]\nexclude = [\"crates/apart\"]"),
        ("crates/a/Cargo.toml", &package("a", "[dependencies]\ndeep = { path = \"../../deep/er\" }")),
        ("crates/apart/Cargo.toml", &package("apart", "")),
        ("deep/er/Cargo.toml", &package("deep", "")),
        ("tool/Cargo.toml", &package("tool", "")),
        ("tests/data/broken/Cargo.toml", &package("fixture", "")),
    ]);
    let names = |index: usize| found.workspaces[index].packages.iter().map(|it| it.name.as_str()).collect::<Vec<_>>();
    assert_eq!(found.workspaces.len(), 2);
    assert_eq!(names(0), ["a", "deep", "tool"]);
    assert_eq!(names(1), ["apart"]);
    assert_eq!(
        ids(&found, &["crates/apart/src/lib.rs"]),
        ["cargo build in crates/apart", "cargo test in crates/apart"]
    );
    // Test data belongs to the workspace around it.
    assert_eq!(ids(&found, &["tests/data/broken/src/lib.rs"]), ["cargo build", "cargo test"]);
    assert_eq!(ids(&found, &["README.md"]), ["cargo build", "cargo test"]);
}

#[test]
fn a_workspace_that_uses_a_changed_package_is_asked_too() {
    let found = found(&[
        ("a/Cargo.toml", &package("a", "")),
        ("b/Cargo.toml", &package("b", "[dependencies]\na = { path = \"../a\" }")),
        ("c/Cargo.toml", &package("c", "")),
    ]);
    assert_eq!(
        ids(&found, &["a/src/lib.rs"]),
        ["cargo build in a", "cargo test in a", "cargo build in b", "cargo test in b"]
    );
    assert_eq!(ids(&found, &["c/src/lib.rs"]), ["cargo build in c", "cargo test in c"]);
    // What nobody owns, anybody may include.
    assert_eq!(ids(&found, &["shared.txt"]).len(), 6);
}

#[test]
fn a_path_dependency_outside_makes_the_checks_unavailable() {
    let found = found(&[("Cargo.toml", &package("a", "[dependencies]\nb = { path = \"../b\" }"))]);
    let needed = found.all();
    assert_eq!(needed.unavailable.len(), 2);
    let reason = needed.unavailable.values().next().unwrap();
    assert_eq!(reason, "the path dependency b (../b) is outside the repository");
}

#[test]
fn features_that_make_no_difference_are_checked_once() {
    let plain = found(&[("Cargo.toml", &package("a", "[features]\ndefault = [\"x\"]\nx = []"))]);
    assert_eq!(plain.all().checks.len(), 2);
    let more = found(&[("Cargo.toml", &package("a", "[features]\nx = []"))]);
    let ids: Vec<String> = more.all().checks.into_iter().map(|check| check.id.0).collect();
    assert_eq!(ids, ["cargo build", "cargo build (all features)", "cargo test", "cargo test (all features)"]);
}

#[test]
fn clippy_judges_only_where_lints_are_the_task() {
    let files = tree(&[("Cargo.toml", &package("a", ""))]);
    let with = find(&files, Wanted { lints: true }).all();
    assert_eq!(with.checks.iter().filter(|check| check.kind == CheckKind::Lint).count(), 1);
}

#[test]
fn packages_are_those_that_own_what_is_touched() {
    let found = found(&[
        ("Cargo.toml", &(package("top", "") + "[workspace]\nmembers = [\"sub\"]")),
        ("sub/Cargo.toml", &package("sub", "")),
    ]);
    let of = |path: &str| found.checks_for(&[path.parse().unwrap()]).packages.into_iter().collect::<Vec<_>>();
    assert_eq!(of("src/lib.rs"), ["top"]);
    assert_eq!(of("sub/src/lib.rs"), ["sub"]);
}

#[test]
fn a_check_is_named_as_one_would_type_it() {
    let check = check(&Some("tools".parse().unwrap()), CheckKind::Test, Features::All);
    assert_eq!(check.id.0, "cargo test (all features) in tools");
    assert_eq!(check.command.join(" "), "cargo test --workspace --no-fail-fast --all-features");
}

#[test]
fn a_generated_lock_serves_until_a_manifest_changes() {
    let bare = tree(&[("Cargo.toml", &package("a", "")), ("src/lib.rs", "")]);
    let edited = tree(&[("Cargo.toml", &package("a", "")), ("src/lib.rs", "//")]);
    let other = tree(&[("Cargo.toml", &package("b", "")), ("src/lib.rs", "")]);
    assert_eq!(lock_inputs(&bare, &None), lock_inputs(&edited, &None));
    assert_ne!(lock_inputs(&bare, &None), lock_inputs(&other, &None));
    assert_eq!(lock_inputs(&tree(&[("Cargo.toml", ""), ("Cargo.lock", "")]), &None), None);
}
