//! Tests inside of Rust sources: unit tests, what they share, and examples in documentation. They stand among the code, so
//! nothing puts them back; whether a change touched those that were there is read off the text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

static TEST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^#\[(?:\w+::)*(?:test|rstest|test_case|should_panic|quickcheck|proptest)\b").ok());
static FOR_TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^#\[cfg\(.*\btest\b").ok());
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bfn\s+\w+").ok());

/// A test, an example, or a line beside the tests, with the number of its first line.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    line: u32,
    text: String,
}

/// Where a change touched tests that were there before, by the lines of the new text. New tests beside them touch nothing.
pub(crate) fn changed_tests(before: &str, after: &str) -> Option<u32> {
    let (old, new) = (pieces(before), pieces(after));
    if old.is_empty() {
        return None;
    }
    let lost = missing(&old, &new).map(|piece| {
        let name = NAME.as_ref().and_then(|name| Some(name.find(&piece.text)?.as_str()));
        let now = name.and_then(|name| new.iter().find(|it| it.text.contains(name)));
        now.or(new.iter().find(|it| it.line >= piece.line)).or(new.first()).map_or(1, |it| it.line)
    });
    // What is new beside the tests may take the place of what they judged.
    let beside: Vec<Piece> = new.into_iter().filter(|piece| !is_a_test(&piece.text)).collect();
    lost.or_else(|| missing(&beside, &old).map(|piece| piece.line))
}

/// The first of some pieces that the others lack.
fn missing<'a>(some: &'a [Piece], others: &[Piece]) -> Option<&'a Piece> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for piece in others {
        *left.entry(&piece.text).or_default() += 1;
    }
    some.iter().find(|piece| match left.get_mut(piece.text.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    })
}

fn is_a_test(text: &str) -> bool {
    text.lines().any(|line| TEST.as_ref().is_some_and(|test| test.is_match(line))) || text.starts_with("```")
}

/// The pieces of a text. An item ends where its closing brace stands below the beginning of its first line, as everything
/// does that was ever formatted.
fn pieces(text: &str) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = examples(&lines);
    let mut at = 0;
    while at < lines.len() {
        let (body, end) = item(&lines, at);
        let attributes = || lines[at..body].iter().map(|line| line.trim());
        if attributes().any(|line| TEST.as_ref().is_some_and(|test| test.is_match(line))) {
            found.push(piece(&lines, at, end));
        } else if attributes().any(|line| FOR_TESTS.as_ref().is_some_and(|test| test.is_match(line))) {
            found.extend(pieces_beside(&lines, at, end));
        } else {
            at = body.max(at) + 1;
            continue;
        }
        at = end + 1;
    }
    found
}

/// The tests between two lines, and the lines beside them.
fn pieces_beside(lines: &[&str], first: usize, last: usize) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = first;
    while at <= last {
        let (body, end) = item(lines, at);
        let is_test = lines[at..body].iter().any(|line| TEST.as_ref().is_some_and(|test| test.is_match(line.trim())));
        let end = if is_test { end.min(last) } else { at };
        if !lines[at].trim().is_empty() {
            found.push(piece(lines, at, end));
        }
        at = end + 1;
    }
    found
}

fn piece(lines: &[&str], first: usize, last: usize) -> Piece {
    let text: Vec<&str> = lines[first..=last].iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    Piece { line: u32::try_from(first + 1).unwrap_or(u32::MAX), text: text.join("\n") }
}

/// The line after the attributes and comments that begin here, and the last line of the item that follows them.
fn item(lines: &[&str], first: usize) -> (usize, usize) {
    let is_above = |line: &&&str| line.trim().starts_with("#[") || line.trim().starts_with("//");
    let body = first + lines[first..].iter().take_while(is_above).count();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let Some(head) = lines.get(body) else { return (body, lines.len() - 1) };
    let head_depth = depth(head);
    let closes = |line: &&str| depth(line) == head_depth && line.trim_start().starts_with('}');
    let open = lines[body..].iter().position(|line| line.contains(['{', ';'])).map_or(body, |at| body + at);
    if lines[open].trim_end().ends_with(['}', ';']) {
        return (body, open);
    }
    let end = lines[open + 1..].iter().position(closes).map_or(lines.len() - 1, |at| open + 1 + at);
    (body, end)
}

/// The examples in documentation, with how they are run.
fn examples(lines: &[&str]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut open: Option<Piece> = None;
    for (number, line) in (1..).zip(lines) {
        let line = line.trim();
        let Some(said) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = None;
            continue;
        };
        let said = said.trim();
        match &mut open {
            Some(piece) if said.starts_with("```") => {
                piece.text.push_str("\n```");
                found.extend(open.take());
            }
            Some(piece) => {
                piece.text.push('\n');
                piece.text.push_str(said);
            }
            None if said.starts_with("```") => open = Some(Piece { line: number, text: said.to_owned() }),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/// Mean.\n///\n/// ```\n/// assert_eq!(mean(&[]), 0);\n/// ```\npub fn mean() {\n    a();\n}\n\n\
        #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn some() {\n        assert_eq!(mean(), 2);\n    }\n\n    \
        #[test]\n    fn empty() {\n        assert_eq!(mean(), 0);\n    }\n}\n";

    fn changed(old: &str, new: &str) -> Option<u32> {
        assert!(TEXT.contains(old), "{old}");
        changed_tests(TEXT, &TEXT.replacen(old, new, 1))
    }

    #[test]
    fn what_a_change_does_to_tests_that_were_there_is_seen() {
        assert_eq!(changed("assert_eq!(mean(), 0)", "assert!(mean() < 9)"), Some(19));
        assert_eq!(changed("    #[test]\n    fn empty", "    #[test]\n    #[should_panic]\n    fn empty"), Some(19));
        assert_eq!(changed("use super::*;", "use super::*;\n    macro_rules! assert_eq { () => {} }"), Some(13));
        assert_eq!(changed("/// ```\n/// assert", "/// ```no_run\n/// assert"), Some(3));
        assert!(changed("#[cfg(test)]\n", "#[cfg(any())]\n").is_some());
    }

    #[test]
    fn code_and_new_tests_are_left_alone() {
        assert_eq!(changed("    a();\n", "    a();\n    if b {\n        c();\n    }\n"), None);
        assert_eq!(changed("/// Mean.", "/// The mean."), None);
        let more = "    #[test]\n    fn more() {\n        assert!(true);\n    }\n\n    #[test]\n    fn empty";
        assert_eq!(changed("    #[test]\n    fn empty", more), None);
        let inside = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
        assert_eq!(changed_tests("fn a() {}\n", &format!("fn a() {{}}\n\n{inside}")), None);
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in ["", "#[test]", "#[cfg(test)]\nmod tests;", "#[cfg(test)]\n\n}", "/// ```\n", "#[test]\nfn a() {}"]
        {
            assert_eq!(changed_tests(text, text), None, "{text}");
        }
    }
}
