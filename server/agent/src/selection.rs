//! Station 14: hunks are kept or rejected. A selection is a tree of its own and is checked as one.

use std::collections::BTreeSet;

use task::{Diff, Event, HunkId, Judgement, TreeId};
use worktree::{Authors, SelectError};

use crate::cancel::CancelWatch;
use crate::evidence::author;
use crate::{Error, risks, walk::Walk};

impl Walk<'_> {
    /// The diff of the task, as its hunks are selected from.
    pub(crate) fn whole_diff(&self) -> Result<Diff, Error> {
        let (Some(base), Some(tree)) = (&self.state.base, &self.state.tree) else {
            return Err(Error::Sentence(format!("task {} has no diff yet", self.id())));
        };
        risks::diff(&self.store, base, tree, &Authors::all(author(&self.state)))
    }

    /// The tree of base plus these hunks, judged. A selection whose checks all came to their end before is not run
    /// again.
    ///
    /// # Errors
    /// When a hunk is unknown, cannot stand without another one, or lies outside the permitted paths.
    pub fn select(&mut self, kept: &BTreeSet<HunkId>) -> Result<TreeId, Error> {
        let _watch = CancelWatch::new(&self.house.journal, &self.lease, &self.house.cancel);
        let diff = self.whole_diff()?;
        let tree = worktree::select(&self.store, &diff, kept).map_err(|error| match error {
            SelectError::Store(error) => Error::Tree(error),
            other => Error::Sentence(other.to_string()),
        })?;
        let known = self.state.selections.iter().any(|(selected, _)| *selected == tree)
            || Some(&tree) == self.state.tree.as_ref();
        let is_final = |judgement: &Judgement| {
            judgement.verified || judgement.comparisons.iter().all(|check| check.verdict.is_conclusive())
        };
        if known && self.state.judgement(&tree).is_some_and(is_final) {
            return Ok(tree);
        }
        if let Some(outside) = self.leaves_the_scope(&diff.base, &tree)? {
            return Err(Error::Sentence(outside.reasons().join("; ")));
        }
        self.store.keep(self.id(), &tree)?;
        let (receipts, judgement) = self.prove(&diff.base, &tree)?;
        self.site = None;
        let kept = kept.iter().cloned().collect();
        self.record(Event::Rechecked { tree: tree.clone(), kept, receipts, judgement: Box::new(judgement) })?;
        Ok(tree)
    }
}
