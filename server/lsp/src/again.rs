//! `understudy.task.again`: the request of an earlier task once more, held to what was rejected of it and why.

use agent::{House, Walk};
use task::{Engine, Request, TaskId};

use crate::act::{ActId, Crew, Done, failed};
use crate::mail::Refusal;
use crate::rooms::Ask;

impl Crew {
    /// A new task from the request of an earlier one, held to what was rejected of it and why.
    pub fn again(
        &self,
        house: &House,
        act: ActId,
        of: &TaskId,
        because: &[String],
    ) -> (Option<TaskId>, Result<Done, Refusal>) {
        let begun = self.once_more(house, of, because).and_then(|request| {
            let walk = Walk::begin(house, request).map_err(failed)?;
            walk.map_err(|known| Refusal::Failed(format!("a fresh request is task {known} already")))
        });
        match begun {
            Err(refusal) => (None, Err(refusal)),
            Ok(walk) => (Some(walk.id().clone()), self.walk(act, walk)),
        }
    }

    fn once_more(&self, house: &House, of: &TaskId, because: &[String]) -> Result<Request, Refusal> {
        let before = agent::state_of(&*house.journal, of).map_err(failed)?.request;
        if before.engine != Engine::Model {
            let engine = before.engine.as_str();
            return Err(Refusal::Failed(format!("task {of} is of the {engine} engine, which does the same again")));
        }
        let mut constraints = before.constraints.clone();
        constraints.extend(agent::rejections(&*house.journal, &house.state, of).map_err(failed)?);
        let said = because.iter().filter(|text| !text.trim().is_empty());
        constraints.extend(said.map(|text| format!("Of an earlier try the developer says: {text}")));
        if constraints.len() == before.constraints.len() {
            return Err(Refusal::Failed(format!(
                "nothing of task {of} was rejected with a reason; say in `because` what was wrong"
            )));
        }
        // For an id and a time of its own.
        let ask = Ask::about(before.workspace.clone(), before.description.clone(), Engine::Model);
        let fresh = self.rooms.request(ask).map_err(Refusal::BadParams)?;
        let (id, created) = (fresh.id, fresh.created);
        Ok(Request { id, created, constraints, request_id: None, trigger: None, ..before })
    }
}
