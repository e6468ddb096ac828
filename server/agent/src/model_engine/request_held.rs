//! Beyond the checks of the project: whether the change does what was asked, as far as anything that runs can tell, and
//! whether it passes the tests as they were before it touched them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use checks::Wanted;
use task::{
    Check, CheckId, CheckKind, Digest, Item, ItemId, ItemKind, ItemResult, Judgement, Limitation, Receipt, Step,
    TreeId, TreePath, Verdict,
};
use worktree::NewEntries;

use super::acceptance::{Met, met};
use super::test_side::is_manifest;
use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

impl Walk<'_> {
    /// The judgement with what the request adds to it, and the tests that were asked to pass and do not.
    pub(crate) fn hold_to_the_request(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        receipts: &[Digest],
        mut judgement: Judgement,
    ) -> Result<(Judgement, Vec<Item>), Error> {
        let shown = self.receipts_of(tree, receipts)?;
        let mut unmet: Vec<Item> = Vec::new();
        let steps = self.state.plan.iter().flat_map(|plan| &plan.steps).flat_map(|step| &step.acceptance);
        let criteria: BTreeSet<String> = self.state.request.acceptance_criteria.iter().chain(steps).cloned().collect();
        for criterion in criteria {
            match met(&criterion, shown.iter()) {
                Met::Yes => {}
                Met::No(why, failing) => {
                    judgement.reasons.push(format!("asked for and not so: {why}"));
                    unmet.extend(failing);
                }
                Met::Unknown => judgement.limitations.push(Limitation::general(format!(
                    "nothing that runs shows this: {}",
                    task::printable(&criterion)
                ))),
            }
        }
        if judgement.reasons.is_empty() {
            self.hold_to_the_old_tests(base, tree, &shown, &mut judgement)?;
        }
        judgement.limitations.extend(self.suspicions(base, tree)?);
        judgement.verified = judgement.reasons.is_empty();
        Ok((judgement, unmet))
    }

    /// The tests that pass when a step is done, as it says itself, and that ran and do not.
    pub(crate) fn owed_by(&self, step: &Step, tree: &TreeId, receipts: &[Digest]) -> Result<Vec<Item>, Error> {
        let shown = self.receipts_of(tree, receipts)?;
        let owed = step.acceptance.iter().filter_map(|criterion| match met(criterion, shown.iter()) {
            Met::No(_, failing) => Some(failing),
            Met::Yes | Met::Unknown => None,
        });
        Ok(owed.flatten().collect())
    }

    fn receipts_of(&self, tree: &TreeId, keys: &[Digest]) -> Result<Vec<Receipt>, Error> {
        let mut found = Vec::new();
        for key in keys {
            found.extend(self.house.journal.receipt(key)?.filter(|receipt| receipt.tree == *tree));
        }
        Ok(found)
    }

    /// Tests that only pass because the change rewrote them, or put something beside them, prove nothing about the rest of it:
    /// the side of tests is put back as it was, and what does not pass then is named, also where it failed at base: passing
    /// was what was claimed. Where the request, or a plan that the developer approved, names the file outright it may
    /// change, and that is said.
    fn hold_to_the_old_tests(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        shown: &[Receipt],
        judgement: &mut Judgement,
    ) -> Result<(), Error> {
        let at_base = self.receipts_at_base(base, judgement)?;
        let side = self.test_side(base, tree, &at_base, shown)?;
        judgement.limitations.extend(side.limitations);
        let named = self.named_outright();
        let (allowed, held): (NewEntries, NewEntries) =
            side.as_it_was.into_iter().partition(|(path, _)| named.contains(&path.to_string()));
        let rewritten = |entries: &NewEntries| -> Vec<TreePath> {
            entries.iter().filter(|(_, before)| before.is_some()).map(|(path, _)| path.clone()).collect()
        };
        let as_it_was = |path: TreePath| {
            let what = if is_manifest(&path) { "what this says about tests" } else { "this test file" };
            Limitation::at(path, None, format!("{what} was changed; the change passes it as it was, too"))
        };
        if can_matter(&held, &at_base, judgement) {
            let files = rewritten(&held);
            let cause = match (files.is_empty(), held.keys().next()) {
                (true, Some(added)) => format!(
                    "what the change put beside the tests ({added}); name its file in the request (`--paths`, without a wildcard) if it is meant to be there"
                ),
                _ => "the change rewrote the test; name its file in the request (`--paths`, without a wildcard) if it is meant to change".to_owned(),
            };
            match self.as_they_were(base, tree, &held, (&at_base, shown), judgement)? {
                Old::Pass => judgement.limitations.extend(files.into_iter().map(as_it_was)),
                Old::Fail(failing) => {
                    judgement.reasons.push(format!(
                        "{} only passes because {}{cause}",
                        first_of(&failing),
                        if files.is_empty() { "of " } else { "" }
                    ));
                    return Ok(());
                }
                Old::Unknown(why) => {
                    judgement.reasons.push(format!("the tests as they were before the change could not be run: {why}"));
                    return Ok(());
                }
            }
        }
        let files = rewritten(&allowed);
        let Some(first) = files.first().cloned() else { return Ok(()) };
        match self.as_they_were(base, tree, &allowed, (&at_base, shown), judgement)? {
            Old::Pass => judgement.limitations.extend(files.into_iter().map(as_it_was)),
            Old::Fail(failing) => {
                let text = format!(
                    "{} only passes because the change rewrote the test, whose file the request or the approved plan names as one that may change: see whether it was meant like this",
                    first_of(&failing)
                );
                judgement.limitations.push(Limitation::at(first, None, text));
            }
            Old::Unknown(why) => {
                let text = format!("this test file was changed, and could not be run as it was: {why}");
                judgement.limitations.push(Limitation::at(first, None, text));
            }
        }
        Ok(())
    }

    /// How the change does with these files as they were. Whatever passes and was there at base has to pass so, too; a run
    /// that came to nothing says nothing for the change.
    fn as_they_were(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        files: &NewEntries,
        (at_base, shown): (&[Receipt], &[Receipt]),
        judgement: &Judgement,
    ) -> Result<Old, Error> {
        let old = self.store.edit(tree, files)?;
        if old == *base {
            // Nothing but tests was changed, so whatever passes now and did not at base was rewritten to.
            let fixed: BTreeSet<ItemId> =
                judgement.comparisons.iter().flat_map(|it| it.fixed.iter().cloned()).collect();
            return Ok(if fixed.is_empty() { Old::Pass } else { Old::Fail(fixed.into_iter().collect()) });
        }
        let had = |id: &CheckId| at_base.iter().any(|receipt| receipt.check.id == *id);
        if let Some(lost) = judgement.comparisons.iter().find(|it| !had(&it.check)) {
            return Ok(Old::Unknown(format!("{}: what it said of the base is not there any more", lost.check)));
        }
        self.house.audience.doing("running the tests as they were before the change");
        self.store.keep(self.id(), &old)?;
        let (keys, before) = self.prove(base, &old)?;
        let lints: BTreeSet<&CheckId> =
            at_base.iter().chain(shown).filter(|it| it.check.kind == CheckKind::Lint).map(|it| &it.check.id).collect();
        let compared = || before.comparisons.iter().filter(|it| !lints.contains(&it.check));
        if let Some(open) = compared().find(|it| !it.verdict.is_conclusive() && it.verdict != Verdict::Flaky) {
            let why = open.reason.as_deref().unwrap_or_else(|| open.verdict.word());
            return Ok(Old::Unknown(format!("{}: {why}", open.check)));
        }
        // A check that nothing of it concerns says here what it says at base.
        let mut receipts = self.receipts_of(&old, &keys)?;
        let ran: BTreeSet<CheckId> = receipts.iter().map(|it| it.check.id.clone()).collect();
        receipts.extend(at_base.iter().filter(|it| !ran.contains(&it.check.id)).cloned());
        let new =
            compared().flat_map(|it| it.new_failures.iter().map(|item| item.id.clone()).chain(it.vanished.clone()));
        let failing: BTreeSet<ItemId> = new.chain(passed_only(shown, at_base, &receipts)).collect();
        Ok(if failing.is_empty() { Old::Pass } else { Old::Fail(failing.into_iter().collect()) })
    }

    /// What the checks of a judgement said of the base.
    fn receipts_at_base(&mut self, base: &TreeId, judgement: &Judgement) -> Result<Vec<Receipt>, Error> {
        let store = Arc::clone(&self.store);
        let found = |tree| checks::find(&TreeFiles { store: &store, tree }, Wanted { lints: true }).all().checks;
        // One that only the change brings ran on the base, too.
        let all: Vec<Check> = found(base).into_iter().chain(found(&judgement.tree)).collect();
        let mut receipts = Vec::new();
        for comparison in &judgement.comparisons {
            let Some(check) = all.iter().find(|it| it.id == comparison.check) else { continue };
            if let Ok(environment) = self.environment(base, check)? {
                receipts.extend(self.known(base, check, &environment)?);
            }
        }
        Ok(receipts)
    }

    /// Paths that the request, or a plan that the developer wrote or approved, names without a wildcard.
    fn named_outright(&self) -> BTreeSet<String> {
        let mut named: BTreeSet<String> = self.state.request.scope.paths.iter().cloned().collect();
        if self.state.request.plan_policy == task::PlanPolicy::Review {
            named.extend(self.state.plan.iter().flat_map(|plan| &plan.steps).flat_map(|step| step.scope.paths.clone()));
        }
        named
    }
}

