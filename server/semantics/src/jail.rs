//! Commands of loading, as policies of the sandbox.

use std::path::PathBuf;
use std::time::Duration;

use sandbox::{Finished, Jailed, Keep, Limits, Mount, Output};

use crate::load::Tools;

/// One command of the toolchain to run inside the sandbox. Paths are the same inside as outside.
#[derive(Debug, Clone)]
pub struct ToolCommand {
    /// The program, relative to the toolchain.
    pub program: &'static str,
    pub arguments: Vec<String>,
    /// What is set besides what every command of the toolchain gets.
    pub environment: &'static [(&'static str, &'static str)],
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// What it sees besides the toolchain and the cargo home.
    pub mounts: Vec<Mount>,
    /// After this long everything in the sandbox is killed.
    pub limit: Duration,
}

impl ToolCommand {
    /// Runs it to its end.
    pub fn run(self, tools: &Tools) -> Finished {
        let place = &tools.place;
        let mut jailed = Jailed::new(place.toolchain.join(self.program), self.directory).args(self.arguments);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.toolchain.join("bin").display());
        jailed = jailed.env("PATH", path).env("CARGO_TARGET_DIR", &place.target);
        jailed.env.extend(tools.cargo.env.iter().cloned());
        for (name, value) in self.environment {
            jailed = jailed.env(name, value);
        }
        jailed.mounts = self.mounts;
        jailed.mounts.extend(place.toolchain_mount());
        jailed.mounts.extend(tools.cargo.mounts.iter().cloned());
        jailed.limits = Limits::within(self.limit);
        jailed.stdout = Output::Captured(Keep::all());
        tools.sandbox.run(jailed, &tools.cancel)
    }
}
