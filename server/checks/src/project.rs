//! Projects of other ecosystems than Cargo: a folder of the tree with the checks that judge what lies in it.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, CheckId, CheckKind, Features};

use crate::folder::{Folder, suffix};
use crate::tool::{Ecosystem, Tool};

/// A folder with a manifest, and what judges it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub ecosystem: Ecosystem,
    /// Its folder; `None` is the top of the tree.
    pub folder: Option<task::TreePath>,
    pub checks: Vec<Check>,
    /// Those among them that cannot be run as the project means them, each with one sentence.
    pub unavailable: BTreeMap<CheckId, String>,
    /// Folders of projects that it depends on by name or path, directly or not.
    pub(crate) uses: BTreeSet<Folder>,
    /// Whether the folder says itself that it is a project: without that, files of other languages which somebody else
    /// owns are none of its business.
    pub(crate) has_manifest: bool,
}

/// A check of a tool in a folder. `env` and `args` are what the project itself says about how it is to be started.
pub(crate) fn check(tool: Tool, folder: &Folder, env: &[String], args: &[String]) -> Check {
    let words = tool.words().iter().map(|&word| word.to_owned());
    Check {
        id: CheckId(format!("{}{}", tool.name(), suffix(folder))),
        kind: if tool == Tool::Tsc { CheckKind::Build } else { CheckKind::Test },
        root: folder.clone(),
        features: Features::Default,
        command: env.iter().cloned().chain(words).chain(args.iter().cloned()).collect(),
        required: true,
    }
}
