//! What our reporters say of a run of tests, and when it is believed.
//!
//! A reporter of ours runs inside node, vitest, jest or pytest and writes one JSON object a line into a pipe that exists
//! for nothing else: what was collected, what became of each test, and a closing count. The run has passed when the
//! process exited by itself with 0, the closing count agrees with the results, every test that was collected has exactly
//! one result, and none failed.
//!
//! What remains forgeable: `node --test`, vitest and jest (with several workers) run tests in other processes than the
//! reporter, pytest and jest in one process run them beside it. Code that finds the pipe and writes lines in this form,
//! for exactly the tests that exist, and then ends the process with status 0 cannot be told from the reporter. It has to
//! be written for the purpose and stands in the diff. Printing, ending early and repeating results are all seen.

use std::collections::BTreeMap;
use std::path::Path;

use sandbox::Outcome;
use serde::Deserialize;
use task::{Item, ItemId, ItemKind, ItemResult, TreePath};

use crate::cargo_test::passed;
use crate::commands::tree_path;
use crate::folder::Folder;
use crate::order::PROCESS;
use crate::signature::signature;
use crate::told::excerpt;

/// One line of a report.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    kind: Kind,
    /// Absolute, or relative to the folder of the project.
    file: Option<String>,
    /// Suites and test, outermost first.
    #[serde(default)]
    names: Vec<String>,
    said: Option<Said>,
    #[serde(default)]
    message: String,
    /// The whole text, frames of a stack among it.
    #[serde(default)]
    stack: String,
    /// Where the test stands in its file.
    line: Option<u32>,
    /// File and line where it failed, if the reporter knows.
    place: Option<(String, u32)>,
    #[serde(default)]
    passed: u32,
    #[serde(default)]
    failed: u32,
    #[serde(default)]
    ignored: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Listed,
    Result,
    /// A file, a suite or the run as a whole failed beside its tests.
    Broken,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Passed,
    Failed,
    Ignored,
}

/// Everything that a run reported.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
    /// Lines that are none of ours.
    strange: usize,
}

/// Whose report it is.
pub(crate) struct Context<'a> {
    pub shadow: &'a Path,
    /// The developer's folder, which is imitated inside.
    pub workspace: &'a Path,
    pub root: &'a Folder,
    pub package: &'a str,
    pub target: &'a str,
}

/// The id of a line that is a result, for progress.
pub(crate) fn result_in(line: &[u8]) -> Option<String> {
    let line: Line = serde_json::from_slice(line).ok().filter(|line: &Line| line.kind == Kind::Result)?;
    line.names.last().cloned().or(line.file)
}

impl Report {
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut report = Self::default();
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => report.lines.push(line),
                Err(_) => report.strange += 1,
            }
        }
        report
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.kind == kind)
    }

    /// The items of a run: one a result, one for each thing that broke beside the tests, one for the process.
    pub(crate) fn items(&self, context: &Context<'_>, outcome: &Outcome, errors: &str) -> Vec<Item> {
        let mut items = Vec::new();
        // How many results each listed test still waits for.
        let mut open: BTreeMap<ItemId, usize> = BTreeMap::new();
        for line in self.of(Kind::Listed) {
            *open.entry(context.id(line)).or_default() += 1;
        }
        let lists = !open.is_empty();
        let mut unlisted = None;
        for line in self.of(Kind::Result) {
            let mut item = passed(context.id(line), ItemKind::Test);
            match open.get_mut(&item.id).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None if lists => drop(unlisted.get_or_insert(item.id.path.clone())),
                None => {}
            }
            match line.said {
                Some(Said::Passed) => {}
                Some(Said::Ignored) => item.result = ItemResult::Ignored,
                Some(Said::Failed) | None => context.fail(&mut item, "failed", line),
            }
            items.push(item);
        }
        for (id, left) in open {
            for _ in 0..left {
                let mut item = passed(id.clone(), ItemKind::Test);
                item.result = ItemResult::NoResult;
                item.excerpt = "the test process gave no result for it".to_owned();
                item.signature = Some(signature(&item.id, "no result", "", context.shadow));
                items.push(item);
            }
        }
        for line in self.of(Kind::Broken) {
            // No test of its own: where it is gone something was mended, and nothing vanished.
            let mut item = passed(context.id(line), ItemKind::Diagnostic);
            if item.id.path.is_empty() {
                item.id.path = "(run)".to_owned();
            }
            context.fail(&mut item, "broken", line);
            items.push(item);
        }
        let id = ItemId { path: PROCESS.to_owned(), package: context.package.into(), target: context.target.into() };
        let mut process = passed(id, ItemKind::Test);
        let unlisted =
            unlisted.map(|id| format!("a result for `{}`, which is not among the listed tests", task::printable(&id)));
        if let Some(problem) = unlisted.or_else(|| self.irregular(outcome, &items)) {
            process.result = ItemResult::Failed;
            process.signature = Some(signature(&process.id, "process", &problem, context.shadow));
            process.excerpt = excerpt(&format!("{problem}\n{errors}"));
        }
        items.push(process);
        items
    }

    /// What is wrong with a run as a whole, beyond the tests that failed in it.
    fn irregular(&self, outcome: &Outcome, items: &[Item]) -> Option<String> {
        let code = match outcome {
            Outcome::Exit { code } => *code,
            other => return Some(format!("the test process did not end by itself: {other}")),
        };
        if self.strange > 0 {
            return Some("something wrote into the report of the tests".to_owned());
        }
        let mut ends = self.of(Kind::End);
        let (Some(end), None) = (ends.next(), ends.next()) else {
            // A shell stands between, which says in its own way that a signal ended the process.
            if (129..=192).contains(&code) {
                return Some(format!("the test process was killed by signal {}", code - 128));
            }
            return Some("the test process ended before its tests did".to_owned());
        };
        let said = |wanted| self.of(Kind::Result).filter(|line| line.said == Some(wanted)).count() as u64;
        let counts = (u64::from(end.passed), u64::from(end.failed), u64::from(end.ignored));
        if self.lines.last().map(|line| line.kind) != Some(Kind::End)
            || counts != (said(Said::Passed), said(Said::Failed), said(Said::Ignored))
        {
            return Some("the closing count does not agree with the results of the tests".to_owned());
        }
        let bad = items.iter().any(|item| matches!(item.result, ItemResult::Failed | ItemResult::NoResult));
        match (code, bad) {
            (0, false) => None,
            (0, true) => Some("the test process exited with 0 although tests failed".to_owned()),
            (_, true) => None,
            // How pytest says that there are no tests.
            (5, false) if items.is_empty() => None,
            (code, false) => Some(format!("the test process exited with {code} although no test failed")),
        }
    }
}

