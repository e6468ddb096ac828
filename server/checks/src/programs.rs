//! Which test programs cargo would start, and how.

use std::collections::BTreeMap;

use task::{Item, ItemId, ItemResult, Verdict};

use crate::cargo_build::{Built, UNIT_TESTS};
use crate::commands::{Commands, Ending, set_options};
use crate::message::{self, Artifact, Message};
use crate::metadata::Member;
use crate::order::Order;
use crate::recorder::{self, Start};

/// A test program that cargo would start.
pub(crate) struct Program {
    pub member: Member,
    pub label: String,
    /// For people: `test api of semver`.
    pub what: String,
    pub start: Start,
}

/// Asks cargo which programs it would start, and how; and what it built for that.
pub(crate) fn programs(
    commands: &Commands<'_>,
    order: &Order<'_>,
    target: &str,
    built: &Built,
) -> Result<(Vec<Program>, Vec<Artifact>), Ending> {
    let everything_built =
        built.exit == Some(0) || built.items.iter().all(|item| !is_test_unit(built, item) || is_built(item));
    let mut selections: Vec<Vec<String>> = vec![vec!["--workspace".to_owned(), "--tests".to_owned()]];
    if !everything_built {
        // Cargo starts nothing if anything it was asked for does not build, so it is asked for what did.
        selections = built.metadata.packages.iter().filter_map(|member| selection(built, member)).collect();
    }
    let (mut programs, mut all) = (Vec::new(), Vec::new());
    for selection in selections {
        let mut options: Vec<&str> = selection.iter().map(String::as_str).collect();
        options.extend(["--no-fail-fast", "--message-format=json"]);
        options.extend(set_options(order));
        let cargo = recorder::recording(commands.cargo(&order.check.root, "test", &options), target);
        let finished = commands.run("cargo test", cargo)?;
        let stdout = finished.stdout.bytes();
        let artifacts: Vec<Artifact> = message::parse(&stdout)
            .into_iter()
            .filter_map(|message| match message {
                Message::CompilerArtifact(artifact) => Some(artifact),
                _ => None,
            })
            .collect();
        if !finished.outcome.success() {
            let said = crate::commands::first_error(&finished.stderr.lossy());
            return Err(Ending::new(Verdict::Failed, format!("cargo test could not start the tests: {said}")));
        }
        let starts = recorder::starts(&stdout, target);
        let expected = artifacts
            .iter()
            .filter(|artifact| artifact.profile.test && artifact.executable.is_some())
            .filter(|artifact| built.metadata.member(&artifact.package_id).is_some());
        let mut starts: BTreeMap<String, Start> =
            starts.into_iter().map(|start| (start.program.to_string_lossy().into_owned(), start)).collect();
        for artifact in expected {
            let Some(member) = built.metadata.member(&artifact.package_id) else { continue };
            let executable = artifact.executable.as_deref().unwrap_or_default();
            let label = artifact.target.label();
            let what = format!("{label} of {}", member.name);
            let Some(start) = starts.remove(executable) else {
                let reason = format!(
                    "cargo does not start the tests of {what} on this machine: they are built for another target"
                );
                return Err(Ending::new(Verdict::Unavailable, reason));
            };
            programs.push(Program { member: member.clone(), label, what, start });
        }
        all.extend(artifacts);
    }
    Ok((programs, all))
}

/// Options that select the test programs of a package that were built; `None` if there are none.
pub(crate) fn selection(built: &Built, member: &Member) -> Option<Vec<String>> {
    let mut options = Vec::new();
    for item in
        built.items.iter().filter(|item| item.id.package == member.name && is_test_unit(built, item) && is_built(item))
    {
        match item.id.target.split_once(' ') {
            Some((kind, name)) => options.extend([format!("--{kind}"), name.to_owned()]),
            None => options.push("--lib".to_owned()),
        }
    }
    if options.is_empty() {
        return None;
    }
    Some([vec!["--package".to_owned(), member.id.clone()], options].concat())
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

/// Test programs that were not built, as items of the test check.
pub(crate) fn unbuilt(built: &Built) -> Vec<Item> {
    let broken = built
        .items
        .iter()
        .filter(|item| is_test_unit(built, item) && matches!(item.result, ItemResult::Failed | ItemResult::NoResult));
    broken.map(|item| Item { id: ItemId { path: String::new(), ..item.id.clone() }, ..item.clone() }).collect()
}
