//! The compiler as a whole, on real projects that are loaded through the real sandbox.
//!
//! A missing bubblewrap or rust-src is a failure here, not a reason to skip.

#![expect(clippy::unwrap_used, reason = "a panic is how a case fails")]

mod gate;
mod questions;
mod rebase;
mod rename;
mod support;
mod worker;

use std::process::ExitCode;

pub use ::support::cases::Case;

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    semantics::run_if_worker();
    ::support::cases::run([rename::CASES, gate::CASES, questions::CASES, worker::CASES, rebase::CASES].concat())
}
