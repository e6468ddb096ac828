//! The plan of a task as a document, and the developer's own in its place.

use std::io::IsTerminal as _;
use std::path::Path;

use anstream::println;
use task::port::Note;
use task::{ExitCode, Plan, State, TaskId, Wait};

use super::super::input::read_text;
use super::super::request::print_json;
use super::notes;
use crate::args::Onward;
use crate::failure::Failure;
use crate::render;
use crate::wiring::Opened;

/// No plan that anyone reads is longer.
const LARGEST: u64 = 1 << 20;

pub fn print(opened: &Opened, id: &TaskId, json: bool) -> Result<ExitCode, Failure> {
    let state = agent::state_of(&*opened.house.journal, id)?;
    let plan = plan(&state)?;
    if json {
        print_json(plan)?;
        return Ok(ExitCode::Done);
    }
    let questions = match agent::waiting(&state) {
        Some(Wait::Answers { questions }) => questions.as_slice(),
        _ => &[],
    };
    // The document is read back: nothing in it may be shown as something else.
    let document = agent::plan_document(&state.request.description, plan, questions, &state.work.answers);
    if std::io::stdout().is_terminal() {
        // Whoever looks at it there reads it between words of ours.
        println!("{}", render::indented(&document, 2));
    } else {
        println!("{document}");
    }
    Ok(ExitCode::Done)
}

pub fn amend(opened: &Opened, id: &TaskId, file: &Path, onward: &Onward) -> Result<ExitCode, Failure> {
    let state = agent::state_of(&*opened.house.journal, id)?;
    let waits = matches!(agent::waiting(&state), Some(Wait::PlanApproval { .. }));
    if !waits {
        return Err(Failure::usage(format!(
            "the plan of task {id} does not wait for your yes, so it is not changed any more; \
             `understudy tasks steer {id} TEXT` gives guidance to a task that runs"
        )));
    }
    let text = read_text("plan", file, LARGEST)?;
    let amended = agent::read_plan(&text, plan(&state)?).map_err(Failure::usage)?;
    notes::post(opened, id, &Note::AmendPlan { plan: amended }, onward)
}

fn plan(state: &State) -> Result<&Plan, Failure> {
    state.plan.as_ref().ok_or_else(|| Failure::usage(format!("task {} has no plan yet", state.request.id)))
}
