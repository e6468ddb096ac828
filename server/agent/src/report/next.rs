//! Commands that may follow, each as it can be typed.

use schemars::JsonSchema;
use serde::Serialize;
use task::{Conclusion, Diff, Engine, Limits, PublicationEnd, State, StopReason, TreeId, Wait, dollars};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    pub what: String,
    pub command: String,
    /// What it takes besides, or does besides, where it is not plain from the command.
    pub note: Option<String>,
}

fn step(what: impl Into<String>, command: String) -> NextStep {
    NextStep { what: what.into(), command, note: None }
}

fn noted(what: impl Into<String>, command: String, note: impl Into<String>) -> NextStep {
    NextStep { note: Some(note.into()), ..step(what, command) }
}

pub(crate) fn next_steps(
    state: &State,
    tree: Option<&TreeId>,
    diff: Option<&Diff>,
    conclusion: Option<&Conclusion>,
    process: Option<u32>,
) -> Vec<NextStep> {
    let id = &state.request.id;
    let mut steps = match (&state.conclusion, super::waiting(state)) {
        (None, Some(wait)) => owed(state, wait),
        (None, None) if process.is_some() => vec![
            step("look at it again", format!("understudy tasks show {id}")),
            step("end it", format!("understudy tasks cancel {id}")),
        ],
        (None, None) => vec![step("continue it", format!("understudy tasks resume {id}"))],
        (Some(Conclusion::Stopped { reason }), _) => more(state, reason),
        (Some(Conclusion::Cancelled), _) => asked_again(state, "ask again", ""),
        (Some(_), _) => Vec::new(),
    };
    if let (Some(tree), Some(diff), Some(conclusion)) = (tree, diff, conclusion)
        && !diff.is_empty()
    {
        steps.extend(about_the_diff(state, tree, diff, matches!(conclusion, Conclusion::Verified)));
    }
    // What was rejected and why binds the next try.
    if state.request.engine == Engine::Model && state.conclusion.is_some() && !state.rejected.is_empty() {
        steps.push(step("try again without what was rejected", format!("understudy tasks again {id}")));
    }
    let applied = state.publications.iter().rev().find(|publication| publication.end == Some(PublicationEnd::Applied));
    if applied.is_some_and(|publication| publication.undoes.is_none()) {
        steps.push(step("take it back", format!("understudy tasks undo {id}")));
    }
    steps
}

/// What the developer owes a task that waits.
fn owed(state: &State, wait: &Wait) -> Vec<NextStep> {
    let id = &state.request.id;
    match wait {
        Wait::Answers { questions } => {
            let answers = " ANSWER".repeat(questions.len().max(1));
            let what = if questions.iter().any(|question| !question.options.is_empty()) {
                "answer, by number or in words"
            } else {
                "answer"
            };
            vec![step(what, format!("understudy tasks answer {id}{answers}"))]
        }
        Wait::PlanApproval { version } => vec![
            step("approve the plan", format!("understudy tasks approve-plan {id} --version {version}")),
            step("change the plan", format!("understudy tasks plan {id} >plan.md")),
            noted(
                "put yours in its place",
                format!("understudy tasks plan {id} --amend plan.md"),
                "giving it back approves it and begins the work",
            ),
        ],
        Wait::Provider { .. } => vec![step("try again", format!("understudy tasks resume {id}"))],
    }
}

/// Less than this buys no task.
const LEAST_BUDGET: u64 = 500_000;

/// How to ask again with more of what ran out. Only where there is more of it for a model to use.
fn more(state: &State, reason: &StopReason) -> Vec<NextStep> {
    let request = &state.request;
    let limits = &request.limits;
    if request.engine != Engine::Model {
        return Vec::new();
    }
    let (what, flag) = match reason {
        // The ledger says which of them it was, and begins with it.
        StopReason::Budget { what } if what.starts_with("the limit of") => match limits.max_tokens {
            Some(max) => ("ask again with twice the tokens", format!("--max-tokens {}", max.saturating_mul(2))),
            None => return Vec::new(),
        },
        StopReason::Budget { what } if what.starts_with("the budget of") => match limits.budget_microdollars {
            Some(budget) => {
                let most = dollars(budget.saturating_mul(2).max(LEAST_BUDGET));
                ("ask again with more dollars", format!("--budget-usd {}", most.trim_start_matches('$')))
            }
            None => return Vec::new(),
        },
        StopReason::Attempts { max } if *max < Limits::MOST_ATTEMPTS => {
            let more = max.saturating_mul(2).min(Limits::MOST_ATTEMPTS);
            ("ask again with more attempts", format!("--max-attempts {more}"))
        }
        StopReason::Time { limit_ms } => {
            ("ask again with twice the time", format!("--timeout {}", limit_ms.saturating_mul(2) / 1000))
        }
        _ => return Vec::new(),
    };
    asked_again(state, what, &format!("{flag} "))
}

/// The same task once more. What a candidate came from is not known any more, so a proof is asked for by hand.
fn asked_again(state: &State, what: &str, flag: &str) -> Vec<NextStep> {
    let request = &state.request;
    if request.engine == Engine::Patch {
        return Vec::new();
    }
    let short = request.description.len() <= 200 && !request.description.contains('\n');
    let text = if short { shell_word(&request.description) } else { "TEXT".to_owned() };
    vec![step(what, format!("understudy run --engine {} {flag}{text}", request.engine.as_str()))]
}

fn about_the_diff(state: &State, tree: &TreeId, diff: &Diff, verified: bool) -> Vec<NextStep> {
    let id = &state.request.id;
    let mut steps = Vec::new();
    let mut command = format!("understudy tasks apply {id} --tree {tree}");
    if !verified {
        command.push_str(" --unverified");
    }
    let risky = diff.files.iter().filter(|file| file.risks.iter().any(|risk| risk.needs_consent()));
    let risky: Vec<String> = risky.map(|file| file.path.to_string()).collect();
    let is_worktree = state.is_in_the_files();
    // The working tree shows its own candidate already.
    if !is_worktree || state.candidate.as_ref() != Some(tree) {
        let what = if verified { "write it" } else { "write it all the same" };
        // A consent that comes ready to paste would be none.
        steps.push(if risky.is_empty() {
            step(what, command)
        } else {
            noted(what, command, format!("each of these needs a `--consent FILE` of its own: {}", risky.join(", ")))
        });
    }
    // Hunks are selected from the diff under review: those of another base are others.
    if state.reviewed().is_some_and(|(base, _)| *base == diff.base) {
        let what = if is_worktree { "take some of it back" } else { "keep only some hunks" };
        steps.push(step(what, format!("understudy tasks diff {id} --select HUNK,...")));
    }
    steps
}

/// A text as one word of a POSIX shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", task::printable(text).replace('\'', "'\\''"))
    }
}
