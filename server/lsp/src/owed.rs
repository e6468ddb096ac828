//! What a task of a model waits for and uses, as clients see it; and what becomes of answers that come one by one.

use std::collections::BTreeMap;

use agent::step_progress;
use task::port::Note;
use task::{Digest, Engine, Question, State, Wait};

use crate::entry::one_line;
use crate::line::{PlanLine, StepLine, UsageLine, WaitingFor};

/// What a wait is, to clients.
pub fn waiting_for(wait: &Wait) -> WaitingFor {
    match wait {
        Wait::Answers { .. } => WaitingFor::Answers,
        Wait::PlanApproval { .. } => WaitingFor::Plan,
        Wait::Provider { .. } => WaitingFor::Provider,
    }
}

/// Why a task does not go on, in one line.
pub fn sentence(wait: &Wait) -> String {
    match wait {
        Wait::Answers { questions } => {
            let texts: Vec<String> = questions.iter().map(|question| one_line(&question.text)).collect();
            texts.join(" / ")
        }
        Wait::PlanApproval { version } => format!("version {version} of the plan waits for your yes"),
        Wait::Provider { sentence } => one_line(sentence),
    }
}

/// Names what is asked, so that an answer can say what it answers.
pub fn asked(wait: &Wait) -> Option<String> {
    let parts = match wait {
        Wait::Answers { questions } => {
            questions.iter().flat_map(|it| std::iter::once(&it.text).chain(&it.options)).cloned().collect()
        }
        Wait::PlanApproval { version } => vec![format!("plan {version}")],
        Wait::Provider { .. } => return None,
    };
    Some(Digest::of(parts).as_str()[..16].to_owned())
}

pub fn questions(wait: Option<&Wait>) -> &[Question] {
    match wait {
        Some(Wait::Answers { questions }) => questions,
        _ => &[],
    }
}

/// Whether a note answers what a task waits for, so that it can go on.
pub fn answers(note: &Note) -> bool {
    match note {
        Note::Answer { .. } | Note::ApprovePlan { .. } | Note::AmendPlan { .. } => true,
        Note::Steer { .. } | Note::RaiseLimits { .. } => false,
    }
}

/// The plan of a model with its steps; a plan that follows from the request is no news.
pub fn plan(state: &State) -> Option<PlanLine> {
    let plan = state.plan.as_ref().filter(|_| state.request.engine == Engine::Model)?;
    let steps = plan.steps.iter().map(|step| StepLine {
        id: step.id.clone(),
        title: one_line(&step.title),
        status: step_progress(state, &step.id),
    });
    Some(PlanLine { version: plan.version, steps: steps.collect() })
}

pub fn usage(state: &State) -> Option<UsageLine> {
    let request = &state.request;
    if request.engine != Engine::Model {
        return None;
    }
    let accounts = &state.work.accounts;
    Some(UsageLine {
        tokens: accounts.tokens(),
        microdollars: accounts.is_priced().then(|| accounts.microdollars()),
        max_tokens: request.limits.max_tokens,
        max_microdollars: request.limits.budget_microdollars,
        attempts: u32::try_from(state.attempts.len()).unwrap_or(u32::MAX),
        max_attempts: request.limits.max_attempts,
    })
}

/// Answers of a client that can give only one at a time, until they are all there.
#[derive(Debug, Default)]
pub struct Partial {
    asked: String,
    answers: BTreeMap<usize, String>,
}

impl Partial {
    /// Takes an answer to one question, counted from 1; gives all of them once the last is there.
    pub fn take(&mut self, asked: &str, questions: usize, number: usize, answer: String) -> Option<Vec<String>> {
        if self.asked != asked {
            *self = Self { asked: asked.to_owned(), answers: BTreeMap::new() };
        }
        self.answers.insert(number, answer);
        let all = (1..=questions).all(|number| self.answers.contains_key(&number));
        all.then(|| std::mem::take(&mut self.answers).into_values().collect())
    }

    /// The first question that has no answer yet, counted from 1.
    pub fn next(&self, asked: &str) -> usize {
        if self.asked != asked {
            return 1;
        }
        (1..).find(|number| !self.answers.contains_key(number)).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_come_one_by_one_are_whole_with_the_last_and_forgotten_with_another_question() {
        let mut partial = Partial::default();
        assert_eq!(partial.take("a", 2, 2, "two".into()), None);
        assert_eq!((partial.next("a"), partial.next("b")), (1, 1));
        assert_eq!(partial.take("a", 2, 1, "one".into()), Some(vec!["one".into(), "two".into()]));
        assert_eq!(partial.take("a", 2, 1, "one".into()), None);
        assert_eq!(partial.next("a"), 2);
        assert_eq!(partial.take("b", 2, 2, "two".into()), None);
        assert_eq!(partial.next("b"), 1);
    }

    #[test]
    fn what_is_asked_has_a_name_that_changes_with_it() {
        let question = |text: &str| Question { text: text.into(), options: vec!["x".into()], why: String::new() };
        let answers = |text: &str| Wait::Answers { questions: vec![question(text)] };
        assert_eq!(asked(&answers("a")), asked(&answers("a")));
        assert_ne!(asked(&answers("a")), asked(&answers("b")));
        assert_ne!(asked(&Wait::PlanApproval { version: 1 }), asked(&Wait::PlanApproval { version: 2 }));
        assert_eq!(sentence(&answers("which\n one?")), "which one?");
    }
}
