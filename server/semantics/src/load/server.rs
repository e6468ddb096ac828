//! Starting the proc-macro server in its own sandbox.

use sandbox::{CancelToken, Jailed, Limits, Output, Running, Sandbox, StartError, Stdin};

use super::confine::Place;
use super::macros::MacroPipes;

/// Lets the server speak to a compiler that is not its own.
const CONSENT: (&str, &str) = ("RUST_ANALYZER_INTERNALS_DO_NOT_USE", "this is unstable");

/// A running proc-macro server. Dropping it ends the process.
#[derive(Debug)]
pub struct MacroProcess {
    running: Running,
}

impl MacroProcess {
    /// Starts the server of the toolchain; it may read the tree, dependencies and the build folder, and write nothing.
    /// `None` when the toolchain has none.
    ///
    /// # Errors
    /// When the sandbox cannot start it.
    pub fn start(
        sandbox: &Sandbox,
        place: &Place,
        cancel: &CancelToken,
    ) -> Result<Option<(MacroProcess, MacroPipes)>, StartError> {
        if !place.macro_server().is_file() {
            return Ok(None);
        }
        let mut jailed = Jailed::new(place.macro_server(), &place.tree);
        jailed = jailed.env(CONSENT.0, CONSENT.1);
        jailed.mounts = place.readable();
        jailed.limits = Limits { wall: None, ..Limits::default() };
        jailed.stdin = Stdin::Piped;
        jailed.stdout = Output::Piped;
        let mut running = sandbox.start(jailed, cancel)?;
        let pipes = running.take_stdin().zip(running.take_stdout());
        let pipes = pipes.map(|(to, from)| MacroPipes { to: into_file(to), from: into_file(from) });
        Ok(pipes.map(|pipes| (MacroProcess { running }, pipes)))
    }

    /// From now on this token ends the process, and no earlier one.
    pub fn obey(&mut self, cancel: &CancelToken) {
        self.running.obey(cancel);
    }
}

fn into_file(end: impl Into<std::os::fd::OwnedFd>) -> std::fs::File {
    std::fs::File::from(end.into())
}
