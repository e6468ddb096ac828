//! Licences of everything that is linked in on this platform. What cannot be shipped under MIT OR Apache-2.0 fails.

use super::{assert_none, metadata, packages, word};

/// Licences that ask for no more than a notice.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Packages that carry code of another origin than their own licence speaks of, each looked at by a person.
const CARRIED: [(&str, &str); 7] = [
    // GPL-2.0, with the exception that linking it into other programs puts no condition on those.
    ("libgit2-sys", "libgit2"),
    ("libsqlite3-sys", "SQLite, in the public domain"),
    ("libz-sys", "zlib, Zlib licence"),
    ("ring", "BoringSSL, ISC and Apache-2.0"),
    // Names a library so that only one version of it is ever linked; carries nothing.
    ("rayon-core", "nothing"),
    ("tree-sitter", "its own C, and headers of ICU, Unicode licence"),
    ("tree-sitter-language", "nothing"),
];

fn all() -> Vec<serde_json::Value> {
    let platform = format!("--filter-platform={}-unknown-linux-gnu", std::env::consts::ARCH);
    packages(&metadata(&[&platform])).to_vec()
}

/// Whether an SPDX expression can be satisfied with licences from the list. `/` is how older packages write OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let allowed = any(&mut rest);
    allowed && rest.is_empty()
}

fn any(words: &mut &[&str]) -> bool {
    let mut allowed = every(words);
    while take(words, "OR") {
        allowed |= every(words);
    }
    allowed
}

fn every(words: &mut &[&str]) -> bool {
    let mut allowed = one(words);
    while take(words, "AND") {
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut &[&str]) -> bool {
    if take(words, "(") {
        return any(words) & take(words, ")");
    }
    let Some((licence, rest)) = words.split_first() else { return false };
    *words = rest;
    let mut licence = (*licence).to_owned();
    if take(words, "WITH")
        && let Some((exception, rest)) = words.split_first()
    {
        *words = rest;
        licence = format!("{licence} WITH {exception}");
    }
    ALLOWED.contains(&licence.as_str())
}

fn take(words: &mut &[&str], word: &str) -> bool {
    let found = words.first() == Some(&word);
    if found {
        *words = &words[1..];
    }
    found
}

#[test]
fn every_dependency_may_be_shipped() {
    let packages = all();
    assert!(packages.len() > 100, "only {} packages: the list is not complete", packages.len());
    let refused = packages.iter().filter(|package| !is_allowed(word(package, "license")));
    let refused = refused.map(|package| format!("{}: {:?}", word(package, "name"), word(package, "license")));
    assert_none("these licences are not on the list", &refused.collect::<Vec<_>>());
}

#[test]
fn code_of_other_origin_was_looked_at() {
    let carries = |package: &&serde_json::Value| !package["links"].is_null();
    let packages = all();
    let unknown = packages.iter().filter(carries).map(|package| word(package, "name").to_owned());
    let unknown = unknown.filter(|name| !CARRIED.iter().any(|(known, _)| known == name));
    assert_none("these packages may carry foreign code; look and add them to the table", &unknown.collect::<Vec<_>>());
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    for good in ["MIT", "GPL-3.0 OR MIT", "Unlicense/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "Apache-2.0 WITH Other-exception", "MIT MIT"] {
        assert!(!is_allowed(bad), "{bad}");
    }
}
