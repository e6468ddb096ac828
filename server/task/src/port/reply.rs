//! What a language model says, why it stopped, and what that cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::Arguments;

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Text, tool calls and thinking, in order. Empty where the model said nothing. Texts are as the model said them: the
    /// caller makes them `Told` when it keeps them.
    pub blocks: Vec<Said>,
    pub stop: Stop,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The sum of what was settled for it, repeated attempts included.
    pub spent: Spent,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Text(String),
    ToolCall { id: String, name: String, arguments: Arguments },
    Thinking { wire: String, raw: Value },
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "word")]
pub enum Stop {
    /// It had no more to say.
    End,
    /// It waits for results.
    ToolCalls,
    /// The output limit cut it off: the last tool call may be incomplete and is then malformed.
    Length,
    /// It will not answer.
    Refusal,
    /// A word that this version does not know.
    Other(String),
}

/// What was used, as the provider reported it; or the reservation, where it reported nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    pub cache_read: u64,
    pub cache_written: u64,
    /// Thinking included.
    pub output: u64,
    /// `None` for a model without a price.
    pub microdollars: Option<u64>,
    /// Whether the provider said so. If not, what it left open is taken from the reservation.
    pub reported: bool,
}

impl Spent {
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_written).saturating_add(self.output)
    }
}
