//! From a task's journal and trees to its report. Reads only: a task can be shown while another process works on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use task::port::{Journal, Note};
use task::{Author, Diff, Digest, Engine, Event, HunkKind, Record, State, StepId, TaskId, TreeId, TreePath};
use worktree::{Authors, Store, Workspace};

use crate::model_engine::raised;
use crate::report::{Evidence, Judged, Report, Timing};
use crate::review::kept_tree;
use crate::walk::{Walk, fold};
use crate::{Error, risks};

/// The report of any task, about its own tree or a selection from it.
///
/// # Errors
/// When there is no such task or its trees are gone.
pub fn report(journal: &dyn Journal, state_folder: &Path, id: &TaskId, tree: Option<&TreeId>) -> Result<Report, Error> {
    let records = journal.records(id)?;
    let mut state = fold(id, &records)?;
    let given = take_given(journal, &mut state)?;
    let workspace = Workspace::open(Path::new(&state.request.workspace), state_folder)?;
    let store = Store::open(&workspace)?;
    let mut report = about(journal, &store, &records, &state, tree, journal.owner(id)?)?;
    if given && report.waiting.is_none() && report.task.process.is_none() {
        report.reasons.push(format!("what you said counts when the task goes on: `understudy tasks resume {id}`"));
    }
    Ok(report)
}

/// What the developer said and nobody has taken up yet, as it will count. Answers whether anything was.
fn take_given(journal: &dyn Journal, state: &mut State) -> Result<bool, Error> {
    let notes =
        if state.conclusion.is_some() { Vec::new() } else { journal.notes(&state.request.id, state.work.note)? };
    let given = !notes.is_empty();
    for (note, said) in notes {
        let event = match said {
            Note::RaiseLimits { limits } => {
                Event::LimitsRaised { limits: raised(&state.request.limits, &limits), note }
            }
            Note::Steer { text } => Event::Steered { text, note },
            Note::Answer { answers } => Event::Answered { answers, note },
            // Whoever walks the task looks whether these are right; until then only the waiting is over.
            Note::ApprovePlan { .. } | Note::AmendPlan { .. } => {
                state.work.wait = None;
                continue;
            }
        };
        state.apply(&event);
    }
    Ok(given)
}

impl Walk<'_> {
    /// The report of this task as it stands.
    ///
    /// # Errors
    /// When the journal or the store cannot be read.
    pub fn report(&self, tree: Option<&TreeId>) -> Result<Report, Error> {
        let records = self.house.journal.records(self.id())?;
        about(&*self.house.journal, &self.store, &records, &self.state, tree, None)
    }
}

fn about(
    journal: &dyn Journal,
    store: &Store,
    records: &[Record],
    state: &State,
    tree: Option<&TreeId>,
    process: Option<u32>,
) -> Result<Report, Error> {
    let reviewed = state.reviewed();
    let offered = tree.and_then(|tree| state.offer(tree)).map(|offered| &offered.base);
    let base = offered.or(reviewed.map(|it| it.0)).or(state.base.as_ref());
    let tree = tree.or(reviewed.map(|it| it.1));
    let between = |base, tree| -> Result<Diff, Error> {
        let mut diff = risks::diff(store, base, tree, &Authors::all(author(state)))?;
        name_the_compiler(store, state, &mut diff);
        Ok(diff)
    };
    let (diff, unified) = match (base, tree) {
        (Some(base), Some(tree)) => {
            let unified = String::from_utf8_lossy(&worktree::unified(store, base, tree)?).into_owned();
            (Some(between(base, tree)?), unified)
        }
        _ => (None, String::new()),
    };
    let kept_tree = match (reviewed, &diff) {
        (None, _) => None,
        (Some((base, tree)), Some(diff)) if (&diff.base, &diff.tree) == (base, tree) => kept_tree(store, state, diff),
        (Some((base, tree)), _) => kept_tree(store, state, &between(base, tree)?),
    };
    let mut receipts = Vec::new();
    for (key, judged) in receipt_keys(records) {
        receipts.extend(journal.receipt(&key)?.map(|receipt| (receipt, judged)));
    }
    let concluded = records.iter().rev().find(|record| matches!(record.event, Ok(Event::Concluded { .. })));
    let completed = concluded.map(|record| record.at);
    let (timings, writers) = (timings(records), writers(store, state));
    let evidence = Evidence { diff, unified, kept_tree, receipts, writers, timings, completed, process };
    Ok(Report::new(state, records, evidence))
}

/// Who wrote the change of a task that has a single author.
pub(crate) fn author(state: &State) -> Author {
    match state.request.engine {
        Engine::Compiler => Author::Compiler,
        Engine::Patch => Author::External,
        Engine::Model => Author::Model,
    }
}

/// What went away and what came, in one hunk.
type Mended = (Vec<u8>, Vec<u8>);

