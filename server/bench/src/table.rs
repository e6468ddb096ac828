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
    ours: Duration,
    other: Option<(String, Duration)>,
    goal: String,
}

impl Table {
    /// Ours against something else; the goal is in words.
    pub fn compare(&mut self, what: impl Into<String>, ours: Duration, name: &str, other: Duration, goal: &str) {
        let (what, goal) = (what.into(), goal.to_owned());
        self.rows.push(Row { what, ours, other: Some((name.to_owned(), other)), goal });
    }

    /// A time that has nothing to be compared with.
    pub fn time(&mut self, what: impl Into<String>, ours: Duration, goal: &str) {
        self.rows.push(Row { what: what.into(), ours, other: None, goal: goal.to_owned() });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| measured | ours | compared with | ratio | goal |\n|---|---|---|---|---|")?;
        for Row { what, ours, other, goal } in &self.rows {
            let (name, ratio) = match other {
                Some((name, other)) => {
                    (format!("{name}: {}", short(*other)), format!("{:.2}x", ours.as_secs_f64() / other.as_secs_f64()))
                }
                None => Default::default(),
            };
            writeln!(f, "| {what} | {} | {name} | {ratio} | {goal} |", short(*ours))?;
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
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
