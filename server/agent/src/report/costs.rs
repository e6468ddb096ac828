//! What models cost, by attempt, step and model, and what was read off the journal to say so.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use task::port::{CallId, Reservation, Stage};
use task::{Assumed, AttemptId, Digest, Epoch, Event, Record, State, StepId, TreeId};

use super::plainly;

/// What a task has used. Calls whose cost nobody reported count as their reservation, in every sum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsageRecord {
    pub attempts: u32,
    /// Sandboxed commands that were started.
    pub commands: u32,
    /// Calls to models that were sent, or may have been.
    pub calls: u64,
    /// Input and output together, cached or not.
    pub tokens: u64,
    /// Of what was settled: input that no cache had.
    pub input: u64,
    pub cache_read: u64,
    pub cache_written: u64,
    pub output: u64,
    /// Millionths of a dollar; `None` where no call had a price.
    pub microdollars: Option<u64>,
    /// What of these sums nobody reported: worst cases that are reserved, at most so much of which was never used.
    pub assumed: Assumed,
    /// Calls that are not settled.
    pub open: Vec<OpenCall>,
    pub models: Vec<ModelRecord>,
}

/// A call that was reserved and is not settled: its provider may have counted it, so it stays charged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenCall {
    pub call: CallId,
    /// Whether a process waits for it at present. Otherwise nobody will ever say what it cost.
    pub under_way: bool,
    #[serde(flatten)]
    pub worst: Reservation,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelRecord {
    /// `anthropic/claude-…`: provider and model.
    pub model: String,
    pub stages: Vec<Stage>,
    #[serde(flatten)]
    pub cost: CostRecord,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostRecord {
    pub calls: u32,
    pub tokens: u64,
    /// Millionths of a dollar; `None` where no call had a price.
    pub microdollars: Option<u64>,
    /// Of the tokens, what nobody reported.
    pub assumed_tokens: u64,
}

/// One try, with what it cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttemptRecord {
    pub id: AttemptId,
    pub from: TreeId,
    /// The last tree it reached.
    pub tree: TreeId,
    pub outcome: Option<String>,
    /// Names models, prompts, tools and versions; equal ids are equal set-ups.
    pub configuration: Option<Digest>,
    #[serde(flatten)]
    pub cost: CostRecord,
}

/// One call with what it belongs to.
#[derive(Debug)]
struct Call {
    attempt: Option<AttemptId>,
    step: Option<StepId>,
    model: String,
    stage: Stage,
    tokens: u64,
    microdollars: Option<u64>,
    assumed: bool,
    epoch: Epoch,
}

/// Every call of a task.
#[derive(Debug, Default)]
pub struct Costs {
    calls: BTreeMap<CallId, Call>,
    /// Of whoever worked on the task last.
    epoch: Option<Epoch>,
}

impl Costs {
    /// Steps run one after the other, so a call within an attempt belongs to the step that was begun last.
    pub(crate) fn of(records: &[Record]) -> Self {
        let (mut calls, mut step) = (BTreeMap::new(), None);
        for record in records {
            let Ok(event) = &record.event else { continue };
            match event {
                Event::StepStarted { step: begun, .. } => step = Some(begun.clone()),
                Event::StepEnded { .. } | Event::AttemptEnded { .. } => step = None,
                Event::CallReserved { call, attempt, worst } => {
                    let (model, stage) = (worst.model.clone(), worst.stage);
                    let (tokens, microdollars) = (worst.input.saturating_add(worst.output), worst.microdollars);
                    let (attempt, step) = (*attempt, attempt.and(step.clone()));
                    let (assumed, epoch) = (true, record.epoch);
                    calls.insert(*call, Call { attempt, step, model, stage, tokens, microdollars, assumed, epoch });
                }
                Event::CallSettled { call, spent } => {
                    if let Some(call) = calls.get_mut(call) {
                        (call.tokens, call.microdollars) = (spent.tokens(), spent.microdollars);
                        call.assumed = !spent.reported;
                    }
                }
                _ => {}
            }
        }
        Self { calls, epoch: records.last().map(|record| record.epoch) }
    }

    pub(crate) fn of_step(&self, step: &StepId) -> CostRecord {
        self.sum(|call| call.step.as_ref() == Some(step))
    }

    /// The model that wrote a step, the last one where there were several.
    pub(crate) fn model_of(&self, step: &StepId) -> Option<String> {
        let wrote = |call: &&Call| call.step.as_ref() == Some(step) && call.stage == Stage::Code;
        self.calls.values().rev().find(wrote).map(|call| call.model.clone())
    }

    pub(crate) fn attempts(&self, state: &State) -> Vec<AttemptRecord> {
        let record = |attempt: &task::Attempt| AttemptRecord {
            id: attempt.id,
            from: attempt.from.clone(),
            tree: attempt.tree.clone(),
            outcome: attempt.outcome.as_deref().map(plainly),
            configuration: attempt.configuration.clone(),
            cost: self.sum(|call| call.attempt == Some(attempt.id)),
        };
        state.attempts.iter().map(record).collect()
    }

