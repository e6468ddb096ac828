//! Verified(tree), sentence by sentence of its definition.

use std::collections::BTreeSet;

use task::{CheckKind, Item, ItemKind, ItemResult, Judgement, Receipt, TreeId, TreePath, Verdict};

use crate::compare::Renames;
use crate::compare_tests::{item, receipt};
use crate::judge::{Case, Evidence, judge};

fn tree(digit: &str) -> TreeId {
    digit.repeat(40).parse().unwrap()
}

fn paths(paths: &[&str]) -> BTreeSet<TreePath> {
    paths.iter().map(|path| path.parse().unwrap()).collect()
}

/// A case whose candidate read `src/lib.rs`.
fn case(kind: CheckKind, base: Vec<Item>, here: Vec<Item>) -> Case {
    let base = Receipt { tree: tree("b"), ..receipt(kind, base) };
    let candidate = Receipt { tree: tree("c"), read: vec!["src/lib.rs".parse().unwrap()], ..receipt(kind, here) };
    Case { check: candidate.check.clone(), base: Some(base), candidate: Some(candidate), missing: None }
}

fn judged(cases: &[Case], changed: &[&str], removed: &[&str]) -> Judgement {
    judge(&Evidence {
        tree: &tree("c"),
        base: &tree("b"),
        cases,
        changed: &paths(changed),
        removed: &paths(removed),
        packages: &BTreeSet::from(["demo".to_owned()]),
        renames: &Renames::new(),
        nothing: None,
    })
}

fn lib(result: ItemResult) -> Vec<Item> {
    vec![item(ItemKind::Target, "lib", "", result, "E0308")]
}

fn tests(result: ItemResult) -> Vec<Item> {
    vec![item(ItemKind::Test, "lib", "t", result, "panic")]
}

use ItemResult::{Failed, Passed};

fn good() -> Vec<Case> {
    vec![case(CheckKind::Build, lib(Passed), lib(Passed)), case(CheckKind::Test, tests(Passed), tests(Passed))]
}

#[test]
fn all_required_checks_passed_is_verified() {
    let judgement = judged(&good(), &["src/lib.rs"], &[]);
    assert!(judgement.verified && judgement.reasons.is_empty() && judgement.limitations.is_empty(), "{judgement:#?}");
}

#[test]
fn no_required_check_is_not_verified() {
    let judgement = judged(&[], &["src/lib.rs"], &[]);
    assert!(!judgement.verified);
    assert_eq!(judgement.reasons[0], "no check judges this change");
    let mut optional = good();
    optional.iter_mut().for_each(|case| case.check.required = false);
    assert!(!judged(&optional, &["src/lib.rs"], &[]).verified);
}

#[test]
fn tests_without_a_build_verify_only_where_one_ran() {
    let only = |base: Vec<Item>, here: Vec<Item>| judged(&[case(CheckKind::Test, base, here)], &["src/lib.rs"], &[]);
    assert!(only(tests(Passed), tests(Passed)).verified);
    let nothing = only(Vec::new(), Vec::new());
    assert_eq!(nothing.reasons, ["no check judges this change: nothing is built, and no test ran"]);
    let own = only(Vec::new(), tests(Passed));
    assert_eq!(own.limitations[0].text, "verified by the change's own tests only: there are no tests at base");
}

#[test]
fn a_receipt_for_another_tree_or_command_counts_for_nothing() {
    let mut cases = good();
    cases[0].candidate.as_mut().unwrap().tree = tree("d");
    assert!(!judged(&cases, &["src/lib.rs"], &[]).verified);
    let mut cases = good();
    cases[1].candidate.as_mut().unwrap().check.command.push("--lib".to_owned());
    assert!(!judged(&cases, &["src/lib.rs"], &[]).verified);
    let mut cases = good();
    cases[1].base.as_mut().unwrap().tree = tree("d");
    assert!(!judged(&cases, &["src/lib.rs"], &[]).verified);
}

#[test]
fn anything_but_a_pass_or_a_known_failure_is_not_verified() {
    use Verdict::{Flaky, Infrastructure, Killed, NotRun, Skipped, Timeout, Unavailable};
    for verdict in [Flaky, Infrastructure, Killed, NotRun, Skipped, Timeout, Unavailable] {
        let mut cases = good();
        let candidate = cases[1].candidate.as_mut().unwrap();
        candidate.verdict = verdict;
        assert!(!judged(&cases, &["src/lib.rs"], &[]).verified, "{verdict:?}");
        cases[1].candidate = None;
        cases[1].missing = Some((verdict, "why".to_owned()));
        let judgement = judged(&cases, &["src/lib.rs"], &[]);
        assert_eq!(judgement.reasons, [format!("cargo test: {}: why", verdict.word())]);
        let mut cases = good();
        cases[1].base.as_mut().unwrap().verdict = verdict;
        assert!(!judged(&cases, &["src/lib.rs"], &[]).verified, "base {verdict:?}");
    }
}

#[test]
fn a_known_failure_of_a_test_does_not_stand_in_the_way() {
    let cases = [good().remove(0), case(CheckKind::Test, tests(Failed), tests(Failed))];
    assert!(judged(&cases, &["src/lib.rs"], &[]).verified);
}

#[test]
fn libraries_and_programs_of_a_changed_package_must_build_whatever_the_base_did() {
    let broken = |target: &str| vec![item(ItemKind::Target, target, "", Failed, "E0308")];
    for (target, verified) in [("lib", false), ("bin x", false), ("example x", true), ("bench x", true)] {
        let cases = [case(CheckKind::Build, broken(target), broken(target)), good().remove(1)];
        let judgement = judged(&cases, &["src/lib.rs"], &[]);
        assert_eq!(judgement.verified, verified, "{target}: {:?}", judgement.reasons);
    }
}

#[test]
fn changed_files_that_no_passing_check_read_are_listed_and_decide_where_there_are_no_others() {
    let judgement = judged(&good(), &["src/lib.rs", "notes.txt"], &[]);
    assert!(judgement.verified);
    assert_eq!(judgement.limitations[0].path, Some("notes.txt".parse().unwrap()));
    let judgement = judged(&good(), &["notes.txt"], &[]);
    assert_eq!(judgement.reasons, ["no passing check read the changed file notes.txt"]);
}

#[test]
fn a_removed_file_was_read_if_the_base_read_it() {
    let mut cases = good();
    assert!(!judged(&cases, &[], &["src/old.rs"]).verified);
    cases[0].base.as_mut().unwrap().read.push("src/old.rs".parse().unwrap());
    assert!(judged(&cases, &[], &["src/old.rs"]).verified);
}

#[test]
fn without_tests_it_is_verified_by_build_only() {
    let cases = [good().remove(0), case(CheckKind::Test, vec![], vec![])];
    let judgement = judged(&cases, &["src/lib.rs"], &[]);
    assert!(judgement.verified);
    assert_eq!(judgement.limitations[0].text, "verified by build only: there are no tests");
}

#[test]
fn vanished_tests_are_counted_in_the_reason() {
    let cases = [good().remove(0), case(CheckKind::Test, tests(Passed), vec![])];
    let judgement = judged(&cases, &["src/lib.rs"], &[]);
    assert_eq!(
        judgement.reasons,
        ["cargo test: 1 test vanished: demo lib t", "no passing check"].map(str::to_owned)[..1]
    );
}
