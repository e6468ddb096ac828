//! A table of comparisons.

use std::fmt;
use std::time::Duration;

/// Rows in the order in which they are printed.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    ours: String,
    /// The other one in words, and the ratio.
    other: Option<(String, f64)>,
    goal: String,
}

impl Table {
    /// Ours against something else; the goal is in words.
    pub fn compare(&mut self, what: impl Into<String>, ours: Duration, name: &str, other: Duration, goal: &str) {
        let ratio = ours.as_secs_f64() / other.as_secs_f64();
        let other = Some((format!("{name}: {}", short(other)), ratio));
        self.rows.push(Row { what: what.into(), ours: short(ours), other, goal: goal.to_owned() });
    }

    /// A time that has nothing to be compared with.
    pub fn time(&mut self, what: impl Into<String>, ours: Duration, goal: &str) {
        self.amount(what, short(ours), goal);
    }

    /// Something that is no time, in words.
    pub fn amount(&mut self, what: impl Into<String>, ours: impl Into<String>, goal: &str) {
        self.rows.push(Row { what: what.into(), ours: ours.into(), other: None, goal: goal.to_owned() });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| measured | ours | compared with | ratio | goal |\n|---|---|---|---|---|")?;
        for Row { what, ours, other, goal } in &self.rows {
            let (name, ratio) = match other {
                Some((name, ratio)) => (name.as_str(), format!("{ratio:.2}x")),
                None => Default::default(),
            };
            writeln!(f, "| {what} | {ours} | {name} | {ratio} | {goal} |")?;
        }
        Ok(())
    }
}

fn short(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

/// The middle one of several times.
pub fn median(times: Vec<Duration>) -> Duration {
    percentile(times, 50)
}

/// The time that so many of a hundred do not exceed.
pub fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}
