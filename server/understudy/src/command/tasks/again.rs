//! `understudy tasks again`: the same request once more, held to what was rejected of the earlier try and why.

use std::time::{SystemTime, UNIX_EPOCH};

use agent::Walk;
use task::{Engine, ExitCode, Request, TaskId, UnixMillis};

use super::super::dialogue::{self, Dialogue};
use super::super::request::show;
use crate::failure::Failure;
use crate::render;
use crate::wiring::{self, Opened};

pub fn again(opened: &Opened, id: &TaskId, because: &[String], json: bool) -> Result<ExitCode, Failure> {
    let house = &opened.house;
    let state = agent::state_of(&*house.journal, id)?;
    if state.request.engine != Engine::Model {
        return Err(Failure::usage(format!(
            "task {id} is of the {} engine, which does the same again; only a model can be told why",
            state.request.engine.as_str()
        )));
    }
    let mut constraints = state.request.constraints.clone();
    constraints.extend(agent::rejections(&*house.journal, &house.state, id)?);
    constraints.extend(because.iter().map(|text| format!("Of an earlier try the developer says: {text}")));
    if constraints.len() == state.request.constraints.len() {
        return Err(Failure::usage(format!(
            "nothing of task {id} was rejected with a reason; give one with `--because`"
        )));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let request = Request {
        id: journal::fresh_id()?,
        request_id: None,
        trigger: None,
        constraints,
        created: UnixMillis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
        ..state.request
    };
    let title = request.title();
    let walk = Walk::begin(house, request)?
        .map_err(|known| Failure::infrastructure(format!("a fresh request is task {known} already")))?;
    if !json {
        anstream::eprintln!("{} {}  {}", render::bold("task"), render::bold(walk.id()), title);
    }
    wiring::cancel_on_interrupt(&house.cancel);
    let walk = dialogue::walk_on(house, walk, Dialogue::of(json))?;
    show(&walk.report(None)?, json)
}
