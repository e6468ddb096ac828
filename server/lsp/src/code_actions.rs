//! Code actions and lenses: what can be done at a place, worked out from the session alone.
//!
//! Actions of a review and of a task comment are offered where they stand; everything else only when the user asks.

use std::path::Path;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionTriggerKind, Command, Position,
};
use serde_json::{Value, json};
use task::Trigger;

use crate::choices::{Choice, answer_choices, plan_choices};
use crate::diagnostics::{self, Failure};
use crate::entry::{Entry, one_line};
use crate::folders::path_of;
use crate::hints::Hint;
use crate::line::{Next, Status, TaskLine};
use crate::model_actions;
use crate::position::Lines;
use crate::session::Session;

/// Tasks that are offered in files they are not about, at most.
pub const MOST_TASKS: usize = 3;

/// One thing that can be done.
pub struct Offer {
    pub title: String,
    pub kind: CodeActionKind,
    pub command: &'static str,
    pub argument: Value,
}

pub fn actions(session: &Session, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(path) = path_of(&params.text_document.uri) else { return Vec::new() };
    let (first, last) = (params.range.start.line, params.range.end.line);
    let mut offers = Vec::new();
    let at_lines =
        |lines: &std::ops::Range<u32>| lines.start <= last && first <= lines.end.saturating_sub(1).max(lines.start);
    for hint in session.hints.get(&path).into_iter().flatten().filter(|hint| at_lines(&hint.lines)) {
        offers.extend(of_hunk(session, hint));
    }
    for (entry, line) in diagnostics::places(session, &path) {
        if at_lines(&(line..line + 1)) {
            offers.extend(of_task(&entry.line(), entry));
        }
    }
    for Failure { task, revision, check, path: at, line, .. } in diagnostics::failures(session) {
        if at == path && at_lines(&(line..line + 1)) {
            let named = json!({ "task": task, "check": check });
            offers.push(offer(
                "Re-run the checks",
                "understudy.check.again",
                json!({ "task": task, "revision": revision }),
            ));
            offers.push(offer(&format!("Show the receipt of {check}"), "understudy.check.receipt", named.clone()));
            offers.push(offer(&format!("Compare {check} with base"), "understudy.check.compare", named));
        }
    }
    if let Some(look) = session.documents.get(&path) {
        let lines = Lines::of(&look.text);
        for number in first..=last.min(first.saturating_add(200)) {
            let text = &look.text[lines.line(number as usize)];
            offers.extend(of_comment(session, &path, number as usize, text));
        }
        if asked_for(params) {
            offers.extend(of_file(session, &path, &params.range.start));
            if session.model == Some(Ok(())) {
                offers.extend(model_actions::offers(session, &path, params));
            }
        }
    }
    // A client of ours has a list of tasks and commands for them.
    if asked_for(params) && !session.facts.rich {
        offers.extend(of_folder(session, &path));
    }
    let mut seen = std::collections::BTreeSet::new();
    offers.retain(|offer| seen.insert(offer.title.clone()));
    let wanted = params.context.only.as_deref();
    let is_wanted = |kind: &CodeActionKind| {
        wanted.is_none_or(|wanted| {
            wanted.iter().any(|wanted| {
                let (kind, wanted) = (kind.as_str(), wanted.as_str());
                wanted.is_empty()
                    || kind == wanted
                    || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
            })
        })
    };
    offers.into_iter().filter(|offer| is_wanted(&offer.kind)).map(action).collect()
}

/// Whether the user asked, rather than the editor looking for a light bulb. A client that does not say is asked.
pub fn asked_for(params: &CodeActionParams) -> bool {
    params.context.trigger_kind != Some(CodeActionTriggerKind::AUTOMATIC)
}

pub fn offer(title: &str, command: &'static str, argument: Value) -> Offer {
    Offer { title: title.to_owned(), kind: CodeActionKind::QUICKFIX, command, argument }
}

fn action(offer: Offer) -> CodeActionOrCommand {
    let title = format!("Understudy: {}", one_line(&offer.title));
    let command =
        Command { title: title.clone(), command: offer.command.to_owned(), arguments: Some(vec![offer.argument]) };
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(offer.kind),
        command: Some(command),
        ..CodeAction::default()
    })
}

