//! The wire `openai`: chat completions, as OpenAI and everything that calls itself compatible speak them.

mod dialect;
mod request;
mod stream;

pub(crate) use dialect::Dialect;
pub(crate) use request::body;
pub(crate) use stream::Collector;
