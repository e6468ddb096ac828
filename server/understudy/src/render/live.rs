//! What happens while a task runs: finished stations as lines, the present one as a moving line.
//!
//! Everything goes to standard error, so that standard output holds the result alone.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent::{Audience, Progress, Side, plainly};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use task::port::{CallId, Reservation};
use task::{Event, Plan, StepId, Verdict};

use super::slow::{Watch, waiting_for};
use super::style::{bold, dim, doubtful, duration, good, poor};
use super::theirs::one_line;
use super::words::{about, about_dollars, plan, share};

/// The live view of one task.
#[derive(Debug)]
pub struct Live {
    bar: ProgressBar,
    seen: Mutex<Seen>,
}

/// What later news are put into words with.
#[derive(Debug, Default)]
struct Seen {
    /// The side of the check that runs now.
    side: &'static str,
    /// Steps by their place in the plan and their title.
    steps: BTreeMap<StepId, String>,
    /// The end of what the model said last.
    heard: String,
    /// The step that was begun and has not ended.
    running: Option<StepId>,
    /// Whether all checks passed that judged the candidate since a step began or ended; `None` where none did.
    passed: Option<bool>,
    /// The version of the plan that was shown.
    shown: Option<u32>,
    /// Calls that are under way, at their worst.
    reserved: BTreeMap<CallId, Reservation>,
    slow: Option<Watch>,
}

/// A moving line has no room for more of what a model says.
const HEARD: usize = 160;
const TICK: Duration = Duration::from_millis(120);

