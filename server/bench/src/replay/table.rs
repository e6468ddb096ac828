//! What came of each task, as lines of a table.

use std::fmt;
use std::time::Duration;

use task::port::Used;

use super::clock::Spent;
use crate::table::percentile;

/// What came of one task.
pub struct Row {
    pub id: String,
    pub files: usize,
    pub hunks: usize,
    pub narrowed: bool,
    /// Whether the tree is the fix, byte for byte, and nothing else.
    pub exact: bool,
    pub verdict: String,
    /// Without the time that the model's answers took.
    pub total: Duration,
    pub spent: Spent,
    pub stations: Vec<(String, Duration)>,
    pub calls: usize,
    pub used: Used,
    pub share: f64,
    pub microdollars: u64,
    pub whole: Used,
    pub whole_microdollars: u64,
    /// What the harness did not take from the model.
    pub refused: Vec<String>,
}

/// All of them.
#[derive(Default)]
pub struct Rows {
    pub rows: Vec<Row>,
    pub skipped: Vec<String>,
}

const HEAD: &str = "| task | files, hunks | checks | tree is the fix | verdict | total s | base s | checks s | old tests s | rest s | rest / checks | \
    calls | input tokens | cached from the 2nd call | output tokens | $ | whole files: tokens in, out | $ |";
const LABEL: &str = "The floor of an oracle: what this harness costs around a model that makes no mistake; not a claim about what a task costs.";

impl Row {
    /// What is neither a command of a check nor the model.
    fn rest(&self) -> Duration {
        self.total.saturating_sub(self.spent.base + self.spent.checks + self.spent.others)
    }

    fn overhead(&self) -> Option<f64> {
        let checks = self.spent.checks.as_secs_f64();
        (checks > 0.0).then(|| 100.0 * self.rest().as_secs_f64() / checks)
    }

    /// Time until the facts of these stations were there.
    fn at(&self, stations: &[&str]) -> f64 {
        let own = self.stations.iter().filter(|(name, _)| stations.contains(&name.as_str()));
        own.map(|(_, time)| time.as_secs_f64()).sum()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = self.used.sent();
        let overhead = self.overhead().map_or("-".to_owned(), |percent| format!("{percent:.1} %"));
        write!(
            f,
            "| {} | {}, {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {overhead} | {} | {input} | {:.1} % | {} | {:.4} | {}, {} | {:.4} |",
            self.id,
            self.files,
            self.hunks,
            if self.narrowed { "cut down" } else { "all" },
            if self.exact { "yes" } else { "NO" },
            self.verdict.replace('|', "/").lines().next().unwrap_or_default(),
            self.total.as_secs_f64(),
            self.spent.base.as_secs_f64(),
            self.spent.checks.as_secs_f64(),
            self.spent.others.as_secs_f64(),
            self.rest().as_secs_f64(),
            self.calls,
            100.0 * self.share,
            self.used.output,
            dollars(self.microdollars),
            self.whole.input,
            self.whole.output,
            dollars(self.whole_microdollars),
        )
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{LABEL}\nList prices of {} by {}; tokens by the vocabulary o200k.\n",
            super::MODEL,
            super::VENDOR
        )?;
        writeln!(f, "{HEAD}\n|{}", "---|".repeat(18))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        let sum = |of: &dyn Fn(&Row) -> f64| self.rows.iter().map(of).sum::<f64>();
        let exact = self.rows.iter().filter(|row| row.exact).count();
        let verified = self.rows.iter().filter(|row| row.verdict == "verified").count();
        let reads = sum(&|row| row.used.cache_read as f64);
        let input = sum(&|row| row.used.sent() as f64);
        let checks = sum(&|row| row.spent.checks.as_secs_f64());
        let rest = sum(&|row| row.rest().as_secs_f64());
        let overheads = self.rows.iter().filter_map(|row| Some(Duration::from_secs_f64(row.overhead()?)));
        writeln!(f, "\n{} tasks: the tree is the fix in {exact}, verified in {verified}.", self.rows.len())?;
        writeln!(
            f,
            "Rest / checks: {:.1} % over all, {:.1} % in the median task (goal: at most 10 %). Cached: {:.1} % of all input.",
            100.0 * rest / checks.max(1e-9),
            percentile(overheads.collect(), 50).as_secs_f64(),
            100.0 * reads / input.max(1.0),
        )?;
        writeln!(
            f,
            "\n| task | freeze, shadow s | look s | plan, propose s | gate s | around checks s | runs | refused |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|")?;
        for row in &self.rows {
            let refused: Vec<&str> = row.refused.iter().filter_map(|text| text.lines().next()).collect();
            writeln!(
                f,
                "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {} |",
                row.id,
                row.at(&["admit", "freeze", "shadow"]),
                row.at(&["look"]),
                row.at(&["plan", "propose"]),
                row.at(&["gate"]),
                row.spent.around.as_secs_f64(),
                row.spent.runs,
                refused.join("; ").replace('|', "/"),
            )?;
        }
        if !self.skipped.is_empty() {
            writeln!(f, "\nNot replayed: {}.", self.skipped.join("; "))?;
        }
        Ok(())
    }
}

fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}
