//! Receipts: check results bound to the tree they speak of, and what follows from comparing them with the base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Check, CheckId, Digest, Item, ItemId, Signature, TreeId, TreePath, UnixMillis, Verdict};

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

/// What the receipts say about a tree as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    pub tree: TreeId,
    pub verified: bool,
    /// One sentence each; empty exactly when verified.
    pub reasons: Vec<String>,
    pub comparisons: Vec<Comparison>,
    pub limitations: Vec<Limitation>,
}

impl Judgement {
    /// What speaks against the tree, so that it is found again in another tree: the signatures of new failures, the names
    /// of what vanished, and where neither is there the reasons themselves. Empty exactly when verified.
    pub fn signatures(&self) -> Vec<Signature> {
        let mut all = self.signatures_of_failures();
        if all.is_empty() && !self.verified {
            all.extend(self.reasons.iter().cloned().map(Signature));
        }
        all
    }

    /// Of those only what a check found: new failures, and what vanished.
    pub fn signatures_of_failures(&self) -> Vec<Signature> {
        let new = self.comparisons.iter().flat_map(|it| &it.new_failures);
        let mut all: Vec<Signature> = new
            .map(|item| item.signature.clone().unwrap_or_else(|| Signature(format!("no result: {}", item.id))))
            .chain(self.comparisons.iter().flat_map(|it| &it.vanished).map(|id| Signature(format!("vanished: {id}"))))
            .collect();
        all.sort();
        all
    }
}

/// Something the evidence does not cover, always said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Limitation {
    /// File and line (from 1) it is about, where there is one.
    pub path: Option<TreePath>,
    pub line: Option<u32>,
    pub text: String,
}

impl Limitation {
    pub fn general(text: impl Into<String>) -> Self {
        Self { path: None, line: None, text: text.into() }
    }

    pub fn at(path: TreePath, line: Option<u32>, text: impl Into<String>) -> Self {
        Self { path: Some(path), line, text: text.into() }
    }
}
