//! What loading learned from cargo and rustc, validated, as plain data that crosses to the worker.

use serde::{Deserialize, Serialize};

use super::confine::Place;

/// Everything that the inner half of loading needs besides the text of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Facts {
    pub place: Place,
    pub toolchain: ToolchainFacts,
    /// The Cargo workspaces of the tree, the outermost first.
    pub workspaces: Vec<WorkspaceFacts>,
    /// What is missing, one sentence each; empty when the analysis is complete.
    pub notes: Vec<String>,
}

/// Facts about a toolchain; they do not depend on the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolchainFacts {
    /// For example `1.95.0`.
    pub version: String,
    /// The target triple of this machine.
    pub host: String,
    /// `rustc --print cfg`, one atom a line.
    pub cfg: Vec<String>,
    pub data_layout: String,
    pub arch: String,
    /// `cargo metadata` of the standard library, or null when rust-src is not installed.
    pub library: serde_json::Value,
    /// What is missing of it, one sentence each.
    pub notes: Vec<String>,
}

/// Facts about one Cargo workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkspaceFacts {
    /// The absolute path of the manifest that was asked about.
    pub manifest: String,
    /// Output of `cargo metadata`, every path in it checked.
    pub metadata: String,
    /// Cargo's messages about build scripts and proc-macro artifacts, every path in them checked.
    pub messages: Vec<String>,
    /// Whether the build of build scripts and proc macros succeeded.
    pub built: bool,
}

/// Why a tree could not be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{what} failed in the sandbox ({ending}): {stderr}")]
    Command { what: &'static str, ending: String, stderr: String },
    #[error("{what} answered something that is not {expected}")]
    Malformed { what: &'static str, expected: &'static str, source: Option<serde_json::Error> },
    #[error("cargo names a path outside the tree and the registry: {path}; path dependencies must lie inside")]
    Outside { path: String },
    #[error("there is no Cargo.toml in this tree, so there is nothing for the compiler to analyse")]
    NoManifest,
    #[error("the compiler could not take what cargo said about {manifest}: {reason}")]
    Refused { manifest: String, reason: String },
}
