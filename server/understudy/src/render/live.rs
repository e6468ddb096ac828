//! What happens while a task runs: finished stations as lines, the present one as a moving line.
//!
//! Everything goes to standard error, so that standard output holds the result alone.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent::{Audience, Progress, Side};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use task::{Event, Plan, StepId, Verdict};

use super::style::{bold, dim, doubtful, duration, good, poor};
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
                self.now(task::printable(&what));
            }
            Progress::Heard(text) => {
                let line = self.seen(|seen| last_line(&mut seen.heard, &text));
                self.now(dim(line));
            }
            Progress::Spent { tokens, max_tokens, microdollars, max_microdollars, .. } => {
                let used = spent(tokens, max_tokens, microdollars, max_microdollars);
                self.bar.set_prefix(dim(used));
            }
            Progress::Waiting { why, ms } => {
                let why = task::printable(&why);
                self.line(format!("{} {why}; trying again in {}", doubtful("~"), duration(ms)));
            }
            Progress::CheckStarted { check, side } => {
                let side = word(side);
                self.seen(|seen| seen.side = side);
                self.now(format!("{side}: {check}"));
            }
            Progress::CheckAdvanced { check, text, done, total } => {
                let side = self.seen(|seen| seen.side);
                let counted = if total > 0 { format!(" ({done} of {total})") } else { String::new() };
                let whose = if side.is_empty() { String::new() } else { format!("{side}: ") };
                self.now(format!("{whose}{check}: {}{counted}", task::printable(&text)));
            }
            Progress::CheckEnded { check, side, verdict, cached, duration_ms, .. } => {
                let mark = match verdict {
                    Verdict::Passed => good("✓"),
                    Verdict::KnownFailure => doubtful("~"),
                    _ => poor("✗"),
                };
                let time = if cached { "known already".to_owned() } else { duration(duration_ms) };
                self.line(format!("{mark} {:9} {check}: {} {}", word(side), verdict.word(), dim(time)));
            }
        }
    }

    fn happened(&self, event: &Event) {
        match event {
            Event::PlanProposed { plan } => self.planned(plan),
            Event::PlanRevised { plan, because, .. } => {
                self.line(format!("{} the plan is revised: {}", doubtful("~"), task::printable(because)));
                self.planned(plan);
            }
            Event::StepStarted { step, .. } => self.now(self.name(step)),
            Event::StepEnded { step, done, outcome, .. } => {
                let mark = if *done { good("✓") } else { poor("✗") };
                let outcome = if outcome.is_empty() { String::new() } else { dim(task::printable(outcome)) };
                self.line(format!("{mark} step {}  {outcome}", self.name(step)));
            }
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
                    let (question, text) = (task::printable(&answer.question), task::printable(&answer.text));
                    self.line(format!("{} {question} {}", good("✓"), bold(text)));
                }
            }
            Event::Steered { text, .. } => self.line(format!("{} heard: {}", good("✓"), task::printable(text))),
            Event::NoteDeclined { why, .. } => {
                self.line(format!("{} not taken: {}", doubtful("~"), task::printable(why)));
            }
            Event::LimitsRaised { .. } => self.line(format!("{} its limits are raised", good("✓"))),
            Event::Gated { verdict, problems, .. } => {
                let mark = if verdict == "clean" { good("✓") } else { doubtful("~") };
                self.line(format!("{mark} gate      {verdict}"));
                for problem in problems.iter().take(5) {
                    self.line(format!("            {}", task::printable(problem)));
                }
            }
            Event::Checkpointed { what, .. } if what != "proposal" && !self.is_step(what) => {
                self.line(format!("{} {}", good("✓"), task::printable(what)));
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
                (
                    step.id.clone(),
                    format!("{} of {}: {}", number + 1, proposed.steps.len(), task::printable(&step.title)),
                )
            };
            seen.steps = names.map(name).collect();
        });
        self.line(plan(proposed).trim_end().to_owned());
    }

    fn name(&self, step: &StepId) -> String {
        self.seen(|seen| seen.steps.get(step).cloned()).unwrap_or_else(|| step.to_string())
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

/// What is used or reserved, in as few letters as a line beside other news has room for.
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
