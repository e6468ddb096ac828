//! What a person is shown of a plan, a question, limits.

use std::fmt::Write as _;

use task::{Limits, Plan, Question, TaskId, dollars};

use super::style::{bold, dim, duration};
use super::theirs::one_line;

/// A plan before anything of it was done.
pub fn plan(plan: &Plan) -> String {
    let from = plan.revised_from.map(|from| format!(", in place of version {from}")).unwrap_or_default();
    let mut text = format!("{}\n", bold(format!("plan, version {}{from}", plan.version)));
    for (number, step) in plan.steps.iter().enumerate() {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "  {}. {}", number + 1, one_line(&step.title));
        text.push_str(&agreed(&step.scope.paths, &step.acceptance, &step.checks));
        let after: Vec<String> = step.depends_on.iter().map(ToString::to_string).collect();
        text.push_str(&detail("after", &after, ", "));
        text.push_str(&detail("", std::slice::from_ref(&step.reasoning), ""));
    }
    text
}

/// What somebody agrees to who agrees to a step: the files it may change, when it is done, what judges it.
pub fn agreed(paths: &[String], acceptance: &[String], checks: &[String]) -> String {
    [("may change", paths, ", "), ("done when", acceptance, "; "), ("judged by", checks, ", ")]
        .map(|(what, items, between)| detail(what, items, between))
        .concat()
}

fn detail(what: &str, items: &[String], between: &str) -> String {
    let items = one_line(&items.join(between));
    if items.is_empty() { String::new() } else { format!("     {}\n", dim(format!("{what} {items}").trim())) }
}

/// A question with its options; `number` counts from 0.
pub fn question(number: usize, of: usize, question: &Question) -> String {
    let count = if of > 1 { format!("{}. ", number + 1) } else { String::new() };
    let mut text = format!("  {}\n", bold(format!("{count}{}", one_line(&question.text))));
    if !question.why.is_empty() {
        let _ = writeln!(text, "     {}", dim(one_line(&question.why)));
    }
    for (number, option) in question.options.iter().enumerate() {
        let _ = writeln!(text, "     {}) {}", number + 1, one_line(option));
    }
    text
}

/// The limits of a task with a model, and how they are raised. Dollars limit only what has a price.
pub fn limits(id: &TaskId, limits: &Limits, unpriced: &[String]) -> String {
    let mut parts = Vec::new();
    if unpriced.is_empty() {
        parts.extend(limits.budget_microdollars.map(|budget| format!("at most {}", dollars(budget))));
    } else {
        let names = one_line(&unpriced.join(", "));
        parts.push(format!("no price is known for {names}: only tokens are limited"));
    }
    parts.extend(limits.max_tokens.map(|tokens| format!("{} tokens", grouped(tokens))));
    parts.push(if limits.max_attempts == 1 {
        "1 attempt".to_owned()
    } else {
        format!("{} attempts", limits.max_attempts)
    });
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

/// `987`, `1.3k`, `1M`: rounded up, because it is counted against a limit.
pub fn about(number: u64) -> String {
    let (unit, letter) = match number {
        0..1_000 => return number.to_string(),
        1_000..999_901 => (1_000, 'k'),
        _ => (1_000_000, 'M'),
    };
    let tenths = number.div_ceil(unit / 10);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    if tenth == 0 { format!("{whole}{letter}") } else { format!("{whole}.{tenth}{letter}") }
}

/// `$0.014`: tenths of a cent, rounded up.
pub fn about_dollars(microdollars: u64) -> String {
    let mills = microdollars.div_ceil(1000);
    format!("${}.{:03}", mills / 1000, mills % 1000)
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
    fn what_counts_against_a_limit_is_rounded_up() {
        for (number, text) in [(999, "999"), (1000, "1k"), (1001, "1.1k"), (999_900, "999.9k"), (999_901, "1M")] {
            assert_eq!(about(number), text);
        }
        assert_eq!((about(1_200_001), about(1_000_000)), ("1.3M".to_owned(), "1M".to_owned()));
        assert_eq!((about_dollars(1), about_dollars(1_500_000)), ("$0.001".to_owned(), "$1.500".to_owned()));
    }

    #[test]
    fn dollars_limit_only_what_has_a_price() {
        let set = Limits {
            budget_microdollars: Some(500_000),
            max_tokens: Some(1_000_000),
            max_attempts: 1,
            ..Limits::default()
        };
        let id = "k3x9".parse().unwrap();
        assert!(limits(&id, &set, &[]).starts_with("at most $0.50, 1,000,000 tokens, 1 attempt, "));
        let unpriced = limits(&id, &set, &["near/some".to_owned()]);
        assert!(unpriced.starts_with("no price is known for near/some: only tokens are limited, 1,000,000 tokens"));
        assert!(!unpriced.contains('$'), "{unpriced}");
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
