//! Walking a task to its end, with the developer at the terminal for what only they can say.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use agent::{House, Progress, Walk};
use task::port::Note;
use task::{Answer, Event, Question, Wait};

use crate::failure::Failure;
use crate::{render, wiring};

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialogue {
    AtTerminal,
    /// The task waits, and its report says for what.
    None,
}

impl Dialogue {
    /// Whoever wants JSON, or is no terminal, is not asked.
    pub fn of(json: bool) -> Self {
        if !json && std::io::stdin().is_terminal() { Self::AtTerminal } else { Self::None }
    }
}

/// Walks until the task has ended, or waits for something that nobody here gives it.
pub fn walk_on<'h>(house: &'h House, mut walk: Walk<'h>, dialogue: Dialogue) -> Result<Walk<'h>, Failure> {
    // Whoever looks on since now knows the steps by the plan that was made before.
    if let Some(plan) = walk.state().plan.clone().filter(|_| walk.state().conclusion.is_none()) {
        house.audience.tell(Progress::Happened(Event::PlanProposed { plan }));
    }
    loop {
        match walk.run() {
            // The report of a task that waits for its provider says so, with the code for it.
            Ok(_) | Err(agent::Error::Paused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let Some(wait) = agent::waiting(walk.state()).filter(|_| dialogue == Dialogue::AtTerminal) else {
            return Ok(walk);
        };
        let Some(note) = ask(wait)? else { return Ok(walk) };
        house.journal.post(walk.id(), &note)?;
        let id = walk.id().clone();
        drop(walk);
        walk = Walk::resume(house, &id)?;
    }
}

/// What the developer says to what a task waits for; `None` where they leave it for later. Its plan was shown as it came.
fn ask(wait: &Wait) -> Result<Option<Note>, Failure> {
    match wait {
        Wait::Answers { questions } => {
            anstream::eprintln!("{}", render::heading("the task needs an answer"));
            let mut answers = Vec::new();
            for (number, question) in questions.iter().enumerate() {
                anstream::eprint!("{}", render::question(number, questions.len(), question));
                let Some(line) = answer_to(question)? else { return Ok(None) };
                answers.push(Answer { question: question.text.clone(), text: line });
            }
            Ok(Some(Note::Answer { answers }))
        }
        Wait::PlanApproval { version } => approval_of(*version),
        Wait::Provider { .. } => Ok(None),
    }
}

fn answer_to(question: &Question) -> Result<Option<String>, Failure> {
    loop {
        match read_line("  answer> ")? {
            None => return Ok(None),
            Some(line) if line.is_empty() => anstream::eprintln!("  {}", render::dim("Ctrl-D leaves it for later")),
            Some(line) => return Ok(Some(meant(question, &line))),
        }
    }
}

fn approval_of(version: u32) -> Result<Option<Note>, Failure> {
    let question = format!("Carry out version {version} of the plan? [y/N] ");
    let yes = matches!(read_line(&question)?.as_deref(), Some("y" | "Y" | "yes"));
    Ok(yes.then_some(Note::ApprovePlan { version }))
}

/// A line from the terminal, trimmed; `None` where it ends or whoever sits there ends it.
fn read_line(prompt: &str) -> Result<Option<String>, Failure> {
    anstream::eprint!("{prompt}");
    // A prompt that cannot be flushed is still answered.
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    let read = wiring::while_asking(|| std::io::stdin().lock().read_line(&mut line));
    match read {
        Ok(0) => {
            anstream::eprintln!();
            Ok(None)
        }
        Ok(_) => Ok(Some(line.trim().to_owned())),
        Err(error) => Err(Failure::infrastructure(format!("the terminal cannot be read: {error}"))),
    }
}

/// An answer as it was meant: the number of an option takes it, unless the number itself is one.
pub fn meant(question: &Question, text: &str) -> String {
    let text = text.trim();
    if question.options.iter().any(|option| option == text) {
        return text.to_owned();
    }
    let number = text.trim_end_matches(['.', ')']).parse::<usize>().ok();
    let option = number.and_then(|number| number.checked_sub(1)).and_then(|at| question.options.get(at));
    option.map_or_else(|| text.to_owned(), Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_an_option_unless_it_is_one() {
        let question = |options: &[&str]| Question {
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..Question::default()
        };
        let words = question(&["per client", "per address"]);
        for (said, is_meant) in [("2", "per address"), (" 1) ", "per client"), ("3", "3"), ("0", "0"), ("both", "both")]
        {
            assert_eq!(meant(&words, said), is_meant);
        }
        let numbers = question(&["20", "2", "100"]);
        assert_eq!((meant(&numbers, "2"), meant(&numbers, "1")), ("2".to_owned(), "20".to_owned()));
        assert_eq!(meant(&question(&[]), "1"), "1");
    }
}
