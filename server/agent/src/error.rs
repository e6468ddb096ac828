//! [`Error`]: what a task cannot go on from. Broken code, failing checks and refusing editors are data, never this.

use task::port::{JournalError, PublishError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Workspace(#[from] worktree::WorkspaceError),
    #[error(transparent)]
    Tree(#[from] worktree::Error),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Scope(#[from] task::ScopeError),
    /// The provider of the model could not be reached: the task waits, and can be resumed.
    #[error("{0}")]
    Paused(String),
    /// The provider does not take what it is asked, whoever asks: a key, a model, a setting is wrong.
    #[error("{0}")]
    Provider(String),
    /// A limit of what was asked does not allow any more of it.
    #[error("{0}")]
    Limit(String),
    #[error("the task was cancelled")]
    Cancelled,
    /// A sentence that is complete by itself.
    #[error("{0}")]
    Sentence(String),
}

impl Error {
    /// The error and its causes in one line.
    pub fn chain(&self) -> String {
        use std::error::Error as _;
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let next = error.to_string();
            if !text.ends_with(&next) {
                text.push_str(": ");
                text.push_str(&next);
            }
            cause = error.source();
        }
        task::printable(&text)
    }
}

impl From<worktree::ApplyError> for Error {
    fn from(error: worktree::ApplyError) -> Self {
        match error {
            worktree::ApplyError::Store(error) => Self::Tree(error),
            other => Self::Sentence(other.to_string()),
        }
    }
}
