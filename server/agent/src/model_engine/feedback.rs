//! What a model is told about failures: which test, what it expected and what came, the code of the test. Never the whole
//! log, never what it was told before.

use std::fmt::Write as _;

use task::port::{Answer, Origin};
use task::{Item, ItemId, ItemKind, Judgement};

use super::looks::Looks;
use super::quote::in_marks;

/// Failures that are shown in full, and names that are listed after them.
const SHOWN: usize = 6;
const LISTED: usize = 20;
const EXCERPT: usize = 3 * 1024;
const TEST: usize = 3 * 1024;

/// Everything that speaks against a tree, with tests that were asked to pass and fail as they did before. Empty where
/// nothing does.
pub(crate) fn of(judgement: &Judgement, unmet: &[Item], looks: &Looks<'_>) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for comparison in &judgement.comparisons {
        if !comparison.is_worse() {
            continue;
        }
        let _ = writeln!(text, "Check {}:", in_marks(&[comparison.check.to_string()]));
        for item in &comparison.new_failures {
            if shown >= SHOWN {
                let _ = writeln!(text, "- also failed: {}", name(&item.id));
                shown += 1;
                if shown > LISTED {
                    text.push_str("- and more\n");
                    break;
                }
                continue;
            }
            shown += 1;
            text.push_str(&failure(item, looks));
        }
        for id in comparison.vanished.iter().take(LISTED).map(name) {
            let _ = writeln!(
                text,
                "- vanished: {id} ran before the change and does not run now. It has to be there and pass."
            );
        }
    }
    if text.is_empty() && !judgement.verified {
        for reason in judgement.reasons.iter().take(LISTED) {
            let _ = writeln!(text, "- {reason}");
        }
    }
    let known =
        |item: &&Item| !judgement.comparisons.iter().any(|it| it.new_failures.iter().any(|new| new.id == item.id));
    let unmet: Vec<&Item> = unmet.iter().filter(known).take(SHOWN.saturating_sub(shown)).collect();
    if !unmet.is_empty() {
        text.push_str("What was asked for and does not pass:\n");
        unmet.iter().for_each(|item| text.push_str(&failure(item, looks)));
    }
    text
}

/// A test may be called anything.
fn name(id: &ItemId) -> String {
    in_marks(&[id.to_string()])
}

fn failure(item: &Item, looks: &Looks<'_>) -> String {
    let at = item.at.as_ref().map(|(path, line)| format!(" at {path}:{line}")).unwrap_or_default();
    let kind = match item.kind {
        ItemKind::Target => "does not build",
        ItemKind::Test | ItemKind::Doctest => "failed",
        ItemKind::Diagnostic => "is new",
    };
    let mut text = format!("- {} {kind}{at}\n", name(&item.id));
    if !item.excerpt.trim().is_empty() {
        text.push_str(&looks.quoter.block(Origin::Output, "what was said", &item.excerpt, EXCERPT));
    }
    if item.kind == ItemKind::Test {
        text.push_str(&test_code(item, looks));
    }
    text
}

/// The code of a test: the item with its name, in its file where that is known.
fn test_code(item: &Item, looks: &Looks<'_>) -> String {
    let file = item.at.as_ref().map(|(path, _)| path);
    let name = item.id.path.rsplit("::").next().unwrap_or_default();
    let Answer::Known { value, .. } = looks.retrieve.definitions(name) else { return around(item, looks) };
    let best = value.iter().find(|found| file.is_some_and(|file| found.symbol.definition.path == *file));
    let Some(found) = best.or(value.first().filter(|_| value.len() == 1)) else { return around(item, looks) };
    let path = found.symbol.definition.path.to_string();
    let last = found.last_line.min(found.first_line + 80);
    looks.read(&path, Some(found.first_line), Some(last)).unwrap_or_default()
}

/// The lines around the place of a failure, where its test has no name that is a definition.
fn around(item: &Item, looks: &Looks<'_>) -> String {
    let Some((path, line)) = &item.at else { return String::new() };
    let Ok((_, text)) = looks.shown(&path.to_string()) else { return String::new() };
    let from = line.saturating_sub(12).max(1);
    let lines: String = text.split_inclusive('\n').skip(from as usize - 1).take(24).collect();
    looks.quoter.block(Origin::Repository, &format!("{path}:{from}-{}", from + 23), &lines, TEST)
}
