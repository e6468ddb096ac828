//! Real cargo, node and python on small generated projects, in the real sandbox. A missing bubblewrap, toolchain or
//! interpreter is a failure here.

#![expect(clippy::unwrap_used, reason = "a panic is the failure of a case")]

mod bench;
mod builds;
mod docs;
mod node;
mod npm;
mod processes;
mod python;
mod tests;

use std::process::ExitCode;

pub use ::support::cases::Case;

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    ::support::cases::run(
        [builds::CASES, tests::CASES, docs::CASES, processes::CASES, node::CASES, npm::CASES, python::CASES].concat(),
    )
}
