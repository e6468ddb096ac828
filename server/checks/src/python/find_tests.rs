//! Python projects as repositories really lay them out.

use crate::files::FileMap;
use crate::find::{Wanted, find};

fn commands(files: &[&str]) -> Vec<String> {
    let files = FileMap(files.iter().map(|path| (path.parse().unwrap(), Vec::new())).collect());
    let checks = find(&files, Wanted::default()).all().checks;
    checks.into_iter().map(|check| format!("{}: {}", check.id, check.command.join(" "))).collect()
}

#[test]
fn projects_with_tests_are_found_and_others_are_not() {
    assert_eq!(commands(&["pyproject.toml", "src/a.py"]), Vec::<String>::new());
    assert_eq!(commands(&["pyproject.toml", "src/a.py", "tests/unit/test_a.py"]), ["pytest: python -m pytest"]);
    // Without a manifest: the folder above the tests.
    assert_eq!(commands(&["tools/a.py", "tools/tests/test_a.py"]), ["pytest in tools: python -m pytest"]);
    assert_eq!(commands(&["a_test.py"]), ["pytest: python -m pytest"]);
}

#[test]
fn a_project_in_another_is_run_in_its_own_folder() {
    assert_eq!(
        commands(&["setup.py", "tests/test_a.py", "libs/b/pyproject.toml", "libs/b/test_b.py"]),
        ["pytest: python -m pytest --ignore=libs/b", "pytest in libs/b: python -m pytest"]
    );
}
