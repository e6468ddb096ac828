//! Turns a request into a diff: the walk, the engines, proving, selection and publication.
//!
//! Everything with an effect is reached through ports or through `worktree`, `sandbox` and `checks`; nothing here knows
//! LSP, HTTP, SQL or the compiler's crates. [`Walk`] is a task that this process owns, [`House`] what it runs in,
//! [`report()`] what anyone may read about any task.

mod ahead;
mod aside;
mod attempt;
mod cancel;
mod documents;
mod engine;
mod environment;
mod error;
mod evidence;
mod explain;
mod folder;
mod freeze;
pub mod grammar;
mod house;
mod lanes;
mod lints;
mod loaded;
mod model_engine;
mod named;
mod plan;
mod plan_document;
mod plan_reading;
mod progress;
mod proving;
mod publication;
mod pulse;
mod rejections;
mod renames;
mod report;
mod review;
mod risks;
mod selection;
mod shelf;
mod site;
mod trigger;
mod walk;

pub use aside::{Examined, examine, forget, in_shadow};
pub use documents::{Documents, NoDocuments};
pub use error::Error;
pub use evidence::report;
pub use explain::{Citation, ExplainAsk, Explanation, explain, explain_counted};
pub use folder::{TaskLine, documents_folder, file_of, files_of, line_changes, list, state_of, top};
pub use house::{Compilers, House, NoRetrieval};
pub use lints::unknown_lints;
pub use named::{hunks_named, tree_named};
pub use plan_document::plan_document;
pub use plan_reading::read_plan;
pub use progress::{Audience, Progress, Side};
pub use publication::{Applied, Approval};
pub use rejections::rejections;
pub use report::{
    AttemptRecord, CostRecord, Criterion, ExecutionRecord, Held, HunkRecord, ModelRecord, NextStep, OpenCall,
    PlanRecord, PlannedStep, PublicationRecord, Report, Revision, StepProgress, TaskRecord, Timing, UsageRecord,
    plainly, step_progress, waiting,
};
pub use review::Blobs;
pub use shelf::Shelf;
pub use site::Place;
pub use trigger::asked_in;
pub use walk::Walk;
pub use worktree::LineChange;
