//! The gate: does an edit bring problems that the base did not have? Answered in process, before any command runs.
//!
//! Problems are the compiler's native diagnostics and every path that does not resolve. They are compared with those of
//! the base as multisets of signatures, so what was wrong before, or is wrong only in the analysis, does not count.

mod affected;
mod declarations;
mod findings;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use task::TreePath;
use task::port::{GateProblem, GateReport};

use crate::analysis::Analysis;
use affected::Consequences;
use declarations::Declarations;
pub use findings::Finding;
pub(crate) use resolve::unresolved;

/// How long files may be judged that only mention what an edit changed.
const DEPENDENTS_BUDGET: Duration = Duration::from_secs(3);
/// More problems than this are not worth reading.
const PROBLEM_CAP: usize = 100;

/// What is known about the base, by file; filled when first needed.
#[derive(Debug, Default)]
pub struct BaseFindings {
    by_file: BTreeMap<TreePath, Vec<Finding>>,
    declarations: BTreeMap<TreePath, Declarations>,
}

impl Analysis {
    /// Judges the present text against the base. `edited` are the files that the caller changed; others that differ
    /// from the base are judged as well.
    pub(crate) fn gate(&mut self, edited: &[TreePath]) -> GateReport {
        let mut missing = self.notes().to_vec();
        let changed = self.changed(edited);
        let (sources, others): (BTreeSet<_>, BTreeSet<_>) =
            changed.iter().cloned().partition(|path| path.file_name().ends_with(b".rs"));
        missing.extend(others.iter().filter_map(stale_note));
        for path in sources.iter().filter(|path| self.files().contains_key(*path)) {
            if !self.is_in_a_crate(path) {
                missing.push(format!("{path} is not part of any crate, so nothing in it was judged"));
            }
        }
        let started = Instant::now();
        let Consequences { dependents, bodies } = self.consequences(&sources);
        let mut judged: Vec<TreePath> = sources.iter().cloned().collect();
        let mut now: Vec<Finding> = Vec::new();
        for path in &sources {
            now.extend(self.findings(path, bodies.get(path)));
        }
        let mut left = 0;
        for path in dependents {
            if started.elapsed() > DEPENDENTS_BUDGET {
                left += 1;
                continue;
            }
            now.extend(self.findings(&path, None));
            judged.push(path);
        }
        if left > 0 {
            missing.push(format!(
                "{left} files that mention what was changed were not judged within {} s",
                DEPENDENTS_BUDGET.as_secs()
            ));
        }
        self.learn_base(&judged, &sources);
        let base = judged.iter().filter_map(|path| self.base_findings.by_file.get(path)).flatten();
        let problems = new_problems(base, now);
        if problems.is_empty() { GateReport::Clean { missing } } else { GateReport::Errors { problems, missing } }
    }

    /// Learns the base's findings about files while the text still is the base: cheaper than going back later.
    pub(crate) fn learn_before_change(&mut self, paths: &[TreePath]) {
        if self.changed(&[]).is_empty() {
            let started = Instant::now();
            for path in paths.iter().filter(|path| path.file_name().ends_with(b".rs")) {
                if started.elapsed() > DEPENDENTS_BUDGET {
                    return;
                }
                self.learn(path);
            }
        }
    }

    /// Makes sure that the base's findings about these files are known, by going back to the base text if need be.
    fn learn_base(&mut self, judged: &[TreePath], changed: &BTreeSet<TreePath>) {
        let unknown: Vec<&TreePath> =
            judged.iter().filter(|path| !self.base_findings.by_file.contains_key(*path)).collect();
        if unknown.is_empty() {
            return;
        }
        type Files = Vec<(TreePath, Option<Arc<[u8]>>)>;
        let at_base: Files = changed.iter().map(|path| (path.clone(), self.base().get(path).cloned())).collect();
        let present: Files = changed.iter().map(|path| (path.clone(), self.files().get(path).cloned())).collect();
        self.set_files(at_base);
        for path in unknown {
            self.learn(path);
        }
        self.set_files(present);
    }

    fn learn(&mut self, path: &TreePath) {
        if !self.base_findings.by_file.contains_key(path) {
            let found = self.findings(path, None);
            self.base_findings.by_file.insert(path.clone(), found);
        }
    }

    /// The files whose text differs from the base, and those that the caller names.
    fn changed(&self, edited: &[TreePath]) -> BTreeSet<TreePath> {
        let same = |one: &Arc<[u8]>, other: &Arc<[u8]>| Arc::ptr_eq(one, other) || one == other;
        let added =
            self.files().iter().filter(|(path, bytes)| !self.base().get(*path).is_some_and(|base| same(base, bytes)));
        let removed = self.base().keys().filter(|path| !self.files().contains_key(*path));
        added.map(|(path, _)| path).chain(removed).chain(edited).cloned().collect()
    }
}

/// What a changed file that is no source means for the analysis.
fn stale_note(path: &TreePath) -> Option<String> {
    let steers = matches!(path.file_name(), b"Cargo.toml" | b"Cargo.lock" | b"rust-toolchain" | b"rust-toolchain.toml")
        || path.components().any(|part| part == b".cargo");
    steers.then(|| {
        format!("{path} changed, but packages, features and dependencies are analysed as they were at the base")
    })
}

/// The findings that exceed those of the base, counted by signature.
fn new_problems<'a>(base: impl Iterator<Item = &'a Finding>, now: Vec<Finding>) -> Vec<GateProblem> {
    let mut known: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for finding in base {
        known.entry(finding.signature()).or_default().push(&finding.line_text);
    }
    // First the findings whose line is as it was, so that what is left over is what the edit brought.
    let mut rest = Vec::new();
    for finding in now {
        let lines = known.get_mut(&finding.signature());
        match lines
            .and_then(|lines| lines.iter().position(|line| **line == finding.line_text).map(|at| lines.swap_remove(at)))
        {
            Some(_) => {}
            None => rest.push(finding),
        }
    }
    rest.retain(|finding| known.get_mut(&finding.signature()).is_none_or(|lines| lines.pop().is_none()));
    rest.sort_by(|one, other| (&one.path, one.line, &one.code).cmp(&(&other.path, other.line, &other.code)));
    rest.dedup_by(|one, other| one.path == other.path && one.line == other.line && one.message == other.message);
    rest.truncate(PROBLEM_CAP);
    let problem = |finding: Finding| GateProblem {
        path: finding.path,
        line: finding.line,
        code: finding.code,
        message: finding.message,
    };
    rest.into_iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, message: &str, line_text: &str) -> Finding {
        Finding {
            path: "a.rs".parse().unwrap(),
            line,
            code: "E0425".to_owned(),
            message: message.to_owned(),
            line_text: line_text.to_owned(),
        }
    }

    #[test]
    fn what_the_base_shows_too_does_not_count_wherever_it_moved() {
        let base = [finding(1, "no `x`", "x();"), finding(2, "no `x`", "x() + 1;")];
        assert!(
            new_problems(base.iter(), vec![finding(7, "no `x`", "x() + 1;"), finding(9, "no `x`", "x();")]).is_empty()
        );
        let found = new_problems(
            base.iter(),
            vec![finding(1, "no `x`", "x();"), finding(2, "no `x`", "x() + 1;"), finding(3, "no `x`", "new(x());")],
        );
        assert_eq!(found.iter().map(|problem| problem.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn another_problem_on_an_old_line_counts() {
        let base = [finding(1, "no `x`", "x(y);")];
        let found = new_problems(base.iter(), vec![finding(1, "no `y`", "x(y);")]);
        assert_eq!(found.len(), 1);
    }
}
