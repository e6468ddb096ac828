//! [`Workspace`]: the folder tree the developer has open, and our own folder for it.

use std::fmt;
use std::path::{Path, PathBuf};

use task::TreePath;

/// Names a workspace: a hash of the canonical path of its top folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceId(String);

impl fmt::Display for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why a folder cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("{} is not a folder that can be opened", .path.display())]
    NotAFolder { path: PathBuf, source: std::io::Error },
    #[error("{} is a bare git repository: there are no files to work on; name a working tree", .0.display())]
    Bare(PathBuf),
    #[error(
        "the state folder {} lies inside the workspace {}; set XDG_STATE_HOME to a place outside it",
        .state.display(), .top.display()
    )]
    StateInside { state: PathBuf, top: PathBuf },
    #[error(transparent)]
    Other(#[from] crate::Error),
}

/// The top folder of a git working tree, or a plain folder, with the place where our own data about it lives.
#[derive(Debug, Clone)]
pub struct Workspace {
    top: PathBuf,
    state: PathBuf,
    id: WorkspaceId,
}

impl Workspace {
    /// Finds the git top level that holds `folder` (or takes the folder itself where there is no git) and makes
    /// `state/w/<workspace id>` for it, readable by this user only. `state` is the product's state folder.
    ///
    /// # Errors
    /// When the folder is none, is a bare repository, or holds the state folder.
    pub fn open(folder: &Path, state: &Path) -> Result<Self, WorkspaceError> {
        let _ = (folder, state);
        Err(WorkspaceError::Bare(folder.into()))
    }

    /// Canonical path of the top folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Our own folder for this workspace: `state/w/<workspace id>`.
    pub fn state(&self) -> &Path {
        &self.state
    }

    pub fn id(&self) -> &WorkspaceId {
        &self.id
    }

    /// Where an absolute path lies in the workspace; `None` outside it.
    pub fn path_of(&self, absolute: &Path) -> Option<TreePath> {
        use std::os::unix::ffi::OsStrExt as _;
        let tail = absolute.strip_prefix(&self.top).ok()?;
        TreePath::new(tail.as_os_str().as_bytes()).ok()
    }

    /// The absolute path of something in the workspace.
    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        self.top.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
    }
}
