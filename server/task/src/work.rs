//! [`Work`]: the part of the fold that the model engine lives from: what was asked and answered, what was spent, how far
//! each step is, what was said.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::port::{CallId, Reservation, Role, Spent, Stage};
use crate::{Accounts, Answer, AttemptId, Digest, Event, Question, Signature, StepId, TreeId};

/// What a task waits for. It has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "for")]
pub enum Wait {
    /// Answers to questions, before or between edits.
    Answers { questions: Vec<Question> },
    /// The yes to this version of the plan.
    PlanApproval { version: u32 },
    /// The provider of the model, which could not be reached or did not want to answer.
    Provider { sentence: String },
}

/// Everything of a task that only the model engine has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    /// What the task waits for at present.
    pub wait: Option<Wait>,
    pub answers: Vec<Answer>,
    pub steering: Vec<String>,
    pub accounts: Accounts,
    /// Every step that was begun, also of earlier versions of the plan.
    pub steps: BTreeMap<StepId, StepRecord>,
    pub conversations: Vec<Conversation>,
    /// Failures of each time that checks judged a tree, in order, with the tree.
    pub rounds: Vec<Round>,
    /// Failures for which the one hint was given.
    pub nudged: Vec<Vec<Signature>>,
    /// The number of the last note that became an event.
    pub note: u64,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRecord {
    pub attempt: AttemptId,
    pub from: TreeId,
    /// The last tree it reached.
    pub tree: TreeId,
    /// Done, with these results, which may have become stale since.
    pub done: bool,
    pub stale: bool,
    pub outcome: String,
    /// How often it was begun.
    pub begun: u32,
}

/// One run of checks and what failed in it, anew against the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub step: Option<StepId>,
    pub tree: TreeId,
    /// Sorted; a multiset.
    pub failures: Vec<Signature>,
}

/// Messages between us and a model, as they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub stage: Stage,
    pub attempt: Option<AttemptId>,
    pub step: Option<StepId>,
    pub messages: Vec<(Role, Digest)>,
    /// The tree after the last results of tools.
    pub tree: Option<TreeId>,
}

impl Work {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Paused { wait } => self.wait = Some(wait.clone()),
            Event::PlanApproved { .. } => self.wait = None,
            Event::Resumed { .. } => {
                // Whoever resumes tries the provider again; what the developer owes stays owed.
                if matches!(self.wait, Some(Wait::Provider { .. })) {
                    self.wait = None;
                }
            }
            Event::PlanRevised { note, .. } => {
                self.take(*note);
                self.wait = None;
            }
            Event::Answered { answers, note } => {
                self.take(*note);
                self.answers.extend_from_slice(answers);
                self.wait = None;
            }
            Event::Steered { text, note } => {
                self.take(*note);
                self.steering.push(text.clone());
            }
            Event::LimitsRaised { note, .. } => self.take(*note),
            Event::CallReserved { call, attempt, worst } => self.accounts.reserved(*call, *attempt, worst),
            Event::CallSettled { call, spent } => self.accounts.settled(*call, spent),
            Event::ConversationOpened { stage, attempt, step, .. } => self.conversations.push(Conversation {
                stage: *stage,
                attempt: *attempt,
                step: step.clone(),
                messages: Vec::new(),
                tree: None,
            }),
            Event::Spoke { conversation, role, message, tree } => {
                if let Some(open) = self.conversations.get_mut(*conversation as usize) {
                    open.messages.push((*role, message.clone()));
                    if tree.is_some() {
                        open.tree.clone_from(tree);
                    }
                }
            }
            Event::Compacted { conversation, messages } => {
                if let Some(open) = self.conversations.get_mut(*conversation as usize) {
                    // Roles do not change by it.
                    let roles: Vec<Role> = open.messages.iter().map(|(role, _)| *role).collect();
                    open.messages = roles.into_iter().zip(messages.iter().cloned()).collect();
                }
            }
            Event::StepStarted { attempt, step, from } => {
                let begun = self.steps.get(step).map_or(0, |record| record.begun) + 1;
                let record = StepRecord {
                    attempt: *attempt,
                    from: from.clone(),
                    tree: from.clone(),
                    done: false,
                    stale: false,
                    outcome: String::new(),
                    begun,
                };
                self.steps.insert(step.clone(), record);
            }
            Event::StepChecked { step, tree, failures, .. } => {
                self.rounds.push(round(Some(step), tree, failures));
                if let Some(record) = self.steps.get_mut(step) {
                    record.stale = false;
                    record.done &= failures.is_empty();
                }
            }
            Event::StepEnded { step, tree, done, outcome, .. } => {
                if let Some(record) = self.steps.get_mut(step) {
                    (record.tree, record.done, record.stale) = (tree.clone(), *done, false);
                    record.outcome.clone_from(outcome);
                }
            }
            Event::StepsStale { steps, .. } => {
                for step in steps {
                    if let Some(record) = self.steps.get_mut(step) {
                        record.stale = true;
                    }
                }
            }
            Event::Checked { tree, judgement: Some(judgement), .. } => {
                let new = judgement.comparisons.iter().flat_map(|it| &it.new_failures);
                let mut failures: Vec<Signature> = new.filter_map(|item| item.signature.clone()).collect();
                failures.sort();
                self.rounds.push(round(None, tree, &failures));
            }
            Event::Nudged { failures, .. } => self.nudged.push(failures.clone()),
            _ => {}
        }
    }

    /// Steps of this plan that are done and whose results hold.
    pub fn holding(&self) -> BTreeSet<&StepId> {
        self.steps.iter().filter(|(_, record)| record.done && !record.stale).map(|(id, _)| id).collect()
    }

    fn take(&mut self, note: u64) {
        self.note = self.note.max(note);
    }
}

fn round(step: Option<&StepId>, tree: &TreeId, failures: &[Signature]) -> Round {
    let mut failures = failures.to_vec();
    failures.sort();
    Round { step: step.cloned(), tree: tree.clone(), failures }
}

/// What [`Accounts`] must know of an open call.
pub(crate) type Open = BTreeMap<CallId, (Option<AttemptId>, Reservation)>;

/// What an attempt cost so far, open calls at their reservation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    pub calls: u32,
    pub tokens: u64,
    pub microdollars: u64,
}

impl Cost {
    pub(crate) fn add(&mut self, spent: &Spent) {
        self.calls += 1;
        self.tokens = self.tokens.saturating_add(spent.tokens());
        self.microdollars = self.microdollars.saturating_add(spent.microdollars.unwrap_or(0));
    }
}
