//! The plan as a document that a developer reads and edits, and back: what they approve is what they wrote.
//!
//! Headings are the whole structure: `## ID: TITLE` begins a step, `### PART` one of its parts. Texts stand as they are,
//! but for what could be taken for structure, or not be seen, or be trimmed by an editor: that is written with a
//! backslash. So a plan that is written and read again is the same plan, whatever a model put into it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use task::{Answer, Plan, Question, Step, StepAction};

use crate::grammar;

/// The parts of a step, as their headings.
pub(crate) const DELIVERS: &str = "Delivers";
pub(crate) const DOES: &str = "Does";
pub(crate) const MAY_CHANGE: &str = "May change";
pub(crate) const SYMBOLS: &str = "Symbols";
pub(crate) const ACCEPTANCE: &str = "Acceptance";
pub(crate) const CHECKS: &str = "Checks";
pub(crate) const AFTER: &str = "After";
pub(crate) const REASONING: &str = "Reasoning";
pub(crate) const FILES: &str = "Estimated files";
pub(crate) const PARTS: [&str; 9] = [DELIVERS, DOES, MAY_CHANGE, SYMBOLS, ACCEPTANCE, CHECKS, AFTER, REASONING, FILES];

/// How a document begins, before the number of its version.
pub(crate) const TITLE: &str = "# Plan, version ";
/// A scope without globs, as an item.
pub(crate) const EVERYTHING: &str = "everything";

/// What stands above the steps, quoted: it is for people and is not read back.
const HELP: &str = "Edit the steps and approve: what you approve is this text. A step begins with `## NAME: TITLE`; its parts are \
`### Delivers`, `### May change` (globs, or everything that the task may change), `### Symbols`, `### Acceptance`, `### Checks`, `### After` \
(steps that must be done before), `### Reasoning`, `### Estimated files`. Lines that are quoted like this one are not read.";

/// A plan as Markdown. Questions without an answer are listed as open.
pub fn plan_document(task: &str, plan: &Plan, questions: &[Question], answers: &[Answer]) -> String {
    let mut page = String::new();
    let from = plan.revised_from.map(|from| format!(", revised from {from}")).unwrap_or_default();
    // Writing to a String cannot fail, here and below.
    let _ = write!(page, "{TITLE}{}{from}\n\n", plan.version);
    quote(&mut page, HELP);
    quote(&mut page, &format!("**Task**\n{task}"));
    for answer in answers {
        quote(&mut page, &format!("**Asked:** {}\n**Answered:** {}", answer.question, answer.text));
    }
    let answered: BTreeSet<&str> = answers.iter().map(|answer| answer.question.as_str()).collect();
    for question in questions.iter().filter(|question| !answered.contains(question.text.as_str())) {
        quote(&mut page, &format!("**Open:** {} {}", question.text, question.why));
    }
    for step in &plan.steps {
        write_step(&mut page, step);
    }
    page
}

fn write_step(page: &mut String, step: &Step) {
    let _ = write!(page, "## {}: {}\n\n", step.id, line(&step.title));
    match &step.action {
        StepAction::Write { delivers } => prose(page, DELIVERS, delivers),
        action => prose(page, DOES, &grammar::write(action)),
    }
    let _ = write!(page, "### {MAY_CHANGE}\n\n");
    if step.scope.paths.is_empty() {
        let _ = write!(page, "* {EVERYTHING}\n\n");
    } else {
        items(page, step.scope.paths.iter().map(|glob| code(glob)));
    }
    list(page, SYMBOLS, step.scope.symbols.iter().map(|symbol| code(symbol)).collect());
    list(page, ACCEPTANCE, step.acceptance.iter().map(|text| line(text)).collect());
    list(page, CHECKS, step.checks.iter().map(|check| code(check)).collect());
    list(page, AFTER, step.depends_on.iter().map(|id| code(id.as_str())).collect());
    prose(page, REASONING, &step.reasoning);
    if let Some(files) = step.estimated_files {
        let _ = write!(page, "### {FILES}\n\n{files}\n\n");
    }
}

fn quote(page: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(page, "> {}", task::printable(line));
    }
    page.push('\n');
}

fn list(page: &mut String, part: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let _ = write!(page, "### {part}\n\n");
        items(page, lines.into_iter());
    }
}

fn items(page: &mut String, lines: impl Iterator<Item = String>) {
    for line in lines {
        let _ = writeln!(page, "* {line}");
    }
    page.push('\n');
}

fn prose(page: &mut String, part: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = write!(page, "### {part}\n\n");
    let lines: Vec<&str> = text.split('\n').collect();
    for (at, text) in lines.iter().enumerate() {
        let outermost = at == 0 || at + 1 == lines.len();
        // A blank line at either end would be taken for the room around the text.
        let written = if text.is_empty() && outermost { "\\".to_owned() } else { escaped(text) };
        let _ = writeln!(page, "{written}");
    }
    page.push('\n');
}

/// A text as one line that is not empty.
fn line(text: &str) -> String {
    if text.is_empty() { "\\".to_owned() } else { leading(&escaped(text)) }
}

/// A name in backticks. A backtick in it is spelled out, so that the outer ones are the outer ones.
fn code(text: &str) -> String {
    format!("`{}`", escaping(text, |c| c == '`'))
}

/// White space at the front of an item would be taken for the room before it.
fn leading(text: &str) -> String {
    match text.chars().next() {
        Some(first) if first.is_whitespace() => format!("{}{}", spelled(first), &text[first.len_utf8()..]),
        _ => text.to_owned(),
    }
}

fn spelled(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// One line such that [`unescaped`] gives it back after an editor had it.
fn escaped(text: &str) -> String {
    escaping(text, |_| false)
}

fn escaping(text: &str, also: impl Fn(char) -> bool) -> String {
    // Editors cut white space at the end of a line.
    let end = text.trim_end().len();
    let is_spelled = |at: usize, c: char| {
        at >= end || c == '\n' || also(c) || task::printable(c.encode_utf8(&mut [0; 4])).chars().ne([c])
    };
    let mut out = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = &text[at + c.len_utf8()..];
        // A backslash is doubled where what follows it would be taken together with it.
        let joins = match chars.peek() {
            None => true,
            Some(&(at, next)) => is_spelled(at, next) || rest.starts_with(['\\', '#']) || rest.starts_with("u{"),
        };
        match c {
            _ if is_spelled(at, c) => out.push_str(&spelled(c)),
            '\\' if joins => out.push_str("\\\\"),
            // Only a line that begins with it is a heading.
            '#' if at == 0 => out.push_str("\\#"),
            _ => out.push(c),
        }
    }
    out
}

/// What [`escaped`] was given; a backslash before anything else is a backslash.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let hidden = rest.strip_prefix("u{").and_then(|hex| hex.split_once('}'));
        let hidden = hidden.and_then(|(hex, after)| Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, after)));
        match hidden {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None if rest.starts_with(['\\', '#']) => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    out
}
