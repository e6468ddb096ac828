//! Stations 9 to 12 with a model: the steps of the plan in their order, each from its own conversation to the checks that
//! judge it. What was done and still holds is never done again.

use std::collections::BTreeSet;

use task::port::Stage;
use task::{
    Answer, Attempt, AttemptId, Comparison, Conclusion, Event, Item, Judgement, Plan, Question, Signature, Step,
    StepId, StopReason, TreeId, TreePath, Wait,
};

use super::acceptance::asks_for;
use super::controller::{Course, best, course};
use super::feedback;
use super::talk::Talked;
use super::tools::{End, Seat};
use crate::{Error, walk::Walk};

/// An answer to the question about failures that repeat.
const STOP_HERE: &str = "Stop here and show me the best tree";
const GO_ON: &str = "Try once more";
/// How the question begins.
const SHALL_I: &str = "Shall I go on?";

impl Walk<'_> {
    /// One piece of work further: a step, the checks of a stale one, or the final checks.
    pub(crate) fn work(&mut self) -> Result<Option<Conclusion>, Error> {
        let plan = self.plan()?;
        // The process before got as far as the judgement: only the diff is to be announced.
        let judged = |attempt: &&Attempt| self.state.judgement(&attempt.tree).is_some_and(is_settled);
        let ended = self.state.attempts.last().filter(|attempt| attempt.outcome.is_some());
        if let Some(settled) = ended.filter(judged) {
            return self.diff_ready(settled.tree.clone());
        }
        let (attempt, tree) = match self.state.attempts.last().filter(|attempt| attempt.outcome.is_none()) {
            Some(open) => (open.id, open.tree.clone()),
            None => match self.next_attempt()? {
                Ok(started) => started,
                Err(conclusion) => return Ok(Some(conclusion)),
            },
        };
        for step in plan.order() {
            match self.state.work.steps.get(&step.id) {
                Some(record) if record.done && !record.stale => {}
                Some(record) if record.done => return self.look_again(attempt, step, &tree),
                // It failed, and the process before died ere it could end the attempt.
                Some(record) if record.attempt == attempt && !record.outcome.is_empty() => {
                    let (reached, what) = (record.tree.clone(), record.outcome.clone());
                    self.give_up(attempt, step, &reached, &what)?;
                    return Ok(None);
                }
                _ => return self.write_step(attempt, &plan, step, tree),
            }
        }
        self.final_checks(attempt, &plan, &tree)
    }

    /// Begins the next attempt, if what happened so far lets it.
    fn next_attempt(&mut self) -> Result<Result<(AttemptId, TreeId), Conclusion>, Error> {
        let work = &self.state.work;
        let fresh = &work.rounds[work.answered_at.min(work.rounds.len())..];
        if fresh.is_empty() && work.answers.last().is_some_and(|it| it.question.starts_with(SHALL_I) && stops(it)) {
            let what = "the developer stopped it after failures that repeated".to_owned();
            return Ok(Err(self.hand_over_best(StopReason::NonProgress { what })?));
        }
        let max = self.most_attempts();
        let tried = self.state.attempts.len();
        let spent = tried >= max as usize;
        match course(fresh, &work.nudged) {
            Course::Ask { what } => {
                let question = Question {
                    text: format!("{SHALL_I} {what}"),
                    options: vec![STOP_HERE.to_owned(), GO_ON.to_owned()],
                    why: "what you type beside that is guidance for the next attempt".to_owned(),
                };
                return Ok(Err(self.wait_for(Wait::Answers { questions: vec![question] })?));
            }
            _ if spent => return Ok(Err(self.hand_over_best(StopReason::Attempts { max })?)),
            Course::Nudge { failures } => {
                let attempt = self.state.attempts.last().map_or(AttemptId(1), |attempt| attempt.id);
                self.record(Event::Nudged { attempt, failures })?;
            }
            Course::GoOn => {}
        }
        let id = AttemptId(tried as u64 + 1);
        let from = match self.state.attempts.last() {
            Some(attempt) => attempt.tree.clone(),
            None => self.start()?.tree,
        };
        let configuration = self.present_configuration();
        self.record(Event::AttemptStarted { attempt: id, from: from.clone(), configuration })?;
        Ok(Ok((id, from)))
    }

    /// Whoever lets a task go on after failures that repeat grants an attempt more.
    fn most_attempts(&self) -> u32 {
        let answers = self.state.work.answers.iter();
        let granted = answers.filter(|it| it.question.starts_with(SHALL_I) && !stops(it)).count();
        self.state.request.limits.max_attempts.saturating_add(u32::try_from(granted).unwrap_or(u32::MAX))
    }

    /// The best tree so far becomes the last attempt's, so that it is the one that is handed over.
    fn hand_over_best(&mut self, reason: StopReason) -> Result<Conclusion, Error> {
        if let Some(tree) = best(&self.state.work.rounds)
            && let Some(attempt) = self.state.attempts.last().map(|attempt| attempt.id)
        {
            let (tree, what) = (tree.clone(), "the best tree of all attempts".to_owned());
            self.record(Event::Checkpointed { attempt, tree, what, limitations: Vec::new() })?;
        }
        Ok(Conclusion::Stopped { reason })
    }

    /// A conversation about one step, and what the step's own checks say afterwards.
    fn write_step(
        &mut self,
        attempt: AttemptId,
        plan: &Plan,
        step: &Step,
        tree: TreeId,
    ) -> Result<Option<Conclusion>, Error> {
        let begun =
            self.state.work.steps.get(&step.id).filter(|record| record.attempt == attempt && record.outcome.is_empty());
        let from = match begun {
            Some(record) => record.from.clone(),
            None => {
                self.record(Event::StepStarted { attempt, step: step.id.clone(), from: tree.clone() })?;
                tree
            }
        };
        self.begin_ahead(plan)?;
        self.house.audience.doing(format!("step {}: {}", step.id, step.title));
        let seat = Seat { stage: Stage::Code, attempt: Some(attempt), step: Some(step.clone()) };
        let number = match self.opened(&seat) {
            Some(number) => number,
            None => {
                let trouble = match self.trouble(attempt, step, &from)? {
                    Ok(trouble) => trouble,
                    Err(conclusion) => return Ok(Some(conclusion)),
                };
                let blocks = self.open_step(&seat, &from, &trouble)?;
                self.open(&seat, blocks)?
            }
        };
        let mut reached = from.clone();
        let talked = self.talk(number, &seat, &mut reached)?;
        if reached != from {
            self.checkpoint(&reached, &format!("step {}", step.id), &[])?;
        }
        match talked {
            Talked::End(End::Done { summary, unfinished }) => {
                let outcome = one_line(&summary, &unfinished);
                self.judge_step(attempt, plan, step, &from, &reached, outcome)
            }
            Talked::End(End::Revised { plan, because }) => self.revise_plan(plan, because),
            Talked::End(End::Asked(questions)) => self.wait_for(Wait::Answers { questions }).map(Some),
            Talked::End(_) => Err(Error::Sentence("a step ended like another stage".into())),
            Talked::Stuck(what) => {
                self.fail(attempt, step, &reached, &what)?;
                let stuck =
                    self.state.attempts.iter().rev().take(2).filter(|it| it.outcome.as_deref() == Some(what.as_str()));
                // The reason is worth more than the number of attempts that it used up.
                let spent = self.state.attempts.len() >= self.most_attempts() as usize;
                if stuck.count() >= 2 || spent {
                    return Ok(Some(self.hand_over_best(StopReason::NonProgress { what })?));
                }
                Ok(None)
            }
            // What was judged before is worth more than what was begun.
            Talked::Over(Conclusion::Stopped { reason }) => self.hand_over_best(reason).map(Some),
            Talked::Over(conclusion) => Ok(Some(conclusion)),
        }
    }

    /// Runs the checks of a step; the last step's are the final ones.
    fn judge_step(
        &mut self,
        attempt: AttemptId,
        plan: &Plan,
        step: &Step,
        from: &TreeId,
        tree: &TreeId,
        outcome: String,
    ) -> Result<Option<Conclusion>, Error> {
        let others = plan.steps.iter().filter(|other| other.id != step.id);
        let last = others.clone().all(|other| self.state.work.holding().contains(&other.id));
        if !last
            && let Some((what, failures)) = self.check_step(attempt, step, tree)?
            && !failures.is_empty()
        {
            self.fail(attempt, step, tree, &what)?;
            return Ok(None);
        }
        let files = self.changed(from, tree)?;
        // Before the end of the step, so that no process dies between the two and forgets it.
        self.go_stale(attempt, plan, step, &files)?;
        let (id, reached) = (step.id.clone(), tree.clone());
        self.record(Event::StepEnded { attempt, step: id, tree: reached, done: true, outcome, files })?;
        Ok(None)
    }

    /// What this step changed may belong to earlier ones: their results, and those of everything after them, no longer hold.
    fn go_stale(&mut self, attempt: AttemptId, plan: &Plan, step: &Step, files: &[TreePath]) -> Result<(), Error> {
        let steps = &self.state.work.steps;
        let mut stale: BTreeSet<StepId> = BTreeSet::new();
        for (id, record) in steps.iter().filter(|(id, record)| record.done && **id != step.id) {
            if files.iter().any(|file| record.files.contains(file)) {
                stale.insert(id.clone());
                stale.extend(plan.dependants(id));
            }
        }
        // Done again, it may have changed what those that build upon it found.
        if steps.get(&step.id).is_some_and(|record| record.begun > 1) {
            stale.extend(plan.dependants(&step.id));
        }
        stale.remove(&step.id);
        stale.retain(|id| steps.get(id).is_some_and(|record| record.done && !record.stale));
        if stale.is_empty() {
            return Ok(());
        }
        let (because, steps) = (step.id.clone(), stale.into_iter().collect());
        Ok(self.record(Event::StepsStale { attempt, because, steps })?)
    }

    /// A step whose result became stale: its checks run on the tree as it is now. Only if they fail is it written again.
    fn look_again(&mut self, attempt: AttemptId, step: &Step, tree: &TreeId) -> Result<Option<Conclusion>, Error> {
        match self.check_step(attempt, step, tree)? {
            Some((what, failures)) if !failures.is_empty() => self.fail(attempt, step, tree, &what)?,
            _ => {
                // No check speaks of it by itself: the final ones will.
                let outcome =
                    self.state.work.steps.get(&step.id).map(|record| record.outcome.clone()).unwrap_or_default();
                let (id, tree) = (step.id.clone(), tree.clone());
                self.record(Event::StepEnded { attempt, step: id, tree, done: true, outcome, files: Vec::new() })?;
            }
        }
        Ok(None)
    }

    /// The checks that a step names, or those that build what it changed. `None` where there is none.
    fn check_step(
        &mut self,
        attempt: AttemptId,
        step: &Step,
        tree: &TreeId,
    ) -> Result<Option<(String, Vec<Signature>)>, Error> {
        let base = self.base()?;
        let known = self.checks_of(tree)?;
        let named: Vec<String> = step.checks.iter().filter(|name| known.contains(name)).cloned().collect();
        let wanted = if named.is_empty() { self.builds_of(&base, tree)? } else { named };
        if wanted.is_empty() {
            return Ok(None);
        }
        let (receipts, judgement) = self.prove_some(&base, tree, Some(&wanted))?;
        let mut failures = if is_conclusive(&judgement) { judgement.signatures_of_failures() } else { Vec::new() };
        // A test that the step owes and that fails as it did at base is no new failure, and the step is not done.
        let owed = self.owed_by(step, tree, &receipts)?;
        for item in &owed {
            let signature = item.failure();
            if !failures.contains(&signature) {
                failures.push(signature);
            }
        }
        let ran = self.take_ran();
        let (id, at) = (step.id.clone(), tree.clone());
        self.record(Event::StepChecked { attempt, step: id, tree: at, receipts, failures: failures.clone(), ran })?;
        let what = self.with_looks(tree, |_, looks| Ok(feedback::of(&judgement, &owed, looks)))?;
        Ok(Some((what, failures)))
    }

    /// The required checks on the whole, against the base.
    fn final_checks(&mut self, attempt: AttemptId, plan: &Plan, tree: &TreeId) -> Result<Option<Conclusion>, Error> {
        let base = self.base()?;
        if *tree == base || *tree == self.start()?.tree {
            let what = "the model says that it is done, and has changed nothing".to_owned();
            self.record(Event::AttemptEnded { attempt, tree: tree.clone(), outcome: what.clone() })?;
            return Ok(Some(Conclusion::Stopped { reason: StopReason::NonProgress { what } }));
        }
        if let Some(conclusion) = self.leaves_the_scope(&base, tree)? {
            return Ok(Some(conclusion));
        }
        let (receipts, judgement) = self.prove(&base, tree)?;
        let (judgement, unmet) = self.hold_to_the_request(&base, tree, &receipts, judgement)?;
        let outcome = if judgement.verified { "verified".to_owned() } else { judgement.reasons.join("; ") };
        let settled = is_settled(&judgement);
        let trouble = self.with_looks(tree, |_, looks| Ok(feedback::of(&judgement, &unmet, looks)))?;
        let target = self.culprit(plan, &judgement, &unmet);
        let ran = self.take_ran();
        let judgement = Some(Box::new(judgement));
        self.record(Event::Checked { attempt, tree: tree.clone(), receipts, judgement, ran })?;
        if settled {
            self.record(Event::AttemptEnded { attempt, tree: tree.clone(), outcome })?;
            return self.diff_ready(tree.clone());
        }
        self.fail(attempt, &target, tree, &trouble)?;
        Ok(None)
    }

    /// The step that is to be done again: the one that the failures name most often, by the tests that must pass when it is
    /// done or by its files, and of equals the earliest, as what builds upon it fails with it; else the last.
    fn culprit(&self, plan: &Plan, judgement: &Judgement, unmet: &[Item]) -> Step {
        let order = plan.order();
        let failures: Vec<&Item> = judgement.comparisons.iter().flat_map(|it| &it.new_failures).chain(unmet).collect();
        let hits = |step: &Step| {
            let record = self.state.work.steps.get(&step.id);
            let stands_in =
                |item: &Item| record.zip(item.at.as_ref()).is_some_and(|(it, (path, _))| it.files.contains(path));
            let owed = |item: &Item| step.acceptance.iter().any(|criterion| asks_for(criterion, item));
            failures.iter().filter(|item| owed(item) || stands_in(item)).count()
        };
        let named = order.iter().rev().max_by_key(|step| hits(step)).filter(|step| hits(step) > 0);
        named.or(order.last()).map_or_else(|| plan.steps[0].clone(), |step| (*step).clone())
    }

    /// The attempt ends here; what was found is kept for the one that mends it.
    fn fail(&mut self, attempt: AttemptId, step: &Step, tree: &TreeId, what: &str) -> Result<(), Error> {
        let outcome: String = if what.is_empty() { "failed".to_owned() } else { what.to_owned() };
        let (id, reached) = (step.id.clone(), tree.clone());
        self.record(Event::StepEnded {
            attempt,
            step: id,
            tree: reached,
            done: false,
            outcome: outcome.clone(),
            files: Vec::new(),
        })?;
        self.give_up(attempt, step, tree, &outcome)
    }

    fn give_up(&mut self, attempt: AttemptId, step: &Step, tree: &TreeId, outcome: &str) -> Result<(), Error> {
        self.checkpoint(tree, &format!("step {}", step.id), &[])?;
        // The first thing that failed names the attempt, not the check it stands under.
        let first = outcome.lines().find_map(|line| line.strip_prefix("- ")).or(outcome.lines().next());
        let first = first.unwrap_or_default().to_owned();
        Ok(self.record(Event::AttemptEnded { attempt, tree: tree.clone(), outcome: first })?)
    }

    /// What went wrong with a step before, with the diagnosis that is asked for first; empty for a step that is new.
    fn trouble(&mut self, attempt: AttemptId, step: &Step, tree: &TreeId) -> Result<Result<String, Conclusion>, Error> {
        let Some(what) = self.state.work.failed.get(&step.id).cloned() else { return Ok(Ok(String::new())) };
        let base = self.base()?;
        let quoter = self.desk().quoter.clone();
        let diff = String::from_utf8_lossy(&worktree::unified(&self.store, &base, tree)?).into_owned();
        let mut text = format!("The attempt before failed.\n\n{what}\n");
        text.push_str(&quoter.block(
            task::port::Origin::Repository,
            "the change so far, against the base",
            &diff,
            12 * 1024,
        ));
        let nudged = self.state.work.rounds.last().is_some_and(|last| self.state.work.nudged.contains(&last.failures));
        if nudged {
            text.push_str("\nThese are the same failures as before: what was done did not touch their cause. Do not repeat it; look for what was assumed and is not so.\n");
        }
        let seat = Seat { stage: Stage::Diagnose, attempt: Some(attempt), step: Some(step.clone()) };
        let number = self.conversation(&seat, |walk| walk.open_diagnosis(&text))?;
        let mut at = tree.clone();
        match self.talk(number, &seat, &mut at)? {
            Talked::End(End::Diagnosed { cause, fix }) => {
                let diagnosis = format!("Cause: {cause}\nFix: {fix}\n");
                text.push_str(&quoter.block(task::port::Origin::Model, "the diagnosis", &diagnosis, 4096));
                Ok(Ok(text))
            }
            Talked::Over(conclusion) => Ok(Err(conclusion)),
            // Without a diagnosis the evidence has to do.
            Talked::End(_) | Talked::Stuck(_) => Ok(Ok(text)),
        }
    }

    fn changed(&self, from: &TreeId, to: &TreeId) -> Result<Vec<TreePath>, Error> {
        Ok(worktree::published_files(&self.store, from, to)?.into_iter().map(|file| file.path).collect())
    }
}

/// Whether something that could run says that the tree is wrong, or all of it that it is right.
fn is_conclusive(judgement: &Judgement) -> bool {
    judgement.verified
        || judgement.comparisons.iter().any(Comparison::is_worse)
        || (!judgement.comparisons.is_empty() && judgement.comparisons.iter().all(|it| it.verdict.is_conclusive()))
}

/// Whether another attempt would be judged no better: the tree is right, or no check can judge it.
fn is_settled(judgement: &Judgement) -> bool {
    judgement.verified || !is_conclusive(judgement)
}

fn one_line(summary: &str, unfinished: &[String]) -> String {
    let mut text = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    for left in unfinished {
        text.push_str(&format!(" Unfinished: {}", left.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let text: String = task::printable(&text).chars().take(600).collect();
    if text.is_empty() { "done".to_owned() } else { text }
}

/// Whether an answer to the question about failures that repeat is to stop.
fn stops(answer: &Answer) -> bool {
    matches!(answer.text.trim(), STOP_HERE | "1")
}
