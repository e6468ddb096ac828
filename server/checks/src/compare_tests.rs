//! The rules of comparison, one by one, and what must hold of any two receipts.

use proptest::prelude::*;
use task::{
    CheckKind, Comparison, Digest, Features, Item, ItemId, ItemKind, ItemResult, Receipt, SandboxLevel, Signature,
    UnixMillis, Verdict,
};

use crate::compare::{Renames, compare};
use crate::needed::check;
use crate::order::{OWN_HARNESS, PROCESS};

pub(crate) fn id(target: &str, path: &str) -> ItemId {
    ItemId { package: "demo".into(), target: target.into(), path: path.into() }
}

pub(crate) fn item(kind: ItemKind, target: &str, path: &str, result: ItemResult, said: &str) -> Item {
    let bad = !matches!(result, ItemResult::Passed | ItemResult::Ignored);
    let signature = bad.then(|| Signature(said.to_owned()));
    Item { id: id(target, path), kind, result, signature, at: None, excerpt: String::new() }
}

fn test(path: &str, result: ItemResult) -> Item {
    item(ItemKind::Test, "lib", path, result, "panic")
}

fn target(name: &str, result: ItemResult) -> Item {
    item(ItemKind::Target, name, "", result, "E0308")
}

pub(crate) fn receipt(kind: CheckKind, items: Vec<Item>) -> Receipt {
    let bad = items.iter().any(|item| matches!(item.result, ItemResult::Failed | ItemResult::NoResult));
    Receipt {
        tree: "0".repeat(40).parse().unwrap(),
        check: check(&None, kind, Features::Default),
        environment: Digest::of(["environment"]),
        sandbox: SandboxLevel::Bubblewrap,
        verdict: if bad { Verdict::Failed } else { Verdict::Passed },
        reason: None,
        items,
        read: Vec::new(),
        exit_code: Some(0),
        output: Vec::new(),
        started: UnixMillis(0),
        rewritten: Vec::new(),
        duration_ms: 0,
        configuration: None,
    }
}

fn tests(base: Vec<Item>, here: Vec<Item>) -> Comparison {
    compare(&receipt(CheckKind::Test, base), &receipt(CheckKind::Test, here), &Renames::new())
}

fn builds(base: Vec<Item>, here: Vec<Item>) -> Comparison {
    compare(&receipt(CheckKind::Build, base), &receipt(CheckKind::Build, here), &Renames::new())
}

use ItemResult::{Failed, Ignored, NoResult, Passed};

#[test]
fn a_failure_that_the_base_shows_too_is_known_and_one_that_is_not_there_is_new() {
    let same = tests(vec![test("a", Failed)], vec![test("a", Failed)]);
    assert_eq!((same.verdict, same.known_failures.len()), (Verdict::KnownFailure, 1));
    let other = tests(vec![test("a", Failed)], vec![item(ItemKind::Test, "lib", "a", Failed, "another panic")]);
    assert_eq!((other.verdict, other.new_failures.len()), (Verdict::Failed, 1));
    let fixed = tests(vec![test("a", Failed)], vec![test("a", Passed)]);
    assert_eq!((fixed.verdict, fixed.fixed.len()), (Verdict::Passed, 1));
}

#[test]
fn another_environment_or_command_knows_no_failure() {
    let base = receipt(CheckKind::Test, vec![test("a", Failed)]);
    let mut here = base.clone();
    here.environment = Digest::of(["other"]);
    assert_eq!(compare(&base, &here, &Renames::new()).verdict, Verdict::Failed);
    let mut here = base.clone();
    here.check.command.push("--release".to_owned());
    assert_eq!(compare(&base, &here, &Renames::new()).verdict, Verdict::Failed);
}

#[test]
fn missing_and_ignored_tests_have_vanished_unless_they_never_ran() {
    assert_eq!(tests(vec![test("a", Passed)], vec![]).vanished.len(), 1);
    let ignored = tests(vec![test("a", Passed)], vec![test("a", Ignored)]);
    assert_eq!((ignored.verdict, ignored.vanished.len()), (Verdict::Failed, 1));
    assert_eq!(tests(vec![test("a", Ignored)], vec![]).verdict, Verdict::Passed);
    let failing = tests(vec![test("a", Failed)], vec![]);
    assert_eq!((failing.vanished.len(), failing.fixed.len()), (1, 0));
}

#[test]
fn a_renamed_test_has_not_vanished() {
    let base = receipt(CheckKind::Test, vec![test("old", Passed)]);
    let here = receipt(CheckKind::Test, vec![test("new", Passed)]);
    assert_eq!(compare(&base, &here, &Renames::new()).vanished.len(), 1);
    let renames = Renames::from([(id("lib", "old"), id("lib", "new"))]);
    let comparison = compare(&base, &here, &renames);
    assert_eq!((comparison.verdict, comparison.added), (Verdict::Passed, 0));
}

