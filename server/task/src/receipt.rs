//! Receipts: check results bound to the tree they speak of, and what follows from comparing them with the base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Check, CheckId, Digest, Item, ItemId, TreeId, TreePath, UnixMillis, Verdict};

/// The result of one check on one tree in one environment. Void for anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    pub tree: TreeId,
    pub check: Check,
    /// Toolchain, target and cfg, variables, filtered cargo configuration, hashes of provisioned files, lock checksums.
    pub environment: Digest,
    pub sandbox: SandboxLevel,
    /// Of the command by itself: never [`Verdict::KnownFailure`], which needs a base to compare with.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    pub items: Vec<Item>,
    /// Files of the tree that the compiler says it read.
    pub read: Vec<TreePath>,
    /// Files of the tree that something wrote while the check ran, with the same bytes in the end: in between, other bytes
    /// may have been judged.
    #[serde(default)]
    pub rewritten: Vec<TreePath>,
    /// Exit status and complete output, kept as artifacts.
    pub exit_code: Option<i32>,
    pub output: Vec<Digest>,
    pub started: UnixMillis,
    pub duration_ms: u64,
    /// The configuration of the models whose attempt asked for it, where one did. Not part of what it is looked up by.
    #[serde(default)]
    pub configuration: Option<Digest>,
}

impl Receipt {
    /// What a receipt is looked up by.
    pub fn key(&self) -> Digest {
        Self::key_of(&self.tree, &self.check, &self.environment)
    }

    pub fn key_of(tree: &TreeId, check: &Check, environment: &Digest) -> Digest {
        let command = check.command.join("\0");
        Digest::of([tree.as_str(), &check.id.0, &command, environment.as_str()])
    }
}

/// What confined the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Namespaces and resource limits.
    Bubblewrap,
    /// The same as root, where the kernel does not enforce a process cap.
    BubblewrapWithoutProcessCap,
}

/// One check at the candidate against the same check at base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub check: CheckId,
    /// With the base taken into account.
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub passed: u32,
    /// Failures that the base does not show.
    pub new_failures: Vec<Item>,
    /// Failures that the base shows too: same signature, command and environment.
    pub known_failures: Vec<Item>,
    /// Failed at base and pass here.
    pub fixed: Vec<ItemId>,
    /// Ran at base; missing, ignored or filtered here.
    pub vanished: Vec<ItemId>,
    /// Targets that do not build at base and are therefore not judged.
    pub not_judged: Vec<ItemId>,
    /// Ids that the base does not have.
    pub added: u32,
}

impl Comparison {
    /// Whether something that the base does not show speaks against the candidate.
    pub fn is_worse(&self) -> bool {
        !self.new_failures.is_empty() || !self.vanished.is_empty()
    }

    /// A comparison in which nothing was compared yet.
    pub fn new(check: CheckId, verdict: Verdict, reason: Option<String>) -> Self {
        Self {
            check,
            verdict,
            reason,
            passed: 0,
            new_failures: Vec::new(),
            known_failures: Vec::new(),
            fixed: Vec::new(),
            vanished: Vec::new(),
            not_judged: Vec::new(),
            added: 0,
        }
    }
}
