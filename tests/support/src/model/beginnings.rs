//! How a move of a scripted model begins.

use serde_json::Value;

use super::moves::{Failure, FailureKind, Move, Report, Trouble};
use super::reply::{Part, Stop};

/// Says nothing and calls nothing.
pub fn empty() -> Move {
    Move {
        parts: Vec::new(),
        stop: None,
        failure: None,
        hangs: false,
        trouble: None,
        pace: None,
        chopped: false,
        unbounded: false,
        report: Report::Times(1.0),
        guards: Vec::new(),
        expected: Vec::new(),
        times: 1,
    }
}

pub fn say(text: impl Into<String>) -> Move {
    empty().say(text)
}

/// Thinks first. On the wire of Anthropic the block carries a signature, and must come back with it, unchanged.
pub fn thinking(text: impl Into<String>) -> Move {
    let mut begun = empty();
    begun.parts.push(Part::Thinking { text: text.into(), signature: String::new() });
    begun
}

/// Thinks behind a curtain: a block that nobody can read, and that must come back all the same.
pub fn redacted_thinking() -> Move {
    thinking("")
}

pub fn call(tool: &str, args: Value) -> Move {
    empty().call(tool, args)
}

/// Several calls at once.
pub fn calls<const N: usize>(calls: [(&str, Value); N]) -> Move {
    calls.into_iter().fold(empty(), |made, (tool, args)| made.call(tool, args))
}

/// A call whose arguments are this text, JSON or not.
pub fn raw_call(tool: &str, args: &str) -> Move {
    empty().raw_call(tool, args)
}

/// The model declines (`refusal` on both wires).
pub fn refuse(text: impl Into<String>) -> Move {
    Move { stop: Some(Stop::Refused), ..say(text) }
}

/// A filter of the provider ends the answer (`content_filter`; `refusal` on the wire of Anthropic).
pub fn filtered() -> Move {
    Move { stop: Some(Stop::Filtered), ..empty() }
}

/// Fails with this status, in the words of the wire.
pub fn status(status: u16) -> Move {
    let message = format!("The scripted model answers with status {status}.");
    let failure = Failure { status, code: None, message, retry_after: None, kind: FailureKind::Error };
    Move { failure: Some(failure), ..empty() }
}

/// Says that the request is larger than the model's window, as each API does.
pub fn context_overflow() -> Move {
    let mut failing = status(400);
    failing.failure_mut().kind = FailureKind::Overflow;
    failing
}

/// Status 200 and a page of HTML, as from a proxy that wants a password.
pub fn page() -> Move {
    let mut failing = status(200);
    failing.failure_mut().kind = FailureKind::Page;
    failing
}

/// One good event, then bytes that are neither events nor JSON nor UTF-8.
pub fn garbage() -> Move {
    Move { trouble: Some((1, Trouble::Garbage)), ..say("This never arrives.") }
}

/// Never answers, unless it is released: then with nothing.
pub fn hang() -> Move {
    empty().hangs()
}
