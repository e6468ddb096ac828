//! Why a command of the command line did not do its work, with the exit code that says so.

use task::ExitCode;
use task::port::JournalError;

/// One clear sentence and an exit code.
#[derive(Debug)]
pub struct Failure {
    pub code: ExitCode,
    pub sentence: String,
}

impl Failure {
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { code: ExitCode::Usage, sentence: sentence.into() }
    }

    pub fn infrastructure(sentence: impl Into<String>) -> Self {
        Self { code: ExitCode::Infrastructure, sentence: sentence.into() }
    }
}

impl From<agent::Error> for Failure {
    fn from(error: agent::Error) -> Self {
        match error {
            agent::Error::Journal(error) => error.into(),
            agent::Error::Limit(_) => Self { code: ExitCode::Stopped, sentence: error.chain() },
            agent::Error::Cancelled => Self { code: ExitCode::Cancelled, sentence: error.chain() },
            agent::Error::Workspace(worktree::WorkspaceError::Other(_)) => Self::infrastructure(error.chain()),
            // The folder was named by the caller.
            agent::Error::Workspace(_) | agent::Error::Sentence(_) | agent::Error::Scope(_) => {
                Self::usage(error.chain())
            }
            _ => Self::infrastructure(error.chain()),
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::NoSuchTask(_) => Self::usage(error.to_string()),
            _ => Self::infrastructure(agent::Error::Journal(error).chain()),
        }
    }
}

impl From<crate::settings::SettingsError> for Failure {
    fn from(error: crate::settings::SettingsError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<task::IdError> for Failure {
    fn from(error: task::IdError) -> Self {
        Self::usage(error.to_string())
    }
}
