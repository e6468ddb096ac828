//! Beyond the checks of the project: whether the change does what was asked, as far as anything that runs can tell, and
//! whether it passes the tests as they were before it touched them.

use std::collections::{BTreeMap, BTreeSet};

use task::{Digest, Item, ItemId, ItemKind, ItemResult, Judgement, Limitation, Receipt, Step, TreeId, TreePath};

use super::acceptance::{Met, met};
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

    /// Tests that only pass because the change rewrote them prove nothing about the rest of it: the files of tests as they
    /// were are put back, and what fails then is named, also where it failed at base: passing was what was claimed. Where
    /// the request, or a plan that the developer approved, names the file outright it may change, and that is said.
    fn hold_to_the_old_tests(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        shown: &[Receipt],
        judgement: &mut Judgement,
    ) -> Result<(), Error> {
        let files = worktree::published_files(&self.store, base, tree)?;
        let rewritten = files.into_iter().filter(|file| file.before.is_some() && is_test(&file.path));
        let named = self.named_outright();
        let (allowed, held): (Vec<TreePath>, Vec<TreePath>) =
            rewritten.map(|file| file.path).partition(|path| named.contains(&path.to_string()));
        let as_it_was =
            |path| Limitation::at(path, None, "this test file was changed; the change passes it as it was, too");
        if !held.is_empty() {
            match self.failing_as_they_were(base, tree, &held, shown, judgement)?.as_slice() {
                [] => judgement.limitations.extend(held.iter().cloned().map(as_it_was)),
                failing => {
                    judgement.reasons.push(format!(
                        "{} only passes because the change rewrote the test; name its file in the request (`--paths`, without a wildcard) if it is meant to change",
                        first_of(failing)
                    ));
                    return Ok(());
                }
            }
        }
        if !allowed.is_empty() {
            match self.failing_as_they_were(base, tree, &allowed, shown, judgement)?.as_slice() {
                [] => judgement.limitations.extend(allowed.into_iter().map(as_it_was)),
                failing => {
                    let text = format!(
                        "{} only passes because the change rewrote the test, whose file the request or the approved plan names as one that may change: see whether it was meant like this",
                        first_of(failing)
                    );
                    judgement.limitations.push(Limitation::at(allowed[0].clone(), None, text));
                }
            }
        }
        Ok(())
    }

    /// The tests that do not pass, or did not pass before, with these files as they were.
    fn failing_as_they_were(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        files: &[TreePath],
        shown: &[Receipt],
        judgement: &Judgement,
    ) -> Result<Vec<ItemId>, Error> {
        let entries = self.store.entries(base)?;
        let mut changes = BTreeMap::new();
        for path in files {
            let Some(entry) = entries.get(path) else { continue };
            changes.insert(path.clone(), Some((self.store.blob(entry.blob)?, entry.mode)));
        }
        let old = self.store.edit(tree, &changes)?;
        let failing: BTreeSet<ItemId> = if old == *base {
            // Nothing but tests was changed, so whatever passes now and did not at base was rewritten to.
            judgement.comparisons.iter().flat_map(|it| it.fixed.iter().cloned()).collect()
        } else {
            self.house.audience.doing("running the tests as they were before the change");
            self.store.keep(self.id(), &old)?;
            let (keys, before) = self.prove(base, &old)?;
            let new = before.comparisons.iter().flat_map(|it| it.new_failures.iter().map(|item| item.id.clone()));
            let claimed = passed_only(shown, &self.receipts_of(&old, &keys)?);
            new.chain(claimed).collect()
        };
        Ok(failing.into_iter().collect())
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

fn first_of(items: &[ItemId]) -> String {
    match items {
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}

/// The tests that pass with the rewritten files and not with the old ones.
fn passed_only(rewritten: &[Receipt], old: &[Receipt]) -> Vec<ItemId> {
    let tests = |receipts: &[Receipt], passed: bool| -> BTreeSet<ItemId> {
        let items = receipts.iter().flat_map(|receipt| &receipt.items);
        let fits = |item: &&Item| {
            matches!(item.kind, ItemKind::Test | ItemKind::Doctest) && (item.result == ItemResult::Passed) == passed
        };
        items.filter(fits).map(|item| item.id.clone()).collect()
    };
    tests(rewritten, true).intersection(&tests(old, false)).cloned().collect()
}

/// Whether a file is one of tests, by its path alone.
pub(crate) fn is_test(path: &TreePath) -> bool {
    let text = path.to_string().to_lowercase();
    let name = text.rsplit('/').next().unwrap_or_default();
    let folder =
        text.split('/').rev().skip(1).any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "specs"));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with(".test")
        || stem.ends_with(".spec")
        || stem == "conftest"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_their_path() {
        for path in
            ["tests/a.rs", "src/__tests__/a.js", "a.test.ts", "test_users.py", "x/users_test.go", "web/a.spec.tsx"]
        {
            assert!(is_test(&path.parse().unwrap()), "{path}");
        }
        for path in ["src/testing.rs", "src/latest.js", "contest.py", "src/attest/a.rs"] {
            assert!(!is_test(&path.parse().unwrap()), "{path}");
        }
    }
}
