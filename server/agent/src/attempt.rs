//! Stations 9 to 13: the engine proposes, the proposal is checkpointed, the checks judge it, the diff is ready.

use task::{Attempt, AttemptId, Conclusion, Engine, Event, StopReason, TreeId};

use crate::engine::Proposal;
use crate::{Error, walk::Walk};

/// Marks the checkpoint that holds a whole proposal: a resumed task goes on with checking it.
const PROPOSAL: &str = "proposal";

impl Walk<'_> {
    pub(crate) fn attempt(&mut self) -> Result<Option<Conclusion>, Error> {
        let base = self.base()?;
        let proposed = self.state.attempts.last().filter(|attempt| holds_proposal(attempt));
        // The process before got as far as the judgement: only the diff is to be announced.
        if let Some(judged) = proposed.filter(|attempt| attempt.outcome.is_some()) {
            return self.diff_ready(judged.tree.clone());
        }
        let (attempt, tree) = match proposed {
            Some(attempt) => (attempt.id, attempt.tree.clone()),
            None => match self.propose_anew(&base)? {
                Ok(proposed) => proposed,
                Err(conclusion) => return Ok(Some(conclusion)),
            },
        };
        if let Some(conclusion) = self.leaves_the_scope(&base, &tree)? {
            return Ok(Some(conclusion));
        }
        let (receipts, judgement) = self.prove(&base, &tree)?;
        let outcome = if judgement.verified { "verified".to_owned() } else { judgement.reasons.join("; ") };
        let (judgement, ran) = (Some(Box::new(judgement)), self.take_ran());
        self.record(Event::Checked { attempt, tree: tree.clone(), receipts, judgement, ran })?;
        self.record(Event::AttemptEnded { attempt, tree: tree.clone(), outcome })?;
        self.diff_ready(tree)
    }

    pub(crate) fn diff_ready(&mut self, tree: TreeId) -> Result<Option<Conclusion>, Error> {
        let mut limitations = self.state.attempts.last().map(|attempt| attempt.limitations.clone()).unwrap_or_default();
        if self.state.request.engine == Engine::Model {
            // The compiler's proposals say it themselves.
            limitations.extend(self.start()?.limitation);
        }
        let ran = self.take_ran();
        self.record(Event::DiffReady { tree, limitations, ended: None, ran })?;
        // A reviewer must not block the next task.
        self.leave();
        Ok(None)
    }

    /// Starts an attempt and asks the engine; an attempt that a dead process left open goes on from its checkpoint.
    fn propose_anew(&mut self, base: &TreeId) -> Result<Result<(AttemptId, TreeId), Conclusion>, Error> {
        let plan = self.plan()?;
        let [step] = plan.steps.as_slice() else {
            return Err(Error::Sentence("the plan has not exactly one step".into()));
        };
        // An attempt without a proposal was none: its task ended with it, or its process died.
        let tried = self.state.attempts.iter().filter(|attempt| holds_proposal(attempt)).count();
        let max = self.state.request.limits.max_attempts;
        if tried >= max as usize {
            return Ok(Err(Conclusion::Stopped { reason: StopReason::Attempts { max } }));
        }
        let id = AttemptId(self.state.attempts.len() as u64 + 1);
        let start = self.start()?;
        let from = self.state.attempts.last().map_or(start.tree, |attempt| attempt.tree.clone());
        self.record(Event::AttemptStarted { attempt: id, from, configuration: None })?;
        match self.propose(&step.action)? {
            Proposal::Tree { tree, mut limitations } => {
                limitations.extend(start.limitation);
                self.checkpoint(&tree, PROPOSAL, &limitations)?;
                Ok(Ok((id, tree)))
            }
            Proposal::End(conclusion) => {
                let tree = self.state.attempts.last().map_or_else(|| base.clone(), |attempt| attempt.tree.clone());
                self.record(Event::AttemptEnded { attempt: id, tree, outcome: conclusion.word().to_owned() })?;
                Ok(Err(conclusion))
            }
        }
    }

    /// A change made elsewhere may touch files that the request does not permit: it is shown, not proved.
    pub(crate) fn leaves_the_scope(&self, base: &TreeId, tree: &TreeId) -> Result<Option<Conclusion>, Error> {
        let files = worktree::published_files(&self.store, base, tree)?;
        let outside = self.state.request.scope.outside(files.iter().map(|file| &file.path))?;
        Ok(outside.first().map(|first| {
            let more = if outside.len() > 1 { format!(" and {} more", outside.len() - 1) } else { String::new() };
            let what = format!("the change touches {first}{more}, outside the permitted paths (`--paths`)");
            Conclusion::Stopped { reason: StopReason::OutOfScope { what } }
        }))
    }
}

fn holds_proposal(attempt: &Attempt) -> bool {
    attempt.checkpoints.last().is_some_and(|(_, what)| what == PROPOSAL)
}
