//! What the developer tells a task: answers, the yes to its plan, guidance, more room. Each is a note in the journal,
//! which whoever walks the task takes up, this process where nobody else does.

use std::time::{Duration, Instant};

use anstream::println;
use task::port::Note;
use task::{Answer, Conclusion, Engine, ExitCode, Limits, Question, State, TaskId, Wait};

use super::super::dialogue::meant;
use super::super::request::{dollars, show};
use crate::args::{Onward, Raise};
use crate::failure::Failure;
use crate::render;
use crate::wiring::Opened;

/// A process that begins to wait gives the task back at once.
const GIVING_BACK: Duration = Duration::from_secs(3);

pub fn answer(opened: &Opened, id: &TaskId, texts: &[String], onward: &Onward) -> Result<ExitCode, Failure> {
    let state = told(opened, id)?;
    let questions = match agent::waiting(&state) {
        Some(Wait::Answers { questions }) => questions,
        other => return Err(asks_nothing(id, &state, other)),
    };
    if texts.len() != questions.len() {
        return Err(Failure::usage(format!(
            "task {id} asks {}, and {} given:{}",
            counted(questions.len(), "question"),
            if texts.len() == 1 { "1 answer was".to_owned() } else { format!("{} answers were", texts.len()) },
            listed(questions)
        )));
    }
    if let Some(at) = texts.iter().position(|text| text.trim().is_empty()) {
        return Err(Failure::usage(format!("answer {} is empty", at + 1)));
    }
    let answer = |(question, text): (&Question, &String)| Answer {
        question: question.text.clone(),
        text: meant(question, text),
    };
    let answers = questions.iter().zip(texts).map(answer).collect();
    post(opened, id, &Note::Answer { answers }, onward)
}

pub fn approve(opened: &Opened, id: &TaskId, version: Option<u32>, onward: &Onward) -> Result<ExitCode, Failure> {
    let state = told(opened, id)?;
    let waits = match agent::waiting(&state) {
        Some(Wait::PlanApproval { version }) => *version,
        other => return Err(asks_nothing(id, &state, other)),
    };
    match version {
        Some(version) if version != waits => Err(Failure {
            code: ExitCode::NeedsAnswer,
            sentence: format!(
                "version {waits} of the plan waits, not version {version}; `understudy tasks plan {id}` shows it"
            ),
        }),
        _ => post(opened, id, &Note::ApprovePlan { version: waits }, onward),
    }
}

pub fn steer(opened: &Opened, id: &TaskId, text: &str) -> Result<ExitCode, Failure> {
    let state = told(opened, id)?;
    if text.trim().is_empty() {
        return Err(Failure::usage("guidance without words guides nobody"));
    }
    if let Some(conclusion) = &state.conclusion {
        return Err(ended(id, conclusion));
    }
    opened.house.journal.post(id, &Note::Steer { text: text.to_owned() })?;
    said(opened, id, "it hears this at its next turn")
}

pub fn raise(opened: &Opened, id: &TaskId, raise: &Raise) -> Result<ExitCode, Failure> {
    let state = told(opened, id)?;
    if let Some(conclusion) = &state.conclusion {
        return Err(ended(id, conclusion));
    }
    let limits = raised(&state.request.limits, raise)?;
    opened.house.journal.post(id, &Note::RaiseLimits { limits })?;
    said(opened, id, "it has this from its next turn on")
}

/// The limits with what is raised; each only upwards.
fn raised(now: &Limits, raise: &Raise) -> Result<Limits, Failure> {
    let mut limits = now.clone();
    let lower = |what: &str, now: String| {
        Failure::usage(format!("{what} of the task is {now} already; a limit of a task is only ever raised"))
    };
    if let Some(budget) = raise.budget_usd.map(dollars).transpose()? {
        match now.budget_microdollars {
            Some(now) if budget <= now => return Err(lower("the budget", task::dollars(now))),
            None => return Err(Failure::usage("the task has no budget that could be raised")),
            Some(_) => limits.budget_microdollars = Some(budget),
        }
    }
    if let Some(tokens) = raise.max_tokens {
        match now.max_tokens {
            Some(now) if tokens <= now => return Err(lower("the limit", format!("{} tokens", render::grouped(now)))),
            None => return Err(Failure::usage("the task has no limit of tokens that could be raised")),
            Some(_) => limits.max_tokens = Some(tokens),
        }
    }
    if let Some(seconds) = raise.timeout {
        let ms = seconds.saturating_mul(1000);
        if ms <= now.timeout_ms {
            return Err(lower("the time limit", format!("{} s", now.timeout_ms / 1000)));
        }
        limits.timeout_ms = ms;
    }
    if let Some(attempts) = raise.max_attempts {
        if attempts <= now.max_attempts {
            return Err(lower("the limit", format!("{} attempts", now.max_attempts)));
        }
        limits.max_attempts = attempts;
    }
    Ok(limits)
}

