//! The jail as a whole: attempts to get out of it, each with a positive control, and its life from start to end.
//!
//! A missing bubblewrap is a failure here, not a reason to skip: a green run must mean that the jail holds.

#![expect(clippy::unwrap_used, reason = "the whole binary is a test, which clippy cannot see without the harness")]

mod bounds;
mod escape;
mod lifecycle;
mod machine;
mod support;

use std::process::ExitCode;

pub use ::support::cases::Case;

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    if std::env::var_os(lifecycle::WORKER).is_some() {
        lifecycle::worker();
    }
    if let Ok(sleep) = std::env::var(lifecycle::VICTIM) {
        lifecycle::victim(&sleep);
    }
    ::support::cases::run([escape::CASES, bounds::CASES, lifecycle::CASES, machine::CASES].concat())
}
