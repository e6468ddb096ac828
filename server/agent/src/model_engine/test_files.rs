//! Which files are on the side of tests, by their path and, where that alone does not say it, by what stands in them.

use std::sync::LazyLock;

use regex::Regex;
use task::TreePath;

/// Folders whose files are tests or what tests are judged by.
const FOLDERS: [&str; 14] = [
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "cypress",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "__snapshots__",
    "__mocks__",
];

/// Files that decide how tests run, whole: `vitest.config.ts` begins like one of them.
const RUNNERS: [&str; 18] = [
    "conftest.",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "sitecustomize.py",
    "usercustomize.py",
    "vitest.",
    "vite.config.",
    "jest.config.",
    "jest.setup.",
    "setuptests.",
    ".mocharc",
    "babel.config.",
    ".babelrc",
    "playwright.config.",
    "cypress.config.",
    "karma.conf.",
];

static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"#\[(?:\w+::)*test\b|\bdef\s+test|\bclass\s+Test|\bunittest\b|\b(?:describe|it|test)(?:\.\w+)*\s*\(")
        .ok()
});

/// Whether a file is one of tests, or one that tests are judged by, by its path alone.
pub(crate) fn is_test(path: &TreePath) -> bool {
    let text = path.to_string().to_lowercase();
    let name = text.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    let word = name.rsplit_once('.').map_or(name, |(word, _)| word);
    text.split('/').rev().skip(1).any(|part| FOLDERS.contains(&part))
        || stem == "tests"
        || ["test_", "test-"].iter().any(|start| stem.starts_with(start))
        || ["_test", "_tests", "-test", "-tests", "_spec", "-spec"].iter().any(|end| stem.ends_with(end))
        || [".test", ".tests", ".spec", ".cy", ".e2e", ".snap"].iter().any(|end| word.ends_with(end))
        || name.ends_with(".snap")
        || stem == "conftest"
}

/// The same for names that programs have as well: there it takes a test inside.
pub(crate) fn is_test_inside(path: &TreePath, text: &str) -> bool {
    let path = path.to_string().to_lowercase();
    let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    (matches!(stem, "test" | "spec") || stem.starts_with("check_") || stem.starts_with("check-"))
        && TEST.as_ref().is_some_and(|sign| sign.is_match(text))
}

/// Whether a file that has results of tests holds nothing but tests: parts of a program may bring their own.
pub(crate) fn is_nothing_but_tests(path: &TreePath, text: &str) -> bool {
    let exports = |line: &str| line.starts_with("export ") || line.contains("module.exports");
    if path.as_bytes().ends_with(b".py") {
        TEST.as_ref().is_some_and(|sign| sign.is_match(text))
    } else {
        !text.contains("import.meta.vitest") && !text.lines().any(exports)
    }
}

/// Whether a file decides how tests run.
pub(crate) fn is_of_a_runner(path: &TreePath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_lowercase();
    RUNNERS.iter().any(|start| name.starts_with(start))
}

/// Whether a file is an installed package's. Those are no part of a change.
pub(crate) fn is_installed(path: &TreePath) -> bool {
    path.components().any(|part| part == b"node_modules")
}

/// Whether a file is source text of a program.
pub(crate) fn is_code(path: &TreePath) -> bool {
    const ENDINGS: [&str; 17] = [
        "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "pyi", "rs", "go", "c", "h", "cpp", "vue", "svelte",
    ];
    let name = String::from_utf8_lossy(path.file_name());
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        text.parse().unwrap()
    }

    #[test]
    fn test_files_are_known_by_their_path() {
        for name in [
            "tests/a.rs",
            "src/__tests__/a.js",
            "a.test.ts",
            "test_users.py",
            "x/users_test.go",
            "web/a.spec.tsx",
            "src/mean-test.js",
            "src/tests.rs",
            "test-x.js",
            "app/tests.py",
            "web/login.cy.ts",
            "e2e/login.ts",
            "fixtures/expected.json",
            "src/__snapshots__/a.snap",
        ] {
            assert!(is_test(&path(name)), "{name}");
        }
        for name in
            ["src/testing.rs", "src/latest.js", "contest.py", "src/attest/a.rs", "src/test.rs", "check_links.py"]
        {
            assert!(!is_test(&path(name)), "{name}");
        }
    }

    #[test]
    fn where_the_name_says_too_little_the_text_does() {
        assert!(is_test_inside(&path("test.js"), "test('adds', () => {});"));
        assert!(is_test_inside(&path("checks/check_mean.py"), "def test_empty():\n"));
        assert!(!is_test_inside(&path("src/test.rs"), "pub fn run() {}"));
        assert!(!is_test_inside(&path("check_links.py"), "def main():\n"));
        assert!(is_nothing_but_tests(&path("src/a.js"), "import a from './b.js';\ntest('a', () => {});"));
        assert!(!is_nothing_but_tests(&path("src/a.js"), "export const a = 1;\nif (import.meta.vitest) {}"));
        assert!(!is_nothing_but_tests(&path("src/mean.py"), "def mean():\n    '''>>> 1\n    1'''"));
    }

    #[test]
    fn files_that_decide_how_tests_run_are_known() {
        for name in
            ["conftest.py", "pytest.ini", "vitest.config.ts", "a/vite.config.mjs", ".mocharc.yml", "src/setupTests.ts"]
        {
            assert!(is_of_a_runner(&path(name)), "{name}");
        }
        assert!(!is_of_a_runner(&path("src/config.ts")) && !is_of_a_runner(&path("package.json")));
    }
}
