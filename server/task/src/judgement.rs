//! Judgements: what the receipts of a tree say about it as a whole, and what they do not cover.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Item, Signature, TreeId, TreePath};

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
        let new = self.comparisons.iter().flat_map(|it| &it.new_failures).map(Item::failure);
        let vanished = self.comparisons.iter().flat_map(|it| &it.vanished);
        let mut all: Vec<Signature> = new.chain(vanished.map(|id| Signature(format!("vanished: {id}")))).collect();
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