/// The state of a task that can be told something: only a model listens.
fn told(opened: &Opened, id: &TaskId) -> Result<State, Failure> {
    let state = agent::state_of(&*opened.house.journal, id)?;
    if state.request.engine != Engine::Model {
        return Err(Failure::usage(format!(
            "task {id} is carried out by the {} engine, which asks nothing and takes no guidance",
            state.request.engine.as_str()
        )));
    }
    Ok(state)
}

/// Leaves a note, and goes on with the task where nobody else does.
pub fn post(opened: &Opened, id: &TaskId, note: &Note, onward: &Onward) -> Result<ExitCode, Failure> {
    let journal = &opened.house.journal;
    journal.post(id, note)?;
    let since = Instant::now();
    let owner = loop {
        match journal.owner(id)? {
            Some(_) if since.elapsed() < GIVING_BACK => std::thread::sleep(Duration::from_millis(50)),
            owner => break owner,
        }
    };
    if owner.is_none() && !onward.no_run {
        return super::resume(opened, id, onward.json);
    }
    if onward.json {
        show(&agent::report(&**journal, &opened.house.state, id, None)?, true)?;
        return Ok(ExitCode::Done);
    }
    said(opened, id, "it goes on with this at its next turn")
}

/// What becomes of a note.
fn said(opened: &Opened, id: &TaskId, what: &str) -> Result<ExitCode, Failure> {
    match opened.house.journal.owner(id)? {
        Some(owner) => println!("process {owner} works on task {id}: {what}"),
        None => {
            let waits = waits_for(&agent::report(&*opened.house.journal, &opened.house.state, id, None)?);
            match waits {
                Some(waits) => println!("kept for task {id}, which {waits}; then {what}"),
                None => println!("nobody works on task {id}: {what}; `understudy tasks resume {id}` goes on"),
            }
        }
    }
    Ok(ExitCode::Done)
}

/// What the developer still owes a task before it can go on.
fn waits_for(report: &agent::Report) -> Option<String> {
    let id = &report.task.id;
    match report.waiting.as_ref()? {
        Wait::Answers { questions } => Some(format!(
            "waits for {}: `understudy tasks answer {id}{}`",
            counted(questions.len(), "answer"),
            " ANSWER".repeat(questions.len())
        )),
        Wait::PlanApproval { version } => {
            Some(format!("waits for the yes to its plan: `understudy tasks approve-plan {id} --version {version}`"))
        }
        Wait::Provider { .. } => None,
    }
}

fn ended(id: &TaskId, conclusion: &Conclusion) -> Failure {
    Failure::usage(format!("task {id} has ended: {}; ask again with `understudy run`", conclusion.word()))
}

fn asks_nothing(id: &TaskId, state: &State, wait: Option<&Wait>) -> Failure {
    match (&state.conclusion, wait) {
        (Some(conclusion), _) => ended(id, conclusion),
        (None, Some(Wait::Answers { questions })) => {
            Failure::usage(format!("task {id} waits for answers: `understudy tasks answer {id}`{}", listed(questions)))
        }
        (None, Some(Wait::PlanApproval { version })) => Failure::usage(format!(
            "task {id} waits for the yes to its plan: `understudy tasks approve-plan {id} --version {version}`"
        )),
        (None, _) => Failure::usage(format!("task {id} asks nothing at present")),
    }
}

fn listed(questions: &[Question]) -> String {
    let mut text = String::new();
    for (number, question) in questions.iter().enumerate() {
        text.push_str(&format!("\n  {}. {}", number + 1, render::one_line(&question.text)));
        for (number, option) in question.options.iter().enumerate() {
            text.push_str(&format!("\n     {}) {}", number + 1, render::one_line(option)));
        }
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(budget_usd: Option<f64>, max_tokens: Option<u64>, timeout: Option<u64>) -> Raise {
        Raise { id: String::new(), budget_usd, max_tokens, timeout, max_attempts: None }
    }

    #[test]
    fn limits_rise_and_never_fall() {
        let now = Limits { budget_microdollars: Some(500_000), max_tokens: Some(1000), ..Limits::default() };
        let limits = raised(&now, &asked(Some(0.75), Some(1001), Some(3600))).unwrap();
        assert_eq!((limits.budget_microdollars, limits.max_tokens), (Some(750_000), Some(1001)));
        assert_eq!((limits.timeout_ms, limits.max_attempts), (3_600_000, now.max_attempts));
        for (lower, part) in [
            (asked(Some(0.5), None, None), "$0.50"),
            (asked(Some(0.1), Some(5000), None), "$0.50"),
            (asked(None, Some(1000), None), "1,000 tokens"),
            (asked(None, None, Some(1)), "1800 s"),
        ] {
            let sentence = raised(&now, &lower).unwrap_err().sentence;
            assert!(sentence.contains(part) && sentence.contains("only ever raised"), "{sentence}");
        }
        assert!(raised(&Limits::default(), &asked(Some(1.0), None, None)).is_err());
    }
}
