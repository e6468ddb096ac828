//! [`TaskLine`]: a task in a few fields, for lists, status bars and notifications. The whole is the report.

use agent::StepProgress;
use schemars::JsonSchema;
use serde::Serialize;
use task::{Question, StepId, TaskId, TreeId, TreePath};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskLine {
    pub id: TaskId,
    pub folder: String,
    pub title: String,
    pub source: task::Source,
    pub engine: task::Engine,
    pub status: Status,
    /// What is being done now, in a few words; empty when nothing is.
    pub doing: String,
    pub done: u64,
    pub total: u64,
    /// `None` while there is none.
    pub verdict: Option<String>,
    /// Why, in one line.
    pub sentence: String,
    pub revision: u64,
    pub base: Option<TreeId>,
    pub tree: Option<TreeId>,
    /// The tree of the hunks that are not rejected.
    pub kept_tree: Option<TreeId>,
    /// `verified`, `not verified`, or `None` while it was not checked.
    pub kept_verdict: Option<String>,
    pub hunks: usize,
    pub rejected: usize,
    pub files: usize,
    pub insertions: u64,
    pub deletions: u64,
    pub question: Option<Question>,
    /// What a task that has not ended waits for.
    pub waiting_for: Option<WaitingFor>,
    /// Names what is asked: an answer to something else is refused.
    pub asked: Option<String>,
    /// The questions that wait for answers, all of them to be answered.
    pub questions: Vec<Question>,
    /// Of a model, as it stands.
    pub plan: Option<PlanLine>,
    /// Where a model is used.
    pub usage: Option<UsageLine>,
    pub publication: Option<PublicationLine>,
    /// What may be called now: `cancel`, `resume`, `answer`, `approve_plan`, `steer`, `raise`, `again`, `apply`, `undo`.
    pub next: Vec<Next>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// The developer, to answer questions.
    Answers,
    /// The developer, to agree to the plan.
    Plan,
    /// The provider of the model.
    Provider,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanLine {
    pub version: u32,
    pub steps: Vec<StepLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepLine {
    pub id: StepId,
    pub title: String,
    pub status: StepProgress,
}

/// What a task used or has reserved, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsageLine {
    pub tokens: u64,
    /// `None` where no model had a price so far.
    pub microdollars: Option<u64>,
    pub max_tokens: Option<u64>,
    pub max_microdollars: Option<u64>,
    pub attempts: u32,
    pub max_attempts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Another task of this workspace runs.
    Waiting,
    Running,
    /// A selection is being checked.
    Checking,
    Publishing,
    /// It waits for answers, or for the yes to its plan.
    #[serde(rename = "needs you")]
    NeedsYou,
    /// A diff waits for verdicts.
    Review,
    /// Its process ended; it can be resumed.
    Interrupted,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    Cancel,
    Resume,
    Answer,
    ApprovePlan,
    Steer,
    Raise,
    Again,
    Apply,
    Undo,
}

/// The last publication of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublicationLine {
    pub number: u32,
    pub state: PublicationState,
    pub sentence: String,
    /// Documents that hold the new text and are not saved.
    pub unsaved: Vec<TreePath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublicationState {
    Applied,
    Partial,
    Refused,
    Diverged,
    Undone,
}

#[cfg(test)]
mod tests {
    /// What `protocol.md` describes. When this fails: read the page against the change, mend it, then put the new digest
    /// into its last line.
    #[test]
    fn the_page_about_the_protocol_was_read_against_this_code() {
        let code =
            [include_str!("command.rs"), include_str!("line.rs"), include_str!("client.rs"), include_str!("limits.rs")];
        let digest = task::Digest::of(code.map(|text| text.split("#[cfg(test)]").next().unwrap()));
        let page = include_str!("../protocol.md");
        let read = page.trim_end().lines().last().unwrap();
        assert_eq!(read, format!("<!-- read against {} -->", &digest.as_str()[..16]), "see the comment at this test");
        for name in crate::command::NAMES.into_iter().chain([crate::command::DOCTOR]) {
            assert!(page.contains(&format!("`{name}`")), "{name} is not described");
        }
    }
}
