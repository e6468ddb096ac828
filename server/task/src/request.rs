//! [`Request`]: a task as asked. Nothing that runs later can widen it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, Limits, RequestId, Scope, TaskId, TreePath, UnixMillis};

/// What the developer asked for, frozen when they asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    pub id: TaskId,
    /// The caller's own name for this request: a second one under the same name is the same task.
    pub request_id: Option<RequestId>,
    pub source: Source,
    pub source_url: Option<String>,
    /// The folder the developer has open, absolute.
    pub workspace: String,
    /// The task text, or a sentence about the change to be proved.
    pub description: String,
    pub acceptance_criteria: Vec<String>,
    /// What may change at all.
    pub scope: Scope,
    pub tools: Vec<Tool>,
    /// Globs of files that may be copied although they look like secrets.
    pub allowed_files: Vec<String>,
    /// Take the base from this revision instead of the working tree.
    pub base_revision: Option<String>,
    pub engine: Engine,
    /// The change to be proved, with the patch engine.
    pub candidate: Option<Candidate>,
    /// The comment that asked, where one did: taking it out again is part of the change.
    #[serde(default)]
    pub trigger: Option<Trigger>,
    /// What the developer rejected of an earlier try at the same thing, and why.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// With the model engine.
    #[serde(default)]
    pub plan_policy: PlanPolicy,
    /// Commands that the model may run in the sandbox, by their first words; none unless the user's settings say so.
    #[serde(default)]
    pub allowed_commands: Vec<String>,
    pub limits: Limits,
    pub created: UnixMillis,
}

/// A comment in the developer's text that is a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trigger {
    pub path: TreePath,
    /// Counted from 1.
    pub line: u32,
    /// The whole line as it was, without its end.
    pub text: String,
}

impl Request {
    /// One line that names the task in lists.
    pub fn title(&self) -> String {
        let line = self.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let mut title: String = line.chars().take(72).collect();
        if title.len() < line.len() {
            title.push('…');
        }
        crate::printable(&title)
    }
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    CommandLine,
    Editor,
    Issue,
}

/// Who proposes edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Built in; does what a compiler can do.
    Compiler,
    /// A change made elsewhere, to be proved.
    Patch,
    /// A language model.
    Model,
}

/// Who has to agree to a plan before its first edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPolicy {
    /// The developer approves every plan.
    Review,
    /// A plan goes on by itself: nothing is written before the diff is approved.
    #[default]
    Auto,
    /// No plan is asked for: the request is the only step.
    Skip,
}

impl std::str::FromStr for PlanPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "review" => Ok(Self::Review),
            "auto" => Ok(Self::Auto),
            "skip" => Ok(Self::Skip),
            other => Err(format!("`{}` is not a plan policy: review, auto, skip", crate::printable(other))),
        }
    }
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compiler => "compiler",
            Self::Patch => "patch",
            Self::Model => "model",
        }
    }
}

/// The change that `prove` is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Candidate {
    /// A unified diff, kept as an artifact of the journal under this digest; its base is the snapshot.
    Patch { artifact: Digest },
    /// A branch; its base is the merge base with HEAD.
    Branch { name: String },
    /// The working tree; its base is HEAD.
    Worktree,
}

/// Kinds of operations that may serve a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    Read,
    Search,
    Edit,
    Execute,
    Think,
}

impl Tool {
    pub const ALL: [Self; 5] = [Self::Read, Self::Search, Self::Edit, Self::Execute, Self::Think];
}

impl std::str::FromStr for Tool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Read),
            "search" => Ok(Self::Search),
            "edit" => Ok(Self::Edit),
            "execute" => Ok(Self::Execute),
            "think" => Ok(Self::Think),
            other => Err(format!("`{}` is not a tool: read, search, edit, execute, think", crate::printable(other))),
        }
    }
}
