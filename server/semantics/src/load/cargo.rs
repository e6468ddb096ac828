//! The outer half of loading: cargo in the sandbox, asked about each workspace of the tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sandbox::{Finished, Mount};
use serde_json::Value;
use task::Features;

use super::confine::{Place, Tools};
use super::facts::{Facts, LoadError, WorkspaceFacts};
use super::toolchain::{self, CHANNEL, succeed};
use crate::jail::ToolCommand;

/// More Cargo workspaces than this in one tree are listed as not analysed.
const WORKSPACE_CAP: usize = 12;

/// Asks cargo about every workspace of the tree.
///
/// `manifests` are the tree's `Cargo.toml` files relative to its root, in any order. `limit` bounds each command.
///
/// # Errors
/// When the toolchain cannot be asked, or no workspace at all could be loaded.
pub fn gather(tools: &Tools, manifests: &[String], features: Features, limit: Duration) -> Result<Facts, LoadError> {
    let toolchain = toolchain::facts(tools)?;
    let place = &tools.place;
    let mut notes = toolchain.notes.clone();
    let mut ordered: Vec<&String> = manifests.iter().collect();
    ordered.sort_by_key(|path| (path.matches('/').count(), path.as_str()));
    let mut covered: BTreeSet<PathBuf> = BTreeSet::new();
    let mut workspaces = Vec::new();
    let mut first_error = None;
    for relative in ordered {
        let manifest = place.tree.join(relative);
        if covered.contains(&manifest) {
            continue;
        }
        if workspaces.len() == WORKSPACE_CAP {
            notes.push(format!(
                "{relative} and what follows was not analysed: more than {WORKSPACE_CAP} Cargo workspaces"
            ));
            break;
        }
        let question = Question { tools, place, manifest: &manifest, host: &toolchain.host, limit };
        match question.ask(features, &mut notes) {
            Ok(workspace) => {
                covered.extend(members(&workspace.metadata));
                covered.insert(manifest);
                workspaces.push(workspace);
            }
            Err(error) => {
                notes.push(format!("{relative} was not analysed: {error}"));
                first_error.get_or_insert(error);
            }
        }
    }
    if workspaces.is_empty() {
        return Err(first_error.unwrap_or(LoadError::NoManifest));
    }
    Ok(Facts { place: place.clone(), toolchain: (*toolchain).clone(), workspaces, notes })
}

/// What can be known of the outermost workspace before anything is built, or `None` where even that is not simple.
///
/// Good enough to let a compiler work out the standard library while [`gather`] builds.
pub fn survey(tools: &Tools, manifests: &[String], limit: Duration) -> Option<Facts> {
    let toolchain = toolchain::facts(tools).ok()?;
    let relative = manifests.iter().min_by_key(|path| (path.matches('/').count(), path.as_str()))?;
    let manifest = tools.place.tree.join(relative);
    let question = Question { tools, place: &tools.place, manifest: &manifest, host: &toolchain.host, limit };
    let metadata = question.metadata(&["--all-features"]).ok()?;
    let workspace =
        WorkspaceFacts { manifest: manifest.display().to_string(), metadata, messages: Vec::new(), built: false };
    let notes = toolchain.notes.clone();
    Some(Facts { place: tools.place.clone(), toolchain: (*toolchain).clone(), workspaces: vec![workspace], notes })
}

/// The manifests that a workspace answers for, its root included.
fn members(metadata: &str) -> Vec<PathBuf> {
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
    let root = metadata["workspace_root"].as_str().map(|root| Path::new(root).join("Cargo.toml"));
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let local = packages.filter(|package| package["source"].is_null());
    local.filter_map(|package| package["manifest_path"].as_str().map(PathBuf::from)).chain(root).collect()
}

/// One workspace to ask about.
struct Question<'a> {
    tools: &'a Tools,
    place: &'a Place,
    manifest: &'a Path,
    host: &'a str,
    limit: Duration,
}

