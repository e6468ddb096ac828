//! Acts: what takes long, each on a thread of its own. An act opens a house, does one thing to one task through the walk
//! and posts how it ended; the loop never waits for it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agent::{Applied, Approval, Audience, House, Walk};
use serde_json::Value;
use task::{HunkId, PublicationEnd, TaskId, TreePath};

use crate::beside::Reader;
use crate::client::Facts;
use crate::entry::Loaded;
use crate::folders::Folder;
use crate::lent::Lent;
use crate::mail::{Mail, Mailbox, Refusal};
use crate::publisher::EditorPublisher;
use crate::rooms::{Ask, Rooms};
use crate::transport::Outbox;

/// How long another process may take to end its task when it is asked to; it looks every 300 ms.
const GOODBYE: Duration = Duration::from_secs(10);

/// Which act, counted by the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ActId(pub u64);

/// What an act does.
#[derive(Debug)]
pub enum Work {
    /// `instead` is why the compiler does not take it, where a model is asked for that reason alone.
    Create {
        ask: Box<Ask>,
        patch: Option<String>,
        instead: Option<String>,
    },
    Resume,
    /// The request of an earlier task once more, held to what was rejected of it.
    Again {
        of: TaskId,
        because: Vec<String>,
    },
    /// A question about the code of a folder, perhaps about a line of a file (from 1).
    Explain {
        ask: Box<Ask>,
        folder: Folder,
        at: Option<(TreePath, u32)>,
    },
    Reject {
        revision: u64,
        hunks: BTreeSet<HunkId>,
        reason: Option<String>,
    },
    Keep {
        revision: u64,
        hunks: BTreeSet<HunkId>,
    },
    Check {
        revision: Option<u64>,
    },
    CheckAgain {
        revision: u64,
    },
    Apply {
        revision: u64,
        approval: Approval,
        folder: Folder,
    },
    Undo {
        revision: u64,
        folder: Folder,
    },
    Cancel,
    Purge,
}

/// How an act ended.
#[derive(Debug)]
pub struct Ended {
    pub act: ActId,
    pub task: Option<TaskId>,
    pub result: Result<Done, Refusal>,
    /// The task as it stands now; `None` where it is gone or cannot be read.
    pub loaded: Option<Loaded>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// The task tells.
    Task,
    /// It was asked for before, under the same request id; what works on it goes on.
    Known,
    Cancelled,
    Outcome {
        word: &'static str,
        sentence: String,
        unsaved: Vec<TreePath>,
    },
    Forgotten,
    /// What `understudy.explain` answers.
    Explained(Value),
}

/// What acts have in common.
#[derive(Clone)]
pub struct Crew {
    pub rooms: Arc<dyn Rooms>,
    pub mailbox: Mailbox,
    pub outbox: Outbox,
    pub facts: Facts,
    pub reader: Reader,
}

/// Ends what an act runs.
pub struct Canceller(Box<dyn Fn() + Send>);

impl Canceller {
    pub fn cancel(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canceller")
    }
}

/// The open documents, asked from the loop.
struct OpenDocuments(Mailbox);

impl agent::Documents for OpenDocuments {
    fn open(&self, top: &std::path::Path) -> Vec<(TreePath, Vec<u8>)> {
        let open = self.0.ask(|reply| Mail::Documents { top: top.to_owned(), reply }).unwrap_or_default();
        open.into_iter().map(|(path, text)| (path, text.as_bytes().to_vec())).collect()
    }
}

