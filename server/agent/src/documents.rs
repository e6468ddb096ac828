//! [`Documents`]: what stands in an editor and not, or not yet, on disk.

use std::path::Path;

use task::TreePath;

/// Text that the developer has open in an editor and may not have saved.
pub trait Documents: Send + Sync {
    /// Open documents below this folder (git top level), by path.
    fn open(&self, top: &Path) -> Vec<(TreePath, Vec<u8>)>;
}

/// A front without an editor.
#[derive(Debug, Clone, Copy)]
pub struct NoDocuments;

impl Documents for NoDocuments {
    fn open(&self, _: &Path) -> Vec<(TreePath, Vec<u8>)> {
        Vec::new()
    }
}