    /// `worked_on` says whether a process works on the task at present.
    pub(crate) fn usage(&self, state: &State, worked_on: bool) -> UsageRecord {
        let accounts = &state.work.accounts;
        let of_now = |call: &CallId| self.calls.get(call).is_some_and(|call| Some(call.epoch) == self.epoch);
        let open = |(call, worst): (&CallId, &Reservation)| OpenCall {
            call: *call,
            under_way: worked_on && of_now(call),
            worst: worst.clone(),
        };
        let settled = accounts.settled;
        UsageRecord {
            attempts: u32::try_from(state.attempts.len()).unwrap_or(u32::MAX),
            commands: state.commands,
            calls: accounts.calls(),
            tokens: accounts.tokens(),
            input: settled.input,
            cache_read: settled.cache_read,
            cache_written: settled.cache_written,
            output: settled.output,
            microdollars: accounts.is_priced().then(|| accounts.microdollars()),
            assumed: accounts.assumed(),
            open: accounts.open().map(open).collect(),
            models: self.models(),
        }
    }

    fn models(&self) -> Vec<ModelRecord> {
        let mut stages: BTreeMap<&str, Vec<Stage>> = BTreeMap::new();
        for call in self.calls.values() {
            let known = stages.entry(&call.model).or_default();
            if !known.contains(&call.stage) {
                known.push(call.stage);
            }
        }
        let record = |(model, stages): (&str, Vec<Stage>)| ModelRecord {
            model: model.to_owned(),
            stages,
            cost: self.sum(|call| call.model == model),
        };
        stages.into_iter().map(record).collect()
    }

    fn sum(&self, counts: impl Fn(&Call) -> bool) -> CostRecord {
        let mut sum = CostRecord::default();
        for call in self.calls.values().filter(|call| counts(call)) {
            sum.calls += 1;
            sum.tokens = sum.tokens.saturating_add(call.tokens);
            if call.assumed {
                sum.assumed_tokens = sum.assumed_tokens.saturating_add(call.tokens);
            }
            if let Some(cost) = call.microdollars {
                sum.microdollars = Some(sum.microdollars.unwrap_or(0).saturating_add(cost));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use task::port::Spent;
    use task::{Epoch, Sequence, UnixMillis};

    fn records(events: Vec<Event>) -> Vec<Record> {
        let record = |(number, event): (u64, Event)| Record {
            task: "00000001".parse().unwrap(),
            sequence: Sequence(number),
            epoch: Epoch(1),
            at: UnixMillis(0),
            event: Ok(event),
        };
        (1_u64..).zip(events).map(record).collect()
    }

    fn reserved(call: u64, attempt: Option<u64>, stage: Stage, microdollars: Option<u64>) -> Event {
        let model = if stage == Stage::Plan { "a/large" } else { "a/small" }.to_owned();
        let worst = Reservation { stage, model, counted: 50, input: 100, output: 10, microdollars, escalated: false };
        Event::CallReserved { call: CallId(call), attempt: attempt.map(AttemptId), worst }
    }

    fn settled(call: u64, output: u64, microdollars: Option<u64>) -> Event {
        let spent = Spent { input: 5, output, microdollars, reported: true, ..Spent::default() };
        Event::CallSettled { call: CallId(call), spent }
    }

    #[test]
    fn a_call_costs_its_attempt_its_step_and_its_model() {
        let tree: TreeId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
        let step: StepId = "one".parse().unwrap();
        let attempt = AttemptId(1);
        let costs = Costs::of(&records(vec![
            reserved(1, None, Stage::Plan, Some(900)),
            settled(1, 5, Some(80)),
            Event::StepStarted { attempt, step: step.clone(), from: tree.clone() },
            reserved(2, Some(1), Stage::Code, None),
            settled(2, 7, None),
            reserved(3, Some(1), Stage::Code, None),
            Event::StepEnded {
                attempt,
                step: step.clone(),
                tree,
                done: true,
                outcome: String::new(),
                files: Vec::new(),
            },
            reserved(4, Some(1), Stage::Summarise, None),
            settled(4, 1, None),
        ]));
        // What was never settled counts as its reservation.
        assert_eq!(
            costs.of_step(&step),
            CostRecord { calls: 2, tokens: 12 + 110, microdollars: None, assumed_tokens: 110 }
        );
        assert_eq!(costs.model_of(&step).as_deref(), Some("a/small"));
        let of_attempt = costs.sum(|call| call.attempt == Some(attempt));
        assert_eq!(of_attempt, CostRecord { calls: 3, tokens: 12 + 110 + 6, microdollars: None, assumed_tokens: 110 });
        let models = costs.models();
        assert_eq!(models[0].model, "a/large");
        assert_eq!(models[0].cost, CostRecord { calls: 1, tokens: 10, microdollars: Some(80), assumed_tokens: 0 });
        assert_eq!((&models[1].stages[..], models[1].cost.calls), (&[Stage::Code, Stage::Summarise][..], 3));
    }
}
