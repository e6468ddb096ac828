//! Starting the proc-macro server in its own sandbox.

use sandbox::{CancelToken, Jailed, Limits, Mount, Output, Running, Sandbox, StartError, Stdin};

use super::confine::Place;
use super::macros::MacroPipes;
use super::toolchain::environment;

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
    pub fn start(sandbox: &Sandbox, place: &Place) -> Result<Option<(MacroProcess, MacroPipes)>, StartError> {
        if !place.macro_server().is_file() {
            return Ok(None);
        }
        let mut jailed = Jailed::new(place.macro_server(), &place.tree);
        for (name, value) in environment(place, &[CONSENT]) {
            jailed = jailed.env(name, value);
        }
        jailed.mounts = readable(place);
        jailed.limits = Limits { wall: None, ..Limits::default() };
        jailed.stdin = Stdin::Piped;
        jailed.stdout = Output::Piped;
        let mut running = sandbox.start(jailed, &CancelToken::new())?;
        let pipes = running.take_stdin().zip(running.take_stdout());
        let pipes = pipes.map(|(to, from)| MacroPipes { to: into_file(to), from: into_file(from) });
        Ok(pipes.map(|pipes| (MacroProcess { running }, pipes)))
    }

    /// Whether the process is over.
    pub fn is_finished(&self) -> bool {
        self.running.is_finished()
    }
}

/// What a process that only reads may see: the tree, its dependencies, the toolchain and what was built.
pub fn readable(place: &Place) -> Vec<Mount> {
    let folders = [place.cargo_home.join("registry"), place.cargo_home.join("git")];
    let folders = folders.into_iter().chain([place.toolchain.clone(), place.tree.clone(), place.target.clone()]);
    folders.filter(|folder| folder.exists()).map(Mount::read_only).collect()
}

fn into_file(end: impl Into<std::os::fd::OwnedFd>) -> std::fs::File {
    std::fs::File::from(end.into())
}
