//! Plans: a DAG of steps, replaced as new versions and never patched.

use std::collections::BTreeSet;

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
    /// Checks, by their ids, that judge this step as soon as it is done; none means those that build what it changes.
    #[serde(default)]
    pub checks: Vec<String>,
    pub depends_on: Vec<StepId>,
    pub reasoning: String,
    /// Files the step is expected to touch; `None` where nobody can say beforehand.
    pub estimated_files: Option<u32>,
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
    /// A language model writes it; `delivers` says what must be there afterwards.
    Write {
        delivers: String,
    },
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

/// Something only the developer can decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub text: String,
    /// Answers to choose from, each as it would be typed; an answer of one's own is always possible.
    pub options: Vec<String>,
    /// What depends on it, in one sentence.
    #[serde(default)]
    pub why: String,
}

/// What the developer said to a question, which is kept with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub question: String,
    pub text: String,
}

/// More steps than this are no plan that anyone reads.
pub const MOST_STEPS: usize = 64;

impl Plan {
    /// What keeps this from being a plan, one sentence each. Empty for a plan whose steps can be walked in `order()`.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.steps.is_empty() {
            faults.push("the plan has no step".to_owned());
        }
        if self.steps.len() > MOST_STEPS {
            faults.push(format!("the plan has {} steps; {MOST_STEPS} are the most", self.steps.len()));
        }
        let mut ids = BTreeSet::new();
        for step in &self.steps {
            if !ids.insert(&step.id) {
                faults.push(format!("two steps are called {}", step.id));
            }
            if let Err(error) = Scope::new(step.scope.paths.clone()) {
                faults.push(format!("step {}: {error}", step.id));
            }
        }
        for step in &self.steps {
            for missing in step.depends_on.iter().filter(|id| !ids.contains(id)) {
                faults.push(format!("step {} depends on {missing}, which is no step", step.id));
            }
        }
        if faults.is_empty() && self.order().len() < self.steps.len() {
            faults.push("the steps depend on each other in a circle".to_owned());
        }
        faults
    }

    /// The steps such that each comes after what it depends on, otherwise as they are written. Steps of a circle are
    /// left out.
    pub fn order(&self) -> Vec<&Step> {
        let mut done: BTreeSet<&StepId> = BTreeSet::new();
        let mut order = Vec::new();
        let mut open: Vec<&Step> = self.steps.iter().collect();
        while let Some(at) = open.iter().position(|step| step.depends_on.iter().all(|id| done.contains(id))) {
            let step = open.remove(at);
            done.insert(&step.id);
            order.push(step);
        }
        order
    }

    /// Every step that depends on this one, directly or not.
    pub fn dependants(&self, id: &StepId) -> BTreeSet<StepId> {
        let mut found = BTreeSet::new();
        for step in self.order() {
            if step.depends_on.iter().any(|on| on == id || found.contains(on)) {
                found.insert(step.id.clone());
            }
        }
        found
    }

    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: &[(&str, &[&str])]) -> Plan {
        let steps = steps.iter().map(|(id, on)| Step {
            id: id.parse().unwrap(),
            title: String::new(),
            action: StepAction::Write { delivers: String::new() },
            scope: Scope::default(),
            acceptance: Vec::new(),
            checks: Vec::new(),
            depends_on: on.iter().map(|id| id.parse().unwrap()).collect(),
            reasoning: String::new(),
            estimated_files: None,
        });
        Plan { id: "plan".parse().unwrap(), version: 1, revised_from: None, steps: steps.collect() }
    }

    #[test]
    fn steps_come_after_what_they_depend_on_and_otherwise_as_written() {
        let plan = plan(&[("c", &["a"]), ("b", &[]), ("a", &[]), ("d", &["c", "b"])]);
        let order: Vec<&str> = plan.order().iter().map(|step| step.id.as_str()).collect();
        assert_eq!(order, ["b", "a", "c", "d"]);
        assert!(plan.faults().is_empty());
        let dependants = plan.dependants(&"a".parse().unwrap());
        assert_eq!(dependants, ["c", "d"].map(|id| id.parse().unwrap()).into());
    }

    #[test]
    fn circles_strangers_and_doubles_are_named() {
        assert!(plan(&[("a", &["b"]), ("b", &["a"])]).faults()[0].contains("circle"));
        assert!(plan(&[("a", &["x"])]).faults()[0].contains("depends on x"));
        assert!(plan(&[("a", &[]), ("a", &[])]).faults()[0].contains("two steps"));
        assert!(plan(&[]).faults()[0].contains("no step"));
    }
}
