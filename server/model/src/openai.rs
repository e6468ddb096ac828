//! The wire `openai`: chat completions, as OpenAI and everything that calls itself compatible speak them.

mod dialect;
mod request;
mod stream;

pub(crate) use dialect::Dialect;
pub(crate) use request::body;
pub(crate) use stream::Collector;

/// The name under which its reasoning is kept. OpenAI itself shows none here; others want theirs back with the calls that
/// it led to.
pub(crate) const WIRE: &str = "openai";
/// The fields in which it comes.
pub(crate) const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];