/// Keep, reject, undo, show.
fn of_hunk(session: &Session, hint: &Hint) -> Vec<Offer> {
    let Some(entry) = session.entries.get(&hint.task) else { return Vec::new() };
    let argument = json!({ "task": hint.task, "revision": entry.state.revision, "hunks": [hint.hunk] });
    let show = offer("Show the review", "understudy.review.open", json!({ "task": hint.task }));
    let title = |what: &str| format!("{what} this hunk of \"{}\"", entry.state.request.title());
    if entry.is_rejected(&hint.hunk) {
        vec![offer(&title("Keep (undo reject)"), "understudy.hunk.keep", argument), show]
    } else {
        vec![offer(&title("Reject"), "understudy.hunk.reject", argument), show]
    }
}

/// Approve and apply, review, resume, cancel, undo.
fn of_task(line: &TaskLine, entry: &Entry) -> Vec<Offer> {
    let choice = |choice: Choice, title: String| offer(&title, choice.command, choice.argument);
    let mut offers = Vec::new();
    let by_revision = json!({ "task": line.id, "revision": line.revision });
    for next in &line.next {
        offers.push(match next {
            Next::Apply => {
                let Some(tree) = &line.kept_tree else { continue };
                let verified = line.kept_verdict.as_deref() == Some("verified");
                let verdict = line.kept_verdict.as_deref().unwrap_or("not checked yet");
                let kept = line.hunks - line.rejected;
                let short = &tree.as_str()[..8];
                let mut argument = by_revision.clone();
                argument["tree"] = json!(tree);
                argument["unverified"] = json!(!verified);
                let all_the_same = if verified { "" } else { " all the same" };
                let consent = consent(entry);
                let acting = match consent.len() {
                    0 => String::new(),
                    1 => format!(", {} acts by itself", consent[0]),
                    many => format!(", {many} files act by themselves"),
                };
                argument["consent"] = json!(consent);
                let title = format!(
                    "Approve and apply{all_the_same}: {kept} of {} hunks, tree {short}, {verdict}{acting}",
                    line.hunks
                );
                offer(&title, "understudy.apply", argument)
            }
            Next::Answer => {
                let answers = answer_choices(entry, line).into_iter();
                offers.extend(answers.map(|it| {
                    let title = format!("Answer \"{}\": {}", line.title, it.title);
                    choice(it, title)
                }));
                continue;
            }
            Next::ApprovePlan => {
                offers.extend(plan_choices(line).into_iter().map(|it| {
                    let title = format!("{} of \"{}\"", it.title, line.title);
                    choice(it, title)
                }));
                continue;
            }
            // All three want a text.
            Next::Steer | Next::Raise | Next::Again => continue,
            Next::Undo => offer(&format!("Undo apply of \"{}\"", line.title), "understudy.undo", by_revision.clone()),
            Next::Resume => {
                offer(&format!("Resume \"{}\"", line.title), "understudy.task.resume", json!({ "task": line.id }))
            }
            Next::Cancel => {
                offer(&format!("Cancel \"{}\"", line.title), "understudy.task.cancel", json!({ "task": line.id }))
            }
        });
    }
    let unchecked = line.status == Status::Review && line.kept_verdict.is_none() && line.rejected < line.hunks;
    if unchecked && entry.activity.is_none() {
        let title = format!("Check what is kept of \"{}\"", line.title);
        offers.push(offer(&title, "understudy.check.run", by_revision));
    }
    if line.hunks > 0 {
        offers.push(offer(
            &format!("Open the review of \"{}\"", line.title),
            "understudy.review.open",
            json!({ "task": line.id }),
        ));
    }
    offers
}

/// Tasks of the folder that want something, from whatever file: what runs or waits, and the last that was applied.
fn of_folder(session: &Session, path: &Path) -> Vec<Offer> {
    let Some(folder) = session.folders.holding(path) else { return Vec::new() };
    let name = folder.name();
    let ours = session.entries.values().filter(|entry| entry.state.request.workspace == name);
    let mut lines: Vec<_> = ours.map(|entry| (entry, entry.line())).filter(|(_, line)| !line.next.is_empty()).collect();
    lines.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.state.request.created));
    let applied = lines.iter().position(|(_, line)| line.status == Status::Ended);
    let wanting =
        lines.iter().enumerate().filter(|(at, (_, line))| line.status != Status::Ended || Some(*at) == applied);
    wanting.take(MOST_TASKS).flat_map(|(_, (entry, line))| of_task(line, entry)).collect()
}

