//! The journal as its users see it: append-only, durable before anyone acts on it, one owner a task.

use serde::{Deserialize, Serialize};

use crate::{Answer, Digest, Epoch, Event, Limits, Plan, Receipt, Record, Request, RequestId, Sequence, TaskId};

/// What anyone may tell a task while another process walks it. Its owner takes a note up at the next turn, and writes the
/// fact that it became, together with the number of the note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Note {
    Steer {
        text: String,
    },
    /// Answers to the questions that the task waits for, or to those it asked last.
    Answer {
        answers: Vec<Answer>,
    },
    ApprovePlan {
        version: u32,
    },
    /// The developer's own plan in place of this version.
    AmendPlan {
        plan: Plan,
    },
    /// Only ever more than there was: a limit that would fall stays.
    RaiseLimits {
        limits: Limits,
    },
}

/// The right to append to a task. Whoever takes a task over gets a later epoch; the older lease is refused from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub task: TaskId,
    pub epoch: Epoch,
}

/// Why the journal did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("there is no task {0}; `understudy tasks` lists those there are")]
    NoSuchTask(TaskId),
    #[error("task {task} is being worked on by process {process}; wait for it, or end that process and resume")]
    Owned { task: TaskId, process: u32 },
    #[error("task {task} was taken over by another process; this one may no longer change it")]
    Superseded { task: TaskId },
    #[error("task {task} holds events of a newer version of Understudy; this version can only show it")]
    Newer { task: TaskId },
    #[error(
        "the journal at {path} was written by a newer version of Understudy (schema {found}, this one knows {known})"
    )]
    NewerSchema { path: String, found: i64, known: i64 },
    #[error("the journal cannot be {what}: {source}")]
    Storage {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Events, receipts and artifacts. When a call that writes returns, what it wrote survives a power cut.
pub trait Journal: Send + Sync {
    /// Begins a task, or finds the one that was begun under the same request id (`false`: it was there before, and no
    /// lease is held).
    ///
    /// # Errors
    /// [`JournalError::Storage`] on a full or read-only disk and the like.
    fn begin(&self, request: &Request) -> Result<(TaskId, Option<Lease>), JournalError>;

    /// The task that was begun under this request id.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn by_request_id(&self, id: &RequestId) -> Result<Option<TaskId>, JournalError>;

    /// Takes a task over. Refused while its owner runs; an owner that ended or is stopped is superseded.
    ///
    /// # Errors
    /// [`JournalError::Owned`], [`JournalError::NoSuchTask`], [`JournalError::Newer`], [`JournalError::Storage`].
    fn acquire(&self, task: &TaskId) -> Result<Lease, JournalError>;

    /// Gives the task back, so that another process can take it without waiting for this one to end.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn release(&self, lease: &Lease) -> Result<(), JournalError>;

    /// Whether the lease still holds; asked right before an effect outside our own state.
    ///
    /// # Errors
    /// [`JournalError::Superseded`], [`JournalError::Storage`].
    fn fence(&self, lease: &Lease) -> Result<(), JournalError>;

    /// Appends a fact, durably.
    ///
    /// # Errors
    /// [`JournalError::Superseded`], [`JournalError::Storage`].
    fn append(&self, lease: &Lease, event: &Event) -> Result<Sequence, JournalError>;

    /// The whole history of a task.
    ///
    /// # Errors
    /// [`JournalError::NoSuchTask`], [`JournalError::Storage`].
    fn records(&self, task: &TaskId) -> Result<Vec<Record>, JournalError>;

    /// All tasks, newest first.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn tasks(&self) -> Result<Vec<TaskId>, JournalError>;

    /// The process that works on a task at present, if one does.
    ///
    /// # Errors
    /// [`JournalError::NoSuchTask`], [`JournalError::Storage`].
    fn owner(&self, task: &TaskId) -> Result<Option<u32>, JournalError>;

    /// Asks whoever works on a task to end it.
    ///
    /// # Errors
    /// [`JournalError::NoSuchTask`], [`JournalError::Storage`].
    fn request_cancel(&self, task: &TaskId) -> Result<(), JournalError>;

    /// Whether the present owner was asked to end the task since it took it.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn cancel_requested(&self, lease: &Lease) -> Result<bool, JournalError>;

    /// Leaves a note for whoever works on a task, or will.
    ///
    /// # Errors
    /// [`JournalError::NoSuchTask`], [`JournalError::Storage`].
    fn post(&self, task: &TaskId, note: &Note) -> Result<(), JournalError>;

    /// The notes that were left after this number, with theirs, oldest first. Numbers count from 1 within a task.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn notes(&self, task: &TaskId, after: u64) -> Result<Vec<(u64, Note)>, JournalError>;

    /// Keeps a receipt under [`Receipt::key`]; a later one with the same key replaces it.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn put_receipt(&self, receipt: &Receipt) -> Result<Digest, JournalError>;

    /// # Errors
    /// [`JournalError::Storage`].
    fn receipt(&self, key: &Digest) -> Result<Option<Receipt>, JournalError>;

    /// Keeps bytes under their own digest.
    ///
    /// # Errors
    /// [`JournalError::Storage`].
    fn put_artifact(&self, bytes: &[u8]) -> Result<Digest, JournalError>;

    /// # Errors
    /// [`JournalError::Storage`], also where the stored bytes no longer have that digest.
    fn artifact(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError>;

    /// Forgets a task and what only it needs.
    ///
    /// # Errors
    /// [`JournalError::NoSuchTask`], [`JournalError::Owned`], [`JournalError::Storage`].
    fn purge(&self, task: &TaskId) -> Result<(), JournalError>;
}
