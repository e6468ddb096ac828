//! [`Error`]: what this room cannot go on from.

use std::io;
use std::path::PathBuf;

use task::TreePath;

/// The files or the store cannot be worked with. What is wrong with a patch, a selection or a request has its own types.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} cannot be {what}", .path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{what} failed")]
    Git { what: String, source: git2::Error },
    #[error("object {0} is not in the store; the task that needs it has to be asked again")]
    Missing(String),
    #[error("object {id} in the store is damaged: {what}")]
    Damaged { id: String, what: &'static str },
    #[error("{0} changed while it was read, every time it was tried; ask again when nothing writes to it")]
    Unstable(TreePath),
    #[error("the snapshot was ended before it was complete")]
    Interrupted,
    #[error("`{name}` cannot be resolved in this repository: {why}")]
    Revision { name: String, why: String },
    #[error("`{glob}` is not a path glob")]
    Glob { glob: String, source: globset::Error },
}

impl Error {
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }

    pub(crate) fn git(what: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        let what = what.into();
        move |source| Self::Git { what, source }
    }
}
