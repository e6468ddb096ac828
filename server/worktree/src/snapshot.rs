//! Freezing: the developer's text at one instant becomes a tree in our store.

use task::{Digest, Limitation, Mode, TreeId, TreePath};

use crate::{Error, Store, Workspace};

/// What the developer allows.
#[derive(Debug, Clone, Default)]
pub struct FreezeOptions {
    /// Globs of paths that may enter although they look like secrets.
    pub allow: Vec<String>,
}

/// A file that checks see but that is in no tree: it belongs to the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisioned {
    pub path: TreePath,
    pub mode: Mode,
    /// SHA-256 over its bytes.
    pub digest: Digest,
}

/// The snapshot.
#[derive(Debug, Clone)]
pub struct Frozen {
    pub base: TreeId,
    /// The provisioned files as a tree of their own, for [`crate::Slot::project`]; it may be empty.
    pub provision: TreeId,
    pub provisioned: Vec<Provisioned>,
    /// The commit that HEAD names, where there is one.
    pub head: Option<String>,
    /// Files left out because they look like secrets.
    pub withheld: Vec<TreePath>,
    /// Everything left out or read another way, one sentence each; withheld files included.
    pub limitations: Vec<Limitation>,
}

/// Pictures tracked and untracked-unignored files, with unsaved editor text in place of disk text.
/// Writes nothing outside our own folder.
///
/// # Errors
/// When a file keeps changing while it is read, a glob is none, or the store cannot be written.
pub fn freeze(
    workspace: &Workspace,
    store: &Store,
    overlays: &[(TreePath, Vec<u8>)],
    options: &FreezeOptions,
) -> Result<Frozen, Error> {
    let _ = (workspace, overlays, options);
    Err(Error::Missing(format!("{store:?}")))
}

/// A tree taken from the developer's history.
#[derive(Debug, Clone)]
pub struct Revision {
    pub tree: TreeId,
    /// The commit it is the tree of.
    pub commit: String,
    pub withheld: Vec<TreePath>,
    pub limitations: Vec<Limitation>,
}

/// Copies the tree of a revision (`HEAD`, a branch, a tag, a commit id) into our store, through the same filter as a
/// snapshot. `HEAD` of an empty repository is the empty tree with an empty commit.
///
/// # Errors
/// When the name does not resolve or its objects cannot be read.
pub fn freeze_revision(
    workspace: &Workspace,
    store: &Store,
    name: &str,
    options: &FreezeOptions,
) -> Result<Revision, Error> {
    let _ = (workspace, name, options);
    Err(Error::Missing(format!("{store:?}")))
}

/// The commit id from which `branch` and HEAD grew apart.
///
/// # Errors
/// When the branch does not resolve or shares no history with HEAD.
pub fn merge_base_with_head(workspace: &Workspace, branch: &str) -> Result<String, Error> {
    let _ = workspace;
    Err(Error::Missing(branch.to_owned()))
}

/// The provisioned files of a provision tree, as [`freeze`] reported them.
///
/// # Errors
/// When an object is missing or damaged.
pub fn provisioned(store: &Store, provision: &TreeId) -> Result<Vec<Provisioned>, Error> {
    let _ = store;
    Err(Error::Missing(provision.to_string()))
}
