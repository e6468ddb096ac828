//! Acceptance criteria that can be looked up instead of believed: `test NAME passes`. A test that failed at base and fails
//! here is a known failure for the checks; where it is what was asked for, it is not good enough.

use std::sync::LazyLock;

use regex::Regex;
use task::{Item, ItemResult, Receipt};

static FORM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^\s*(?:the\s+)?tests?\s+[`'\x22]?(.+?)[`'\x22]?\s+pass(?:es)?\.?\s*$").ok());

/// What a criterion came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Met {
    Yes,
    /// A sentence about what speaks against it, and the tests that do.
    No(String, Vec<Item>),
    /// Nothing that runs says so.
    Unknown,
}

/// Whether the receipts of a tree show a criterion.
pub(crate) fn met<'a>(criterion: &str, receipts: impl Iterator<Item = &'a Receipt>) -> Met {
    let Some(name) = named_in(criterion) else { return Met::Unknown };
    let mut found = false;
    let mut against: Vec<Item> = Vec::new();
    for receipt in receipts {
        for item in receipt.items.iter().filter(|item| item.is_test() && is_named(&item.id.path, name)) {
            found = true;
            if item.result != ItemResult::Passed && !against.iter().any(|other| other.id == item.id) {
                against.push(item.clone());
            }
        }
    }
    match (found, against.is_empty()) {
        (true, true) => Met::Yes,
        (true, false) => Met::No(format!("the test `{name}` does not pass"), against),
        (false, _) => Met::No(format!("no test called `{name}` ran"), Vec::new()),
    }
}

/// Whether a criterion asks for this very test.
pub(crate) fn asks_for(criterion: &str, item: &Item) -> bool {
    item.is_test() && named_in(criterion).is_some_and(|name| is_named(&item.id.path, name))
}

fn named_in(criterion: &str) -> Option<&str> {
    FORM.as_ref()?.captures(criterion)?.get(1).map(|name| name.as_str())
}

/// A test is named by its whole path, or by the end of it.
fn is_named(path: &str, name: &str) -> bool {
    path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with("::") || before.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_in_several_ways() {
        let form = FORM.as_ref().unwrap();
        for text in ["test a::b passes", "Test `a::b` passes.", "the test 'a::b' passes", "tests a::b pass"] {
            assert_eq!(&form.captures(text).unwrap()[1], "a::b", "{text}");
        }
        assert!(form.captures("every endpoint asks for a token").is_none());
        assert!(is_named("users.test.js::GET /users::has 20 a page", "has 20 a page"));
        assert!(!is_named("a::has 120 a page", "20 a page2"));
    }
}