impl Crew {
    /// Starts an act. Whatever happens in it, it posts an end.
    pub fn start(&self, act: ActId, task: Option<TaskId>, work: Work) {
        let crew = self.clone();
        let known = task.clone();
        let run = move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crew.run(act, task.clone(), work)));
            let ended = result.unwrap_or_else(|_| Ended {
                act,
                task,
                result: Err(Refusal::Failed(
                    "something of ours failed in this act; the journal holds what was done".into(),
                )),
                loaded: None,
            });
            crew.mailbox.post(Mail::Ended(Box::new(ended)));
        };
        if let Err(error) = std::thread::Builder::new().name("act".into()).spawn(run) {
            let result = Err(Refusal::Failed(format!("no thread could be started: {error}")));
            self.mailbox.post(Mail::Ended(Box::new(Ended { act, task: known, result, loaded: None })));
        }
    }

    fn run(&self, act: ActId, task: Option<TaskId>, work: Work) -> Ended {
        if let Work::Create { ask, instead, .. } = &work
            && ask.engine == task::Engine::Model
            && let Err(remedy) = self.rooms.model(&self.lent())
        {
            let sentence = match instead {
                Some(refusal) => format!("{refusal} Anything else needs a language model: {remedy}"),
                None => remedy,
            };
            return Ended { act, task, result: Err(Refusal::Failed(sentence)), loaded: None };
        }
        let mailbox = self.mailbox.clone();
        let audience = Audience::new(move |news| mailbox.post(Mail::News { act, news }));
        let house = match self.rooms.house(audience, Arc::new(OpenDocuments(self.mailbox.clone())), self.lent()) {
            Ok(house) => house,
            Err(sentence) => return Ended { act, task, result: Err(Refusal::Failed(sentence)), loaded: None },
        };
        let cancel = house.cancel.clone();
        self.mailbox.post(Mail::Cancellable { act, cancel: Canceller(Box::new(move || cancel.cancel())) });
        let (task, result) = match (task, work) {
            (_, Work::Again { of, because }) => self.again(&house, act, &of, &because),
            (_, Work::Explain { ask, folder, at }) => (None, self.explain(&house, act, *ask, folder, at)),
            (_, Work::Create { ask, patch, .. }) => self.create(&house, act, *ask, patch),
            (Some(task), work) => {
                let result = self.on_task(&house, act, &task, work);
                (Some(task), result)
            }
            (None, _) => (None, Err(Refusal::Failed("no task is named".into()))),
        };
        let gone = matches!(result, Ok(Done::Forgotten));
        let loaded = task.as_ref().filter(|_| !gone).and_then(|task| Loaded::load(&house, task).ok());
        Ended { act, task, result, loaded }
    }

    fn create(
        &self,
        house: &House,
        act: ActId,
        mut ask: Ask,
        patch: Option<String>,
    ) -> (Option<TaskId>, Result<Done, Refusal>) {
        if let Some(patch) = patch {
            match house.journal.put_artifact(patch.as_bytes()) {
                Ok(artifact) => ask.candidate = Some(task::Candidate::Patch { artifact }),
                Err(error) => return (None, Err(Refusal::Failed(error.to_string()))),
            }
        }
        if let Ok(task::StepAction::FixClippy { lints }) = agent::grammar::parse(&ask.description)
            && let Some(odd) = agent::unknown_lints(house, std::path::Path::new(&ask.folder), &lints)
        {
            return (None, Err(Refusal::Failed(odd)));
        }
        let begun = self.rooms.request(ask).map_err(Refusal::BadParams);
        let begun = begun.and_then(|request| Walk::begin(house, request).map_err(failed));
        match begun {
            Err(refusal) => (None, Err(refusal)),
            // Asked before under the same request id.
            Ok(Err(known)) => (Some(known), Ok(Done::Known)),
            Ok(Ok(walk)) => {
                let task = walk.id().clone();
                (Some(task), self.walk(act, walk))
            }
        }
    }

    /// Walks a task to its end, when its turn comes.
    pub fn walk(&self, act: ActId, mut walk: Walk<'_>) -> Result<Done, Refusal> {
        let (turn, ours) = channel();
        let (task, state) = (walk.id().clone(), Box::new(walk.state().clone()));
        self.mailbox.post(Mail::Begun { act, task, state, turn });
        // A turn that never comes means that the server ends.
        let waits = Instant::now();
        if ours.recv().is_err() {
            return Err(Refusal::Failed("the server ends; the task can be resumed".into()));
        }
        walk.rested(waits.elapsed());
        match walk.run() {
            // The provider cannot be reached: the task waits for it and has not failed.
            Ok(_) | Err(agent::Error::Paused(_)) => Ok(Done::Task),
            Err(error) => Err(failed(error)),
        }
    }

    pub fn lent(&self) -> Lent {
        Lent::new(self.mailbox.clone())
    }

    fn on_task(&self, house: &House, act: ActId, task: &TaskId, work: Work) -> Result<Done, Refusal> {
        match work {
            Work::Create { .. } | Work::Again { .. } | Work::Explain { .. } => Ok(Done::Task),
            Work::Resume => self.walk(act, Walk::resume(house, task).map_err(failed)?),
            Work::Purge => {
                agent::forget(house, task).map_err(failed)?;
                Ok(Done::Forgotten)
            }
            Work::Cancel => cancel(house, task),
            Work::Reject { revision, hunks, reason } => {
                changed(house, task, Some(revision), |walk| walk.reject(&hunks, reason.as_deref()))
            }
            Work::Keep { revision, hunks } => changed(house, task, Some(revision), |walk| walk.keep(&hunks)),
            Work::Check { revision } => changed(house, task, revision, |walk| walk.check_kept().map(drop)),
            Work::CheckAgain { revision } => changed(house, task, Some(revision), |walk| {
                let tree = walk.kept_tree()?;
                walk.check_again(&tree)
            }),
            Work::Apply { revision, approval, folder } => {
                self.publish(house, task, revision, folder, |walk, publisher| walk.apply(&approval, publisher))
            }
            Work::Undo { revision, folder } => {
                let done = self.publish(house, task, revision, folder, |walk, publisher| walk.undo(publisher))?;
                Ok(match done {
                    Done::Outcome { word: "applied", unsaved, sentence } => {
                        let sentence = sentence
                            .replace("written, and read back", "taken back, and read back")
                            .replace("applied, not saved", "taken back, not saved")
                            .replace("new text", "old text");
                        Done::Outcome { word: "applied", sentence, unsaved }
                    }
                    other => other,
                })
            }
        }
    }

    fn publish(
        &self,
        house: &House,
        task: &TaskId,
        revision: u64,
        mut folder: Folder,
        act: impl FnOnce(&mut Walk<'_>, &EditorPublisher) -> Result<Applied, agent::Error>,
    ) -> Result<Done, Refusal> {
        let mut walk = Walk::take(house, task).map_err(failed)?;
        let published = (|| {
            fresh(&walk, Some(revision))?;
            folder.top = agent::top(&folder.path, &house.state).map_err(failed)?;
            let files = self.rooms.publisher(house, &walk.state().request.workspace).map_err(Refusal::Failed)?;
            let publisher = EditorPublisher::new(self.clone(), folder, files, walk.blobs());
            let applied = act(&mut walk, &publisher).map_err(failed)?;
            Ok((outcome(&applied), publisher.unsaved(), publisher.is_exact()))
        })();
        // Whatever came of it, others may have the task again.
        let given_back = walk.give_back();
        let ((word, sentence), unsaved, exact) = published?;
        given_back.map_err(failed)?;
        let sentence = match (word, unsaved.as_slice()) {
            ("applied", [path]) => format!("applied, not saved: {path} holds the new text in the editor"),
            ("applied", [_, _, ..]) => {
                format!("applied, not saved: {} documents hold the new text in the editor", unsaved.len())
            }
            ("applied", []) if !exact => {
                "written, and read back but for byte order marks, line ends or final newlines, which the editor saved in its own way"
                    .into()
            }
            _ => sentence,
        };
        Ok(Done::Outcome { word, sentence, unsaved })
    }
}

