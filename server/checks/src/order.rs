//! What it takes to run a check, and what comes back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sandbox::{CancelToken, Finished, Jailed, Mount};
use task::{Check, Digest, Receipt, SandboxLevel, TreeId, Verdict};

use crate::diagnostic::Diagnostic;
use crate::files::Files;

/// The path of the item that says how a whole test process (or doc test run) ended; its siblings are its tests.
pub const PROCESS: &str = "(process)";

/// The path of the item that says how a test program with a harness of its own ended. Nobody vouches for what such a
/// program says; where it lists no tests, its exit status is all there is.
pub const OWN_HARNESS: &str = "(own harness)";

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

/// The toolchain and what else every command of a check sees and gets.
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

/// One check to be run on one tree.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the files of a tree are not for printing")]
pub struct Order<'a> {
    pub check: &'a Check,
    pub tree: &'a TreeId,
    /// The same tree in memory: manifests are read from here, never from the shadow.
    pub files: &'a dyn Files,
    /// The projection of the tree, canonical, with provisioned files (a generated `Cargo.lock` among them) in place.
    pub shadow: &'a Path,
    /// The build folder to use: `work` or `proof` of the slot. Canonical; it must exist and lie outside the shadow.
    pub build: &'a Path,
    /// Whether this is the final check in a `proof` folder, which is never built incrementally.
    pub proof: bool,
    /// The digest that [`crate::Runner::environment`] gave for this check's workspace.
    pub environment: &'a Digest,
    /// The base's receipt of the same check: what failed there is not run again here to see whether it is flaky.
    pub base: Option<&'a Receipt>,
    /// What is left of the task's time; no command runs longer.
    pub remaining: Duration,
}

/// How the outside follows a check and interferes with it.
#[derive(Clone)]
pub struct Watch {
    /// Ends the check from any thread.
    pub cancel: CancelToken,
    /// Called as things happen, from other threads too; must be quick.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { cancel: CancelToken::new(), progress: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// What a running check has reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// `done` of about `all` build units are compiled, `unit` the last of them.
    Compiled { done: u32, all: u32, unit: String },
    /// `done` of `all` tests have a result, `test` the last of them; `all` grows with each test binary.
    Tested { done: u32, all: u32, test: String },
    /// What is being done now: `doc tests of semver`.
    Doing(String),
}

/// When the guard is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the first command: whatever differs from the recorded projection is to be put right.
    Before,
    /// After the last command: a file that changed meanwhile is an error.
    After,
}

/// Whoever wrote the shadow, asked around every check whether it still is what was written.
pub trait Guard {
    /// # Errors
    /// One sentence that names what changed: the check becomes an infrastructure failure without receipt.
    fn verify(&mut self, moment: Moment) -> Result<(), String>;
}

/// For shadows that nobody compares, in tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unguarded;

impl Guard for Unguarded {
    fn verify(&mut self, _: Moment) -> Result<(), String> {
        Ok(())
    }
}

/// How a check went.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Kept for every ending that says something about the tree, timeouts included.
    pub receipt: Option<Receipt>,
    /// The receipt's, or why there is none: [`Verdict::Infrastructure`] or [`Verdict::NotRun`] (cancelled).
    pub verdict: Verdict,
    pub reason: Option<String>,
    /// What compiler and linter said, each once, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The complete output by digest, for the store of artifacts.
    pub output: Vec<(Digest, Vec<u8>)>,
}

impl Tools {
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
