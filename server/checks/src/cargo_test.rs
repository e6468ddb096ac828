//! The test check: builds what the build check builds, then runs each test program in a jail of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sandbox::{Captured, Outcome};
use task::{Item, ItemId, ItemKind, ItemResult, TreePath};

use crate::cargo_build::{Built, build, manifest};
use crate::commands::{Commands, Ending};
use crate::doctest;
use crate::libtest::Said;
use crate::order::{OWN_HARNESS, Order, PROCESS};
use crate::programs::{Program, programs, unbuilt};
use crate::reading::read_files;
use crate::signature::signature;
use crate::stamps::Stamps;
use crate::test_run::{Counter, Run, by_id, list, run};
use crate::told::{excerpt, place, what_failed};
use crate::watch::{Progress, Watch};

/// How often a new failure is tried again before it is believed.
pub(crate) const AGAIN: usize = 2;

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
    let found = programs(commands, order, target, &tested.built)?;
    let stamps = Stamps::of(found.artifacts.iter().chain(&tested.built.artifacts));
    tested.items.extend(unbuilt(&tested.built, order.shadow));
    let counter = Arc::new(Counter::default());
    for program in &found.programs {
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
    doctest::run_all(commands, order, watch, &found, tested)
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
