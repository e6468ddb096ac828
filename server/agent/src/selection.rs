//! Station 14, checking: a selection of hunks is a tree of its own and is checked as one.

use std::collections::BTreeSet;

use task::{Diff, Event, HunkId, Judgement, TreeId};
use worktree::SelectError;

use crate::cancel::CancelWatch;
use crate::{Error, walk::Walk};

impl Walk<'_> {
    /// The tree of base plus these hunks of the diff under review, judged. A selection whose checks all came to their end
    /// before is not run again.
    ///
    /// # Errors
    /// When there is no diff, a hunk is unknown, cannot stand without another one, or lies outside the permitted paths.
    pub fn select(&mut self, kept: &BTreeSet<HunkId>) -> Result<TreeId, Error> {
        let diff = self.reviewed_diff()?;
        let tree = self.selected(&diff, kept)?;
        let is_final = |judgement: &Judgement| {
            judgement.verified || judgement.comparisons.iter().all(|check| check.verdict.is_conclusive())
        };
        let known = self.state.offer(&tree).is_some_and(|offered| offered.base == diff.base);
        if known && self.state.judgement(&tree).is_some_and(is_final) {
            return Ok(tree);
        }
        self.recheck(diff.base, tree.clone(), kept.iter().cloned().collect())?;
        Ok(tree)
    }

    /// Checks `kept_tree()` as the selection that it is.
    ///
    /// # Errors
    /// As [`Walk::select`], and where every hunk is rejected.
    pub fn check_kept(&mut self) -> Result<TreeId, Error> {
        let kept = self.kept(&self.reviewed_diff()?);
        if kept.is_empty() {
            return Err(Error::Sentence(format!("task {} has no hunk left: there is nothing to check", self.id())));
        }
        self.select(&kept)
    }

    /// Runs the checks of a tree of the task again, whatever receipts say: a test may be flaky, the machine may have
    /// changed. What is known about the base stays. New receipts, a new judgement.
    ///
    /// # Errors
    /// When there is no diff, or the tree is none that could be approved.
    pub fn check_again(&mut self, tree: &TreeId) -> Result<(), Error> {
        self.reviewed_diff()?;
        let Some(base) = self.state.offer(tree).map(|offered| offered.base.clone()) else {
            return Err(Error::Sentence(format!("task {} has no tree {tree} that was checked before", self.id())));
        };
        let selected = self.state.selections.iter().rev().find(|(selected, _)| selected == tree);
        let kept = match selected {
            Some((_, kept)) => kept.clone(),
            None => self.diff_between(&base, tree)?.hunks().map(|(_, hunk)| hunk.id.clone()).collect(),
        };
        self.anew = Some(tree.clone());
        let checked = self.recheck(base, tree.clone(), kept);
        self.anew = None;
        checked
    }

    /// What a selection of a diff is as a tree.
    pub(crate) fn selected(&self, diff: &Diff, kept: &BTreeSet<HunkId>) -> Result<TreeId, Error> {
        worktree::select(&self.store, diff, kept).map_err(|error| match error {
            SelectError::Store(error) => Error::Tree(error),
            other => Error::Sentence(other.to_string()),
        })
    }

    /// What a tree is judged against: a change that stands in the working tree already, against what was there before it.
    pub(crate) fn judged_against(&self, base: &TreeId) -> TreeId {
        let own = self.state.base.as_ref().filter(|_| self.state.is_in_the_files());
        own.unwrap_or(base).clone()
    }

    fn recheck(&mut self, base: TreeId, tree: TreeId, kept: Vec<HunkId>) -> Result<(), Error> {
        let _watch = CancelWatch::new(&self.house.journal, &self.lease, &self.house.cancel, None);
        if let Some(outside) = self.leaves_the_scope(&base, &tree)? {
            return Err(Error::Sentence(outside.reasons().join("; ")));
        }
        self.store.keep(self.id(), &tree)?;
        let (receipts, judgement) = self.prove(&self.judged_against(&base), &tree)?;
        self.leave();
        let (base, judgement, ran) = (Some(base), Box::new(judgement), self.take_ran());
        Ok(self.record(Event::Rechecked { tree, base, kept, receipts, judgement, ran })?)
    }
}