/// Takes a task, does something to it and gives it back.
fn changed(
    house: &House,
    task: &TaskId,
    revision: Option<u64>,
    act: impl FnOnce(&mut Walk<'_>) -> Result<(), agent::Error>,
) -> Result<Done, Refusal> {
    let mut walk = Walk::take(house, task).map_err(failed)?;
    let done = fresh(&walk, revision).and_then(|()| act(&mut walk).map_err(failed));
    walk.give_back().map_err(failed)?;
    done.map(|()| Done::Task)
}

/// Ends a task that no act of ours works on: one that was interrupted, runs elsewhere, or waits for its review.
fn cancel(house: &House, task: &TaskId) -> Result<Done, Refusal> {
    if let Ok(Some(owner)) = house.journal.owner(task)
        && owner != std::process::id()
    {
        house.journal.request_cancel(task).map_err(|error| Refusal::Failed(error.to_string()))?;
        let end = Instant::now() + GOODBYE;
        while house.journal.owner(task).is_ok_and(|now| now == Some(owner)) {
            if Instant::now() >= end {
                return Err(Refusal::Failed(format!(
                    "process {owner} was asked to end task {task} and has not done it"
                )));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        return Ok(Done::Cancelled);
    }
    let walk = Walk::take(house, task).map_err(failed)?;
    if walk.state().conclusion.is_some() { walk.close() } else { walk.cancel() }.map_err(failed)?;
    Ok(Done::Cancelled)
}

/// Whether the caller speaks of the task as it is.
fn fresh(walk: &Walk<'_>, revision: Option<u64>) -> Result<(), Refusal> {
    let present = walk.state().revision;
    match revision {
        Some(seen) if seen != present => Err(Refusal::Stale(format!(
            "task {} changed since you looked: it is at revision {present}, not {seen}; look at it again",
            walk.id()
        ))),
        _ => Ok(()),
    }
}

pub fn failed(error: agent::Error) -> Refusal {
    Refusal::Failed(error.chain())
}

/// The word of `protocol.md` and one sentence.
fn outcome(applied: &Applied) -> (&'static str, String) {
    let names = |paths: &[TreePath]| {
        let names: Vec<String> = paths.iter().take(5).map(ToString::to_string).collect();
        names.join(", ")
    };
    match applied {
        Applied::Ended(PublicationEnd::Applied) => ("applied", "written, and read back byte for byte".into()),
        Applied::AlreadyThere => ("already there", "the files already are what this tree says".into()),
        Applied::Ended(PublicationEnd::Partial { missing, reason }) => (
            "partial",
            format!(
                "partly written ({reason}); missing: {}; apply again finishes it, undo takes it back",
                names(missing)
            ),
        ),
        Applied::Ended(PublicationEnd::Diverged { paths }) => (
            "diverged",
            format!("nothing was written: the text changed where the diff changes it, in {}", names(paths)),
        ),
        Applied::Ended(PublicationEnd::Refused { reason }) | Applied::Refused { reason } => {
            ("refused", format!("nothing was written: {reason}"))
        }
        Applied::Moved { verified, .. } => (
            "moved",
            format!(
                "nothing was written: your files changed since the snapshot. The change was brought onto them and is {}; look at it and approve it anew",
                if *verified { "verified again" } else { "not verified there" }
            ),
        ),
    }
}
