//! The files of a tree as this crate sees them: in memory, named by tree paths.

use std::collections::BTreeMap;

use task::TreePath;

/// A tree that can be listed and read. Implemented by whoever holds trees; nothing is read from disk through it.
pub trait Files {
    /// Every file and link of the tree, in any order.
    fn list(&self) -> Vec<TreePath>;

    /// The bytes of a regular file; `None` where there is none.
    fn read(&self, path: &TreePath) -> Option<Vec<u8>>;
}

/// A small tree held in a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMap(pub BTreeMap<TreePath, Vec<u8>>);

impl Files for FileMap {
    fn list(&self) -> Vec<TreePath> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, path: &TreePath) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }
}
