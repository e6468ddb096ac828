//! Checks: commands whose results judge the work, and the words for what they found.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TreePath;

/// Names a check within a tree, the same at base and at the candidate: `cargo test (all features) in tools`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CheckId(pub String);

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A command that judges the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub id: CheckId,
    pub kind: CheckKind,
    /// The folder of the Cargo workspace it judges; `None` is the top of the tree.
    pub root: Option<TreePath>,
    pub features: Features,
    /// As a person would type it.
    pub command: Vec<String>,
    /// Whether "verified" needs it.
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    Build,
    Test,
    Lint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Features {
    Default,
    All,
}

/// How a check ended. These words are not interchangeable, and no result is not a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Passed,
    Failed,
    /// Everything that fails also failed at base, with the same signature, command and environment.
    KnownFailure,
    Flaky,
    Skipped,
    /// Something it needs is not there.
    Unavailable,
    NotRun,
    Timeout,
    Killed,
    /// Something of ours or of the machine failed; no receipt is kept.
    Infrastructure,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::KnownFailure => "known failure",
            Self::Flaky => "flaky",
            Self::Skipped => "skipped",
            Self::Unavailable => "unavailable",
            Self::NotRun => "not run",
            Self::Timeout => "timeout",
            Self::Killed => "killed",
            Self::Infrastructure => "infrastructure failure",
        }
    }

    /// Whether the check ran to its own end, so that its items say something about the tree.
    pub fn is_conclusive(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::KnownFailure)
    }
}

/// One judged thing: a build target, a test, a doc test or a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub id: ItemId,
    pub kind: ItemKind,
    pub result: ItemResult,
    /// What kind of failure it is; `None` when it did not fail.
    pub signature: Option<Signature>,
    /// File and line (from 1) where it shows, for people; never part of its identity.
    pub at: Option<(TreePath, u32)>,
    /// A few lines of what was said, printable.
    pub excerpt: String,
}

impl Item {
    /// Whether it is a test of any kind.
    pub fn is_test(&self) -> bool {
        matches!(self.kind, ItemKind::Test | ItemKind::Doctest)
    }

    /// What its failure is found again by in another tree: its signature, or its name where nothing says how it ended.
    pub fn failure(&self) -> Signature {
        self.signature.clone().unwrap_or_else(|| Signature(format!("no result: {}", self.id)))
    }
}

/// Identity without line numbers, times or absolute paths, so that the same thing is found again in another tree.
/// Several items may share one id (doc tests of one item, equal diagnostics of one file): they are compared as multisets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ItemId {
    pub package: String,
    /// Kind and name of the build target: `lib`, `bin ripgrep`, `test integration`, `doc`.
    pub target: String,
    /// Path of the test, or of the diagnostic (file and code); empty for the target itself.
    pub path: String,
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.target)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, " {}", self.path) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Target,
    Test,
    Doctest,
    /// A warning or an error of compiler or linter.
    Diagnostic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemResult {
    Passed,
    Failed,
    Ignored,
    /// It exists, but nothing says how it ended.
    NoResult,
}

/// Normalised identity of a failure: package, target, item, error class and message without what varies. No absolute
/// path, line number, time, address or random id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Signature(pub String);
