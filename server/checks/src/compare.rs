//! A candidate's receipt against the base's.
//!
//! Ids are multisets: several doc tests of one item share an id, and so do equal diagnostics of one file. Only tests and
//! lints can be known failures; a build target that was built at base must be built here.

use std::collections::{BTreeMap, HashMap};

use task::{CheckKind, Comparison, Item, ItemId, ItemKind, ItemResult, Receipt, Signature, Verdict};

use crate::order::{OWN_HARNESS, PROCESS};

/// Ids of the base and what our own renames made of them.
pub type Renames = HashMap<ItemId, ItemId>;

/// Compares one check at the candidate with the same check at base. `renames` maps ids of the base to ids of the
/// candidate where the change itself renamed things.
pub fn compare(base: &Receipt, candidate: &Receipt, renames: &Renames) -> Comparison {
    let mut comparison = Comparison::new(candidate.check.id.clone(), candidate.verdict, candidate.reason.clone());
    comparison.passed = count(candidate, ItemResult::Passed);
    if !candidate.verdict.is_conclusive() && candidate.verdict != Verdict::Flaky {
        return comparison;
    }
    if !base.verdict.is_conclusive() {
        // Without a base that ran nothing can be called known or vanished: every failure counts.
        comparison.new_failures = candidate.items.iter().filter(|item| is_bad(item)).cloned().collect();
        return comparison;
    }
    let same_environment = base.environment == candidate.environment && base.check.command == candidate.check.command;
    let before = by_id(base, |id| renames.get(id).cloned().unwrap_or_else(|| id.clone()));
    let after = by_id(candidate, ItemId::clone);
    let nothing = Vec::new();
    for (id, here) in &after {
        let there = before.get(id).unwrap_or(&nothing);
        comparison.added += u32::try_from(here.len().saturating_sub(there.len())).unwrap_or(u32::MAX);
        compare_one(id, there, here, same_environment, &mut comparison);
    }
    for (id, there) in &before {
        if !after.contains_key(id) {
            compare_one(id, there, &[], same_environment, &mut comparison);
            // Tests that a harness of the project's own now reports are no longer vouched for.
            let own = ItemId { path: OWN_HARNESS.to_owned(), ..id.clone() };
            if id.path == PROCESS && after.contains_key(&own) {
                comparison.vanished.push(id.clone());
            }
        }
    }
    let all_known = !comparison.is_worse();
    comparison.verdict = match (candidate.verdict, all_known) {
        (Verdict::Flaky, _) => Verdict::Flaky,
        (_, false) => Verdict::Failed,
        (Verdict::Failed, true) if explained(candidate, &comparison) => Verdict::KnownFailure,
        (verdict, true) => verdict,
    };
    comparison
}

/// One id (or what a rename made of it) on both sides.
fn compare_one(id: &ItemId, there: &[&Item], here: &[&Item], same_environment: bool, comparison: &mut Comparison) {
    let kind = here.iter().chain(there).map(|item| item.kind).next().unwrap_or(ItemKind::Target);
    if kind == ItemKind::Target {
        return compare_target(id, there, here, comparison);
    }
    // Failures pair up by signature; what is left over is new.
    let mut known: BTreeMap<Option<&Signature>, usize> = BTreeMap::new();
    for item in there.iter().filter(|item| item.result == ItemResult::Failed) {
        *known.entry(item.signature.as_ref()).or_default() += 1;
    }
    for item in here.iter().filter(|item| is_bad(item)) {
        match known.get_mut(&item.signature.as_ref()) {
            Some(left) if *left > 0 && same_environment && item.result == ItemResult::Failed => {
                *left -= 1;
                comparison.known_failures.push((*item).clone());
            }
            _ => comparison.new_failures.push((*item).clone()),
        }
    }
    let bad = |items: &[&Item]| items.iter().filter(|item| is_bad(item)).count();
    // A failing test that is gone is not fixed; a diagnostic that is gone is.
    let gone = here.is_empty() && kind != ItemKind::Diagnostic;
    for _ in bad(here)..if gone { 0 } else { bad(there) } {
        comparison.fixed.push(id.clone());
    }
    if kind != ItemKind::Diagnostic && id.path != PROCESS {
        let ran = |items: &[&Item]| items.iter().filter(|item| item.result != ItemResult::Ignored).count();
        for _ in ran(here)..ran(there) {
            comparison.vanished.push(id.clone());
        }
    }
}

/// Build targets: not judged where the base does not build them, never known failures otherwise.
fn compare_target(id: &ItemId, there: &[&Item], here: &[&Item], comparison: &mut Comparison) {
    let passed = |items: &[&Item]| items.iter().any(|item| item.result == ItemResult::Passed);
    match (there.is_empty(), passed(there), here.is_empty()) {
        (false, true, true) => comparison.vanished.push(id.clone()),
        (false, true, false) if !passed(here) && here.iter().all(|item| item.result == ItemResult::Ignored) => {
            comparison.vanished.push(id.clone());
        }
        (false, true, false) | (true, _, _) => {
            comparison.new_failures.extend(here.iter().filter(|item| is_bad(item)).map(|item| (*item).clone()));
        }
        (false, false, false) if passed(here) => comparison.fixed.push(id.clone()),
        (false, false, _) if there.iter().any(|item| is_bad(item)) => comparison.not_judged.push(id.clone()),
        (false, false, _) => {
            comparison.new_failures.extend(here.iter().filter(|item| is_bad(item)).map(|item| (*item).clone()));
        }
    }
}

/// Whether every failure of the candidate has its counterpart at base, so that nothing unexplained failed.
fn explained(candidate: &Receipt, comparison: &Comparison) -> bool {
    let bad = candidate.items.iter().filter(|item| is_bad(item)).count();
    let not_judged = candidate.items.iter().filter(|item| is_bad(item) && comparison.not_judged.contains(&item.id));
    // A receipt with a reason ended before it had seen everything.
    candidate.reason.is_none() && bad > 0 && bad == comparison.known_failures.len() + not_judged.count()
}

fn by_id(receipt: &Receipt, name: impl Fn(&ItemId) -> ItemId) -> BTreeMap<ItemId, Vec<&Item>> {
    let mut map: BTreeMap<ItemId, Vec<&Item>> = BTreeMap::new();
    for item in &receipt.items {
        map.entry(name(&item.id)).or_default().push(item);
    }
    map
}

fn is_bad(item: &Item) -> bool {
    matches!(item.result, ItemResult::Failed | ItemResult::NoResult)
}

fn count(receipt: &Receipt, result: ItemResult) -> u32 {
    let is_test = receipt.check.kind == CheckKind::Test;
    let counts = |item: &&Item| {
        item.result == result && !(is_test && (item.kind == ItemKind::Target || item.id.path == PROCESS))
    };
    u32::try_from(receipt.items.iter().filter(counts).count()).unwrap_or(u32::MAX)
}
