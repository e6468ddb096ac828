//! The words of Understudy, as types, and the rules between them that need no effect.
//!
//! Nothing here knows files, git, processes, time, LSP or models: a value comes in, a value goes out. The *ports* are
//! the traits through which `agent` reaches the rooms that do have effects; the fold [`State::apply`] is the only
//! place that turns events into what a task currently is.

mod accounts;
mod budget;
mod check;
mod conclusion;
mod diff;
mod edit;
mod event;
mod id;
mod judgement;
mod path;
mod plan;
pub mod port;
mod receipt;
mod redact;
mod request;
mod review;
mod risk;
mod scope;
mod state;
mod text;
mod work;

pub use accounts::{Accounts, Assumed, dollars};
pub use budget::Limits;
pub use check::{Check, CheckId, CheckKind, Features, Item, ItemId, ItemKind, ItemResult, Signature, Verdict};
pub use conclusion::{Conclusion, ExitCode, StopReason};
pub use diff::{Author, Change, Diff, FileDiff, Hunk, HunkKind, Lines, Mode};
pub use edit::{Edit, EditError, EditSet, FileEdit};
pub use event::{Event, EventVersion, PublicationEnd, PublishedFile, Record, UnknownEvent};
pub use id::{
    AttemptId, Digest, Epoch, HunkId, IdError, PlanId, RequestId, Sequence, StepId, TaskId, TreeId, UnixMillis,
};
pub use judgement::{Judgement, Limitation};
pub use path::{PathError, TreePath};
pub use plan::{Answer, MOST_STEPS, Plan, Position, Question, Step, StepAction};
pub use receipt::{Comparison, Receipt, SandboxLevel};
pub use redact::Redactor;
pub use request::{Candidate, Engine, PlanPolicy, Request, Source, Tool, Trigger};
pub use review::Offered;
pub use risk::Risk;
pub use scope::{Scope, ScopeError};
pub use state::{Attempt, Publication, Rebase, State, Station};
pub use text::printable;
pub use work::{Conversation, Round, StepRecord, Wait, Work};
