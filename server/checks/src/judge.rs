//! Verified(tree): the one place that decides it.
//!
//! A tree is verified when at least one required check exists and every required check has a receipt for exactly this
//! tree and passed, known failures of tests and lints set aside. Every doubt is a reason against.

use std::collections::BTreeSet;

use task::{
    Check, CheckKind, Comparison, Features, ItemKind, ItemResult, Judgement, Limitation, Receipt, TreeId, TreePath,
    Verdict,
};

use crate::compare::{Renames, compare};

/// The limitation of a changed file that no passing check read.
pub const UNREAD: &str = "no passing check read this changed file";

/// What a judgement rests on.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub tree: &'a TreeId,
    pub base: &'a TreeId,
    /// Every check that was found, with what came of it; one that is not `required` can only add limitations.
    pub cases: &'a [Case],
    /// Files that the candidate has and the base has not, or with other bytes or mode.
    pub changed: &'a BTreeSet<TreePath>,
    /// Files that only the base has.
    pub removed: &'a BTreeSet<TreePath>,
    /// Names of the packages that own changed or removed files (see [`crate::Needed::packages`]).
    pub packages: &'a BTreeSet<String>,
    pub renames: &'a Renames,
    /// Why there is no check at all, where there is none (see [`crate::Needed::nothing`]).
    pub nothing: Option<&'a str>,
}

/// One check and what came of it on both trees.
#[derive(Debug, Clone)]
pub struct Case {
    pub check: Check,
    pub base: Option<Receipt>,
    pub candidate: Option<Receipt>,
    /// Where the candidate has no receipt: which word describes that, and why.
    pub missing: Option<(Verdict, String)>,
}

/// Judges a tree. Reasons are empty exactly when it is verified.
pub fn judge(evidence: &Evidence<'_>) -> Judgement {
    let mut reasons = Vec::new();
    let mut limitations = BTreeSet::new();
    let mut comparisons = Vec::new();
    let mut read = BTreeSet::new();
    if !evidence.cases.iter().any(|case| case.check.required) {
        reasons.push(match evidence.nothing {
            Some(sentence) => format!("no check judges this change: {sentence}"),
            None => "no check judges this change".to_owned(),
        });
    }
    reasons.extend(nothing_ran(evidence.cases));
    for case in evidence.cases {
        let (comparison, mut against) = judge_case(case, evidence);
        against.extend(unbuilt(case, &comparison, evidence));
        limitations.extend(limits_of(case, &comparison));
        if against.is_empty() {
            read.extend(case.candidate.iter().flat_map(|receipt| &receipt.read));
            // What is gone was covered if the base read it: the checks pass without it.
            let gone =
                case.base.iter().flat_map(|receipt| &receipt.read).filter(|path| evidence.removed.contains(*path));
            read.extend(gone);
        }
        if case.check.required {
            reasons.extend(against);
        } else {
            limitations.extend(against.into_iter().map(Limitation::general));
        }
        comparisons.push(comparison);
    }
    let touched: Vec<&TreePath> = evidence.changed.union(evidence.removed).collect();
    let unread: Vec<&&TreePath> = touched.iter().filter(|path| !read.contains(**path)).collect();
    if !touched.is_empty() && unread.len() == touched.len() {
        reasons.push(match touched.as_slice() {
            [only] => format!("no passing check read the changed file {only}"),
            many => format!("no passing check read any of the {} changed files", many.len()),
        });
    }
    let unread = unread.into_iter().map(|path| Limitation::at((*path).clone(), None, UNREAD));
    limitations.extend(unread);
    if reasons.is_empty() {
        limitations.extend(tests_at_base(evidence.cases));
    }
    Judgement {
        tree: evidence.tree.clone(),
        verified: reasons.is_empty(),
        reasons,
        comparisons,
        limitations: limitations.into_iter().collect(),
    }
}

