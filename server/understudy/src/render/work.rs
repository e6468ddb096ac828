//! The part of a report that tasks with a model have: plan and steps, what was asked, what it cost.

use agent::{PlannedStep, Report, StepProgress};
use anstream::println;
use task::{Wait, dollars};

use super::style::{bold, dim, doubtful, good, heading, poor};
use super::words::{grouped, question, share};

/// The plan with how far each step is. Plans without a model have one step, which the diff shows.
pub fn print_plan(report: &Report) {
    let Some(plan) = report.plan.as_ref().filter(|_| report.task.engine == "model") else { return };
    let from = plan.revised_from.map(|from| format!(", in place of version {from}")).unwrap_or_default();
    println!("{}", heading(&format!("plan, version {}{from}", plan.version)));
    if let Some(revision) = &plan.revised_by {
        println!("  {}", dim(task::printable(&revision.because)));
    }
    for answer in &report.answers {
        println!("  {} {}", dim(task::printable(&answer.question)), task::printable(&answer.text));
    }
    for (number, step) in plan.steps.iter().enumerate() {
        println!("  {} {}. {}{}", mark(step.status), number + 1, task::printable(&step.title), spent(step));
        if let Some(outcome) = &step.outcome {
            println!("       {}", dim(task::printable(outcome)));
        }
    }
}

fn mark(status: StepProgress) -> String {
    match status {
        StepProgress::Pending => dim("·"),
        StepProgress::Running => doubtful("…"),
        StepProgress::Done => good("✓"),
        StepProgress::Stale => doubtful("~"),
        StepProgress::Failed => poor("✗"),
    }
}

fn spent(step: &PlannedStep) -> String {
    let word = match step.status {
        StepProgress::Stale => "  to be checked anew",
        StepProgress::Running => "  not finished",
        _ => "",
    };
    if step.cost.calls == 0 {
        return dim(word);
    }
    let money = step.cost.microdollars.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
    dim(format!("{word}  {} tokens{money}", grouped(step.cost.tokens)))
}

/// Questions that wait, with their options.
pub fn print_questions(report: &Report) {
    match &report.waiting {
        Some(Wait::Answers { questions }) => {
            for (number, asked) in questions.iter().enumerate() {
                anstream::print!("{}", question(number, questions.len(), asked));
            }
        }
        _ => {
            for option in report.question.iter().flat_map(|question| &question.options) {
                println!("    {}", task::printable(option));
            }
        }
    }
}

/// What models cost, by model and by attempt where there were several.
pub fn print_usage(report: &Report) {
    let usage = &report.usage;
    if usage.calls == 0 {
        return;
    }
    let limits = &report.task.limits;
    println!("{}", heading("cost"));
    let tokens = share(grouped(usage.tokens), limits.max_tokens.map(grouped));
    let money = match usage.microdollars {
        Some(used) => share(dollars(used), limits.budget_microdollars.map(dollars)),
        None => "no price is known".to_owned(),
    };
    println!("  {}  {tokens} tokens in {} calls", bold(money), usage.calls);
    let input = usage.input + usage.cache_read + usage.cache_written;
    if let Some(cached) = usage.cache_read.saturating_mul(100).checked_div(input) {
        let output = grouped(usage.output);
        println!("  {}", dim(format!("{} in, {cached} % of them from the cache; {output} out", grouped(input))));
    }
    if !usage.open.is_empty() {
        let open =
            format!("{} of the calls never told what they cost: each counts as its worst case", usage.open.len());
        println!("  {}", doubtful(open));
    }
    for model in &usage.models {
        println!("  {} {}", task::printable(&model.model), dim(cost(model.cost)));
    }
    if report.attempts.len() > 1 {
        for attempt in &report.attempts {
            let outcome = attempt.outcome.as_deref().unwrap_or("not finished");
            println!("  attempt {}: {} {}", attempt.id, task::printable(outcome), dim(cost(attempt.cost)));
        }
    }
}

fn cost(cost: agent::CostRecord) -> String {
    let money = cost.microdollars.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
    let calls = if cost.calls == 1 { "1 call".to_owned() } else { format!("{} calls", cost.calls) };
    format!("{calls}, {} tokens{money}", grouped(cost.tokens))
}
