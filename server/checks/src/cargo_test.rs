//! The test check: builds what the build check builds, then runs each test program in a jail of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sandbox::{Captured, Outcome};
use task::{Item, ItemId, ItemKind, ItemResult, TreePath, Verdict};

use crate::cargo_build::{Built, UNIT_TESTS, build, manifest};
use crate::commands::{Commands, Ending, set_options};
use crate::doctest;
use crate::libtest::Said;
use crate::message::{self, Artifact, Message};
use crate::metadata::Member;
use crate::order::{OWN_HARNESS, Order, PROCESS, Progress, Watch};
use crate::reading::read_files;
use crate::recorder::{self, Start};
use crate::signature::signature;
use crate::stamps::Stamps;
use crate::test_run::{Counter, Run, by_id, list, run};
use crate::told::{excerpt, place, what_failed};

/// How often a new failure is tried again before it is believed.
const AGAIN: usize = 2;

/// What the tests of a workspace left to know.
pub(crate) struct Tested {
    pub built: Built,
    /// Files of the tree that building read.
    pub read: Vec<TreePath>,
    pub items: Vec<Item>,
    /// Ids whose result differed between runs on this tree.
    pub flaky: BTreeSet<ItemId>,
    pub output: Vec<(String, Captured)>,
    /// Why the rest was not run, if it was not.
    pub ending: Option<Ending>,
}

/// Builds and runs the tests. `target` is the machine's target triple.
pub(crate) fn test(commands: &Commands<'_>, order: &Order<'_>, watch: &Watch, target: &str) -> Result<Tested, Ending> {
    let built = build(commands, order, watch)?;
    // Before the tests run, which may change the records and use up the time.
    let read = read_files(commands, order, &built)?;
    let mut tested =
        Tested { built, read, items: Vec::new(), flaky: BTreeSet::new(), output: Vec::new(), ending: None };
    if let Err(ending) = run_all(commands, order, watch, target, &mut tested) {
        tested.ending = Some(ending);
    }
    Ok(tested)
}

