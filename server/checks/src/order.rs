//! What it takes to run a check, and what comes back.

use std::path::Path;
use std::time::Duration;

use task::{Check, Digest, Receipt, TreeId, Verdict};

use crate::diagnostic::Diagnostic;
use crate::files::Files;

/// The path of the item that says how a whole test process (or doc test run) ended; its siblings are its tests.
pub const PROCESS: &str = "(process)";

/// The path of the item that says how a test program with a harness of its own ended. Nobody vouches for what such a
/// program says; where it lists no tests, its exit status is all there is.
pub const OWN_HARNESS: &str = "(own harness)";

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
