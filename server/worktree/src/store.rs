//! [`Store`]: the trees and blobs of one workspace, in a bare git repository of our own.
//!
//! It holds every object of a base itself and borrows nothing from the developer's repository, so that neither
//! `git gc --prune=now` there can hurt a task nor anything of ours can touch an mtime there.

mod edit;
mod keep;
mod objects;
mod pack;
mod tidy;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use git2::{ObjectType, Oid};
use task::{EditError, Mode, TreeId, TreePath};

use crate::lock::Lock;
use crate::{Error, Workspace};
use objects::Objects;
use pack::Encoded;
pub(crate) use pack::adler32;
pub(crate) use tree::{Kind, parse as parse_tree};

/// Names a blob: the git blob id (SHA-1, by libgit2's collision-detecting hasher) of its raw bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub(crate) Oid);

impl BlobId {
    /// The id that these bytes have.
    pub fn of(bytes: &[u8]) -> Self {
        // Hashing memory fails only if libgit2 cannot allocate; the zero id then equals nothing.
        Self(Oid::hash_object(ObjectType::Blob, bytes).unwrap_or_else(|_| Oid::zero()))
    }

    /// Reads the 40 hex digits that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() == 40 { Oid::from_str(text).ok().map(Self) } else { None }
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
pub struct Store {
    path: PathBuf,
    objects: Mutex<Objects>,
    /// Trees listed lately: the same few are asked for again and again.
    listed: Mutex<Vec<(TreeId, Arc<Entries>)>>,
    /// Shared for as long as the store is open; [`Store::tidy`] needs it alone.
    lock: Lock,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

const LISTED: usize = 6;

/// A path longer than this cannot be opened on Linux; a tree with one was made to break tools.
const LONGEST_PATH: usize = 4096;

impl Store {
    /// Opens the store of a workspace, and makes it where there is none.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub fn open(workspace: &Workspace) -> Result<Self, Error> {
        let path = workspace.state().join("store.git");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(Error::io("made", &path))?;
        let lock = Lock::shared(&workspace.state().join("store.lock"))?;
        let objects = Objects::open(&path)?;
        Ok(Self { path, objects: Mutex::new(objects), listed: Mutex::default(), lock })
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        // Every change to the objects is complete before anything can panic, so a poisoned lock is still sound.
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every path of a tree.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn entries(&self, tree: &TreeId) -> Result<Arc<Entries>, Error> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = listed.iter().position(|(id, _)| id == tree) {
            let hit = listed.remove(at);
            let entries = hit.1.clone();
            listed.push(hit);
            return Ok(entries);
        }
        let entries = Arc::new(self.list(tree)?);
        if listed.len() == LISTED {
            listed.remove(0);
        }
        listed.push((tree.clone(), entries.clone()));
        Ok(entries)
    }

    fn list(&self, tree: &TreeId) -> Result<Entries, Error> {
        let objects = self.objects();
        let mut entries = Entries::new();
        let mut folders = vec![(Vec::new(), oid_of(tree)?)];
        while let Some((prefix, id)) = folders.pop() {
            for row in read_tree(&objects, id)? {
                let mut path = prefix.clone();
                path.extend_from_slice(&row.name);
                let damaged = |what| Error::Damaged { id: id.to_string(), what };
                if path.len() > LONGEST_PATH {
                    return Err(damaged("it holds a path of more than 4096 bytes"));
                }
                match row.kind {
                    Kind::Folder => {
                        path.push(b'/');
                        folders.push((path, row.id));
                    }
                    Kind::Entry(mode) => {
                        let path = TreePath::new(path).map_err(|_| damaged("it holds an impossible name"))?;
                        entries.insert(path, Entry { mode, blob: BlobId(row.id) });
                    }
                }
            }
        }
        Ok(entries)
    }

    /// What is at one path; `None` where nothing or a folder is.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn entry(&self, tree: &TreeId, path: &TreePath) -> Result<Option<Entry>, Error> {
        let objects = self.objects();
        let mut id = oid_of(tree)?;
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let rows = read_tree(&objects, id)?;
            match rows.into_iter().find(|row| row.name == part) {
                Some(row) if row.kind == Kind::Folder => id = row.id,
                Some(tree::Row { kind: Kind::Entry(mode), id, .. }) if parts.peek().is_none() => {
                    return Ok(Some(Entry { mode, blob: BlobId(id) }));
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn blob(&self, blob: BlobId) -> Result<Arc<[u8]>, Error> {
        self.objects().read(blob.0, ObjectType::Blob)
    }

    /// The bytes of a file (of a symlink: its target); `None` where there is none.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn read(&self, tree: &TreeId, path: &TreePath) -> Result<Option<Arc<[u8]>>, Error> {
        match self.entry(tree, path)? {
            Some(Entry { mode, blob }) if mode != Mode::Gitlink => self.blob(blob).map(Some),
            _ => Ok(None),
        }
    }

    /// Adds a blob, in memory until a tree is kept.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, Error> {
        let blob = BlobId::of(bytes);
        self.objects().put(blob.0, ObjectType::Blob, bytes)?;
        Ok(blob)
    }

    /// Whether a blob is here already.
    pub(crate) fn has(&self, blob: BlobId) -> bool {
        self.objects().has(blob.0)
    }

    /// Adds a blob of a snapshot under way; [`Self::flush`] makes it readable.
    pub(crate) fn stream(&self, blob: BlobId, bytes: &[u8]) -> Result<(), Error> {
        if self.has(blob) {
            return Ok(());
        }
        // Outside the lock, so that several threads can do it at a time.
        let object = Encoded::new(ObjectType::Blob, bytes);
        self.objects().stream(blob.0, object)
    }

    /// Writes what is only in memory.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        self.objects().flush()
    }

    /// Takes note of what other processes wrote.
    pub(crate) fn refresh(&self) -> Result<(), Error> {
        self.objects().refresh()
    }
}

fn read_tree(objects: &Objects, id: Oid) -> Result<Vec<tree::Row>, Error> {
    if id == empty_tree() {
        return Ok(Vec::new());
    }
    let bytes = objects.read(id, ObjectType::Tree)?;
    parse_tree(&bytes).ok_or_else(|| Error::Damaged { id: id.to_string(), what: "it is not a tree that can be read" })
}

fn empty_tree() -> Oid {
    Oid::hash_object(ObjectType::Tree, b"").unwrap_or_else(|_| Oid::zero())
}

fn oid_of(tree: &TreeId) -> Result<Oid, Error> {
    Oid::from_str(tree.as_str()).map_err(Error::git("reading a tree id"))
}

fn tree_id(id: Oid) -> Result<TreeId, Error> {
    id.to_string().parse().map_err(|_| Error::Damaged { id: id.to_string(), what: "it is not the id of a tree" })
}