impl Context<'_> {
    fn id(&self, line: &Line) -> ItemId {
        let file = line.file.as_deref().map(|file| match self.path(file) {
            Some(path) => self.root.as_ref().and_then(|root| path.strip_prefix(root)).unwrap_or(path).to_string(),
            None => file.to_owned(),
        });
        let shadow = format!("{}/", self.shadow.to_string_lossy());
        let names = line.names.iter().map(|name| name.replace(&shadow, ""));
        let path: Vec<String> = file.into_iter().chain(names).collect();
        ItemId { package: self.package.to_owned(), target: self.target.to_owned(), path: path.join("::") }
    }

    /// The path in the tree of a file that a process named.
    pub(crate) fn path(&self, file: &str) -> Option<TreePath> {
        tree_path(self.shadow, self.root, file)
            .or_else(|| tree_path(self.workspace, self.root, file))
            .filter(|path| !crate::npm::is_installed(path))
    }

    fn fail(&self, item: &mut Item, class: &str, line: &Line) {
        let message = plain(&line.message);
        item.result = ItemResult::Failed;
        item.signature = Some(signature(&item.id, class, &message, self.shadow));
        let place = line.place.as_ref().and_then(|(file, number)| Some((self.path(file)?, *number)));
        item.at =
            place.or_else(|| self.place(&line.stack)).or_else(|| Some((self.path(line.file.as_deref()?)?, line.line?)));
        let stack = plain(&line.stack);
        // Where it failed is told once; the frames of libraries say nothing.
        let shadow = format!("{}/", self.shadow.to_string_lossy());
        let text = if stack.contains(message.trim()) { stack } else { format!("{message}\n{stack}") };
        let frame = |line: &&str| {
            !line.trim_start().starts_with("at ") || line.contains(&shadow) && !line.contains("/node_modules/")
        };
        let lines: Vec<&str> = text.lines().filter(frame).collect();
        item.excerpt = excerpt(&lines.join("\n").replace(&shadow, ""));
    }

    /// The first frame of a stack that lies in the tree: `at name (file:///path/a.js:3:14)`.
    fn place(&self, stack: &str) -> Option<(TreePath, u32)> {
        let frames = stack.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
        frames
            .filter_map(|frame| {
                let place = frame.rsplit_once('(').map_or(frame, |(_, place)| place.trim_end_matches(')'));
                let place = place.strip_prefix("async ").unwrap_or(place);
                let mut parts = place.strip_prefix("file://").unwrap_or(place).rsplitn(3, ':');
                let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
                Some((self.path(file).filter(|_| file.starts_with('/'))?, line.parse().ok()?))
            })
            .next()
    }
}

/// Text without the colours of terminals.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |end| end + 1);
        rest = &tail[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
