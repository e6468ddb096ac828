//! Code lenses: verdicts above the hunks of a review, for plain clients that have lenses.

use lsp_types::{CodeLens, Command, Position, Range, Url};
use serde_json::{Value, json};

use crate::folders::path_of;
use crate::session::Session;

pub fn lenses(session: &Session, uri: &Url) -> Vec<CodeLens> {
    let Some(path) = path_of(uri) else { return Vec::new() };
    if session.facts.rich {
        return Vec::new();
    }
    let mut lenses = Vec::new();
    let mut put = |line: u32, title: String, command: &str, argument: Value| {
        let position = Position::new(line, 0);
        let command = Command { title, command: command.to_owned(), arguments: Some(vec![argument]) };
        lenses.push(CodeLens { range: Range::new(position, position), command: Some(command), data: None });
    };
    for hint in session.hints.get(&path).into_iter().flatten() {
        let Some(entry) = session.entries.get(&hint.task) else { continue };
        let argument = json!({ "task": hint.task, "revision": entry.state.revision, "hunks": [hint.hunk] });
        if entry.is_rejected(&hint.hunk) {
            put(hint.lines.start, "rejected: keep it after all".into(), "understudy.hunk.keep", argument);
        } else {
            put(hint.lines.start, "reject this hunk".into(), "understudy.hunk.reject", argument);
        }
        put(hint.lines.start, "show".into(), "understudy.review.open", json!({ "task": hint.task }));
    }
    lenses
}
