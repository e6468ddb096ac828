//! What Rust's test programs say, and when it is believed.
//!
//! A test program lists its tests first (`--list`), in a process of its own. The run then reports on two channels:
//! standard output for its summary, and a log (`--logfile`, a pipe that exists for nothing else) for the result of each
//! test. What tests print goes to standard output or is captured; nothing reaches the log by printing. The program has
//! passed when it exited with 0, its last summary agrees with the log, and the log has exactly one result for each
//! listed id and none for another.
//!
//! What remains forgeable: a test runs in the same process as its siblings, so code that imitates the harness on both
//! channels, for exactly the listed ids, and then ends the process with status 0 cannot be told from the harness. It has
//! to be written for the purpose and stands in the diff. Printing, ending early, repeating a result, or results for
//! other ids are all seen. Programs without the log (other harnesses that speak the protocol) are read from standard
//! output alone, where printing a line in the harness's form suffices for a sibling that then gets no line of its own.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::Outcome;

/// How one test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Ok,
    Failed,
    Ignored,
}

/// The counts of a closing line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Summary {
    pub ok: bool,
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
    pub measured: usize,
    pub filtered: usize,
}

/// Everything that a run of a test program said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub results: Vec<(String, Said)>,
    pub summary: Option<Summary>,
    /// What failing tests printed, by id.
    pub sections: BTreeMap<String, String>,
}

/// The ids that `--list --format terse` names; `None` if this is not such a list.
pub(crate) fn parse_list(stdout: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(stdout);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.strip_suffix(": test").or(line.strip_suffix(": benchmark")).map(str::to_owned)).collect()
}

/// The results in a log. A result may span lines (what a panic should have said); it ends with the id.
pub(crate) fn parse_log(log: &[u8], listed: &BTreeSet<String>) -> Vec<(String, Said)> {
    let text = String::from_utf8_lossy(log);
    let mut results = Vec::new();
    let mut open: Option<Said> = None;
    for line in text.lines() {
        let said = open.or_else(|| {
            let word = line.split([' ', ':']).next().unwrap_or(line);
            match word {
                "ok" | "bench" => Some(Said::Ok),
                "failed" => Some(Said::Failed),
                "ignored" => Some(Said::Ignored),
                _ => None,
            }
        });
        let id = line.rsplit(' ').next().unwrap_or(line);
        match said {
            Some(said) if listed.contains(id) => {
                results.push((id.to_owned(), said));
                open = None;
            }
            // A plain result for an id that is not listed: kept, so that it is seen.
            // What was ignored for a reason has a colon there, and the reason may go on in the next line.
            Some(said)
                if open.is_none()
                    && line.split(' ').count() == 2
                    && (said != Said::Ignored || line.starts_with("ignored ")) =>
            {
                results.push((id.to_owned(), said));
            }
            other => open = other,
        }
    }
    results
}

/// Results, closing lines and sections in standard output.
///
/// Tests may print closing lines, so that of a test program is its last one. Doc tests, whose output is captured, close
/// once for those that were merged into one program and once for the others: their lines are added up.
pub(crate) fn parse_stdout(stdout: &[u8], listed: &BTreeSet<String>, doctests: bool) -> Report {
    let text = String::from_utf8_lossy(stdout);
    let mut report = Report::default();
    let mut section: Option<(String, String)> = None;
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
            report.sections.extend(section.take());
            section = Some((id.to_owned(), String::new()));
        } else if line == "failures:" || line.starts_with("test result: ") {
            report.sections.extend(section.take());
        } else if let Some((_, text)) = &mut section {
            text.push_str(line);
            text.push('\n');
        }
        if let Some(summary) = parse_summary(line) {
            report.summary = Some(match report.summary {
                Some(sum) if doctests => sum.plus(summary),
                _ => summary,
            });
        }
        report.results.extend(parse_line(line, listed));
    }
    report.sections.extend(section);
    report
}

impl Summary {
    pub(crate) fn plus(self, other: Summary) -> Summary {
        Summary {
            ok: self.ok && other.ok,
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
            measured: self.measured + other.measured,
            filtered: self.filtered + other.filtered,
        }
    }
}

/// `test path::name - should panic ... ok`
pub(crate) fn parse_line(line: &str, listed: &BTreeSet<String>) -> Option<(String, Said)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let said = match result.split([' ', ',', ':']).next()? {
        "ok" | "bench" => Said::Ok,
        "FAILED" => Said::Failed,
        "ignored" => Said::Ignored,
        _ => return None,
    };
    let bare = [" - should panic", " - compile fail", " - compile"].iter().find_map(|end| name.strip_suffix(end));
    let id = [Some(name), bare].into_iter().flatten().find(|id| listed.contains(*id))?;
    Some((id.to_owned(), said))
}

/// `test result: ok. 4 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.06s`
pub(crate) fn parse_summary(line: &str) -> Option<Summary> {
    let (word, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut summary = Summary { ok: word == "ok", ..Summary::default() };
    for part in counts.split("; ") {
        let Some((count, what)) = part.split_once(' ') else { continue };
        let Ok(count) = count.parse() else { continue };
        match what.split(' ').next()? {
            "passed" => summary.passed = count,
            "failed" => summary.failed = count,
            "ignored" => summary.ignored = count,
            "measured" => summary.measured = count,
            "filtered" => summary.filtered = count,
            _ => {}
        }
    }
    Some(summary)
}

/// What is wrong with a run as a whole, beyond the tests that failed in it; `None` if the harness did all it promised.
pub(crate) fn irregular(listed: &BTreeSet<String>, report: &Report, outcome: &Outcome) -> Option<String> {
    let code = match outcome {
        Outcome::Exit { code } => *code,
        other => return Some(format!("the test process did not end by itself: {other}")),
    };
    let mut seen = BTreeSet::new();
    for (id, _) in &report.results {
        if !listed.contains(id) {
            return Some(format!("a result for `{}`, which is not among the listed tests", task::printable(id)));
        }
        if !seen.insert(id) {
            return Some(format!("more than one result for `{}`", task::printable(id)));
        }
    }
    let count = |wanted| report.results.iter().filter(|(_, said)| *said == wanted).count();
    let (ok, failed, ignored) = (count(Said::Ok), count(Said::Failed), count(Said::Ignored));
    let Some(summary) = report.summary.filter(|_| seen.len() == listed.len()) else {
        return Some("the test process ended before its tests did".to_owned());
    };
    if summary.passed + summary.measured != ok || summary.failed != failed || summary.ignored != ignored {
        return Some("the closing summary does not agree with the results of the tests".to_owned());
    }
    if summary.filtered != 0 {
        return Some(format!("{} tests were filtered out", summary.filtered));
    }
    match (code, failed) {
        (0, 0) if summary.ok => None,
        (0, 0) => Some("the closing summary says FAILED though no test did".to_owned()),
        (0, _) => Some("the test process exited with 0 although tests failed".to_owned()),
        (_, 0) => Some(format!("the test process exited with {code} although no test failed")),
        _ => None,
    }
}
