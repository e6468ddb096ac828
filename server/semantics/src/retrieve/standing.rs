//! Which files are searched, and how much what is found in them counts.
//!
//! Left out: files with a NUL byte near their beginning, lock files, minified ones (by name, or by lines of more than 500
//! bytes on average), and what lies in the folders of installed or built things. What was vendored or generated counts
//! less, and so do files that are not written in a programming language. Of a text of more than 256 KiB the beginning is
//! searched.

use task::TreePath;

use crate::syntax::Language;

/// Where NUL bytes and notes of generators are looked for.
const HEAD: usize = 8 << 10;
const LONG_LINES: usize = 500;

/// Of a longer text only the beginning is searched.
pub const MOST_SEARCHED: usize = 256 << 10;

const INSTALLED: &[&str] = &[".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", "site-packages", "venv"];
const BUILT: &[&str] = &[".next", ".nuxt", ".tox", "dist", "target"];
const VENDORED: &[&str] = &["external", "third-party", "third_party", "vendor", "vendored"];
const TESTS: &[&str] = &[
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "__tests__",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "e2e",
    "fixture",
    "fixtures",
    "fuzz",
    "mocks",
    "snapshots",
    "spec",
    "specs",
    "stress-test",
    "test",
    "test-data",
    "test-utils",
    "test_data",
    "test_suite",
    "test_utils",
    "testdata",
    "testing",
    "tests",
    "testsuite",
    "trybuild",
];
const BESIDE: &[&str] = &["changelog", "demo", "demos", "doc", "docs", "example", "examples", "samples", "website"];
const LOCKS: &[&str] = &[
    "bun.lockb",
    "cargo.lock",
    "composer.lock",
    "flake.lock",
    "gemfile.lock",
    "go.sum",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pdm.lock",
    "pipfile.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];
const PROSE: &[&str] = &["adoc", "markdown", "md", "rst", "txt"];
/// Programming languages without a grammar here: their words are searched all the same.
const OTHER_CODE: &[&str] = &[
    "bash", "c", "cc", "cljs", "clj", "cpp", "cs", "css", "cu", "cxx", "dart", "el", "elm", "erl", "ex", "exs", "fish",
    "fs", "gleam", "glsl", "h", "hcl", "hh", "hpp", "hs", "html", "java", "jl", "kt", "kts", "less", "lua", "m", "ml",
    "mli", "mm", "nim", "nix", "php", "pl", "pm", "proto", "ps1", "r", "rb", "sass", "scala", "scss", "sh", "sql",
    "svelte", "swift", "tf", "vim", "vue", "wgsl", "zig", "zsh",
];

/// What a file is to somebody who looks for code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Source,
    /// Configuration and data.
    Data,
    Test,
    /// Examples, documentation, change logs.
    Beside,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    pub role: Role,
    /// What the score of the file is multiplied with.
    pub weight: f64,
}

/// `None` for a file that is not searched.
pub fn standing(path: &TreePath, text: &[u8]) -> Option<Standing> {
    let head = &text[..text.len().min(HEAD)];
    let lower = String::from_utf8_lossy(path.as_bytes()).to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let folders: Vec<&str> = folders.split('/').collect();
    let within = |list: &[&str]| folders.iter().any(|folder| list.contains(folder));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_source = Language::of(path).is_some() || OTHER_CODE.contains(&ending);
    let left_out = head.contains(&0)
        || within(INSTALLED)
        || within(BUILT)
        || LOCKS.contains(&name)
        || [".min.js", ".min.css", ".map", ".lock"].iter().any(|end| name.ends_with(end))
        || is_source && has_long_lines(text);
    if left_out {
        return None;
    }
    let role = if is_test_folder(&folders) || is_test_name(name) {
        Role::Test
    } else if within(BESIDE) || PROSE.contains(&ending) {
        Role::Beside
    } else if is_source {
        Role::Source
    } else {
        Role::Data
    };
    let mut weight = match role {
        Role::Source => 1.0,
        Role::Test => 0.8,
        Role::Beside => 0.6,
        Role::Data => 0.5,
    };
    if within(VENDORED) {
        weight *= 0.5;
    }
    if is_generated(head) {
        weight *= 0.5;
    }
    Some(Standing { role, weight })
}

fn is_test_folder(folders: &[&str]) -> bool {
    folders.iter().any(|folder| TESTS.contains(folder) || folder.ends_with("-tests") || folder.ends_with("_tests"))
}

fn is_test_name(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let script = stem.rsplit_once('.').is_some_and(|(_, kind)| matches!(kind, "test" | "spec"));
    script
        || matches!(ending, "py" | "rs" | "go") && (stem.ends_with("_test") || stem.ends_with("_tests"))
        || matches!(ending, "py" | "rs") && (stem.starts_with("test_") || matches!(stem, "test" | "tests" | "conftest"))
        || ending == "snap"
}

fn has_long_lines(text: &[u8]) -> bool {
    text.len() > 5_000 && text.len() / LONG_LINES > text.iter().filter(|&&byte| byte == b'\n').count()
}

/// By the notes that generators leave in the first lines.
fn is_generated(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(1000)]);
    head.contains("@generated") || head.contains("DO NOT EDIT") || head.contains("Automatically generated")
}
