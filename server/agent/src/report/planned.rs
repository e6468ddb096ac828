//! The plan in a report: its version, why it is another one, and how far each step is.

use schemars::JsonSchema;
use serde::Serialize;
use task::{Author, Engine, Event, PlanId, Record, Scope, State, Station, Step, StepAction, StepId, TreeId, Wait};

use super::costs::{CostRecord, Costs};
use super::plainly;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanRecord {
    pub id: PlanId,
    pub version: u32,
    /// The version that this one replaced.
    pub revised_from: Option<u32>,
    /// Who wrote this version and why, where it replaced another one.
    pub revised_by: Option<Revision>,
    /// Whether it was agreed to, by the developer or by the policy that the request names.
    pub approved: bool,
    pub steps: Vec<PlannedStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Revision {
    pub author: Author,
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedStep {
    pub id: StepId,
    pub title: String,
    pub action: StepAction,
    /// Files, as globs, and symbols that it may change.
    pub scope: Scope,
    pub acceptance: Vec<String>,
    pub checks: Vec<String>,
    pub depends_on: Vec<StepId>,
    pub reasoning: String,
    pub estimated_files: Option<u32>,
    pub status: Progress,
    /// What came of it, in words.
    pub outcome: Option<String>,
    /// The last tree it reached.
    pub tree: Option<TreeId>,
    /// How often it was begun.
    pub begun: u32,
    pub cost: CostRecord,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Pending,
    /// Begun and not ended.
    Running,
    Done,
    /// Done once; what it rests on changed since, so its results are found out anew.
    Stale,
    Failed,
}

impl PlanRecord {
    pub(crate) fn new(state: &State, records: &[Record], costs: &Costs) -> Option<Self> {
        let plan = state.plan.as_ref()?;
        let waits = matches!(state.work.wait, Some(Wait::PlanApproval { .. }));
        Some(Self {
            id: plan.id.clone(),
            version: plan.version,
            revised_from: plan.revised_from,
            revised_by: revision(records, plan.version),
            approved: state.station >= Station::Approved && !waits,
            steps: plan.steps.iter().map(|step| planned(state, step, costs)).collect(),
        })
    }
}

fn revision(records: &[Record], version: u32) -> Option<Revision> {
    records.iter().rev().find_map(|record| match record.event.as_ref().ok()? {
        Event::PlanRevised { plan, author, because, .. } if plan.version == version => {
            Some(Revision { author: *author, because: because.clone() })
        }
        _ => None,
    })
}

fn planned(state: &State, step: &Step, costs: &Costs) -> PlannedStep {
    let record = state.work.steps.get(&step.id);
    PlannedStep {
        id: step.id.clone(),
        title: step.title.clone(),
        action: step.action.clone(),
        scope: step.scope.clone(),
        acceptance: step.acceptance.clone(),
        checks: step.checks.clone(),
        depends_on: step.depends_on.clone(),
        reasoning: step.reasoning.clone(),
        estimated_files: step.estimated_files,
        status: step_progress(state, &step.id),
        outcome: record.map(|record| plainly(&record.outcome)).filter(|outcome| !outcome.is_empty()),
        tree: record.map(|record| record.tree.clone()),
        begun: record.map_or(0, |record| record.begun),
        cost: costs.of_step(&step.id),
    }
}

/// How far a step of the plan is. The engines without a model have one step, and their attempt is it.
pub fn step_progress(state: &State, step: &StepId) -> Progress {
    if state.request.engine != Engine::Model {
        return match state.attempts.last().map(|attempt| &attempt.outcome) {
            None => Progress::Pending,
            Some(None) if state.tree.is_none() => Progress::Running,
            Some(_) if state.ended.is_some() => Progress::Failed,
            Some(_) => Progress::Done,
        };
    }
    match state.work.steps.get(step) {
        None => Progress::Pending,
        Some(record) if record.stale => Progress::Stale,
        Some(record) if record.done => Progress::Done,
        // An outcome is written down when a step ends.
        Some(record) if record.outcome.is_empty() && state.conclusion.is_none() => Progress::Running,
        Some(_) => Progress::Failed,
    }
}
