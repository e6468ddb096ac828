//! What retrieval and syntax answer, through their port alone: no compiler is loaded here.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod outline;
mod search;
mod support;
mod syntax;