fn run_all(
    commands: &Commands<'_>,
    order: &Order<'_>,
    watch: &Watch,
    target: &str,
    tested: &mut Tested,
) -> Result<(), Ending> {
    (watch.progress)(Progress::Doing("looking for test programs".to_owned()));
    let (programs, artifacts) = programs(commands, order, target, &tested.built)?;
    let stamps = Stamps::of(artifacts.iter().chain(&tested.built.artifacts));
    tested.items.extend(unbuilt(&tested.built));
    let counter = Arc::new(Counter::default());
    for program in &programs {
        stamps.verify()?;
        let (member, what) = (&program.member, &program.what);
        let id =
            |path: &str| ItemId { package: member.name.clone(), target: program.label.clone(), path: path.to_owned() };
        tested.items.push(passed(id(""), ItemKind::Target));
        let own = manifest(member, order).is_some_and(|manifest| manifest.own_harness.contains(&program.label));
        let ids = list(commands, what, &program.start)?;
        let ids = ids.filter(|ids| !(own && ids.is_empty()));
        let Some(ids) = ids.or_else(|| (!own).then(Vec::new)) else {
            run_own_harness(commands, order, watch, program, id(OWN_HARNESS), tested)?;
            continue;
        };
        counter.all.fetch_add(u32::try_from(ids.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        let listed: BTreeSet<String> = ids.into_iter().collect();
        let attempt = || run(commands, watch, &counter, what, &program.start, &listed, !own);
        let whole = if own { OWN_HARNESS } else { PROCESS };
        let items_of = |run: &Run| items_of(run, &listed, &id, whole, order);
        let first = attempt()?;
        let mut items = items_of(&first);
        tested.output.push((what.clone(), first.stdout));
        tested.output.push((format!("{what} (errors)"), first.stderr));
        for _ in 0..AGAIN {
            let doubtful: BTreeSet<ItemId> = items
                .iter()
                .filter(|item| is_new(item, order) && !tested.flaky.contains(&item.id))
                .map(|item| item.id.clone())
                .collect();
            if doubtful.is_empty() {
                break;
            }
            (watch.progress)(Progress::Doing(format!("running {what} again to see whether a new failure is flaky")));
            let again = items_of(&attempt()?);
            let fine =
                again.into_iter().filter(|item| item.result == ItemResult::Passed && doubtful.contains(&item.id));
            tested.flaky.extend(fine.map(|item| item.id));
        }
        note_flaky(&mut items, &tested.flaky);
        tested.items.extend(items);
    }
    stamps.verify()?;
    doctest::run_all(commands, order, watch, tested)
}

/// A program with a harness of its own: one item, its exit status.
fn run_own_harness(
    commands: &Commands<'_>,
    order: &Order<'_>,
    watch: &Watch,
    program: &Program,
    id: ItemId,
    tested: &mut Tested,
) -> Result<(), Ending> {
    (watch.progress)(Progress::Doing(program.what.clone()));
    let attempt = || commands.run(&program.what, crate::test_run::jailed(commands, &program.start));
    let first = attempt()?;
    let mut item = passed(id, ItemKind::Test);
    if !first.outcome.success() {
        item.result = ItemResult::Failed;
        item.excerpt = excerpt(&format!("{}\n{}", first.outcome, first.stderr.lossy()));
        item.signature = Some(signature(&item.id, "exit", &first.outcome.to_string(), order.shadow));
        for _ in 0..AGAIN {
            if is_new(&item, order) && attempt()?.outcome.success() {
                tested.flaky.insert(item.id.clone());
                break;
            }
        }
    }
    tested.output.push((program.what.clone(), first.stdout));
    tested.items.push(item);
    Ok(())
}

/// A test program that cargo would start.
struct Program {
    member: Member,
    label: String,
    /// For people: `test api of semver`.
    what: String,
    start: Start,
}

/// Asks cargo which programs it would start, and how; and what it built for that.
fn programs(
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
fn selection(built: &Built, member: &Member) -> Option<Vec<String>> {
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
fn is_test_unit(built: &Built, item: &Item) -> bool {
    if item.id.path == UNIT_TESTS {
        return true;
    }
    let member = built.metadata.packages.iter().find(|member| member.name == item.id.package);
    let mut targets = member.into_iter().flat_map(|member| &member.targets);
    item.id.path.is_empty()
        && targets.any(|target| target.label() == item.id.target && target.is("test") && target.test)
}

fn is_built(item: &Item) -> bool {
    item.result == ItemResult::Passed
}

/// Test programs that were not built, as items of the test check.
fn unbuilt(built: &Built) -> Vec<Item> {
    let broken = built
        .items
        .iter()
        .filter(|item| is_test_unit(built, item) && matches!(item.result, ItemResult::Failed | ItemResult::NoResult));
    broken.map(|item| Item { id: ItemId { path: String::new(), ..item.id.clone() }, ..item.clone() }).collect()
}

pub(crate) fn passed(id: ItemId, kind: ItemKind) -> Item {
    Item { id, kind, result: ItemResult::Passed, signature: None, at: None, excerpt: String::new() }
}

/// The items of one run: one per listed id, and one for the process as a whole.
fn items_of(
    run: &Run,
    listed: &BTreeSet<String>,
    id: &dyn Fn(&str) -> ItemId,
    whole: &str,
    order: &Order<'_>,
) -> Vec<Item> {
    let said = by_id(&run.report);
    let mut items = Vec::with_capacity(listed.len() + 1);
    for test in listed {
        let mut item = passed(id(test), ItemKind::Test);
        let section = run.report.sections.get(test).map_or("", String::as_str);
        match said.get(test.as_str()).copied().flatten() {
            Some(Said::Ok) => {}
            Some(Said::Ignored) => item.result = ItemResult::Ignored,
            Some(Said::Failed) => {
                item.result = ItemResult::Failed;
                item.signature = Some(signature(&item.id, "failed", &what_failed(section), order.shadow));
                item.at = place(section, order);
                item.excerpt = excerpt(section);
            }
            None => {
                item.result = ItemResult::NoResult;
                item.excerpt = "the test process gave no result for it".to_owned();
                item.signature = Some(signature(&item.id, "no result", "", order.shadow));
            }
        }
        items.push(item);
    }
    let mut process = passed(id(whole), ItemKind::Test);
    if let Some(problem) = &run.irregular {
        process.result = ItemResult::Failed;
        process.signature = Some(signature(&process.id, "process", problem, order.shadow));
        let errors = run.stderr.lossy();
        process.excerpt = if matches!(run.outcome, Outcome::Exit { .. }) {
            problem.clone()
        } else {
            excerpt(&format!("{problem}\n{errors}"))
        };
    }
    items.push(process);
    items
}

/// Whether an item failed in a way that the base did not show.
pub(crate) fn is_new(item: &Item, order: &Order<'_>) -> bool {
    let Some(base) = order.base else { return false };
    matches!(item.result, ItemResult::Failed | ItemResult::NoResult)
        && !base.items.iter().any(|old| old.id == item.id && old.signature == item.signature)
}

pub(crate) fn note_flaky(items: &mut [Item], flaky: &BTreeSet<ItemId>) {
    for item in items.iter_mut().filter(|item| item.result != ItemResult::Passed && flaky.contains(&item.id)) {
        item.excerpt = format!("flaky: it passed when it was run again on the same tree\n{}", item.excerpt);
    }
}
