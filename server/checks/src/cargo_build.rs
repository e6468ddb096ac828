//! Building all targets of a workspace, and the verdict on each.

use std::collections::BTreeMap;

use sandbox::{Captured, OnLine, Outcome, Stream};
use task::{CheckKind, Item, ItemId, ItemKind, ItemResult, Verdict};

use crate::commands::{Commands, Ending, first_error, out_of_space, set_options, tree_path, unavailable};
use crate::diagnostic::{self, Diagnostic};
use crate::folder::file_in;
use crate::manifest::Manifest;
use crate::message::{self, Artifact, Message, not_compiled};
use crate::metadata::{Member, Metadata};
use crate::order::Order;
use crate::signature::signature;
use crate::told::excerpt;
use crate::units::{Units, expected_units};
use crate::watch::{Progress, Watch};

/// The path in the ids of items that stand for a library's or program's own tests being built.
pub(crate) const UNIT_TESTS: &str = "unit tests";

/// What a build of a workspace left to know.
pub(crate) struct Built {
    pub metadata: Metadata,
    /// One per build unit that was expected.
    pub items: Vec<Item>,
    pub diagnostics: Vec<Diagnostic>,
    /// Of packages of the workspace.
    pub artifacts: Vec<Artifact>,
    /// `OUT_DIR`s of build scripts of the workspace, with the ids of their packages.
    pub out_dirs: Vec<(String, String)>,
    pub exit: Option<i32>,
    pub stdout: Captured,
    pub stderr: Captured,
}

/// Builds (or lints) all targets and says what became of each.
pub(crate) fn build(commands: &Commands<'_>, order: &Order<'_>, watch: &Watch) -> Result<Built, Ending> {
    let root = &order.check.root;
    (watch.progress)(Progress::Doing("reading manifests".to_owned()));
    let metadata = metadata(commands, order)?;
    let subcommand = if order.check.kind == CheckKind::Lint { "clippy" } else { "build" };
    let mut options = vec!["--workspace", "--all-targets", "--keep-going", "--message-format=json"];
    options.extend(set_options(order));
    let mut cargo = commands.cargo(root, subcommand, &options);
    cargo.on_line = Some(compiled(watch, units_expected(order)));
    let finished = commands.run(&format!("cargo {subcommand}"), cargo)?;
    let exit = match finished.outcome {
        Outcome::Exit { code } => Some(code),
        ref other => return Err(Ending::new(Verdict::Killed, format!("cargo {subcommand}: {other}"))),
    };
    let stderr = finished.stderr.lossy();
    let stdout = finished.stdout.bytes();
    // Without this a disk that is full at base and here alike would look like a target that never built.
    if exit != Some(0)
        && let Some(reason) = out_of_space(&stderr).or_else(|| out_of_space(&String::from_utf8_lossy(&stdout)))
    {
        return Err(Ending::new(Verdict::Infrastructure, reason));
    }
    let messages = message::parse(&stdout);
    if !messages.iter().any(|message| matches!(message, Message::BuildFinished {})) {
        // Cargo gave up before it compiled anything: the reason is in its error output alone.
        let error = first_error(&stderr);
        return Err(match unavailable(&stderr) {
            Some(reason) => Ending::new(Verdict::Unavailable, reason),
            None => Ending::new(Verdict::Failed, error),
        });
    }
    let success = exit == Some(0);
    let given_up = not_compiled(&stderr);
    let mut units = Units::default();
    let mut diagnostics = diagnostic::Collector::new(commands.shadow, root);
    let mut out_dirs = Vec::new();
    for message in messages {
        match message {
            Message::CompilerArtifact(artifact) if metadata.member(&artifact.package_id).is_some() => {
                units.artifacts.push(artifact);
            }
            Message::CompilerMessage { package_id, target, message } => {
                if let Some(member) = metadata.member(&package_id) {
                    diagnostics.add(&member.name, &target, &message);
                }
            }
            Message::BuildScriptExecuted { package_id, out_dir } if metadata.member(&package_id).is_some() => {
                out_dirs.push((package_id, out_dir));
            }
            _ => {}
        }
    }
    let diagnostics = diagnostics.finish();
    let mut items = Vec::new();
    for member in &metadata.packages {
        let broken_script = message::broken_script(&stderr, &member.name);
        for (target, test) in member.targets.iter().flat_map(expected_units) {
            items.push(units.item(
                member,
                target,
                test,
                &given_up,
                &diagnostics,
                order,
                success,
                broken_script.as_deref(),
            ));
        }
    }
    let Units { artifacts } = units;
    if !success && !items.iter().any(|item| item.result != ItemResult::Passed) {
        // A dependency or a build script of one failed, which only cargo's own words tell.
        return Err(match unavailable(&stderr) {
            Some(reason) => Ending::new(Verdict::Unavailable, reason),
            None => Ending::new(Verdict::Failed, first_error(&stderr)),
        });
    }
    Ok(Built {
        metadata,
        items,
        diagnostics,
        artifacts,
        out_dirs,
        exit,
        stdout: finished.stdout,
        stderr: finished.stderr,
    })
}

