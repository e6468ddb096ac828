//! What happens while a task runs: finished stations as lines, the present one as a moving line.
//!
//! Everything goes to standard error, so that standard output holds the result alone.

use std::sync::Mutex;
use std::time::Duration;

use agent::{Audience, Progress, Side};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use task::{Event, Verdict};

use super::style::{bold, dim, doubtful, duration, good, poor};

/// The live view of one task.
#[derive(Debug)]
pub struct Live {
    bar: ProgressBar,
    /// The side of the check that runs now, for the words on the moving line.
    side: Mutex<&'static str>,
}

impl Live {
    /// An audience that shows the news, or drops them where `quiet`.
    pub fn audience(quiet: bool) -> Audience {
        if quiet {
            return Audience::none();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let live = Self { bar, side: Mutex::new("") };
        Audience::new(move |news| live.show(news))
    }

    fn show(&self, news: Progress) {
        match news {
            Progress::Happened(event) => self.happened(&event),
            Progress::Doing(what) | Progress::Tool(what) => self.now(what),
            Progress::Waiting { why, .. } => self.now(format!("waiting: {why}")),
            Progress::Heard(_) | Progress::Spent { .. } => {}
            Progress::CheckStarted { check, side } => {
                let side = word(side);
                if let Ok(mut now) = self.side.lock() {
                    *now = side;
                }
                self.now(format!("{side}: {check}"));
            }
            Progress::CheckAdvanced { check, text, done, total } => {
                let side = self.side.lock().map_or("", |side| *side);
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
            Event::PlanProposed { plan } => {
                self.line(bold("plan"));
                for (number, step) in plan.steps.iter().enumerate() {
                    self.line(format!("  {}. {}", number + 1, task::printable(&step.title)));
                    self.line(format!("     {}", dim(&step.reasoning)));
                }
            }
            Event::Gated { verdict, problems, .. } => {
                let mark = if verdict == "clean" { good("✓") } else { doubtful("~") };
                self.line(format!("{mark} gate      {verdict}"));
                for problem in problems.iter().take(5) {
                    self.line(format!("            {}", task::printable(problem)));
                }
            }
            Event::Checkpointed { what, .. } if what != "proposal" => self.line(format!("{} {what}", good("✓"))),
            Event::Concluded { .. } => self.bar.finish_and_clear(),
            _ => {}
        }
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

fn word(side: Side) -> &'static str {
    match side {
        Side::Base => "base",
        Side::Candidate => "here",
    }
}
