//! Station 14, verdicts: hunks are kept or rejected, durably, and what is kept is a tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use task::{Diff, Event, HunkId, State, TreeId};
use worktree::{Authors, BlobId, Store};

use crate::evidence::author;
use crate::{Error, risks, walk::Walk};

impl Walk<'_> {
    /// Takes hunks out of what would be applied. Recording one that is out already records nothing.
    ///
    /// # Errors
    /// Names a hunk that the diff under review does not have, or without which another one cannot stand; nothing is
    /// recorded then.
    pub fn reject(&mut self, hunks: &BTreeSet<HunkId>, reason: Option<&str>) -> Result<(), Error> {
        let fresh = self.verdicts(hunks, |rejected| rejected.extend(hunks.iter().cloned()))?;
        for hunk in fresh {
            self.record(Event::HunkRejected { hunk, reason: reason.map(str::to_owned) })?;
        }
        Ok(())
    }

    /// Takes rejections back.
    ///
    /// # Errors
    /// As [`Walk::reject`].
    pub fn keep(&mut self, hunks: &BTreeSet<HunkId>) -> Result<(), Error> {
        let fresh = self.verdicts(hunks, |rejected| rejected.retain(|hunk| !hunks.contains(hunk)))?;
        for hunk in fresh {
            self.record(Event::HunkKept { hunk })?;
        }
        Ok(())
    }

    /// The hunks whose verdict changes, where what is kept afterwards can stand as a tree.
    fn verdicts(
        &self,
        hunks: &BTreeSet<HunkId>,
        change: impl FnOnce(&mut BTreeSet<HunkId>),
    ) -> Result<Vec<HunkId>, Error> {
        let diff = self.reviewed_diff()?;
        let all: BTreeSet<HunkId> = diff.hunks().map(|(_, hunk)| hunk.id.clone()).collect();
        if let Some(unknown) = hunks.difference(&all).next() {
            return Err(Error::Sentence(format!("hunk {unknown} is not part of the diff of task {}", self.id())));
        }
        let before = &self.state.rejected;
        let mut after = before.clone();
        change(&mut after);
        self.selected(&diff, &all.difference(&after).cloned().collect())?;
        Ok(before.symmetric_difference(&after).cloned().collect())
    }

    /// The tree of base plus the hunks that are not rejected, kept in the store, not checked by this call. With nothing
    /// rejected it is the diff's own tree.
    ///
    /// # Errors
    /// When there is no diff, or the store cannot be worked with.
    pub fn kept_tree(&self) -> Result<TreeId, Error> {
        let diff = self.reviewed_diff()?;
        let tree = self.selected(&diff, &self.kept(&diff))?;
        self.store.keep(self.id(), &tree)?;
        Ok(tree)
    }

    /// Bytes of this task's trees.
    pub fn blobs(&self) -> Blobs {
        Blobs { store: Arc::clone(&self.store) }
    }

    /// The hunks of a diff that are not rejected.
    pub(crate) fn kept(&self, diff: &Diff) -> BTreeSet<HunkId> {
        kept(&self.state, diff)
    }

    /// The diff under review.
    pub(crate) fn reviewed_diff(&self) -> Result<Diff, Error> {
        let Some((base, tree)) = self.state.reviewed() else {
            return Err(Error::Sentence(format!("task {} has no diff yet", self.id())));
        };
        self.diff_between(base, tree)
    }

    pub(crate) fn diff_between(&self, base: &TreeId, tree: &TreeId) -> Result<Diff, Error> {
        risks::diff(&self.store, base, tree, &Authors::all(author(&self.state)))
    }
}

/// The hunks of a diff that are not rejected.
pub(crate) fn kept(state: &State, diff: &Diff) -> BTreeSet<HunkId> {
    diff.hunks().map(|(_, hunk)| hunk.id.clone()).filter(|id| !state.rejected.contains(id)).collect()
}

/// The tree of the kept hunks of the diff under review, in memory. Verdicts that no tree can follow are never recorded.
pub(crate) fn kept_tree(store: &Store, state: &State, diff: &Diff) -> Option<TreeId> {
    worktree::select(store, diff, &kept(state, diff)).ok()
}

/// What a publisher writes: the bytes behind the blob ids of a publication.
#[derive(Debug, Clone)]
pub struct Blobs {
    store: Arc<Store>,
}

impl Blobs {
    /// The bytes of a blob, named as in [`task::PublishedFile`].
    ///
    /// # Errors
    /// When the name is none, or the store has no such blob.
    pub fn read(&self, blob: &str) -> Result<Vec<u8>, Error> {
        let id = BlobId::parse(blob)
            .ok_or_else(|| Error::Sentence(format!("`{}` is not the name of a blob", task::printable(blob))))?;
        Ok(self.store.blob(id)?.to_vec())
    }
}