/// Marks the hunks that are exactly what the compiler mended by itself. Where a model's lines touch them they are one
/// hunk, and the model's.
fn name_the_compiler(store: &Store, state: &State, diff: &mut Diff) {
    let mut mended: BTreeMap<TreePath, Vec<Mended>> = BTreeMap::new();
    for (from, tree) in &state.work.repairs {
        // Trees that are gone take nothing from the report but this.
        let Ok(repair) = worktree::compare(store, from, tree, &Authors::all(Author::Compiler)) else { continue };
        for file in repair.files {
            let hunks = file.hunks.into_iter().filter(|hunk| hunk.kind == HunkKind::Text);
            mended.entry(file.path).or_default().extend(hunks.map(|hunk| (hunk.old_bytes, hunk.new_bytes)));
        }
    }
    for file in &mut diff.files {
        let Some(mended) = mended.get(&file.path) else { continue };
        for hunk in file.hunks.iter_mut().filter(|hunk| hunk.kind == HunkKind::Text) {
            if mended.iter().any(|(old, new)| *old == hunk.old_bytes && *new == hunk.new_bytes) {
                hunk.author = Author::Compiler;
            }
        }
    }
}

/// Which step changed a file last, by the order of the plan; steps of earlier versions come first.
fn writers(store: &Store, state: &State) -> BTreeMap<TreePath, StepId> {
    let order = state.plan.as_ref().map(|plan| plan.order()).unwrap_or_default();
    let mut steps: Vec<_> = state.work.steps.iter().collect();
    steps.sort_by_key(|(id, _)| order.iter().position(|step| step.id == **id).map_or(0, |at| at + 1));
    let mut writers = BTreeMap::new();
    for (id, step) in steps {
        for file in worktree::published_files(store, &step.from, &step.tree).unwrap_or_default() {
            writers.insert(file.path, id.clone());
        }
    }
    writers
}

/// Every receipt the task speaks of, each once, in the order of the events, with what it was about.
fn receipt_keys(records: &[Record]) -> Vec<(Digest, Judged)> {
    let mut seen = BTreeSet::new();
    let events = records.iter().filter_map(|record| record.event.as_ref().ok());
    let keys = events.flat_map(|event| {
        let (receipts, judged) = match event {
            Event::Baselined { receipts, .. } | Event::Rechecked { receipts, .. } | Event::Rebased { receipts, .. } => {
                (receipts.as_slice(), Judged::default())
            }
            Event::Checked { receipts, attempt, .. } => (&receipts[..], Judged { attempt: Some(*attempt), step: None }),
            Event::StepChecked { receipts, attempt, step, .. } => {
                (&receipts[..], Judged { attempt: Some(*attempt), step: Some(step.clone()) })
            }
            _ => (&[][..], Judged::default()),
        };
        receipts.iter().map(move |key| (key.clone(), judged.clone()))
    });
    keys.filter(|(key, _)| seen.insert(key.clone())).collect()
}

/// The time until each fact was there, counted to the station it closes.
fn timings(records: &[Record]) -> Vec<Timing> {
    let mut timings: Vec<Timing> = Vec::new();
    for pair in records.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let Ok(event) = &after.event else { continue };
        if before.epoch != after.epoch {
            continue;
        }
        let station = match event {
            Event::Requested { .. } | Event::Admitted { .. } | Event::Resumed { .. } => "admit",
            Event::Snapshotted { .. } => "freeze",
            Event::ShadowReady { .. } => "shadow",
            Event::Baselined { .. } => "baseline",
            Event::PlanProposed { .. }
            | Event::PlanApproved { .. }
            | Event::PlanRevised { .. }
            | Event::Paused { .. } => "plan",
            // How long a person thought is not where the time went.
            Event::Answered { .. }
            | Event::Steered { .. }
            | Event::NoteDeclined { .. }
            | Event::LimitsRaised { .. }
            | Event::HunkRejected { .. }
            | Event::HunkKept { .. } => continue,
            Event::Retrieved { .. } => "look",
            Event::Gated { .. } => "gate",
            Event::Checked { .. }
            | Event::StepChecked { .. }
            | Event::Rechecked { .. }
            | Event::Rebased { .. }
            | Event::AttemptEnded { .. } => "check",
            Event::DiffReady { .. } | Event::Concluded { .. } | Event::Closed {} => "compare",
            Event::PublicationPrepared { .. } | Event::PublicationRequested { .. } | Event::Published { .. } => {
                "publish"
            }
            // What an engine does between a plan and its checks.
            _ => "propose",
        };
        let ms = after.at.0.saturating_sub(before.at.0);
        match timings.iter_mut().find(|timing| timing.station == station) {
            Some(timing) => timing.ms += ms,
            None => timings.push(Timing { station: station.to_owned(), ms }),
        }
    }
    timings
}
