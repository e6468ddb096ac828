//! The model engine in this process: a scripted model over real HTTP, a real journal, real trees, a real jail with the
//! checks of `node --test`. There is no compiler here, so that a change of this crate is tested in a moment.

#![expect(clippy::unwrap_used, reason = "a panic is the failure of a case")]

mod cheats;
#[path = "../walk/home.rs"]
#[expect(dead_code, reason = "the other test binary uses the rest")]
mod home;
mod resumed;
mod scenes;
mod sent;

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    support::cases::run([scenes::CASES, cheats::CASES, resumed::CASES, sent::CASES].concat())
}
