//! What a person is shown of a plan, a question, limits.

use std::fmt::Write as _;

use task::{Limits, Plan, Question, TaskId, dollars};

use super::style::{bold, dim, duration};

/// A plan before anything of it was done.
pub fn plan(plan: &Plan) -> String {
    let from = plan.revised_from.map(|from| format!(", in place of version {from}")).unwrap_or_default();
    let mut text = format!("{}\n", bold(format!("plan, version {}{from}", plan.version)));
    // Writing to a String cannot fail, here and below.
    for (number, step) in plan.steps.iter().enumerate() {
        let _ = writeln!(text, "  {}. {}", number + 1, task::printable(&step.title));
        if !step.scope.paths.is_empty() {
            let _ =
                writeln!(text, "     {}", dim(format!("may change {}", task::printable(&step.scope.paths.join(", ")))));
        }
        if !step.depends_on.is_empty() {
            let after: Vec<&str> = step.depends_on.iter().map(task::StepId::as_str).collect();
            let _ = writeln!(text, "     {}", dim(format!("after {}", after.join(", "))));
        }
        if !step.reasoning.is_empty() {
            let _ = writeln!(text, "     {}", dim(task::printable(&step.reasoning)));
        }
    }
    text
}

/// A question with its options; `number` counts from 0.
pub fn question(number: usize, of: usize, question: &Question) -> String {
    let count = if of > 1 { format!("{}. ", number + 1) } else { String::new() };
    let mut text = format!("  {}\n", bold(format!("{count}{}", task::printable(&question.text))));
    if !question.why.is_empty() {
        let _ = writeln!(text, "     {}", dim(task::printable(&question.why)));
    }
    for (number, option) in question.options.iter().enumerate() {
        let _ = writeln!(text, "     {}) {}", number + 1, task::printable(option));
    }
    text
}

/// The limits of a task with a model, and how they are raised.
pub fn limits(id: &TaskId, limits: &Limits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.budget_microdollars.map(|budget| format!("at most {}", dollars(budget))));
    parts.extend(limits.max_tokens.map(|tokens| format!("{} tokens", grouped(tokens))));
    parts.push(format!("{} attempts", limits.max_attempts));
    parts.push(duration(limits.timeout_ms));
    format!("{}; `understudy tasks raise {id} …` raises each while it runs", parts.join(", "))
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What was used of a limit: `12,345 of 1,000,000 tokens`.
pub fn share(used: String, limit: Option<String>) -> String {
    limit.map_or(used.clone(), |limit| format!("{used} of {limit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn an_option_is_shown_with_the_number_that_takes_it() {
        let asked = Question {
            text: "Which key?\u{202E}".into(),
            options: vec!["address".into(), "client id".into()],
            why: "it decides who is counted".into(),
        };
        let text = anstream::adapter::strip_str(&question(1, 2, &asked)).to_string();
        assert!(text.starts_with("  2. Which key?\\u{202e}\n"), "{text}");
        assert!(text.contains("     2) client id\n") && text.contains("who is counted"), "{text}");
    }
}
