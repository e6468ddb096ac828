//! The wire `anthropic`: the Messages API.

mod request;
mod stream;

pub(crate) use request::{body, count_body};
pub(crate) use stream::Collector;

/// The name under which its thinking is kept.
pub(crate) const WIRE: &str = "anthropic";
