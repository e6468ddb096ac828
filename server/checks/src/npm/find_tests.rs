//! Packages as repositories really lay them out.

use std::collections::BTreeMap;

use task::TreePath;

use crate::files::FileMap;
use crate::find::{Found, Wanted, find};

fn found(files: &[(&str, &str)]) -> Found {
    let files = FileMap(files.iter().map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec())).collect());
    find(&files, Wanted::default())
}

fn ids(found: &Found, touched: &str) -> Vec<String> {
    let touched: TreePath = touched.parse().unwrap();
    found.checks_for([&touched]).checks.into_iter().map(|check| check.id.0).collect()
}

fn commands(found: &Found) -> BTreeMap<String, String> {
    found.all().checks.into_iter().map(|check| (check.id.0, check.command.join(" "))).collect()
}

#[test]
fn runners_are_known_by_the_script_or_by_what_is_installed() {
    let found = found(&[
        ("package.json", r#"{"scripts": {"test": "npm test --workspaces"}, "devDependencies": {"typescript": "5"}}"#),
        ("tsconfig.json", r#"{"files": [], "references": [{"path": "web"}]}"#),
        ("api/package.json", r#"{"scripts": {"test": "NODE_ENV=test node --test test/*.js"}}"#),
        ("web/package.json", r#"{"devDependencies": {"vitest": "3"}}"#),
        ("web/tsconfig.json", "{}"),
        ("cli/package.json", "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}"),
        ("web/node_modules/x/package.json", r#"{"scripts": {"test": "jest"}}"#),
        ("broken/package.json", "{"),
    ]);
    let wanted = [
        // The same words in every tree, whatever files there are.
        ("node --test in api", "NODE_ENV=test node --test test/*.js"),
        ("tsc", "npx tsc --noEmit -p web"),
        ("tsc in web", "npx tsc --noEmit"),
        ("vitest in web", "npx vitest run"),
    ];
    assert_eq!(commands(&found), wanted.map(|(id, command)| (id.to_owned(), command.to_owned())).into());
    assert_eq!(ids(&found, "web/src/a.ts"), ["tsc in web", "vitest in web"]);
    assert_eq!(ids(&found, "cli/src/a.ts"), ["tsc"]);
}

#[test]
fn a_script_that_is_not_understood_is_owed_and_cannot_be_run() {
    let found = found(&[("package.json", r#"{"scripts": {"test": "ava"}}"#), ("a.js", "")]);
    let needed = found.checks_for(&["a.js".parse().unwrap()]);
    assert_eq!(needed.checks.len(), 1);
    let reason = &needed.unavailable[&needed.checks[0].id];
    assert_eq!(reason, "`npm test` runs `ava`: results are read from `node --test`, vitest, jest and mocha only");
}

#[test]
fn a_file_is_judged_by_the_innermost_owner_and_by_its_own_language() {
    let found = found(&[
        ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\""),
        ("web/package.json", r#"{"devDependencies": {"jest": "29"}}"#),
        ("tests/test_a.py", ""),
        ("web/fixtures/app/package.json", r#"{"devDependencies": {"jest": "29"}}"#),
    ]);
    assert_eq!(ids(&found, "web/fixtures/app/a.js"), ["jest in web"]);
    assert_eq!(ids(&found, "web/index.html"), ["jest in web"]);
    assert_eq!(ids(&found, "web/build.rs"), ["cargo build", "cargo test", "jest in web"]);
    // Of two at the top each is asked about its own language, Cargo about everything, and both about what is neither's.
    let both = [("Cargo.toml", "[package]\nname = \"a\""), ("package.json", r#"{"devDependencies": {"jest": "29"}}"#)];
    let both = self::found(&both);
    assert_eq!(ids(&both, "src/lib.rs"), ["cargo build", "cargo test"]);
    assert_eq!(ids(&both, "src/a.ts"), ["cargo build", "cargo test", "jest"]);
    assert_eq!(ids(&both, "data.json"), ["cargo build", "cargo test", "jest"]);
    // Tests beside a project of another language are theirs who write that language, unless a manifest says more.
    assert_eq!(ids(&found, "README.md"), ["cargo build", "cargo test"]);
    assert_eq!(ids(&found, "tests/test_a.py"), ["cargo build", "cargo test", "pytest"]);
}

#[test]
fn a_package_that_uses_what_changed_is_asked_too() {
    let found = found(&[
        ("core/package.json", r#"{"name": "core", "devDependencies": {"jest": "29"}}"#),
        ("mid/package.json", r#"{"name": "mid", "dependencies": {"core": "*"}}"#),
        ("app/package.json", r#"{"devDependencies": {"vitest": "3", "mid": "file:../mid"}}"#),
    ]);
    assert_eq!(ids(&found, "core/a.js"), ["vitest in app", "jest in core"]);
    assert_eq!(ids(&found, "app/a.js"), ["vitest in app"]);
    assert_eq!(found.projects.len(), 2);
}
