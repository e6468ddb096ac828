//! [`Work`]: the part of the fold that the model engine lives from: what was asked and answered, what was spent, how far
//! each step is, what was said.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::port::{Role, Stage};
use crate::{Accounts, Answer, AttemptId, Digest, Event, Question, Signature, StepId, TreeId, TreePath};

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
    /// What failed the last time a step did not come to its end.
    pub failed: BTreeMap<StepId, String>,
    /// Changes that the compiler made by itself: from one tree to another.
    pub repairs: Vec<(TreeId, TreeId)>,
    /// Rounds before this one were before the developer's last answer: they repeat nothing.
    pub answered_at: usize,
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
    /// Every file that it changed, whenever.
    pub files: BTreeSet<TreePath>,
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
    /// How much of the steering its messages hold.
    pub steered: usize,
}

impl Work {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Paused { wait } => self.wait = Some(wait.clone()),
            Event::PlanApproved { note, .. } => {
                self.take(*note);
                self.wait = None;
            }
            Event::NoteDeclined { note, .. } => self.take(*note),
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
                self.answered_at = self.rounds.len();
                self.wait = None;
            }
            Event::Steered { text, note } => {
                self.take(*note);
                self.steering.push(text.clone());
            }
            Event::LimitsRaised { note, .. } => self.take(*note),
            Event::CallReserved { call, worst, .. } => self.accounts.reserve(*call, worst),
            Event::CallSettled { call, spent } => self.accounts.settle(*call, spent),
            Event::ConversationOpened { stage, attempt, step, .. } => self.conversations.push(Conversation {
                stage: *stage,
                attempt: *attempt,
                step: step.clone(),
                messages: Vec::new(),
                tree: None,
                steered: 0,
            }),
            Event::Spoke { conversation, role, message, tree } => {
                if let Some(open) = self.conversations.get_mut(*conversation as usize) {
                    open.messages.push((*role, message.clone()));
                    if *role == Role::User {
                        open.steered = self.steering.len();
                    }
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
                let before = self.steps.get(step);
                let begun = before.map_or(0, |record| record.begun) + 1;
                let files = before.map(|record| record.files.clone()).unwrap_or_default();
                let record = StepRecord {
                    attempt: *attempt,
                    from: from.clone(),
                    tree: from.clone(),
                    done: false,
                    stale: false,
                    outcome: String::new(),
                    begun,
                    files,
                };
                self.steps.insert(step.clone(), record);
            }
            Event::StepChecked { step, tree, failures, .. } => {
                self.rounds.push(round(Some(step), tree, failures));
            }
            Event::StepEnded { step, tree, done, outcome, files, .. } => {
                if *done {
                    self.failed.remove(step);
                } else {
                    self.failed.insert(step.clone(), outcome.clone());
                }
                if let Some(record) = self.steps.get_mut(step) {
                    (record.tree, record.done, record.stale) = (tree.clone(), *done, false);
                    record.outcome.clone_from(outcome);
                    record.files.extend(files.iter().cloned());
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
                self.rounds.push(round(None, tree, &judgement.signatures()));
            }
            Event::Repaired { from, tree, .. } => self.repairs.push((from.clone(), tree.clone())),
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