/// How a change does with the tests as they were.
enum Old {
    Pass,
    /// What only passes with the tests as they are now.
    Fail(Vec<ItemId>),
    /// In one sentence why nothing is known.
    Unknown(String),
}

/// Whether these files can make a difference: there are tests, or nobody knows, and more than new programs of tests was
/// added, which are built and run by themselves.
fn can_matter(files: &NewEntries, at_base: &[Receipt], judgement: &Judgement) -> bool {
    let is_program = |path: &TreePath| path.as_bytes().ends_with(b".rs");
    let mut tests = at_base.iter().flat_map(|it| &it.items).filter(|it| it.is_test() && it.id.path != checks::PROCESS);
    files.iter().any(|(path, before)| before.is_some() || !is_program(path))
        && (tests.next().is_some() || at_base.len() < judgement.comparisons.len())
}

fn first_of(items: &[ItemId]) -> String {
    // How a whole process ended says least.
    let mut items: Vec<&ItemId> = items.iter().collect();
    items.sort_by_key(|id| (id.path == checks::PROCESS, id.path.is_empty()));
    match items.as_slice() {
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}

/// The tests that pass and the targets that build, and were there at base, but do not, or are not there, with the tests
/// as they were.
fn passed_only(shown: &[Receipt], at_base: &[Receipt], old: &[Receipt]) -> BTreeSet<ItemId> {
    let (shown, at_base, old) = (by_id(shown), by_id(at_base), by_id(old));
    let passes = |items: &Vec<ItemResult>| items.iter().all(|result| *result == ItemResult::Passed);
    let was_there = |key| at_base.get(key).is_some_and(|items| items.iter().any(|it| *it != ItemResult::Ignored));
    let claimed = shown.iter().filter(|(key, items)| passes(items) && was_there(*key)).map(|(key, _)| key);
    claimed.filter(|key| !old.get(*key).is_some_and(passes)).map(|(_, id)| (*id).clone()).collect()
}

/// The results of each test and each target of each check.
fn by_id(receipts: &[Receipt]) -> BTreeMap<(&CheckId, &ItemId), Vec<ItemResult>> {
    let mut results: BTreeMap<_, Vec<ItemResult>> = BTreeMap::new();
    for receipt in receipts {
        for item in receipt.items.iter().filter(|item| item.kind != ItemKind::Diagnostic) {
            results.entry((&receipt.check.id, &item.id)).or_default().push(item.result);
        }
    }
    results
}
