//! Whoever follows a running check from outside: its progress, its end from another thread, the guard of its shadow.

use std::fmt;
use std::sync::Arc;

use sandbox::CancelToken;

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