fn metadata(commands: &Commands<'_>, order: &Order<'_>) -> Result<Metadata, Ending> {
    let mut cargo = commands.cargo(&order.check.root, "metadata", &["--no-deps", "--format-version=1"]);
    // `metadata` builds nothing and takes no build folder.
    if let Some(at) = cargo.args.iter().position(|arg| arg == "--target-dir") {
        cargo.args.drain(at..at + 2);
    }
    let finished = commands.run("cargo metadata", cargo)?;
    let parsed = finished.outcome.success().then(|| Metadata::parse(&finished.stdout.bytes())).flatten();
    parsed.ok_or_else(|| {
        let stderr = finished.stderr.lossy();
        match out_of_space(&stderr) {
            Some(reason) => Ending::new(Verdict::Infrastructure, reason),
            None => Ending::new(Verdict::Failed, first_error(&stderr)),
        }
    })
}

/// The manifest of a package, from the tree in memory.
pub(crate) fn manifest(member: &Member, order: &Order<'_>) -> Option<Manifest> {
    let path = tree_path(order.shadow, &order.check.root, &member.manifest_path)?;
    Some(Manifest::parse(&order.files.read(&path)?))
}

/// About how many packages a build compiles: what the lock file lists.
fn units_expected(order: &Order<'_>) -> u32 {
    let lock = file_in(&order.check.root, "Cargo.lock").and_then(|lock| order.files.read(&lock)).unwrap_or_default();
    let packages = lock.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"[[package]]")).count();
    u32::try_from(packages).unwrap_or(u32::MAX)
}

fn compiled(watch: &Watch, expected: u32) -> OnLine {
    let progress = watch.progress.clone();
    let done = std::sync::atomic::AtomicU32::new(0);
    OnLine::new(move |stream, line| {
        if stream != Stream::Stdout {
            return;
        }
        if let Some(unit) = message::built_unit(line) {
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(Progress::Compiled { done, all: expected.max(done), unit });
        }
    })
}

/// The items of a lint check: one per warning or error, whatever targets show it.
pub(crate) fn lint_items(diagnostics: &[Diagnostic], shadow: &std::path::Path) -> Vec<Item> {
    let mut items: BTreeMap<(ItemId, String), Item> = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.level != diagnostic::Level::Note) {
        let code = diagnostic.code.clone().unwrap_or_else(|| "error".to_owned());
        let file = diagnostic.path.as_ref().map(|path| format!("{path} ")).unwrap_or_default();
        let id =
            ItemId { package: diagnostic.package.clone(), target: "lints".to_owned(), path: format!("{file}{code}") };
        let item = Item {
            signature: Some(signature(&id, &code, &diagnostic.message, shadow)),
            kind: ItemKind::Diagnostic,
            result: ItemResult::Failed,
            at: diagnostic.path.clone().map(|path| (path, diagnostic.line)),
            excerpt: excerpt(&diagnostic.rendered),
            id: id.clone(),
        };
        let place = format!("{}:{}:{}", diagnostic.bytes.start, diagnostic.bytes.end, diagnostic.message);
        items.insert((id, place), item);
    }
    items.into_values().collect()
}
