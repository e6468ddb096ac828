//! The part of a report that tasks with a model have: plan and steps, what was asked, what it cost.

use agent::{Held, PlannedStep, Report, StepProgress, UsageRecord};
use anstream::println;
use task::{Verdict, Wait, dollars};

use super::style::{bold, dim, doubtful, good, heading, poor};
use super::theirs::{indented, one_line};
use super::words::{agreed, grouped, question, share};

/// The plan with how far each step is. Plans without a model have one step, which the diff shows.
pub fn print_plan(report: &Report) {
    let Some(plan) = report.plan.as_ref().filter(|_| report.task.engine == "model") else {
        return print_answers(report);
    };
    let from = plan.revised_from.map(|from| format!(", in place of version {from}")).unwrap_or_default();
    println!("{}", heading(&format!("plan, version {}{from}", plan.version)));
    if let Some(revision) = &plan.revised_by {
        println!("  {}", dim(one_line(&revision.because)));
    }
    print_answers(report);
    for (number, step) in plan.steps.iter().enumerate() {
        println!("  {} {}. {}{}", mark(report, step), number + 1, one_line(&step.title), spent(step));
        if matches!(report.waiting, Some(Wait::PlanApproval { .. })) {
            anstream::print!("{}", agreed(&step.scope.paths, &step.acceptance, &step.checks));
        }
        if let Some(outcome) = &step.outcome {
            println!("       {}", dim(one_line(outcome)));
        }
    }
}

fn print_answers(report: &Report) {
    for answer in &report.answers {
        println!("  {} {}", dim(one_line(&answer.question)), one_line(&answer.text));
    }
}

/// A step is good where checks say so; that it is done is at first only what the model says.
fn mark(report: &Report, step: &PlannedStep) -> String {
    let good_so_far = |verdict| matches!(verdict, Verdict::Passed | Verdict::KnownFailure);
    let mut judged = report.executions.iter().filter(|it| it.step.as_ref() == Some(&step.id)).peekable();
    let held = report.verdict == "verified" || (judged.peek().is_some() && judged.all(|it| good_so_far(it.verdict)));
    match step.status {
        StepProgress::Pending => dim("·"),
        StepProgress::Running => doubtful("…"),
        StepProgress::Done if held => good("✓"),
        StepProgress::Done => dim("·"),
        StepProgress::Stale => doubtful("~"),
        StepProgress::Failed if step.outcome.is_none() => dim("·"),
        StepProgress::Failed => poor("✗"),
    }
}

fn spent(step: &PlannedStep) -> String {
    let word = match step.status {
        StepProgress::Stale => "  to be checked anew",
        StepProgress::Running => "  not finished",
        // The task ended in the middle of it.
        StepProgress::Failed if step.outcome.is_none() => "  not finished",
        _ => "",
    };
    if step.cost.calls == 0 {
        return dim(word);
    }
    let money = step.cost.microdollars.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
    dim(format!("{word}  {} tokens{money}{}", grouped(step.cost.tokens), of_it(step.cost.assumed_tokens)))
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
                println!("    {}", one_line(option));
            }
        }
    }
}

/// What the request says must hold, with what the checks say about it.
pub fn print_criteria(report: &Report) {
    if report.criteria.is_empty() {
        return;
    }
    println!("{}", heading("asked for"));
    for criterion in &report.criteria {
        let mark = match criterion.held {
            Held::Yes => good("✓ held     "),
            Held::No => poor("✗ not held "),
            Held::NotShown => doubtful("~ not shown"),
        };
        println!("  {mark}  {}", one_line(&criterion.text));
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
    println!("  {}  {tokens} tokens in {}", bold(money), calls(usage.calls));
    let input = usage.input + usage.cache_read + usage.cache_written;
    if let Some(cached) = usage.cache_read.saturating_mul(100).checked_div(input) {
        let output = grouped(usage.output);
        println!("  {}", dim(format!("{} in, {cached} % of them from the cache; {output} out", grouped(input))));
    }
    for line in assumed(usage) {
        println!("  {}", doubtful(line));
    }
    for model in &usage.models {
        println!("  {} {}", one_line(&model.model), dim(cost(model.cost)));
    }
    if report.attempts.len() > 1 {
        for attempt in &report.attempts {
            let outcome = attempt.outcome.as_deref().unwrap_or("not finished");
            println!("  attempt {}  {}", attempt.id, dim(cost(attempt.cost)));
            println!("{}", indented(&one_line(outcome), 6));
        }
    }
}

fn cost(cost: agent::CostRecord) -> String {
    let money = cost.microdollars.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
    format!("{}, {} tokens{money}{}", calls(cost.calls.into()), grouped(cost.tokens), of_it(cost.assumed_tokens))
}

fn calls(number: u64) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(number)) }
}

/// What of a sum is a worst case that was reserved.
fn of_it(assumed: u64) -> String {
    if assumed == 0 { String::new() } else { format!(", up to {} of them only reserved", grouped(assumed)) }
}

/// What of the sums is reserved and was perhaps never used.
fn assumed(usage: &UsageRecord) -> Vec<String> {
    let sum = |tokens: u64, microdollars: Option<u64>| {
        let money = microdollars.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
        format!("of it up to {} tokens{money} are reserved for", grouped(tokens))
    };
    let (mut tokens, mut microdollars, mut number) =
        (usage.assumed.tokens, usage.assumed.microdollars, usage.assumed.calls);
    let mut lines = Vec::new();
    for worst in usage.open.iter().filter(|open| open.under_way).map(|open| &open.worst) {
        let of_call = worst.input.saturating_add(worst.output);
        lines.push(format!("{} the call under way", sum(of_call, worst.microdollars)));
        tokens = tokens.saturating_sub(of_call);
        number = number.saturating_sub(1);
        microdollars = microdollars.map(|all| all.saturating_sub(worst.microdollars.unwrap_or(0)));
    }
    if number > 0 {
        lines.push(format!("{} {} whose cost nobody told", sum(tokens, microdollars), calls(number)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::OpenCall;
    use task::Assumed;
    use task::port::{CallId, Reservation, Stage};

    #[test]
    fn what_is_only_reserved_is_said_and_for_what() {
        let worst = |input| {
            let model = "a/b".to_owned();
            let (counted, output, microdollars) = (input, 1_000, Some(30_000));
            Reservation { stage: Stage::Code, model, counted, input, output, microdollars, escalated: false }
        };
        let open = |call, under_way| OpenCall { call: CallId(call), under_way, worst: worst(2_000) };
        let mut usage = UsageRecord {
            assumed: Assumed { calls: 3, tokens: 6_400, microdollars: Some(60_400) },
            open: vec![open(3, false), open(4, true)],
            ..UsageRecord::default()
        };
        assert_eq!(
            assumed(&usage),
            [
                "of it up to 3,000 tokens, $0.03 are reserved for the call under way",
                "of it up to 3,400 tokens, $0.0304 are reserved for 2 calls whose cost nobody told",
            ]
        );
        usage.open.clear();
        usage.assumed = Assumed { calls: 1, tokens: 7, microdollars: None };
        assert_eq!(assumed(&usage), ["of it up to 7 tokens are reserved for 1 call whose cost nobody told"]);
        assert!(assumed(&UsageRecord::default()).is_empty());
    }
}
