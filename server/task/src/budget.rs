//! What a task may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hard stops of a task. They live outside whoever proposes edits: reaching one ends the task with what there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Tries at the plan, from 1 to [`Limits::MOST_ATTEMPTS`].
    pub max_attempts: u32,
    /// Dollars in millionths; `None` where no model is used. Reserved before each call.
    pub budget_microdollars: Option<u64>,
    /// Tokens of input and output together, cached ones included; `None` is no limit of its own.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// What of the dollars the stronger model may use, where one is configured.
    #[serde(default)]
    pub escalation_microdollars: Option<u64>,
    /// Active time of the whole task in milliseconds.
    pub timeout_ms: u64,
    /// Longest time for one sandboxed command, in milliseconds; never more than what the task has left.
    pub check_timeout_ms: u64,
    /// Data memory of each sandboxed process, in bytes; `None` takes the sandbox's default.
    pub check_memory_bytes: Option<u64>,
}

impl Limits {
    /// Whoever failed so often will not succeed by another try.
    pub const MOST_ATTEMPTS: u32 = 10;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            budget_microdollars: None,
            max_tokens: None,
            escalation_microdollars: None,
            timeout_ms: 30 * 60 * 1000,
            check_timeout_ms: 10 * 60 * 1000,
            check_memory_bytes: None,
        }
    }
}
