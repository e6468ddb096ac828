//! The engines: who proposes edits, and what a proposal is.

mod fix;
mod refactor;
mod suggestion;

use task::{Conclusion, Event, Limitation, StepAction, StopReason, TreeId};

use crate::{Error, walk::Walk};

/// What an engine hands over.
#[derive(Debug)]
pub(crate) enum Proposal {
    /// A tree, with what the engine could not reach.
    Tree { tree: TreeId, limitations: Vec<Limitation> },
    /// There is nothing to propose; the task ends like this.
    End(Conclusion),
}

impl Proposal {
    /// The engine cannot get further, and why.
    fn stuck(what: impl Into<String>) -> Self {
        Self::End(Conclusion::Stopped { reason: StopReason::NonProgress { what: what.into() } })
    }

    fn nothing_to_do(reason: impl Into<String>) -> Self {
        Self::End(Conclusion::NothingToDo { reason: reason.into() })
    }
}

impl Walk<'_> {
    /// Asks the engine for the change of the plan's step.
    pub(crate) fn propose(&mut self, action: &StepAction) -> Result<Proposal, Error> {
        match action {
            // Its plan may have many steps, and an attempt at it is a conversation: the model engine walks by itself.
            StepAction::Write { .. } => Err(Error::Sentence("no model writes this plan".into())),
            StepAction::Prove => {
                let candidate = self.state.candidate.clone();
                let tree = candidate.ok_or_else(|| Error::Sentence("there is no change to prove".into()))?;
                if Some(&tree) == self.state.base.as_ref() {
                    return Ok(Proposal::nothing_to_do("the change leaves every file as it is at base"));
                }
                Ok(Proposal::Tree { tree, limitations: Vec::new() })
            }
            StepAction::FixWarnings | StepAction::FixClippy { .. } | StepAction::FixErrors => self.fix(action),
            StepAction::Rename { .. } | StepAction::Replace { .. } | StepAction::Assist { .. } => self.refactor(action),
        }
    }

    /// Writes down a tree that the attempt can return to.
    pub(crate) fn checkpoint(&mut self, tree: &TreeId, what: &str, limitations: &[Limitation]) -> Result<(), Error> {
        let Some(attempt) = self.state.attempts.last().map(|attempt| attempt.id) else { return Ok(()) };
        self.store.keep(self.id(), tree)?;
        let (tree, what, limitations) = (tree.clone(), what.to_owned(), limitations.to_vec());
        self.record(Event::Checkpointed { attempt, tree, what, limitations })?;
        Ok(())
    }
}
