//! What runs the commands of a check, and what all of them see.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use sandbox::{CancelToken, Finished, Interpreters, Jailed, Mount};
use task::SandboxLevel;

/// Whatever runs jailed commands: the sandbox, or in tests a script of endings.
pub trait Jail: Send + Sync {
    /// Runs a command to its end; every ending is data.
    fn run(&self, command: Jailed, cancel: &CancelToken) -> Finished;
}

impl Jail for sandbox::Sandbox {
    fn run(&self, command: Jailed, cancel: &CancelToken) -> Finished {
        sandbox::Sandbox::run(self, command, cancel)
    }
}

/// What there is to run checks with.
#[derive(Debug, Clone)]
pub struct Equipment {
    /// Cargo and what it needs, or why there is none.
    pub rust: Result<Tools, String>,
    /// Where node and python may be.
    pub interpreters: Interpreters,
    /// The developer's folder, canonical: what they installed for node and python is there.
    pub workspace: PathBuf,
    /// What confines the commands.
    pub level: SandboxLevel,
}

/// The toolchain and what else every command of cargo's sees and gets.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The `cargo` program of the toolchain, never rustup's.
    pub cargo: PathBuf,
    /// The `rustc` program of the same toolchain.
    pub rustc: PathBuf,
    /// The toolchain and cargo's home.
    pub mounts: Vec<Mount>,
    /// Variables that all commands get over [`Jailed::default_env`]: `PATH` with the toolchain first, `CARGO_HOME`.
    pub env: BTreeMap<OsString, OsString>,
    /// The part of the user's cargo configuration that is let in; part of the environment digest.
    pub configuration: Vec<u8>,
    /// What confines the commands.
    pub level: SandboxLevel,
}

impl Tools {
    /// The `rustdoc` program beside the compiler.
    pub(crate) fn rustdoc(&self) -> PathBuf {
        self.rustc.with_file_name("rustdoc")
    }

    /// The tools of an installed toolchain and a private view of cargo's home.
    pub fn new(toolchain: &sandbox::Toolchain, cargo: &sandbox::CargoView, level: SandboxLevel) -> Self {
        let mut env: BTreeMap<OsString, OsString> = cargo.env.iter().cloned().collect();
        env.insert("PATH".into(), toolchain.path_variable());
        Self {
            cargo: toolchain.cargo.clone(),
            rustc: toolchain.rustc.clone(),
            mounts: toolchain.mounts().into_iter().chain(cargo.mounts.iter().cloned()).collect(),
            env,
            configuration: cargo.config.clone().into_bytes(),
            level,
        }
    }
}
