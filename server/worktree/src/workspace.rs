//! [`Workspace`]: the folder tree the developer has open, and our own folder for it.

use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use task::{Digest, TreePath};

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
        let refuse = |source| WorkspaceError::NotAFolder { path: folder.to_owned(), source };
        let folder = fs::canonicalize(folder).map_err(refuse)?;
        if !folder.is_dir() {
            return Err(refuse(std::io::ErrorKind::NotADirectory.into()));
        }
        let top = match folder.ancestors().find(|ancestor| is_git_top(ancestor)) {
            Some(top) => top.to_owned(),
            None if is_bare(&folder) => return Err(WorkspaceError::Bare(folder)),
            None => folder,
        };
        let digest = Digest::of([top.as_os_str().as_bytes()]);
        let id = WorkspaceId(digest.as_str()[..16].to_owned());
        // Compared before anything is made: a refused state folder must not leave a trace in the workspace.
        let resolved = resolve(state);
        if resolved.starts_with(&top) {
            return Err(WorkspaceError::StateInside { state: state.to_owned(), top });
        }
        let own = resolved.join("w").join(&id.0);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&own).map_err(crate::Error::io("made", &own))?;
        Ok(Self { top, state: own, id })
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

    /// The absolute path of something in the workspace.
    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        self.top.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
    }
}

/// `.git` is a folder, or in a linked worktree or a submodule a file that names one.
fn is_git_top(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.join("HEAD").symlink_metadata().is_ok() || git.is_file()
}

fn is_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The canonical form of a path whose last parts may not exist yet.
fn resolve(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in absolute.ancestors() {
        if let (Ok(real), Ok(tail)) = (fs::canonicalize(ancestor), absolute.strip_prefix(ancestor)) {
            return if tail.as_os_str().is_empty() { real } else { real.join(tail) };
        }
    }
    absolute
}