/// Files of what is kept that act by themselves. The title of the action names them, so choosing it is the consent.
fn consent(entry: &Entry) -> Vec<String> {
    let hunks = entry.report.iter().flat_map(|report| &report.hunks);
    let mut paths: Vec<String> =
        hunks.filter(|hunk| hunk.needs_consent && !hunk.rejected).map(|hunk| hunk.path.to_string()).collect();
    paths.dedup();
    paths
}

/// Do what a comment asks for.
fn of_comment(session: &Session, path: &Path, line: usize, text: &str) -> Option<Offer> {
    let description = agent::asked_in(text)?;
    let folder = session.folders.holding(path)?;
    let trigger = Trigger {
        path: folder.tree_path(path)?,
        line: u32::try_from(line + 1).unwrap_or(u32::MAX),
        text: text.trim_end_matches(['\r', '\n']).to_owned(),
    };
    let argument = json!({ "description": description, "folder": folder.name(), "trigger": trigger });
    let by_model = session.model == Some(Ok(())) && agent::grammar::parse(&description).is_err();
    let with = if by_model { " with a model" } else { "" };
    Some(offer(&format!("do `{description}`{with}"), "understudy.task.create", argument))
}

/// What can be done with a file as a whole, or with the name at the cursor.
fn of_file(session: &Session, path: &Path, at: &Position) -> Vec<Offer> {
    let (Some(folder), Some(look)) = (session.folders.holding(path), session.documents.get(path)) else {
        return Vec::new();
    };
    let Some(tree_path) = folder.tree_path(path) else { return Vec::new() };
    let mut offers = Vec::new();
    let mut add = |title: &str, kind: CodeActionKind, command: &'static str, argument: Value| {
        offers.push(Offer { title: title.to_owned(), kind, command, argument });
    };
    if look.language == "rust" || path.extension().is_some_and(|extension| extension == "rs") {
        let lines = Lines::of(&look.text);
        let offset = lines.offset(&look.text, *at, session.facts.encoding);
        // The words of a task are no names.
        let is_task = agent::asked_in(&look.text[lines.line(lines.line_of(offset))]).is_some();
        if let Some((start, name)) = name_at(&look.text, offset).filter(|_| session.facts.rich && !is_task) {
            let line = lines.line_of(start);
            let column = look.text[lines.line(line).start..start].chars().count() + 1;
            let place = format!("{tree_path}:{}:{column}", line + 1);
            let argument = json!({ "symbol": name, "at": place, "folder": folder.name() });
            add(
                &format!("rename `{name}` and prove it"),
                CodeActionKind::REFACTOR,
                "understudy.client.rename",
                argument,
            );
        }
        for what in ["fix warnings", "fix errors", "fix clippy"] {
            let argument = json!({ "description": what, "folder": folder.name(), "path_scope": [tree_path] });
            add(&format!("{what} in this file"), CodeActionKind::QUICKFIX, "understudy.task.create", argument);
        }
    }
    let argument = json!({ "worktree": true, "folder": folder.name() });
    add("prove my working-tree changes", CodeActionKind::SOURCE, "understudy.task.create", argument);
    offers
}

/// The name that stands at a byte, with where it begins.
pub fn name_at(text: &str, offset: usize) -> Option<(usize, &str)> {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let before = &text[..offset];
    let start = offset - before.chars().rev().take_while(|&c| is_name(c)).map(char::len_utf8).sum::<usize>();
    let end = offset + text[offset..].chars().take_while(|&c| is_name(c)).map(char::len_utf8).sum::<usize>();
    let name = &text[start..end];
    name.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some((start, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_at_the_cursor_is_found_from_both_of_its_ends() {
        let text = "let größe = a.b_2;";
        for offset in [4, 6, "let größe".len()] {
            assert_eq!(name_at(text, offset), Some((4, "größe")));
        }
        assert_eq!(name_at(text, text.len() - 1).map(|(_, name)| name), Some("b_2"));
        assert_eq!(name_at("1 + 2", 0), None);
    }
}
