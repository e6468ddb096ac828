//! Comparing: base and tree become a diff of hunks that can be kept or rejected one by one.

use std::collections::BTreeMap;

use task::{Author, Diff, HunkId, PublishedFile, TreeId, TreePath};

use crate::{Error, Store};

/// Who wrote what: by hunk, else by path of the new file, else the default.
#[derive(Debug, Clone)]
pub struct Authors {
    pub default: Author,
    pub paths: BTreeMap<TreePath, Author>,
    pub hunks: BTreeMap<HunkId, Author>,
}

impl Authors {
    pub fn all(author: Author) -> Self {
        Self { default: author, paths: BTreeMap::new(), hunks: BTreeMap::new() }
    }
}

/// Everything from base to tree, moves found by equal or similar content.
///
/// # Errors
/// When an object is missing or damaged.
pub fn compare(store: &Store, base: &TreeId, tree: &TreeId, authors: &Authors) -> Result<Diff, Error> {
    let _ = (store, base, authors);
    Err(Error::Missing(tree.to_string()))
}

/// What a publication of `tree` over `base` has to write, sorted by path; gitlinks never change by publication.
///
/// # Errors
/// When an object is missing or damaged.
pub fn published_files(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Vec<PublishedFile>, Error> {
    let _ = (store, base);
    Err(Error::Missing(tree.to_string()))
}
