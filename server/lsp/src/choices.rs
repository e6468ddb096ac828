//! What a task that needs the developer lets them choose from, the same in messages and in code actions.

use serde_json::{Value, json};

use crate::entry::{Entry, one_line};
use crate::line::TaskLine;

/// What an option calls when it is chosen.
#[derive(Debug)]
pub struct Choice {
    pub title: String,
    pub command: &'static str,
    pub argument: Value,
}

/// The first question that has no answer yet, counted from 1.
pub fn next_question(entry: &Entry, line: &TaskLine) -> usize {
    line.asked.as_ref().map_or(1, |asked| entry.partial.next(asked))
}

/// The options of the next question.
pub fn answer_choices(entry: &Entry, line: &TaskLine) -> Vec<Choice> {
    let number = next_question(entry, line);
    let options = line.questions.get(number - 1).map(|question| question.options.as_slice()).unwrap_or_default();
    let answer = |option: &String| Choice {
        title: one_line(option),
        command: "understudy.task.answer",
        argument: json!({
            "task": line.id, "revision": line.revision, "asked": line.asked, "question": number, "answers": [option],
        }),
    };
    options.iter().map(answer).collect()
}

/// Approve and open.
pub fn plan_choices(line: &TaskLine) -> Vec<Choice> {
    let Some(plan) = &line.plan else { return Vec::new() };
    let steps = plan.steps.len();
    vec![
        Choice {
            title: format!(
                "Approve the plan (version {}, {steps} step{})",
                plan.version,
                if steps == 1 { "" } else { "s" }
            ),
            command: "understudy.plan.approve",
            argument: json!({
                "task": line.id, "revision": line.revision, "version": plan.version, "document": true,
            }),
        },
        Choice { title: "Open the plan".into(), command: "understudy.plan.open", argument: json!({ "task": line.id }) },
    ]
}
