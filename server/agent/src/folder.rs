//! What fronts ask about a workspace and its tasks without owning one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use task::port::{Journal, Note};
use task::{State, TaskId, TreeId, TreePath, Wait};
use worktree::{Authors, Store, Workspace};

use crate::evidence::author;
use crate::report::waiting;
use crate::review::kept_tree;
use crate::walk::fold;
use crate::{Error, risks};

/// The folder that tree paths of a workspace are relative to: git's top level, or the folder itself.
///
/// # Errors
/// When the folder cannot be worked on.
pub fn top(folder: &Path, state_folder: &Path) -> Result<PathBuf, Error> {
    Ok(Workspace::open(folder, state_folder)?.top().to_owned())
}

/// Where documents of a workspace (plans, reviews) are kept: `w/<id>/docs`, created 0700 when missing.
///
/// # Errors
/// When the folder cannot be worked on, or the state folder cannot be written.
pub fn documents_folder(folder: &Path, state_folder: &Path) -> Result<PathBuf, Error> {
    let docs = Workspace::open(folder, state_folder)?.state().join("docs");
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&docs);
    made.map_err(|error| Error::Sentence(format!("the folder {} cannot be made: {error}", docs.display())))?;
    Ok(docs)
}

/// One file of a tree of a task, `None` when the tree has no such file. Only trees that belong to the task (base, tree,
/// selections, rebases, publications) are answered.
///
/// # Errors
/// When there is no such task, the tree is none of its trees, or the store cannot be read.
pub fn file_of(
    journal: &dyn Journal,
    state_folder: &Path,
    id: &TaskId,
    tree: &TreeId,
    path: &TreePath,
) -> Result<Option<Vec<u8>>, Error> {
    Ok(files_of(journal, state_folder, id, tree, std::iter::once(path))?.remove(path))
}

/// Several files of a tree of a task, without those that the tree does not have.
///
/// # Errors
/// As [`file_of`].
pub fn files_of<'p>(
    journal: &dyn Journal,
    state_folder: &Path,
    id: &TaskId,
    tree: &TreeId,
    paths: impl Iterator<Item = &'p TreePath>,
) -> Result<BTreeMap<TreePath, Vec<u8>>, Error> {
    let state = fold(id, &journal.records(id)?)?;
    let workspace = Workspace::open(Path::new(&state.request.workspace), state_folder)?;
    let store = Store::open(&workspace)?;
    if !trees(&state).any(|own| own == tree) && !is_kept(&store, &state, tree)? {
        return Err(Error::Sentence(format!("task {id} has no tree {tree}")));
    }
    let mut files = BTreeMap::new();
    for path in paths {
        if let Some(bytes) = store.read(tree, path)? {
            files.insert(path.clone(), bytes.to_vec());
        }
    }
    Ok(files)
}

/// Every tree that a task speaks of.
fn trees(state: &State) -> impl Iterator<Item = &TreeId> {
    let own = state.base.iter().chain(&state.candidate).chain(&state.tree);
    let offered = state.offered.iter().flat_map(|it| [&it.tree, &it.base]);
    let published = state.publications.iter().flat_map(|it| [&it.tree, &it.base]);
    own.chain(offered).chain(published)
}

/// Whether a tree is what is kept of the diff under review, which needs no event of its own.
fn is_kept(store: &Store, state: &State, tree: &TreeId) -> Result<bool, Error> {
    let Some((base, whole)) = state.reviewed() else { return Ok(false) };
    let diff = risks::diff(store, base, whole, &Authors::all(author(state)))?;
    Ok(kept_tree(store, state, &diff).as_ref() == Some(tree))
}

/// A short line about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskLine {
    pub id: TaskId,
    /// The last station behind it; before its end `running, ...`, `interrupted, ...` or what it waits for: `needs an
    /// answer`, `plan waits`, `provider`.
    pub status: String,
    /// What it waits for. It stays in the list until it has it.
    pub waiting: Option<Wait>,
    /// Whether the developer gave it that, and nobody has taken it up yet.
    pub given: bool,
    /// How it ended, as its word.
    pub verdict: Option<String>,
    pub workspace: String,
    pub title: String,
    /// The process that works on it.
    pub owner: Option<u32>,
    /// How often what a reviewer acts on changed.
    pub revision: u64,
}

/// All tasks, newest first. One whose history cannot be read is left out.
///
/// # Errors
/// When the journal cannot be read.
pub fn list(journal: &dyn Journal) -> Result<Vec<TaskLine>, Error> {
    let mut lines = Vec::new();
    for id in journal.tasks()? {
        let Ok(state) = fold(&id, &journal.records(&id)?) else { continue };
        let owner = journal.owner(&id)?;
        let waiting = waiting(&state).cloned();
        let answers =
            |note: &Note| matches!(note, Note::Answer { .. } | Note::ApprovePlan { .. } | Note::AmendPlan { .. });
        let owed = matches!(waiting, Some(Wait::Answers { .. } | Wait::PlanApproval { .. }));
        let given = owed && journal.notes(&id, state.work.note)?.iter().any(|(_, note)| answers(note));
        let status = match (&state.conclusion, &waiting, owner) {
            (Some(_), ..) => state.station.word().to_owned(),
            (None, Some(wait), _) => wait_word(wait).to_owned(),
            (None, None, Some(_)) => format!("running, {}", state.station.word()),
            (None, None, None) => format!("interrupted, {}", state.station.word()),
        };
        lines.push(TaskLine {
            waiting,
            given,
            verdict: state.conclusion.as_ref().map(|conclusion| conclusion.word().to_owned()),
            workspace: state.request.workspace.clone(),
            title: state.request.title(),
            revision: state.revision,
            id,
            status,
            owner,
        });
    }
    Ok(lines)
}

/// What a task waits for, in a list.
fn wait_word(wait: &Wait) -> &'static str {
    match wait {
        Wait::Answers { .. } => "needs an answer",
        Wait::PlanApproval { .. } => "plan waits",
        Wait::Provider { .. } => "provider",
    }
}

/// What a task currently is.
///
/// # Errors
/// When there is no such task, or its history cannot be read.
pub fn state_of(journal: &dyn Journal, id: &TaskId) -> Result<State, Error> {
    fold(id, &journal.records(id)?)
}

/// Runs of lines that differ (0-based, half-open), as hunks are cut.
///
/// # Errors
/// When the texts cannot be compared.
pub fn line_changes(before: &[u8], after: &[u8]) -> Result<Vec<worktree::LineChange>, Error> {
    Ok(worktree::line_changes(before, after)?)
}
