//! `understudy sandbox`: one command in the jail, on a shadow of the working tree.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use sandbox::Outcome;

use super::request::folder;
use crate::failure::Failure;
use crate::wiring::{self, Front};

/// The status of a command that could not be started, as `env` and `timeout` have it.
const COULD_NOT_START: i32 = 125;

pub fn sandbox(repo: &Path, timeout: u64, command: Vec<OsString>) -> Result<i32, Failure> {
    let folder = folder(repo)?;
    let opened = wiring::open_on(Front::Json, &folder)?;
    wiring::cancel_on_interrupt(&opened.house.cancel);
    let finished = match agent::in_shadow(&opened.house, &folder, command, std::time::Duration::from_secs(timeout)) {
        Ok(finished) => finished,
        Err(error) => {
            crate::render::print_error(&error.chain());
            return Ok(COULD_NOT_START);
        }
    };
    // What the command printed is its own: it goes through as it is.
    let _ = std::io::stdout().write_all(&finished.stdout.bytes());
    let _ = std::io::stderr().write_all(&finished.stderr.bytes());
    Ok(match finished.outcome {
        Outcome::Exit { code } => code,
        Outcome::Signal { signal } => 128 + signal,
        Outcome::Timeout => 124,
        other => {
            crate::render::print_error(&other.to_string());
            COULD_NOT_START
        }
    })
}
