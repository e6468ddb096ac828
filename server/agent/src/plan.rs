//! Station 7 for engines that need no model: the plan follows from the request.

use task::{Candidate, Engine, Plan, Request, Scope, Step, StepAction, StepId};

use crate::{Error, grammar};

/// The deterministic plan of a request: one step, whose scope is the request's.
pub(crate) fn plan(request: &Request) -> Result<Plan, Error> {
    let action = match request.engine {
        Engine::Patch => StepAction::Prove,
        Engine::Model => StepAction::Write { delivers: request.description.clone() },
        Engine::Compiler => grammar::parse(&request.description).map_err(|error| Error::Sentence(error.to_string()))?,
    };
    let step = Step {
        id: id("1")?,
        title: title(request, &action),
        scope: Scope { paths: request.scope.paths.clone(), symbols: symbols(&action) },
        acceptance: acceptance(request, &action),
        depends_on: Vec::new(),
        reasoning: reasoning(&action).to_owned(),
        checks: Vec::new(),
        estimated_files: None,
        action,
    };
    let id = "plan".parse().map_err(|error: task::IdError| Error::Sentence(error.to_string()))?;
    Ok(Plan { id, version: 1, revised_from: None, steps: vec![step] })
}

fn id(text: &str) -> Result<StepId, Error> {
    text.parse().map_err(|error: task::IdError| Error::Sentence(error.to_string()))
}

fn title(request: &Request, action: &StepAction) -> String {
    match &request.candidate {
        None => grammar::write(action),
        Some(Candidate::Patch { .. }) => "prove the patch against the working tree".into(),
        Some(Candidate::Branch { name }) => format!("prove branch {name} against its merge base with HEAD"),
        Some(Candidate::Worktree) => "prove the working tree against HEAD".into(),
    }
}

fn symbols(action: &StepAction) -> Vec<String> {
    match action {
        StepAction::Rename { symbol, .. } => vec![symbol.clone()],
        _ => Vec::new(),
    }
}

fn acceptance(request: &Request, action: &StepAction) -> Vec<String> {
    let mut all = vec!["every required check passes on the resulting tree".to_owned()];
    match action {
        StepAction::FixWarnings => all.push("no warning that rustc can mend is left".into()),
        StepAction::FixClippy { .. } => all.push("no such lint that clippy can mend is left".into()),
        StepAction::FixErrors => all.push("the project builds".into()),
        _ => {}
    }
    all.extend(request.acceptance_criteria.iter().cloned());
    all
}

fn reasoning(action: &StepAction) -> &'static str {
    match action {
        StepAction::Rename { .. } => "the compiler knows every reference by meaning; doc tests are analysed as code",
        StepAction::FixWarnings | StepAction::FixClippy { .. } => {
            "machine-applicable suggestions are applied in rounds; one that makes a check worse is taken back"
        }
        StepAction::FixErrors => {
            "suggestions and quick fixes are tried one by one; what does not lessen the errors is taken back"
        }
        StepAction::Replace { .. } => "matches are found by structure and resolved names, not by text",
        StepAction::Assist { .. } => "the edit is the compiler's own",
        StepAction::Write { .. } => "the request is small enough to be one step",
        StepAction::Prove => "the change is taken as it is and judged against its base",
    }
}
