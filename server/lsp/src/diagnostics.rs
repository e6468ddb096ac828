//! Diagnostics for plain clients, only while a diff waits for its review: one for the diff, one for each hunk where the
//! client has no lenses, one for each failure that the base does not have. A rich client gets none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Position, PublishDiagnosticsParams, Range, Url};
use serde_json::{Value, json};
use task::{TaskId, TreePath};

use crate::entry::{Entry, one_line};
use crate::folders::Folder;
use crate::line::Status;
use crate::session::Session;

/// A failure that the base does not show, at its place in the developer's file.
pub struct Failure {
    pub task: TaskId,
    pub revision: u64,
    pub check: String,
    pub path: PathBuf,
    pub line: u32,
    pub text: String,
}

/// Brings what the client shows up to date; only files whose diagnostics changed are named.
pub fn news(session: &mut Session) -> Vec<PublishDiagnosticsParams> {
    let now = all(session);
    let mut news = Vec::new();
    let gone: Vec<PathBuf> = session.published.keys().filter(|path| !now.contains_key(*path)).cloned().collect();
    let cleared = gone.into_iter().map(|path| (path, Vec::new()));
    for (path, diagnostics) in now.iter().map(|(path, all)| (path.clone(), all.clone())).chain(cleared) {
        if session.published.get(&path) == Some(&diagnostics) {
            continue;
        }
        let open = session.documents.get(&path);
        let uri = open.map(|look| look.uri.clone()).or_else(|| Url::from_file_path(&path).ok());
        if let Some(uri) = uri {
            news.push(PublishDiagnosticsParams { uri, diagnostics, version: open.map(|look| look.version) });
        }
    }
    session.published = now;
    news
}

fn all(session: &Session) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut all: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for (entry, _) in session.reviews() {
        let line = entry.line();
        let data = json!({ "task": entry.id, "revision": line.revision, "tree": line.kept_tree });
        if let Some((path, at)) = place(session, entry) {
            let kept = line.kept_verdict.as_deref().unwrap_or("being checked");
            let message = format!(
                "{}: {} of {} hunks kept, {kept}; code actions approve, review or cancel it",
                line.title,
                line.hunks - line.rejected,
                line.hunks
            );
            all.entry(path).or_default().push(diagnostic(at, at, DiagnosticSeverity::INFORMATION, &message, data));
        }
    }
    for entry in session.entries.values() {
        let line = entry.line();
        if line.status == Status::NeedsYou
            && let Some((path, at)) = place(session, entry)
        {
            let plan = line.plan.as_ref().map(|plan| plan.version);
            let data = json!({ "task": entry.id, "revision": line.revision, "asked": line.asked, "version": plan });
            let message = format!("{}: {}; code actions answer, open or cancel it", line.title, line.sentence);
            let mut found = diagnostic(at, at, DiagnosticSeverity::INFORMATION, &message, data);
            found.code = Some(NumberOrString::String("needs you".into()));
            all.entry(path).or_default().push(found);
        }
    }
    for failure in failures(session) {
        let Failure { task, check, path, line, text, .. } = failure;
        let data = json!({ "task": task, "check": check });
        all.entry(path).or_default().push(diagnostic(line, line, DiagnosticSeverity::INFORMATION, &text, data));
    }
    if !session.facts.lenses {
        for (path, hints) in &session.hints {
            for hint in hints {
                let Some(entry) = session.entries.get(&hint.task) else { continue };
                let verdict = if entry.is_rejected(&hint.hunk) { "rejected" } else { "kept" };
                let touched = if hint.touched { "; you typed into these lines" } else { "" };
                let message = format!("{}: a hunk changes this ({verdict}{touched})", entry.state.request.title());
                let last = hint.lines.end.saturating_sub(1).max(hint.lines.start);
                let data = json!({ "task": hint.task, "hunk": hint.hunk });
                let found = diagnostic(hint.lines.start, last, DiagnosticSeverity::HINT, &message, data);
                all.entry(path.clone()).or_default().push(found);
            }
        }
    }
    all
}

