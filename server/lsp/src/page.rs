//! Texts for people: the review document, a receipt, a comparison.

use std::fmt::Write as _;

use agent::{Citation, Explanation, Report};
use lsp_types::Url;
use task::{Comparison, Item, Receipt};

/// The review of a task as a Markdown document. It is read-only in effect: nothing reads it back.
pub fn review(report: &Report) -> String {
    let mut page = format!("# {}\n\n", report.task.title);
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = page.write_fmt(text);
        page.push('\n');
    };
    line(format_args!("* task {}, {}", report.task.id, report.verdict));
    if let (Some(base), Some(tree)) = (&report.base, &report.tree) {
        line(format_args!("* from base {base} to tree {tree}"));
    }
    if let Some(kept) = &report.kept_tree {
        let verdict = report.kept_verdict.as_deref().unwrap_or("not checked yet");
        line(format_args!("* what is kept is tree {kept}, {verdict}"));
    }
    for reason in &report.reasons {
        line(format_args!("* {}", task::printable(reason)));
    }
    if let Some(plan) = &report.plan {
        line(format_args!("\n## Plan, version {}\n", plan.version));
        for step in &plan.steps {
            line(format_args!("* {}: {}", task::printable(&step.title), task::printable(&step.reasoning)));
        }
    }
    if !report.checks.is_empty() {
        line(format_args!("\n## Checks against base\n"));
        for check in &report.checks {
            line(format_args!("* {}", summary(check)));
        }
    }
    if !report.limitations.is_empty() {
        line(format_args!("\n## What the evidence does not cover\n"));
        for limitation in &report.limitations {
            let at = match (&limitation.path, limitation.line) {
                (Some(path), Some(line)) => format!("{path}:{line}: "),
                (Some(path), None) => format!("{path}: "),
                _ => String::new(),
            };
            line(format_args!("* {at}{}", task::printable(&limitation.text)));
        }
    }
    if !report.hunks.is_empty() {
        line(format_args!("\n## Hunks\n"));
        for hunk in &report.hunks {
            let verdict = if hunk.rejected { ", rejected" } else { "" };
            let consent = if hunk.needs_consent { ", acts by itself: needs a consent of its own" } else { "" };
            line(format_args!("* {} {}:{}{verdict}{consent}", hunk.id, hunk.path, hunk.new_start));
        }
        line(format_args!("\n## Diff\n"));
        // A fence longer than any in the text, so that the diff cannot end it.
        let fence = "`".repeat(longest_run(&report.diff, '`').max(2) + 1);
        line(format_args!("{fence}diff\n{}{fence}", task::printable(&report.diff)));
    }
    page
}

/// An answer about code, with the lines that it rests on.
pub fn explanation(question: &str, answer: &Explanation, uri: impl Fn(&Citation) -> Option<Url>) -> String {
    let mut page = format!("# {}\n\n{}\n", task::printable(question.trim()).replace('\n', " "), answer.text.trim());
    for citation in &answer.citations {
        let Citation { path, first_line, last_line, text } = citation;
        let place = format!("{path}:{first_line}-{last_line}");
        // Writing to a String cannot fail, here and below.
        let _ = match uri(citation) {
            Some(uri) => write!(page, "\n[{place}]({uri}#L{first_line})\n\n"),
            None => write!(page, "\n{place}\n\n"),
        };
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        let _ = writeln!(page, "{fence}\n{}\n{fence}", task::printable(text).trim_end());
    }
    for odd in &answer.unfounded {
        let _ = writeln!(page, "\n* not founded: {}", task::printable(odd));
    }
    let _ = writeln!(page, "\n*{}, {} tokens*", task::printable(&answer.model), answer.spent.tokens());
    page
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of).map(str::len).max().unwrap_or(0)
}

/// One line: what a check says with the base taken into account.
pub fn summary(check: &Comparison) -> String {
    let mut text = format!("{}: {}", check.check.0, check.verdict.word());
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    };
    add(check.passed as usize, "passed");
    add(check.new_failures.len(), "new failures");
    add(check.known_failures.len(), "known failures");
    add(check.fixed.len(), "fixed");
    add(check.vanished.len(), "vanished");
    add(check.not_judged.len(), "not judged");
    if let Some(reason) = &check.reason {
        let _ = write!(text, " ({})", task::printable(reason));
    }
    text
}

/// What differs from base, item by item.
pub fn comparison(check: &Comparison) -> String {
    let mut text = format!("{}\n", summary(check));
    let items = |title: &str, items: &[Item], text: &mut String| {
        for item in items {
            let at = item.at.as_ref().map(|(path, line)| format!(" at {path}:{line}")).unwrap_or_default();
            let _ = write!(text, "\n{title}: {}{at}\n{}\n", item.id, task::printable(&item.excerpt));
        }
    };
    items("new failure", &check.new_failures, &mut text);
    items("known failure, as at base", &check.known_failures, &mut text);
    for (title, ids) in [
        ("fixed", &check.fixed),
        ("vanished: ran at base and not here", &check.vanished),
        ("not judged: does not build at base", &check.not_judged),
    ] {
        for id in ids {
            let _ = write!(text, "\n{title}: {id}");
        }
    }
    text
}

/// The head of a receipt; the output follows it.
pub fn receipt(receipt: &Receipt) -> String {
    let exit = receipt.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
    let reason = receipt.reason.as_ref().map(|reason| format!(", {}", task::printable(reason))).unwrap_or_default();
    format!(
        "{}: {}{reason}\ntree {}\n{} ms, {exit}\n$ {}\n\n",
        receipt.check.id.0,
        receipt.verdict.word(),
        receipt.tree,
        receipt.duration_ms,
        receipt.check.command.join(" "),
    )
}
