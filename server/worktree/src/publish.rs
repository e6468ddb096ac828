//! [`FilePublisher`]: approved bytes into the developer's files, by temporary file and rename.
//!
//! First everything is looked at, then everything new is written beside its place, and only then names change, one
//! rename each, deletions last. So a full disk or a file that moved on shows before anything of the developer's changed.

mod place;
mod staged;

use std::sync::Arc;

use task::port::{PublishError, Publisher};
use task::{Mode, PublicationEnd, PublishedFile, TreePath};

use crate::beneath::Beneath;
use crate::lock::Lock;
use crate::{BlobId, Error, Store, Workspace, names};
use place::{Moved, Place};
use staged::Staged;

/// Writes into one workspace. Holds the workspace's publication lock for the length of each call.
#[derive(Debug)]
pub struct FilePublisher {
    workspace: Workspace,
    store: Arc<Store>,
}

/// Blob and mode of a file; `None` is no file.
type Side = Option<(BlobId, Mode)>;

/// One file of a publication, understood.
#[derive(Debug)]
struct Step {
    path: TreePath,
    before: Side,
    after: Side,
}

impl FilePublisher {
    pub fn new(workspace: Workspace, store: Arc<Store>) -> Self {
        Self { workspace, store }
    }

    fn run(&self, files: &[PublishedFile], fence: &dyn Fn() -> bool) -> Result<PublicationEnd, Error> {
        let _lock = self.lock()?;
        let steps = match files.iter().map(step).collect::<Result<Vec<_>, _>>() {
            Ok(steps) => steps,
            Err(reason) => return Ok(PublicationEnd::Refused { reason }),
        };
        let beneath = Beneath::open(self.workspace.top()).map_err(Error::io("opened", self.workspace.top()))?;
        let mut todo = Vec::new();
        let mut diverged = Vec::new();
        for step in &steps {
            let found =
                Place::look(&beneath, &step.path).map_err(Error::io("read", self.workspace.absolute(&step.path)))?;
            let done = found == place::Found::Is(step.after);
            staged::sweep(&beneath, step, done);
            if done {
                continue;
            }
            if found == place::Found::Is(step.before) { todo.push(step) } else { diverged.push(step.path.clone()) }
        }
        if !diverged.is_empty() && todo.len() + diverged.len() < steps.len() {
            // Somebody began this before us, and some of it is in the files.
            let reason = format!("{} changed meanwhile", diverged[0]);
            diverged.extend(todo.iter().map(|step| step.path.clone()));
            diverged.sort_unstable();
            return Ok(PublicationEnd::Partial { missing: diverged, reason });
        }
        if !diverged.is_empty() {
            let refused = no_room(&steps).map(|reason| PublicationEnd::Refused { reason });
            return Ok(refused.unwrap_or(PublicationEnd::Diverged { paths: diverged }));
        }
        if !fence() {
            return Ok(PublicationEnd::Refused { reason: "the task has another owner now".to_owned() });
        }
        let mut staged = match self.stage(&beneath, &todo) {
            Ok(staged) => staged,
            Err(err) => return Ok(PublicationEnd::Refused { reason: chain(&err) }),
        };
        // Deletions last: whatever stops us, more is there rather than less.
        todo.sort_by_key(|step| step.after.is_none());
        let mut missing: Vec<TreePath> = todo.iter().map(|step| step.path.clone()).collect();
        let started = missing.len();
        let mut stopped = None;
        for step in &todo {
            if !fence() {
                stopped = Some("the task has another owner now".to_owned());
                break;
            }
            match staged.put(&beneath, step) {
                Ok(Moved::Done) => {
                    missing.remove(0);
                }
                Ok(Moved::Differs) if missing.len() == started => {
                    staged.drop_rest(&beneath);
                    return Ok(PublicationEnd::Diverged { paths: vec![step.path.clone()] });
                }
                Ok(Moved::Differs) => {
                    stopped = Some(format!("{} changed while the files were written", step.path));
                    break;
                }
                Err(err) => {
                    stopped = Some(format!("{} cannot be written: {err}", step.path));
                    break;
                }
            }
        }
        staged.drop_rest(&beneath);
        staged.sync(&beneath);
        // What the disk says counts, not what the calls said.
        for step in &todo {
            let is_there = Place::look(&beneath, &step.path).is_ok_and(|found| found == place::Found::Is(step.after));
            if !is_there && !missing.contains(&step.path) {
                missing.push(step.path.clone());
                stopped.get_or_insert_with(|| format!("{} does not read back as it was written", step.path));
            }
        }
        missing.sort_unstable();
        Ok(match stopped {
            None => PublicationEnd::Applied,
            Some(reason) if missing.len() == started => PublicationEnd::Refused { reason },
            Some(reason) => PublicationEnd::Partial { missing, reason },
        })
    }

    fn stage(&self, beneath: &Beneath, todo: &[&Step]) -> Result<Staged, Error> {
        let mut staged = Staged::default();
        for step in todo {
            let Some((blob, mode)) = step.after else { continue };
            let result = self.store.blob(blob).and_then(|bytes| {
                let failed = Error::io("written", self.workspace.absolute(&step.path));
                staged.write(beneath, step, mode, &bytes).map_err(failed)
            });
            if let Err(err) = result {
                staged.drop_rest(beneath);
                return Err(err);
            }
        }
        Ok(staged)
    }

    fn lock(&self) -> Result<Lock, Error> {
        Lock::alone(&self.workspace.state().join("publish.lock"))
    }
}

impl Publisher for FilePublisher {
    fn publish(&self, files: &[PublishedFile], fence: &dyn Fn() -> bool) -> Result<PublicationEnd, PublishError> {
        self.run(files, fence).map_err(|err| PublishError { what: "written".to_owned(), source: Box::new(err) })
    }
}

fn step(file: &PublishedFile) -> Result<Step, String> {
    let side = |side: &Option<(String, Mode)>| match side {
        None => Ok(None),
        Some((_, Mode::Gitlink)) => Err(format!("{} is a submodule and is never written", file.path)),
        Some((blob, mode)) => match BlobId::parse(blob) {
            Some(blob) => Ok(Some((blob, *mode))),
            None => Err(format!("{} has no blob id that can be read", file.path)),
        },
    };
    if let Some(why) = names::refused(&file.path) {
        return Err(format!("{} may not be written: {why}", file.path));
    }
    Ok(Step { path: file.path.clone(), before: side(&file.before)?, after: side(&file.after)? })
}

/// Why nothing is written where a file makes room for a folder or the other way round: no one rename can do that.
fn no_room(steps: &[Step]) -> Option<String> {
    let lies_in = |inside: &TreePath, file: &Step| inside.strip_prefix(&file.path).is_some();
    let (file, Step { path, .. }) = steps.iter().find_map(|file| {
        let changes = |it: &&Step| lies_in(&it.path, file) && it.after.is_some() != file.after.is_some();
        Some((&file.path, steps.iter().find(changes)?))
    })?;
    Some(format!(
        "{file} would have to be a folder and a file ({path} lies in it); delete what is there now yourself and apply again"
    ))
}

fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}