fn diagnostic(first: u32, last: u32, severity: DiagnosticSeverity, message: &str, data: Value) -> Diagnostic {
    Diagnostic {
        // To the begin of the next line, whatever the encoding and the length of this one.
        range: Range::new(Position::new(first, 0), Position::new(last + 1, 0)),
        severity: Some(severity),
        code: Some(NumberOrString::String("review".into())),
        source: Some("understudy".into()),
        message: one_line(message),
        data: Some(data),
        ..Diagnostic::default()
    }
}

/// Where a task is spoken of: the line of the comment it came from, else its first hunk.
fn place(session: &Session, entry: &Entry) -> Option<(PathBuf, u32)> {
    let folder = session.folder_of(entry)?;
    if let Some(trigger) = &entry.state.request.trigger {
        let path = folder.document(&trigger.path);
        let look = session.documents.get(&path);
        let found = look.and_then(|look| look.text.lines().position(|line| line == trigger.text));
        let line = found.map_or(trigger.line.saturating_sub(1), |line| u32::try_from(line).unwrap_or(u32::MAX));
        return Some((path, line));
    }
    let report = entry.report.as_ref()?;
    let Some(first) = report.hunks.first() else {
        return (entry.status() == Status::NeedsYou).then(|| scope_begins(session, entry, folder)).flatten();
    };
    let hints = session.hints.iter().find_map(|(path, hints)| {
        let hint = hints.iter().find(|hint| hint.task == entry.id && hint.hunk == first.id)?;
        Some((path.clone(), hint.lines.start))
    });
    hints.or_else(|| Some((folder.document(&first.old_path), first.base_start.saturating_sub(1))))
}

/// The first line of the first file that the task may change, or else of a document that is open in its folder.
fn scope_begins(session: &Session, entry: &Entry, folder: &Folder) -> Option<(PathBuf, u32)> {
    let steps = entry.state.plan.iter().flat_map(|plan| &plan.steps);
    let globs = steps.flat_map(|step| &step.scope.paths).chain(&entry.state.request.scope.paths);
    let files = globs.filter(|glob| !glob.contains(['*', '?', '[', '{', '\\'])).filter_map(|glob| glob.parse().ok());
    let open = |path: &PathBuf| session.documents.get(path).is_some();
    let mut named = files.map(|path: TreePath| folder.document(&path));
    let beside = || session.documents.iter().map(|(path, _)| path).find(|path| folder.tree_path(path).is_some());
    named.find(open).or_else(|| beside().cloned()).map(|path| (path, 0))
}

/// Tasks that are spoken of in a file, with their lines: those with a review or something that runs.
pub fn places<'s>(session: &'s Session, path: &Path) -> Vec<(&'s Entry, u32)> {
    let entries = session.entries.values().filter(|entry| !entry.next().is_empty());
    let at = entries.filter_map(|entry| place(session, entry).map(|(file, line)| (entry, file, line)));
    at.filter(|(_, file, _)| file == path).map(|(entry, _, line)| (entry, line)).collect()
}

/// Failures of reviews that the base does not show.
pub fn failures(session: &Session) -> impl Iterator<Item = Failure> {
    session.reviews().flat_map(|(entry, folder)| {
        let checks = entry.report.iter().flat_map(|report| &report.checks);
        let items = checks.flat_map(|check| check.new_failures.iter().map(move |item| (check, item)));
        items.filter_map(|(check, item)| {
            let (at, line) = item.at.as_ref()?;
            let excerpt = item.excerpt.lines().next().unwrap_or_default();
            Some(Failure {
                task: entry.id.clone(),
                revision: entry.state.revision,
                check: check.check.0.clone(),
                path: folder.document(at),
                line: line.saturating_sub(1),
                text: format!("{} fails with the change: {} {excerpt}", check.check.0, item.id),
            })
        })
    })
}
