//! Code actions that need a model: explain what is selected, mend what another server complains about.

use std::path::Path;

use lsp_types::{CodeActionKind, CodeActionParams, DiagnosticSeverity};
use serde_json::json;
use task::Engine;

use crate::code_actions::{MOST_TASKS, Offer, name_at, offer};
use crate::entry::one_line;
use crate::position::Lines;
use crate::session::Session;

/// Characters of a message of another server that a task is made of, at most.
const MESSAGE: usize = 200;

/// What a model can do here: explain what is selected, mend what another server complains about.
pub fn offers(session: &Session, path: &Path, params: &CodeActionParams) -> Vec<Offer> {
    let (Some(folder), Some(look)) = (session.folders.holding(path), session.documents.get(path)) else {
        return Vec::new();
    };
    let Some(tree_path) = folder.tree_path(path) else { return Vec::new() };
    let lines = Lines::of(&look.text);
    let (first, last) = (params.range.start.line, params.range.end.line);
    let offset = lines.offset(&look.text, params.range.start, session.facts.encoding);
    let (title, question) = match name_at(&look.text, offset) {
        Some((_, name)) if first == last => {
            (format!("explain `{name}`"), format!("What is `{name}` here, and what is it for?"))
        }
        _ if first == last => ("explain this line".into(), "What does this line do, and why?".into()),
        _ => {
            let lines = format!("lines {} to {}", first + 1, last + 1);
            (format!("explain {lines}"), format!("What do {lines} of {tree_path} do, and why?"))
        }
    };
    let argument = json!({ "question": question, "folder": folder.name(), "uri": look.uri, "line": first });
    // A client of ours lets its user say what to ask.
    let command = if session.facts.rich { "understudy.client.explain" } else { "understudy.explain" };
    let mut offers = vec![Offer { title, kind: CodeActionKind::SOURCE, command, argument }];
    let others = params.context.diagnostics.iter().filter(|it| it.source.as_deref() != Some("understudy"));
    let errors = others.filter(|it| it.severity.is_none_or(|severity| severity == DiagnosticSeverity::ERROR));
    for error in errors.take(MOST_TASKS) {
        let message: String = one_line(&error.message).chars().take(MESSAGE).collect();
        let place = format!("{tree_path}:{}", error.range.start.line + 1);
        let description = format!("Fix this error at {place}: {message}");
        let argument = json!({ "description": description, "folder": folder.name(), "engine": Engine::Model });
        offers.push(offer(&format!("fix with a model: {message}"), "understudy.task.create", argument));
    }
    offers
}
