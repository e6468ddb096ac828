//! Which test programs and doc tests cargo would start, and how.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use task::{Item, ItemId, ItemResult, Verdict};

use crate::cargo_build::{Built, UNIT_TESTS};
use crate::commands::{Commands, Ending, first_error, set_options};
use crate::message::{self, Artifact, Message};
use crate::metadata::Member;
use crate::order::Order;
use crate::recorder::{self, Start};
use crate::selection::{everything, selections};
use crate::signature::signature;

/// A test program that cargo would start.
pub(crate) struct Program {
    pub member: Member,
    pub label: String,
    /// For people: `test api of semver`.
    pub what: String,
    pub start: Start,
}

/// Everything that cargo would start, and what it built for that.
#[derive(Default)]
pub(crate) struct Programs {
    pub programs: Vec<Program>,
    /// How rustdoc would be started, by the package's id. One that is missing is not started by cargo either.
    pub docs: BTreeMap<String, Start>,
    /// Why no doc test could be started.
    pub no_docs: Option<String>,
    pub artifacts: Vec<Artifact>,
}

/// Asks cargo which programs it would start, and how.
pub(crate) fn programs(
    commands: &Commands<'_>,
    order: &Order<'_>,
    target: &str,
    built: &Built,
) -> Result<Programs, Ending> {
    let mut found = Programs::default();
    let whole = everything(built);
    let asked = if whole { vec![vec!["--workspace".to_owned()]] } else { selections(built) };
    for selection in asked {
        if let Err(said) = found.ask(commands, order, target, built, &selection)? {
            return Err(Ending::new(Verdict::Failed, format!("cargo test could not start the tests: {said}")));
        }
    }
    let documented = |member: &&Member| member.documented().is_some();
    if !whole && built.metadata.packages.iter().any(|member| documented(&member)) {
        let broken: BTreeSet<&str> =
            built.metadata.packages.iter().filter(|it| !has_library(built, it)).map(|it| it.id.as_str()).collect();
        if broken.len() < built.metadata.packages.len() {
            let mut selection = vec!["--workspace".to_owned(), "--doc".to_owned()];
            selection.extend(broken.iter().flat_map(|id| ["--exclude".to_owned(), (*id).to_owned()]));
            found.no_docs = found.ask(commands, order, target, built, &selection)?.err();
        }
    }
    Ok(found)
}

impl Programs {
    /// One command of cargo's; the inner error is what it said when it started nothing.
    fn ask(
        &mut self,
        commands: &Commands<'_>,
        order: &Order<'_>,
        target: &str,
        built: &Built,
        selection: &[String],
    ) -> Result<Result<(), String>, Ending> {
        let mut options: Vec<&str> = selection.iter().map(String::as_str).collect();
        options.extend(["--no-fail-fast", "--message-format=json"]);
        options.extend(set_options(order));
        let cargo = commands.cargo(&order.check.root, "test", &options);
        let cargo = recorder::recording(cargo, target, &commands.tools.rustdoc());
        let finished = commands.run("cargo test", cargo)?;
        if !finished.outcome.success() {
            return Ok(Err(first_error(&finished.stderr.lossy())));
        }
        let stdout = finished.stdout.bytes();
        let artifacts: Vec<Artifact> = message::parse(&stdout)
            .into_iter()
            .filter_map(|message| match message {
                Message::CompilerArtifact(artifact) => Some(artifact),
                _ => None,
            })
            .collect();
        let recorder::Starts { programs, docs } = recorder::starts(&stdout, target);
        let mut starts: BTreeMap<String, Start> =
            programs.into_iter().map(|start| (start.program.to_string_lossy().into_owned(), start)).collect();
        for artifact in artifacts.iter().filter(|artifact| artifact.profile.test) {
            let Some(member) = built.metadata.member(&artifact.package_id) else { continue };
            let Some(executable) = artifact.executable.as_deref() else { continue };
            let label = artifact.target.label();
            let what = format!("{label} of {}", member.name);
            let Some(start) = starts.remove(executable) else {
                let reason = format!(
                    "cargo does not start the tests of {what} on this machine: they are built for another target"
                );
                return Err(Ending::new(Verdict::Unavailable, reason));
            };
            self.programs.push(Program { member: member.clone(), label, what, start });
        }
        for start in docs {
            let folder = start.env.get(std::ffi::OsStr::new("CARGO_MANIFEST_DIR"));
            let mut members = built.metadata.packages.iter();
            if let Some(member) = members.find(|member| folder.is_some_and(|folder| folder == member.folder())) {
                self.docs.insert(member.id.clone(), start);
            }
        }
        self.artifacts.extend(artifacts);
        Ok(Ok(()))
    }
}

/// Whether the library of a package was built.
pub(crate) fn has_library(built: &Built, member: &Member) -> bool {
    let mut items = built.items.iter();
    items.any(|item| {
        item.id.package == member.name && item.id.target == "lib" && item.id.path.is_empty() && is_built(item)
    })
}

/// Whether an item of the build is a program that `cargo test` runs.
pub(crate) fn is_test_unit(built: &Built, item: &Item) -> bool {
    if item.id.path == UNIT_TESTS {
        return true;
    }
    let member = built.metadata.packages.iter().find(|member| member.name == item.id.package);
    let mut targets = member.into_iter().flat_map(|member| &member.targets);
    item.id.path.is_empty()
        && targets.any(|target| target.label() == item.id.target && target.is("test") && target.test)
}

pub(crate) fn is_built(item: &Item) -> bool {
    item.result == ItemResult::Passed
}

/// Whether an integration test waits for a program of its package that was not built: cargo would have that one too
/// before it starts the test.
pub(crate) fn is_held_back(built: &Built, item: &Item) -> bool {
    let bad = |it: &&Item| matches!(it.result, ItemResult::Failed | ItemResult::NoResult) && it.id.path.is_empty();
    let mut broken = built.items.iter().filter(|it| it.id.package == item.id.package).filter(bad);
    item.id.target.starts_with("test ") && is_built(item) && broken.any(|it| it.id.target.starts_with("bin "))
}

/// Test programs that were not built or cannot be started, as items of the test check.
pub(crate) fn unbuilt(built: &Built, shadow: &Path) -> Vec<Item> {
    let mut items = Vec::new();
    for item in built.items.iter().filter(|item| is_test_unit(built, item)) {
        let mut item = Item { id: ItemId { path: String::new(), ..item.id.clone() }, ..item.clone() };
        if is_held_back(built, &item) {
            item.result = ItemResult::NoResult;
            item.excerpt = "not started, because a program of its package does not build".to_owned();
            item.signature = Some(signature(&item.id, "not started", "", shadow));
        }
        if matches!(item.result, ItemResult::Failed | ItemResult::NoResult) {
            items.push(item);
        }
    }
    items
}
