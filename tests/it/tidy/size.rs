//! Small files and crates that cannot quietly grow.

use std::collections::BTreeMap;

use super::assert_none;
use super::sources::{Source, rust};

const FILE_CAP: usize = 500;
const MEDIAN_CAP: usize = 150;

/// Lines of Rust below `src`, tests in it included. These numbers may only fall; a crate that needs more room has to
/// give something away, and `agent` first of all, because everything wants to move there.
const CRATE_CAPS: [(&str, usize); 12] = [
    ("agent", 12000),
    ("bench", 3100),
    ("checks", 8000),
    ("journal", 1300),
    ("lsp", 7600),
    ("model", 3500),
    ("sandbox", 4500),
    ("semantics", 8300),
    ("support", 6300),
    ("task", 4800),
    ("understudy", 5600),
    ("worktree", 6800),
];

fn lines(source: &Source) -> usize {
    source.text.lines().count()
}

#[test]
fn no_file_is_longer_than_the_cap() {
    let long =
        rust().iter().filter(|source| lines(source) > FILE_CAP).map(|source| source.path.clone()).collect::<Vec<_>>();
    assert_none(&format!("these files have more than {FILE_CAP} lines"), &long);
}

#[test]
fn half_of_the_files_of_each_crate_are_short() {
    let mut crates: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for source in rust() {
        if let Some(package) = source.package().filter(|_| source.path.contains("/src/")) {
            crates.entry(package.to_owned()).or_default().push(lines(&source));
        }
    }
    let mut broken = Vec::new();
    for (package, mut lengths) in crates {
        lengths.sort_unstable();
        let median = lengths[lengths.len() / 2];
        if median >= MEDIAN_CAP {
            broken.push(format!("{package}: {median} lines"));
        }
    }
    assert_none(&format!("the median file of these crates has {MEDIAN_CAP} lines or more"), &broken);
}

#[test]
fn no_crate_outgrows_its_cap() {
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    for source in rust() {
        if let Some(package) = source.package().filter(|_| source.path.contains("/src/")) {
            *crates.entry(package.to_owned()).or_default() += lines(&source);
        }
    }
    let caps = BTreeMap::from(CRATE_CAPS);
    let over = crates.iter().filter_map(|(package, lines)| match caps.get(package.as_str()) {
        None => Some(format!("{package} has no cap")),
        Some(cap) => (lines > cap).then(|| format!("{package}: {lines} lines, cap {cap}")),
    });
    assert_none("these crates are too large", &over.collect::<Vec<_>>());
}
