//! Plans: a DAG of steps, replaced as new versions and never patched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PlanId, Scope, StepId, TreePath};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub id: PlanId,
    /// Counted from 1.
    pub version: u32,
    /// The version this one replaces.
    pub revised_from: Option<u32>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub id: StepId,
    pub title: String,
    pub action: StepAction,
    /// What this step may change; never more than the request's scope.
    pub scope: Scope,
    /// What must hold when the step is done, in words.
    pub acceptance: Vec<String>,
    pub depends_on: Vec<StepId>,
    pub reasoning: String,
    /// Files the step is expected to touch; `None` where nobody can say beforehand.
    pub estimated_files: Option<u32>,
    pub status: StepStatus,
}

/// What a step does. The compiler's actions are its whole grammar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StepAction {
    Rename {
        symbol: String,
        new_name: String,
        /// Where the symbol stands, for a name that may mean several things.
        #[serde(default)]
        at: Option<Position>,
    },
    FixWarnings,
    /// Clippy lints by name; none means all that the project's own configuration turns on.
    FixClippy {
        lints: Vec<String>,
    },
    FixErrors,
    Replace {
        pattern: String,
        template: String,
    },
    /// One code action of the compiler, at a line and a column counted from 1 (columns in characters).
    Assist {
        id: String,
        path: String,
        line: u32,
        column: u32,
    },
    /// The candidate of the request is taken as it is.
    Prove,
}

/// A place in a text. Line and column count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    pub path: TreePath,
    pub line: u32,
    pub column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    #[default]
    Pending,
    Done,
    Failed,
}

/// Something only the developer can decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub text: String,
    /// Answers to choose from, each as it would be typed in a new request.
    pub options: Vec<String>,
}
