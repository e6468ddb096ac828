//! A language model as the agent sees it: a call goes in, a reply comes out, and a [`Ledger`] is asked before each byte
//! of it is paid for.
//!
//! Synchronous like every other port: whoever implements it brings its own runtime. A call is pure data, so it can be
//! compared, kept and replayed; what is not in it is not sent.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal::JournalError;
use super::ledger::Ledger;
use super::reply::Reply;
use super::told::Told;
use crate::TaskId;

/// What a call is for; each may be served by another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Plan,
    Code,
    Diagnose,
    Summarise,
    Explain,
}

impl Stage {
    pub const ALL: [Self; 5] = [Self::Plan, Self::Code, Self::Diagnose, Self::Summarise, Self::Explain];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Diagnose => "diagnose",
            Self::Summarise => "summarise",
            Self::Explain => "explain",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub blocks: Vec<Block>,
}

/// A piece of a message. Results come in user messages, calls and thinking in assistant messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Block {
    Text {
        told: Told,
        /// What comes up to here stays the same in later calls: a provider that caches on demand is told so.
        #[serde(default)]
        stable: bool,
    },
    ToolCall {
        /// As the provider named it; a result names it again.
        id: String,
        name: String,
        arguments: Arguments,
    },
    ToolResult {
        id: String,
        told: Told,
        failed: bool,
    },
    /// Reasoning that a provider wants back byte for byte. Meaningless to every other wire, which leaves it out.
    Thinking {
        wire: String,
        raw: Value,
    },
}

/// The arguments of a tool call, as far as they could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
pub enum Arguments {
    Read(Value),
    /// No JSON object. The text as it came, capped.
    Malformed(String),
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of an object.
    pub parameters: Value,
}

/// One exchange. Equal calls are equal bytes on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub task: TaskId,
    pub stage: Stage,
    /// Ask the stronger model, where one is configured.
    pub escalated: bool,
    pub system: Told,
    pub tools: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    /// Tokens of output at most; never more than the model's own maximum.
    pub max_output: u64,
}

/// The model of a stage, as far as the agent must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `anthropic/claude-…`: provider and model, as settings name them.
    pub name: String,
    /// Tokens that input and output share.
    pub window: u64,
    /// Tokens of output at most.
    pub max_output: u64,
    /// Whether there is a price; without one only tokens are limited.
    pub priced: bool,
    /// Everything of the configuration that decides what this model answers, for the configuration id.
    pub identity: String,
}

/// What the caller of a model wants to know and to decide while it waits.
pub trait Waiting {
    /// Asked at least ten times a second; true ends the call, which is then charged as far as it came.
    fn is_over(&self) -> bool;
    /// A piece of text as it arrives, for people.
    fn heard(&self, text: &str);
    /// The provider asked to wait, or failed and is tried again after this time.
    fn paused(&self, why: &str, wait: Duration);
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The ledger did not allow the call; nothing was sent.
    #[error("{0}")]
    Budget(String),
    /// Input and output do not fit into the model's window.
    #[error("the conversation is longer than the model's window: {0}")]
    Overflow(String),
    /// The provider cannot be reached, or answers with 429 or 5xx, for longer than its patience: the task waits, it has not failed.
    #[error("{0}")]
    Unavailable(String),
    /// The provider does not take the call: a wrong key, an unknown model, a malformed request. Says what to do.
    #[error("{0}")]
    Refused(String),
    /// `Waiting::is_over` said so.
    #[error("the call was ended")]
    Ended,
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Language models, one for each stage.
pub trait Model: Send + Sync {
    /// The model that would serve a call; `None` where no stronger one is configured and one is asked for.
    fn profile(&self, stage: Stage, escalated: bool) -> Option<Profile>;

    /// One exchange, retries included; each of them is reserved and settled by itself.
    ///
    /// # Errors
    /// [`ModelError`]; what had to be paid until then is settled.
    fn call(&self, call: &ModelCall, ledger: &mut dyn Ledger, waiting: &dyn Waiting) -> Result<Reply, ModelError>;
}
