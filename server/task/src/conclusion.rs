//! How a task ended, and the exit code that says so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Question;

/// How a task ended. Whatever it is, the diff that was reached, its limitations and the reason come with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Conclusion {
    /// Every required check has a receipt for exactly this tree and passed.
    Verified,
    NotVerified {
        reasons: Vec<String>,
    },
    /// The goal already holds at base.
    NothingToDo {
        reason: String,
    },
    Stopped {
        reason: StopReason,
    },
    /// Something of ours or of the machine failed: no statement about the change.
    Infrastructure {
        reason: String,
    },
    Cancelled,
    NeedsAnswer {
        question: Question,
    },
}

/// Why a task was stopped from outside its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StopReason {
    Attempts {
        max: u32,
    },
    Time {
        limit_ms: u64,
    },
    NonProgress {
        what: String,
    },
    /// Tokens or dollars.
    Budget {
        what: String,
    },
    /// The candidate is not a change of its base.
    DoesNotApply {
        what: String,
    },
    /// The change leaves what the request permits.
    OutOfScope {
        what: String,
    },
}

/// Exit codes of `run`, `prove` and the `tasks` verbs. 1 is never ours: it is what a crash of something else looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExitCode {
    Done = 0,
    Usage = 2,
    NotVerified = 3,
    Stopped = 4,
    Infrastructure = 5,
    Cancelled = 6,
    NeedsAnswer = 7,
    FilesMoved = 8,
}

impl Conclusion {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Verified | Self::NothingToDo { .. } => ExitCode::Done,
            Self::NotVerified { .. } => ExitCode::NotVerified,
            Self::Stopped { reason: StopReason::DoesNotApply { .. } } => ExitCode::FilesMoved,
            Self::Stopped { .. } => ExitCode::Stopped,
            Self::Infrastructure { .. } => ExitCode::Infrastructure,
            Self::Cancelled => ExitCode::Cancelled,
            Self::NeedsAnswer { .. } => ExitCode::NeedsAnswer,
        }
    }

    /// The binding word for this conclusion.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::NotVerified { .. } => "not verified",
            Self::NothingToDo { .. } => "nothing to do",
            Self::Stopped { .. } => "stopped",
            Self::Infrastructure { .. } => "infrastructure",
            Self::Cancelled => "cancelled",
            Self::NeedsAnswer { .. } => "needs an answer",
        }
    }

    /// Why, one sentence each.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Verified | Self::Cancelled => Vec::new(),
            Self::NotVerified { reasons } => reasons.clone(),
            Self::NothingToDo { reason } | Self::Infrastructure { reason } => vec![reason.clone()],
            Self::Stopped { reason } => vec![reason.to_string()],
            Self::NeedsAnswer { question } => vec![question.text.clone()],
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Attempts { max } => write!(f, "the limit of {max} attempts is used up"),
            Self::Time { limit_ms } => write!(f, "the time limit of {} s is used up", limit_ms / 1000),
            Self::NonProgress { what }
            | Self::Budget { what }
            | Self::DoesNotApply { what }
            | Self::OutOfScope { what } => f.write_str(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_does_not_apply_says_that_the_files_moved() {
        let stopped = Conclusion::Stopped { reason: StopReason::DoesNotApply { what: "src/a.rs".into() } };
        assert_eq!(stopped.exit_code() as i32, 8);
        assert_eq!(Conclusion::Stopped { reason: StopReason::Attempts { max: 3 } }.exit_code() as i32, 4);
    }
}
