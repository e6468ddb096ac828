//! Events: past-tense facts about a task, the truth after a crash.
//!
//! Additive only: an unknown kind is kept as it is and makes the task read-only for this version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Answer, AttemptId, Author, Conclusion, Digest, Epoch, HunkId, Judgement, Limitation, Limits, Mode, Plan, Request,
    Sequence, Signature, StepId, TaskId, TreeId, TreePath, UnixMillis, Wait,
    port::{CallId, Reservation, Role, Spent, Stage},
};

/// Version of the event schema that this code writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventVersion(pub u32);

impl EventVersion {
    pub const CURRENT: Self = Self(1);
}

/// One event as the journal holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub task: TaskId,
    pub sequence: Sequence,
    pub epoch: Epoch,
    pub at: UnixMillis,
    pub event: Result<Event, UnknownEvent>,
}

/// An event that a newer version wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownEvent {
    pub version: EventVersion,
    pub kind: String,
    pub data: Value,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "data")]
pub enum Event {
    Requested {
        request: Box<Request>,
    },
    Admitted {
        notes: Vec<String>,
    },
    /// Another process took the task over after the one before had ended or stopped.
    Resumed {
        process: u32,
        /// How long that one had worked on it after its last fact.
        #[serde(default)]
        lost_ms: u64,
    },
    Snapshotted {
        base: TreeId,
        candidate: Option<TreeId>,
        limitations: Vec<Limitation>,
    },
    ShadowReady {
        slot: u32,
    },
    /// Receipts of the base, by key. Here and below, `ran` counts the sandboxed commands since the last fact that counts
    /// them; a receipt that was there already needed none.
    Baselined {
        receipts: Vec<Digest>,
        #[serde(default)]
        ran: u32,
    },
    PlanProposed {
        plan: Plan,
    },
    PlanApproved {
        version: u32,
        #[serde(default)]
        note: u64,
    },
    /// A new version of the plan: the developer's own, or one that the model asked for with this reason.
    PlanRevised {
        plan: Plan,
        author: Author,
        because: String,
        #[serde(default)]
        note: u64,
    },
    /// The task waits for the developer, or for a provider.
    Paused {
        wait: Wait,
    },
    /// What the developer answered. Here and below, `note` is the number of the note in the journal it came by, 0 for none.
    Answered {
        answers: Vec<Answer>,
        #[serde(default)]
        note: u64,
    },
    /// Guidance for the next turn.
    Steered {
        text: String,
        #[serde(default)]
        note: u64,
    },
    /// A note that came too late, or does not fit what it speaks of.
    NoteDeclined {
        note: u64,
        why: String,
    },
    LimitsRaised {
        limits: Limits,
        #[serde(default)]
        note: u64,
    },
    /// Excerpts that were put before the model without being asked for.
    Retrieved {
        stage: Stage,
        excerpts: Vec<String>,
    },
    /// A call to a provider may cost this much; it is sent afterwards. One that is never settled stays charged.
    CallReserved {
        call: CallId,
        attempt: Option<AttemptId>,
        worst: Reservation,
    },
    CallSettled {
        call: CallId,
        spent: Spent,
    },
    ConversationOpened {
        conversation: u32,
        stage: Stage,
        attempt: Option<AttemptId>,
        step: Option<StepId>,
    },
    /// One message of a conversation, kept as an artifact: what was said is durable before anything is done about it.
    Spoke {
        conversation: u32,
        role: Role,
        message: Digest,
        /// With the results of tools: the tree that they left.
        tree: Option<TreeId>,
    },
    /// Earlier results of a conversation were shortened to what is still true; it goes on from these messages.
    Compacted {
        conversation: u32,
        messages: Vec<Digest>,
    },
    StepStarted {
        attempt: AttemptId,
        step: StepId,
        from: TreeId,
    },
    /// The checks of a step, on the tree that it left or on a later one.
    StepChecked {
        attempt: AttemptId,
        step: StepId,
        tree: TreeId,
        receipts: Vec<Digest>,
        failures: Vec<Signature>,
        #[serde(default)]
        ran: u32,
    },
    StepEnded {
        attempt: AttemptId,
        step: StepId,
        tree: TreeId,
        done: bool,
        /// What was delivered, or what failed, as evidence for the next attempt.
        outcome: String,
        /// What it changed this time.
        #[serde(default)]
        files: Vec<TreePath>,
    },
    /// What a step changed belongs to earlier ones: their results no longer hold and are found out anew.
    StepsStale {
        attempt: AttemptId,
        because: StepId,
        steps: Vec<StepId>,
    },
    /// What the compiler mended by itself, for nothing.
    Repaired {
        attempt: AttemptId,
        from: TreeId,
        tree: TreeId,
    },
    /// The same failure came again: the one hint with evidence was given.
    Nudged {
        attempt: AttemptId,
        failures: Vec<Signature>,
    },
    AttemptStarted {
        attempt: AttemptId,
        from: TreeId,
        /// Names models, prompts, tools and versions.
        #[serde(default)]
        configuration: Option<Digest>,
    },
    Gated {
        attempt: AttemptId,
        tree: TreeId,
        verdict: String,
        problems: Vec<String>,
    },
    Checkpointed {
        attempt: AttemptId,
        tree: TreeId,
        what: String,
        limitations: Vec<Limitation>,
    },
    Checked {
        attempt: AttemptId,
        tree: TreeId,
        receipts: Vec<Digest>,
        judgement: Option<Box<Judgement>>,
        #[serde(default)]
        ran: u32,
    },
    AttemptEnded {
        attempt: AttemptId,
        tree: TreeId,
        outcome: String,
    },
    DiffReady {
        tree: TreeId,
        limitations: Vec<Limitation>,
        /// What ended the task before its tree was judged: whoever resumes it says the same.
        #[serde(default)]
        ended: Option<Conclusion>,
        #[serde(default)]
        ran: u32,
    },
    /// The reviewer took a hunk out of what would be written.
    HunkRejected {
        hunk: HunkId,
        reason: Option<String>,
    },
    /// A rejection was taken back.
    HunkKept {
        hunk: HunkId,
    },
    /// A selection of hunks is a tree of its own and was checked as one; or a tree was checked again, with all its hunks.
    Rechecked {
        tree: TreeId,
        /// What the hunks are relative to; the task's base where nothing is said.
        #[serde(default)]
        base: Option<TreeId>,
        kept: Vec<HunkId>,
        receipts: Vec<Digest>,
        judgement: Box<Judgement>,
        #[serde(default)]
        ran: u32,
    },
    /// The workspace had moved on; the tree was brought onto it and checked again.
    Rebased {
        onto: TreeId,
        from: TreeId,
        tree: TreeId,
        receipts: Vec<Digest>,
        judgement: Box<Judgement>,
        #[serde(default)]
        ran: u32,
    },
    PublicationPrepared {
        publication: u32,
        base: TreeId,
        tree: TreeId,
        undoes: Option<u32>,
        files: Vec<PublishedFile>,
    },
    PublicationRequested {
        publication: u32,
    },
    Published {
        publication: u32,
        end: PublicationEnd,
    },
    Concluded {
        conclusion: Conclusion,
    },
    Closed {},
}

/// One file of a publication: what must be there before, what is there after. `None` is "no file".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFile {
    pub path: TreePath,
    /// Blob id and mode.
    pub before: Option<(String, Mode)>,
    pub after: Option<(String, Mode)>,
}

/// How a publication ended, as read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PublicationEnd {
    /// Every file has its new bytes.
    Applied,
    /// Some files have their new bytes, the named ones have not; finishing or rolling back is one act.
    Partial { missing: Vec<TreePath>, reason: String },
    /// Nothing was written.
    Refused { reason: String },
    /// Files changed where the diff changes them; nothing was written.
    Diverged { paths: Vec<TreePath> },
}

impl Event {
    /// The kind as the journal stores it.
    pub fn kind(&self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut map)) => match map.remove("kind") {
                Some(Value::String(kind)) => kind,
                _ => String::new(),
            },
            _ => String::new(),
        }
    }
}
