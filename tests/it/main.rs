//! The integration tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apply;
mod bad_input;
mod compiler;
mod crash;
mod lsp;
mod model;
mod notes;
mod prove;
mod run;
mod select;
mod stage;
mod tidy;
mod warm;