impl Live {
    /// An audience that shows the news, or drops them where `quiet`.
    pub fn audience(quiet: bool) -> Audience {
        if quiet {
            return Audience::none();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {prefix} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        let live = Self { bar, seen: Mutex::default() };
        Audience::new(move |news| live.show(news))
    }

    fn show(&self, news: Progress) {
        match news {
            Progress::Happened(event) => self.happened(&event),
            Progress::Doing(what) => self.now(what),
            Progress::Tool(what) => {
                self.seen(|seen| seen.heard.clear());
                self.now(one_line(&what));
            }
            Progress::Heard(text) => {
                let line = self.seen(|seen| last_line(&mut seen.heard, &text));
                self.now(dim(line));
            }
            Progress::Spent { tokens, max_tokens, microdollars, max_microdollars, .. } => {
                let (open, open_dollars) = self.seen(|seen| reserved(&seen.reserved));
                let used = spent(
                    tokens.saturating_sub(open),
                    max_tokens,
                    microdollars.map(|all| all.saturating_sub(open_dollars)),
                    max_microdollars,
                );
                let apart = if open > 0 { format!(", {} reserved", about(open)) } else { String::new() };
                self.bar.set_prefix(dim(format!("{used}{apart}")));
            }
            Progress::Waiting { why, ms } => {
                let why = one_line(&why);
                self.line(format!("{} {why}; trying again in {}", doubtful("~"), duration(ms)));
            }
            Progress::CheckStarted { check, side } => {
                let side = word(side);
                self.seen(|seen| seen.side = side);
                self.now(format!("{side}: {}", one_line(&check.to_string())));
            }
            Progress::CheckAdvanced { check, text, done, total } => {
                let side = self.seen(|seen| seen.side);
                let counted = if total > 0 { format!(" ({done} of {total})") } else { String::new() };
                let whose = if side.is_empty() { String::new() } else { format!("{side}: ") };
                self.now(format!("{whose}{}: {}{counted}", one_line(&check.to_string()), one_line(&text)));
            }
            Progress::CheckEnded { check, side, verdict, cached, duration_ms, .. } => {
                let mark = match verdict {
                    Verdict::Passed => good("✓"),
                    Verdict::KnownFailure => doubtful("~"),
                    _ => poor("✗"),
                };
                if side == Side::Candidate {
                    let passed = matches!(verdict, Verdict::Passed | Verdict::KnownFailure);
                    self.seen(|seen| seen.passed = Some(passed && seen.passed != Some(false)));
                }
                let time = if cached { "known already".to_owned() } else { duration(duration_ms) };
                let check = one_line(&check.to_string());
                self.line(format!("{mark} {:9} {check}: {} {}", word(side), verdict.word(), dim(time)));
            }
        }
    }

    fn happened(&self, event: &Event) {
        match event {
            Event::PlanProposed { plan } => self.planned(plan),
            Event::PlanRevised { plan, because, .. } => {
                self.line(format!("{} the plan is revised: {}", doubtful("~"), one_line(because)));
                self.planned(plan);
            }
            Event::CallReserved { call, worst, .. } => self.called(*call, worst),
            Event::CallSettled { call, .. } => self.seen(|seen| {
                seen.slow = None;
                seen.reserved.remove(call);
            }),
            Event::StepStarted { step, .. } => {
                self.seen(|seen| (seen.running, seen.passed) = (Some(step.clone()), None));
                self.line(format!("{} step {}", dim("·"), self.name(step)));
            }
            Event::StepEnded { step, done, outcome, .. } => self.ended(step, *done, outcome),
            Event::StepsStale { because, steps, .. } => {
                let steps: Vec<&str> = steps.iter().map(StepId::as_str).collect();
                let why = format!("step {} changed what steps {} rest on", because, steps.join(", "));
                self.line(format!("{} {why}; they are checked anew", doubtful("~")));
            }
            Event::Nudged { .. } => {
                self.line(format!("{} the same failure came again; it is shown what it missed", doubtful("~")));
            }
            Event::Answered { answers, .. } => {
                for answer in answers {
                    let (question, text) = (one_line(&answer.question), one_line(&answer.text));
                    self.line(format!("{} {question} {}", good("✓"), bold(text)));
                }
            }
            Event::Steered { text, .. } => self.line(format!("{} heard: {}", good("✓"), one_line(text))),
            Event::NoteDeclined { why, .. } => {
                self.line(format!("{} not taken: {}", doubtful("~"), one_line(why)));
            }
            Event::LimitsRaised { .. } => self.line(format!("{} its limits are raised", good("✓"))),
            Event::Gated { verdict, problems, .. } => {
                let mark = if verdict == "clean" { good("✓") } else { doubtful("~") };
                self.line(format!("{mark} gate      {}", one_line(verdict)));
                for problem in problems.iter().take(5) {
                    self.line(format!("            {}", one_line(problem)));
                }
            }
            Event::Checkpointed { what, .. } if what != "proposal" && !self.is_step(what) => {
                self.line(format!("{} {}", good("✓"), one_line(what)));
            }
            // Nothing moves while somebody is asked.
            Event::Concluded { .. } | Event::Paused { .. } => self.bar.finish_and_clear(),
            Event::Resumed { .. } => {
                self.bar.reset();
                self.bar.enable_steady_tick(TICK);
            }
            _ => {}
        }
    }

    fn planned(&self, proposed: &Plan) {
        self.seen(|seen| {
            let names = proposed.steps.iter().enumerate();
            let name = |(number, step): (usize, &task::Step)| {
                (step.id.clone(), format!("{} of {}: {}", number + 1, proposed.steps.len(), one_line(&step.title)))
            };
            seen.steps = names.map(name).collect();
        });
        // One that was shown is not shown again to whoever answers it.
        if self.seen(|seen| seen.shown.replace(proposed.version)) != Some(proposed.version) {
            self.line(plan(proposed).trim_end().to_owned());
        }
    }

    /// A step is good where checks say so. That it is done is at first only what the model says.
    fn ended(&self, step: &StepId, done: bool, outcome: &str) {
        let (ran, passed) = self.seen(|seen| {
            let ran = seen.running.take().is_some_and(|running| running == *step);
            (ran, seen.passed.take() == Some(true))
        });
        let (mark, word) = match (done, ran) {
            (false, _) => (poor("✗"), ""),
            (true, _) if passed => (good("✓"), if ran { "" } else { "still holds: " }),
            (true, true) => (dim("·"), "the model says: "),
            (true, false) => (dim("·"), "as before: "),
        };
        let outcome = dim(format!("{word}{}", one_line(&plainly(outcome))));
        self.line(format!("{mark} step {}  {outcome}", self.name(step)));
    }

    /// A call begins. What the tools before it did is over.
    fn called(&self, call: CallId, worst: &Reservation) {
        let model = one_line(&worst.model);
        self.now(dim(format!("{model} is asked")));
        let slow = self.bar.is_hidden().then(|| waiting_for(model));
        self.seen(|seen| {
            seen.reserved.insert(call, worst.clone());
            (seen.slow, seen.heard) = (slow, String::new());
        });
    }

    fn name(&self, step: &StepId) -> String {
        self.seen(|seen| seen.steps.get(step).cloned()).unwrap_or_else(|| one_line(step.as_str()))
    }

    /// A checkpoint of a step says nothing that its end does not say.
    fn is_step(&self, what: &str) -> bool {
        self.seen(|seen| seen.steps.keys().any(|step| what.strip_prefix("step ") == Some(step.as_str())))
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self, text: String) {
        self.bar.set_message(text);
    }

    fn line(&self, text: String) {
        if self.bar.is_hidden() {
            anstream::eprintln!("{text}");
        } else {
            self.bar.suspend(|| anstream::eprintln!("{text}"));
        }
    }
}

/// What calls that are under way could use, in tokens and millionths of a dollar.
fn reserved(calls: &BTreeMap<CallId, Reservation>) -> (u64, u64) {
    let sum = |of: fn(&Reservation) -> u64| calls.values().map(of).fold(0, u64::saturating_add);
    (sum(|worst| worst.input.saturating_add(worst.output)), sum(|worst| worst.microdollars.unwrap_or(0)))
}

/// What is used, in as few letters as a line beside other news has room for.
fn spent(tokens: u64, max_tokens: Option<u64>, microdollars: Option<u64>, max_microdollars: Option<u64>) -> String {
    let tokens = share(about(tokens), max_tokens.map(about));
    match microdollars {
        Some(used) => {
            format!("{tokens} tokens, {}", share(about_dollars(used), max_microdollars.map(about_dollars)))
        }
        None => format!("{tokens} tokens"),
    }
}

/// Takes more text in; what is shown is the end of its last line.
fn last_line(heard: &mut String, more: &str) -> String {
    heard.push_str(more);
    let begin = heard.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let end = heard.len();
    let from = heard.ceil_char_boundary(begin.max(end.saturating_sub(HEARD)));
    heard.drain(..from);
    task::printable(heard.trim())
}

fn word(side: Side) -> &'static str {
    match side {
        Side::Base => "base",
        Side::Candidate => "here",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_model_says_the_last_line_is_shown() {
        let mut heard = String::new();
        assert_eq!(last_line(&mut heard, "I look "), "I look");
        assert_eq!(last_line(&mut heard, "first.\n"), "I look first.");
        assert_eq!(last_line(&mut heard, "Then\u{1b}[2J"), "Then\\u{1b}[2J");
        let long = last_line(&mut heard, &"ä".repeat(500));
        assert!(long.len() <= HEARD && heard.len() <= HEARD, "{} {}", long.len(), heard.len());
    }

    #[test]
    fn what_is_spent_stands_beside_what_may_be() {
        assert_eq!(spent(1234, Some(1_000_000), Some(30_000), Some(500_000)), "1.3k of 1M tokens, $0.030 of $0.500");
        assert_eq!(spent(987, None, None, Some(500_000)), "987 tokens");
    }
}
