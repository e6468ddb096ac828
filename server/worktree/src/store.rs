//! [`Store`]: the trees and blobs of one workspace, in a bare git repository of our own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use task::{EditError, EditSet, Mode, TaskId, TreeId, TreePath};

use crate::{Error, Workspace};

/// Names a blob: the git blob id (SHA-1) of its raw bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(git2::Oid);

impl BlobId {
    /// The id that these bytes have.
    pub fn of(bytes: &[u8]) -> Self {
        Self(git2::Oid::hash_object(git2::ObjectType::Blob, bytes).unwrap_or_else(|_| git2::Oid::zero()))
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

/// What a path is in a tree. For a gitlink, `blob` is the commit of the submodule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub mode: Mode,
    pub blob: BlobId,
}

/// Every path of a tree.
pub type Entries = BTreeMap<TreePath, Entry>;

/// New bytes and modes by path; `None` deletes.
pub type NewEntries = BTreeMap<TreePath, Option<(Arc<[u8]>, Mode)>>;

/// Why an edit set does not turn a tree into another.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("{path} cannot be edited: {why}")]
    Refused { path: TreePath, why: &'static str },
    #[error(transparent)]
    Store(#[from] Error),
}

/// The trees of one workspace. Objects of edits stay in memory until [`Store::keep`] writes them, in one pack.
/// Can be shared between threads.
pub struct Store {}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store of a workspace, and makes it where there is none.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub fn open(workspace: &Workspace) -> Result<Self, Error> {
        let _ = workspace;
        Ok(Self {})
    }

    /// Every path of a tree.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn entries(&self, tree: &TreeId) -> Result<Arc<Entries>, Error> {
        Err(Error::Missing(tree.to_string()))
    }

    /// What is at one path; `None` where nothing or a folder is.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn entry(&self, tree: &TreeId, path: &TreePath) -> Result<Option<Entry>, Error> {
        let _ = path;
        Err(Error::Missing(tree.to_string()))
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn blob(&self, blob: BlobId) -> Result<Arc<[u8]>, Error> {
        Err(Error::Missing(blob.to_string()))
    }

    /// The bytes of a file (of a symlink: its target); `None` where there is none.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn read(&self, tree: &TreeId, path: &TreePath) -> Result<Option<Arc<[u8]>>, Error> {
        let _ = path;
        Err(Error::Missing(tree.to_string()))
    }

    /// The tree with some paths replaced, created or deleted.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn edit(&self, tree: &TreeId, changes: &NewEntries) -> Result<TreeId, Error> {
        let _ = changes;
        Err(Error::Missing(tree.to_string()))
    }

    /// The tree after an edit set: all of it or nothing. A file keeps its mode, also when it moves.
    ///
    /// # Errors
    /// When the set does not fit the tree or names a path that must not be edited.
    pub fn apply(&self, tree: &TreeId, edits: &EditSet) -> Result<TreeId, ApplyError> {
        let _ = edits;
        Err(Error::Missing(tree.to_string()).into())
    }

    /// The tree of exactly these entries, whose blobs the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tree(&self, entries: &Entries) -> Result<TreeId, Error> {
        let _ = entries;
        Err(Error::Missing(String::new()))
    }

    /// Makes a tree last until the task is forgotten, whatever happens to the process or the machine.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep(&self, task: &TaskId, tree: &TreeId) -> Result<(), Error> {
        let _ = task;
        Err(Error::Missing(tree.to_string()))
    }

    /// The kept trees of a task, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn kept(&self, task: &TaskId) -> Result<Vec<TreeId>, Error> {
        let _ = task;
        Ok(Vec::new())
    }

    /// Like [`Store::keep`], for the provisioned files of a task.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep_provision(&self, task: &TaskId, provision: &TreeId) -> Result<(), Error> {
        self.keep(task, provision)
    }

    /// The provisioned files of a task, as a tree of their own.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn kept_provision(&self, task: &TaskId) -> Result<Option<TreeId>, Error> {
        let _ = task;
        Ok(None)
    }

    /// Lets the trees of a task go.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn forget(&self, task: &TaskId) -> Result<(), Error> {
        let _ = task;
        Ok(())
    }

    /// Drops what no kept tree needs and joins many small packs, when nobody else uses the store just now.
    /// Answers whether it did.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn tidy(&self) -> Result<bool, Error> {
        Ok(false)
    }
}
