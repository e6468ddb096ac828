//! The ledger of a task: before a call is sent its worst case is reserved, afterwards what it cost is settled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::journal::JournalError;
use super::model::Stage;
use super::reply::Spent;

/// One call to a provider within a task, counted from 1. A repeated attempt is a call of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CallId(pub u64);

/// What a call can cost at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reservation {
    pub stage: Stage,
    /// `anthropic/claude-…`.
    pub model: String,
    /// Input tokens as we counted them, before any ratio.
    pub counted: u64,
    /// Input tokens at most.
    pub input: u64,
    /// Output tokens at most.
    pub output: u64,
    /// `None` for a model without a price.
    pub microdollars: Option<u64>,
    /// Pays from the allowance of the stronger model as well.
    #[serde(default)]
    pub escalated: bool,
}

/// Why a call may not be sent, or its cost not be written down.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// One sentence: which limit, what is left, what the call could cost.
    #[error("{0}")]
    Exceeds(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Who keeps count. A reservation is durable before the call it is for; one that is never settled stays charged.
pub trait Ledger {
    /// # Errors
    /// [`LedgerError::Exceeds`] where what is settled, what is reserved and this together would exceed a limit.
    fn reserve(&mut self, worst: &Reservation) -> Result<CallId, LedgerError>;

    /// # Errors
    /// [`LedgerError::Journal`].
    fn settle(&mut self, call: CallId, spent: &Spent) -> Result<(), LedgerError>;

    /// The greatest ratio of reported to counted input that this model showed so far in this task.
    fn worst_ratio(&self, model: &str) -> Option<f64>;
}