/// One check: its comparison, and what speaks against the tree.
fn judge_case(case: &Case, evidence: &Evidence<'_>) -> (Comparison, Vec<String>) {
    let name = &case.check.id;
    let refuse = |verdict, reason: String| {
        let sentence = format!("{name}: {reason}");
        (Comparison::new(name.clone(), verdict, Some(reason)), vec![sentence])
    };
    let Some(candidate) = &case.candidate else {
        let (verdict, reason) = case.missing.clone().unwrap_or((Verdict::NotRun, "it was not run".to_owned()));
        return refuse(verdict, format!("{}: {reason}", verdict.word()));
    };
    if candidate.tree != *evidence.tree || candidate.check != case.check {
        return refuse(Verdict::NotRun, "its receipt is for another tree or another command".to_owned());
    }
    if !candidate.verdict.is_conclusive() && candidate.verdict != Verdict::Flaky {
        let why = candidate.reason.clone().map(|reason| format!(": {reason}")).unwrap_or_default();
        return refuse(candidate.verdict, format!("{}{why}", candidate.verdict.word()));
    }
    let Some(base) = case.base.as_ref().filter(|base| base.tree == *evidence.base && base.check.id == case.check.id)
    else {
        return refuse(Verdict::NotRun, "it was not run on the base, so nothing says what vanished".to_owned());
    };
    let comparison = compare(base, candidate, evidence.renames);
    let mut against = Vec::new();
    if !base.verdict.is_conclusive() {
        against.push(format!(
            "{name}: on the base it ended with `{}`, so nothing says what vanished",
            base.verdict.word()
        ));
    }
    if let (true, Verdict::Failed, Some(why)) = (candidate.items.is_empty(), candidate.verdict, &candidate.reason) {
        // It failed before it could speak of anything: that is the reason, and not that everything is missing.
        against.push(format!("{name}: failed: {why}"));
        return (comparison, against);
    }
    if comparison.verdict == Verdict::Flaky {
        let items = names(comparison.new_failures.iter().map(|item| item.id.to_string()));
        against.push(format!("{name}: flaky, with different results on the same tree: {items}"));
    } else if !comparison.new_failures.is_empty() {
        let items = names(comparison.new_failures.iter().map(|item| item.id.to_string()));
        against.push(format!(
            "{name}: {} new failure{}: {items}",
            comparison.new_failures.len(),
            s(comparison.new_failures.len())
        ));
    }
    if !comparison.vanished.is_empty() {
        let what = if case.check.kind == CheckKind::Test { "test" } else { "target" };
        let items = names(comparison.vanished.iter().map(ToString::to_string));
        against.push(format!(
            "{name}: {} {what}{} vanished: {items}",
            comparison.vanished.len(),
            s(comparison.vanished.len())
        ));
    }
    if against.is_empty() && !matches!(comparison.verdict, Verdict::Passed | Verdict::KnownFailure) {
        let why = comparison.reason.clone().unwrap_or_else(|| "nothing says why".to_owned());
        against.push(format!("{name}: {}: {why}", comparison.verdict.word()));
    }
    (comparison, against)
}

/// Libraries and programs of a changed package must build in default features, whatever the base did.
fn unbuilt(case: &Case, comparison: &Comparison, evidence: &Evidence<'_>) -> Vec<String> {
    if case.check.kind != CheckKind::Build || case.check.features != Features::Default {
        return Vec::new();
    }
    let Some(candidate) = &case.candidate else { return Vec::new() };
    let broken = candidate.items.iter().filter(|item| {
        item.kind == ItemKind::Target
            && item.id.path.is_empty()
            && (item.id.target == "lib" || item.id.target.starts_with("bin "))
            && comparison.new_failures.iter().all(|new| new.id != item.id)
            && evidence.packages.contains(&item.id.package)
            && matches!(item.result, ItemResult::Failed | ItemResult::NoResult)
    });
    broken
        .map(|item| format!("{}: {} does not build, and this change touches its package", case.check.id, item.id))
        .collect()
}

fn limits_of(case: &Case, comparison: &Comparison) -> Vec<Limitation> {
    let mut limits: Vec<String> = comparison
        .not_judged
        .iter()
        .map(|id| format!("{}: not judged, as it does not build at base: {id}", case.check.id))
        .collect();
    // Such a base is a result (it did not build), but it names no test that could vanish.
    let early = case.base.as_ref().filter(|base| base.verdict == Verdict::Failed).and_then(|base| base.reason.as_ref());
    limits.extend(
        early.map(|reason| format!("{}: the base failed before it could be compared with: {reason}", case.check.id)),
    );
    let items = case.candidate.iter().flat_map(|receipt| &receipt.items);
    limits.extend(items.filter(|item| item.id.path == crate::order::OWN_HARNESS).map(|item| {
        format!(
            "{}: {} {} has a harness of its own: its exit status and what it says of itself were believed",
            case.check.id, item.id.package, item.id.target
        )
    }));
    limits.into_iter().map(Limitation::general).collect()
}

/// Whether any test ran.
fn tests_ran<'a>(receipts: impl Iterator<Item = &'a Receipt>) -> bool {
    receipts
        .flat_map(|receipt| &receipt.items)
        .any(|item| item.is_test() && item.id.path != crate::order::PROCESS && item.result != ItemResult::Ignored)
}

fn is_built(cases: &[Case]) -> bool {
    cases.iter().any(|case| case.check.required && case.check.kind == CheckKind::Build)
}

/// Where nothing is built, tests are all there is: runs of none judge nothing, however well they ended.
fn nothing_ran(cases: &[Case]) -> Option<String> {
    let ended = cases.iter().any(|case| case.check.required && case.candidate.is_some());
    let nothing = ended && !is_built(cases) && !tests_ran(cases.iter().filter_map(|case| case.candidate.as_ref()));
    nothing.then(|| "no check judges this change: nothing is built, and no test ran".to_owned())
}

/// What the absence of tests at base means for the word "verified".
fn tests_at_base(cases: &[Case]) -> Option<Limitation> {
    let base = tests_ran(cases.iter().filter_map(|case| case.base.as_ref()));
    let here = tests_ran(cases.iter().filter_map(|case| case.candidate.as_ref()));
    match (base, here) {
        (true, _) => None,
        (false, false) => Some(Limitation::general("verified by build only: there are no tests")),
        (false, true) => {
            let build = if is_built(cases) { "build and " } else { "" };
            let text = format!("verified by {build}the change's own tests only: there are no tests at base");
            Some(Limitation::general(text))
        }
    }
}

/// The first few names, and how many more there are.
fn names(all: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 3;
    let all: Vec<String> = all.collect();
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
