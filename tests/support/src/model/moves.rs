//! What a scripted model can do when it is asked.
//!
//! A move begins with one of the functions of `beginnings.rs` and is completed by the methods of [`Move`]:
//! `say("I look first").call("read", json!({"path": "src/lib.rs"})).usage_factor(1.5)`.

use std::time::Duration;

use serde_json::Value;

use super::reply::{Part, Stop};
use super::{Seen, Usage};

/// One answer, or the lack of one.
#[derive(Debug, Clone)]
pub struct Move {
    /// Ids and signatures are empty until the move is made.
    pub(super) parts: Vec<Part>,
    pub(super) stop: Option<Stop>,
    pub(super) failure: Option<Failure>,
    /// Waits before the first byte of the answer.
    pub(super) hangs: bool,
    /// After so many events.
    pub(super) trouble: Option<(usize, Trouble)>,
    pub(super) pace: Option<Duration>,
    pub(super) chopped: bool,
    pub(super) unbounded: bool,
    pub(super) report: Report,
    pub(super) guards: Vec<Guard>,
    pub(super) expected: Vec<String>,
    pub(super) times: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) code: Option<String>,
    pub(super) message: String,
    pub(super) retry_after: Option<String>,
    pub(super) kind: FailureKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// In the words of the wire.
    Error,
    Overflow,
    /// A page that some machine in between made.
    Page,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Dies,
    Hangs,
    Ends,
    Fails,
    Garbage,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Report {
    Times(f64),
    Exactly(Usage),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Guard {
    Tool(String),
    Result(String),
    Text(String),
    Model(String),
}

impl Move {
    #[must_use]
    pub fn say(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    #[must_use]
    pub fn call(self, tool: &str, args: Value) -> Self {
        self.call_as("", tool, &args.to_string())
    }

    #[must_use]
    pub fn raw_call(self, tool: &str, args: &str) -> Self {
        self.call_as("", tool, args)
    }

    /// A call with an id of the test's own, such as one that was used before. Empty: one that is not.
    #[must_use]
    pub fn call_as(mut self, id: &str, tool: &str, args: &str) -> Self {
        self.parts.push(Part::Call { id: id.to_owned(), name: tool.to_owned(), args: args.to_owned() });
        self
    }

    /// Says that the length ended it. What exceeds the `max_tokens` of a request is cut off anyway.
    #[must_use]
    pub fn cut_off_at_length(self) -> Self {
        Self { stop: Some(Stop::Length), ..self }
    }

    /// A reason to stop that nobody expects, in the field of the wire.
    #[must_use]
    pub fn stop_reason(self, reason: &str) -> Self {
        Self { stop: Some(Stop::Other(reason.to_owned())), ..self }
    }

    /// With `retry-after`: seconds, or a date.
    ///
    /// # Panics
    /// Unless the move fails.
    #[must_use]
    pub fn retry_after(mut self, value: impl ToString) -> Self {
        self.failure_mut().retry_after = Some(value.to_string());
        self
    }

    /// The `code` (OpenAI only) and the words of an error.
    ///
    /// # Panics
    /// Unless the move fails.
    #[must_use]
    pub fn error(mut self, code: &str, message: &str) -> Self {
        let failure = self.failure_mut();
        (failure.code, failure.message) = (Some(code.to_owned()), message.to_owned());
        self
    }

    /// The connection ends after so many events, without the end of the stream.
    #[must_use]
    pub fn dies_after(self, events: usize) -> Self {
        Self { trouble: Some((events, Trouble::Dies)), ..self }
    }

    /// The stream ends properly, but without its last events.
    #[must_use]
    pub fn ends_after(self, events: usize) -> Self {
        Self { trouble: Some((events, Trouble::Ends)), ..self }
    }

    /// An `error` event (overloaded) in the stream, which then ends.
    #[must_use]
    pub fn fails_after(self, events: usize) -> Self {
        Self { trouble: Some((events, Trouble::Fails)), ..self }
    }

    /// Waits in the middle of the stream until it is released, then goes on.
    #[must_use]
    pub fn hangs_after(self, events: usize) -> Self {
        Self { trouble: Some((events, Trouble::Hangs)), ..self }
    }

    /// Waits before the answer until it is released.
    #[must_use]
    pub fn hangs(self) -> Self {
        Self { hangs: true, ..self }
    }

    /// A pause before each event.
    #[must_use]
    pub fn slow(self, pace: Duration) -> Self {
        Self { pace: Some(pace), ..self }
    }

    /// The stream comes in parts of seven bytes.
    #[must_use]
    pub fn chopped(self) -> Self {
        Self { chopped: true, ..self }
    }

    /// Goes on beyond the `max_tokens` of the request, as no provider should, and reports no more than those.
    #[must_use]
    pub fn unbounded(self) -> Self {
        Self { unbounded: true, ..self }
    }

    /// Reports so many times of what the tokens are. Output stays within `max_tokens`.
    #[must_use]
    pub fn usage_factor(self, factor: f64) -> Self {
        Self { report: Report::Times(factor), ..self }
    }

    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { report: Report::Exactly(usage), ..self }
    }

    #[must_use]
    pub fn no_usage(self) -> Self {
        Self { report: Report::Nothing, ..self }
    }

    /// A violation unless the last message says this when the move is made.
    #[must_use]
    pub fn expect(mut self, text: &str) -> Self {
        self.expected.push(text.to_owned());
        self
    }

    /// Only for requests that offer this tool; others look further down the list, here and with the other `if_`.
    #[must_use]
    pub fn if_tool(self, tool: &str) -> Self {
        self.guard(Guard::Tool(tool.to_owned()))
    }

    /// Only for requests whose last message has a result of this tool.
    #[must_use]
    pub fn if_result(self, tool: &str) -> Self {
        self.guard(Guard::Result(tool.to_owned()))
    }

    /// Only for requests whose last message says this.
    #[must_use]
    pub fn if_text(self, text: &str) -> Self {
        self.guard(Guard::Text(text.to_owned()))
    }

    /// Only for requests to this model.
    #[must_use]
    pub fn if_model(self, model: &str) -> Self {
        self.guard(Guard::Model(model.to_owned()))
    }

    /// Is made so often; `usize::MAX` is for ever.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    pub(super) fn guard(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    pub(super) fn failure_mut(&mut self) -> &mut Failure {
        self.failure.as_mut().unwrap_or_else(|| panic!("only a move that fails has a retry-after or an error"))
    }
}

impl Guard {
    pub(super) fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::Tool(tool) => seen.offers(tool),
            Self::Result(tool) => seen.last_results().iter().any(|(name, _)| name == tool),
            Self::Text(text) => seen.last_text().contains(text),
            Self::Model(model) => seen.model == *model,
        }
    }
}
