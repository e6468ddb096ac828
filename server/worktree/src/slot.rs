//! [`Slot`]: a leased place outside the workspace where checks see a tree.

use std::path::{Path, PathBuf};

use task::{TreeId, TreePath};

use crate::{Error, Store, Workspace};

/// What a projection did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projection {
    pub written: Vec<TreePath>,
    pub removed: Vec<TreePath>,
    pub unchanged: usize,
}

/// A leased slot. Dropping it, or the end of the process, frees it.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    folder: PathBuf,
}

impl Slot {
    /// Takes the first slot that nobody holds.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub fn lease(workspace: &Workspace) -> Result<Self, Error> {
        Ok(Self { number: 0, folder: workspace.state().into() })
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The projection of the tree.
    pub fn shadow(&self) -> PathBuf {
        self.folder.join("shadow")
    }

    /// The warm build folder.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// The build folder that only final checks write.
    pub fn proof(&self) -> PathBuf {
        self.folder.join("proof")
    }

    /// Unpacked registry sources, private to this slot.
    pub fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    /// Makes the shadow show exactly this tree and these provisioned files, writing only what differs.
    /// A file whose content is not what a build folder last saw gets an mtime later than everything in them.
    ///
    /// # Errors
    /// When the slot cannot be written or an object is missing.
    pub fn project(&mut self, store: &Store, tree: &TreeId, provision: Option<&TreeId>) -> Result<Projection, Error> {
        let _ = (store, provision);
        Err(Error::Missing(tree.to_string()))
    }

    /// Files of the projection that are not any more what was projected (content, kind or mode), missing ones included.
    ///
    /// # Errors
    /// When the shadow cannot be read.
    pub fn verify(&self) -> Result<Vec<TreePath>, Error> {
        Ok(Vec::new())
    }

    /// Rewrites what differs from the projection and removes what does not belong; answers what [`Slot::verify`] would
    /// have said.
    ///
    /// # Errors
    /// When the shadow cannot be written.
    pub fn restore(&mut self, store: &Store) -> Result<Vec<TreePath>, Error> {
        let _ = store;
        Ok(Vec::new())
    }

    /// Empties one of the folders of the slot, whatever hostile code left in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub fn empty(&mut self, folder: &Path) -> Result<(), Error> {
        let _ = folder;
        Ok(())
    }
}