impl Question<'_> {
    fn ask(&self, features: Features, notes: &mut Vec<String>) -> Result<WorkspaceFacts, LoadError> {
        if features == Features::All {
            match self.with(&["--all-features"]) {
                Ok(facts) if facts.built => return Ok(facts),
                // All features that cargo can resolve but not build are still the better picture if default ones
                // do not build either.
                all => {
                    let reduced = self.with(&[]);
                    return match (all, reduced) {
                        (_, Ok(facts)) if facts.built => {
                            notes.push(format!(
                                "{}: all features together do not build, so only default features are analysed",
                                self.name()
                            ));
                            Ok(facts)
                        }
                        (Ok(facts), _) | (Err(_), Ok(facts)) => {
                            notes.push(self.unbuilt());
                            Ok(facts)
                        }
                        (Err(error), Err(_)) => self.alone(error, notes),
                    };
                }
            }
        }
        notes.push(format!("{}: only default features are analysed", self.name()));
        let facts = self.with(&[])?;
        if !facts.built {
            notes.push(self.unbuilt());
        }
        Ok(facts)
    }

    /// The tree's own packages without any dependency: all that is left when cargo cannot resolve.
    fn alone(&self, error: LoadError, notes: &mut Vec<String>) -> Result<WorkspaceFacts, LoadError> {
        let asked = self.run(&["metadata", "--format-version=1", "--offline", "--no-deps"], &[]);
        let Ok(metadata) = succeed("cargo metadata", asked) else { return Err(error) };
        let metadata = self.place.checked_metadata(&metadata)?;
        notes.push(format!(
            "{}: cargo cannot resolve its dependencies, so nothing of them is known: {error}",
            self.name()
        ));
        Ok(WorkspaceFacts {
            manifest: self.manifest.display().to_string(),
            metadata,
            messages: Vec::new(),
            built: false,
        })
    }

    fn unbuilt(&self) -> String {
        format!("{}: build scripts or proc macros do not build, so generated code is unknown", self.name())
    }

    fn name(&self) -> String {
        self.manifest.strip_prefix(&self.place.tree).unwrap_or(self.manifest).display().to_string()
    }

    fn metadata(&self, feature_flags: &[&str]) -> Result<String, LoadError> {
        let asked = self.run(
            &["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform", self.host],
            feature_flags,
        );
        self.place.checked_metadata(&succeed("cargo metadata", asked)?)
    }

    /// Metadata, then the build of what runs at compile time, with these feature flags.
    fn with(&self, feature_flags: &[&str]) -> Result<WorkspaceFacts, LoadError> {
        let metadata = self.metadata(feature_flags)?;
        let build = self.run(
            &[
                "check",
                "--quiet",
                "--workspace",
                "--message-format=json",
                "--offline",
                "--locked",
                "--keep-going",
                "--compile-time-deps",
                "--all-targets",
                "-Zunstable-options",
            ],
            feature_flags,
        );
        let messages = self.place.checked_messages(&build.stdout.lossy(), &metadata);
        Ok(WorkspaceFacts {
            manifest: self.manifest.display().to_string(),
            metadata,
            messages,
            built: build.outcome.success(),
        })
    }

    fn run(&self, arguments: &[&str], feature_flags: &[&str]) -> Finished {
        let manifest = self.manifest.display().to_string();
        let command = ToolCommand {
            program: "bin/cargo",
            arguments: arguments
                .iter()
                .chain(feature_flags)
                .map(|argument| (*argument).to_owned())
                .chain(["--manifest-path".to_owned(), manifest])
                .collect(),
            environment: CHANNEL,
            directory: self.manifest.parent().unwrap_or(&self.place.tree).to_owned(),
            mounts: vec![Mount::read_only(&self.place.tree), Mount::writable(&self.place.target)],
            limit: self.limit,
        };
        command.run(self.tools)
    }
}
