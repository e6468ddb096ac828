//! Commands of loading, as policies of the sandbox.

use std::path::PathBuf;
use std::time::Duration;

use sandbox::{CancelToken, Finished, Jailed, Keep, Limits, Mount, Output, Sandbox};

/// One command to run inside the sandbox. Paths are the same inside as outside.
#[derive(Debug, Clone)]
pub struct JailCommand {
    /// The program, absolute.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// What is set besides the sandbox's own variables.
    pub environment: Vec<(String, String)>,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// What may be read besides the operating system's own files; what does not exist is left out.
    pub readable: Vec<PathBuf>,
    /// What may be written.
    pub writable: Vec<PathBuf>,
    /// After this long everything in the sandbox is killed.
    pub limit: Duration,
}

impl JailCommand {
    /// The policy of this command.
    pub fn policy(self) -> Jailed {
        let mut jailed = Jailed::new(self.program, self.directory).args(self.arguments);
        for (name, value) in self.environment {
            jailed = jailed.env(name, value);
        }
        jailed.mounts.extend(self.readable.into_iter().filter(|path| path.exists()).map(Mount::read_only));
        jailed.mounts.extend(self.writable.into_iter().map(Mount::writable));
        jailed.limits = Limits::within(self.limit);
        jailed.stdout = Output::Captured(Keep::all());
        jailed
    }

    /// Runs it to its end.
    pub fn run(self, sandbox: &Sandbox) -> Finished {
        sandbox.run(self.policy(), &CancelToken::new())
    }
}