#[test]
fn no_result_is_never_known() {
    let comparison = tests(vec![test("a", NoResult)], vec![test("a", NoResult)]);
    assert_eq!(comparison.verdict, Verdict::Failed);
}

#[test]
fn a_target_that_built_must_build_and_one_that_did_not_is_not_judged() {
    assert_eq!(builds(vec![target("lib", Passed)], vec![target("lib", Failed)]).new_failures.len(), 1);
    let both = builds(vec![target("lib", Failed)], vec![target("lib", Failed)]);
    assert_eq!((both.verdict, both.not_judged.len()), (Verdict::KnownFailure, 1));
    assert!(both.known_failures.is_empty(), "compile failures are never known failures");
    assert_eq!(builds(vec![target("bin x", Passed)], vec![]).vanished.len(), 1);
    assert_eq!(builds(vec![target("bin x", Passed)], vec![target("bin x", Ignored)]).vanished.len(), 1);
    assert_eq!(builds(vec![], vec![target("bin x", Failed)]).new_failures.len(), 1);
    assert_eq!(builds(vec![target("bin x", Ignored)], vec![target("bin x", Failed)]).new_failures.len(), 1);
}

#[test]
fn equal_ids_are_counted() {
    let three = |n: usize, result| vec![item(ItemKind::Doctest, "doc", "src/lib.rs - f", result, "x"); n];
    assert_eq!(tests(three(3, Passed), three(2, Passed)).vanished.len(), 1);
    let more = tests(three(1, Failed), three(2, Failed));
    assert_eq!((more.known_failures.len(), more.new_failures.len()), (1, 1));
}

#[test]
fn tests_that_an_own_harness_now_reports_count_as_vanished() {
    let base = vec![test("a", Passed), test(PROCESS, Passed)];
    let here = vec![test("a", Passed), test(OWN_HARNESS, Passed)];
    assert_eq!(tests(base, here).vanished.len(), 1);
}

#[test]
fn a_receipt_that_ended_early_is_not_explained_by_known_failures() {
    let base = receipt(CheckKind::Test, vec![test("a", Failed)]);
    let mut here = base.clone();
    here.reason = Some("doc tests cannot be listed".to_owned());
    assert_eq!(compare(&base, &here, &Renames::new()).verdict, Verdict::Failed);
}

#[test]
fn a_timeout_compares_nothing() {
    let mut here = receipt(CheckKind::Test, vec![]);
    here.verdict = Verdict::Timeout;
    let comparison = compare(&receipt(CheckKind::Test, vec![test("a", Passed)]), &here, &Renames::new());
    assert_eq!((comparison.verdict, comparison.vanished.len()), (Verdict::Timeout, 0));
}

fn any_items() -> impl Strategy<Value = Vec<Item>> {
    let kinds = prop::sample::select(vec![ItemKind::Target, ItemKind::Test, ItemKind::Doctest]);
    let results = prop::sample::select(vec![Passed, Failed, Ignored, NoResult]);
    let one = (kinds, 0..4u8, results, prop::sample::select(vec!["x", "y"])).prop_map(|(kind, name, result, said)| {
        let (target, path) = match kind {
            ItemKind::Target => (format!("bin {name}"), String::new()),
            kind => (format!("{kind:?}"), name.to_string()),
        };
        item(kind, &target, &path, result, said)
    });
    // Tests may share an id; a build target has its own.
    prop::collection::vec(one, 0..12).prop_map(|mut items: Vec<Item>| {
        let mut seen = std::collections::BTreeSet::new();
        items.retain(|item| item.kind != ItemKind::Target || seen.insert(item.id.clone()));
        items
    })
}

proptest! {
    #[test]
    fn a_candidate_is_never_passed_while_something_new_failed_or_vanished(base in any_items(), here in any_items()) {
        let comparison = tests(base.clone(), here.clone());
        let fine = matches!(comparison.verdict, Verdict::Passed | Verdict::KnownFailure);
        prop_assert_eq!(fine, comparison.new_failures.is_empty() && comparison.vanished.is_empty());
        let bad = here.iter().filter(|item| matches!(item.result, Failed | NoResult)).count();
        if comparison.verdict == Verdict::Passed {
            prop_assert_eq!(bad, 0);
        }
        let known = comparison.known_failures.len();
        prop_assert!(known <= base.iter().filter(|item| item.result == Failed).count());
    }

    #[test]
    fn a_tree_against_itself_shows_nothing_new(items in any_items()) {
        let items: Vec<Item> = items.into_iter().filter(|item| item.result != NoResult).collect();
        let comparison = tests(items.clone(), items);
        prop_assert!(comparison.new_failures.is_empty() && comparison.vanished.is_empty(), "{:#?}", comparison);
    }
}
