//! What is wrong with a text as a text of its language.

use task::TreePath;
use task::port::GateProblem;
use tree_sitter::{Node, TreeCursor};

use super::{Cap, Language, parse};

/// The first few say where to look; the rest mostly follows from them.
const MOST: usize = 5;
const LONGEST_QUOTE: usize = 40;

/// The code of every problem that is found here.
const CODE: &str = "syntax";

/// The first problems of a text, in order; empty where it parses.
///
/// # Errors
/// When the text is larger, or takes longer, than anything written by hand.
pub fn problems(language: Language, path: &TreePath, text: &[u8]) -> Result<Vec<GateProblem>, Cap> {
    let tree = parse::parse(language, text)?;
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut cursor = tree.walk();
    'walk: while found.len() < MOST {
        let node = cursor.node();
        if node.is_missing() {
            found.push((node.start_position().row, format!("{} is missing", quoted_kind(node))));
        } else if node.is_error() {
            found.push(explain(node, text));
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    let problem = |(row, message)| GateProblem {
        path: path.clone(),
        line: u32::try_from(row).unwrap_or(u32::MAX - 1) + 1,
        code: CODE.to_owned(),
        message,
    };
    Ok(found.into_iter().map(problem).collect())
}

/// An error node may hold half of the file. What helps is the bracket that nothing closes, or the first thing in it that
/// the grammar had no place for.
fn explain(error: Node<'_>, text: &[u8]) -> (usize, String) {
    let mut cursor = error.walk();
    let mut open: Vec<Node<'_>> = Vec::new();
    let mut inner = None;
    for child in children(error, &mut cursor) {
        match child.kind() {
            "{" | "(" | "[" => open.push(child),
            "}" | ")" | "]" => match open.pop() {
                Some(opening) if closes(opening.kind(), child.kind()) => {}
                Some(opening) => {
                    let (there, line) = (child.kind(), opening.start_position().row + 1);
                    let what = format!("`{there}` does not close the `{}` of line {line}", opening.kind());
                    return (child.start_position().row, what);
                }
                None => return (child.start_position().row, format!("`{}` closes nothing", child.kind())),
            },
            _ if child.is_error() && inner.is_none() => inner = Some(child),
            _ => {}
        }
    }
    if let Some(unclosed) = open.last() {
        return (unclosed.start_position().row, format!("`{}` is never closed", unclosed.kind()));
    }
    let at = inner.unwrap_or(error);
    (at.start_position().row, format!("unexpected `{}`", quote(&text[at.byte_range()])))
}

fn children<'a, 't>(node: Node<'t>, cursor: &'a mut TreeCursor<'t>) -> impl Iterator<Item = Node<'t>> + 'a {
    let mut more = node.child_count() > 0 && cursor.goto_first_child();
    std::iter::from_fn(move || {
        let node = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        node
    })
}

fn closes(open: &str, close: &str) -> bool {
    matches!((open, close), ("{", "}") | ("(", ")") | ("[", "]"))
}

fn quoted_kind(node: Node<'_>) -> String {
    if node.is_named() { node.kind().replace('_', " ") } else { format!("`{}`", node.kind()) }
}

/// The beginning of its first line, safe to print.
fn quote(text: &[u8]) -> String {
    let line = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let line = String::from_utf8_lossy(line.trim_ascii()).replace('`', "'");
    let short: String = line.chars().take(LONGEST_QUOTE).collect();
    let dots = if short.len() < line.len() { "…" } else { "" };
    format!("{}{dots}", task::printable(&short))
}
