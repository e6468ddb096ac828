//! Tests inside of Rust sources: unit tests, what they share, and examples in documentation. They stand among the code, so
//! nothing puts them back; whether a change touched those that were there is read off the text.

use std::collections::BTreeMap;

/// Attributes that make an item a test, or say how one is judged.
const OF_TESTS: [&str; 6] = ["test", "rstest", "test_case", "should_panic", "quickcheck", "proptest"];

/// A test, an example, or a line beside the tests, with the number of its first line.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    line: u32,
    text: String,
}

/// Where a change touched tests that were there before, by the lines of the new text. New tests beside them touch nothing.
pub fn changed_tests(before: &str, after: &str) -> Option<u32> {
    let (old, new) = (pieces(before), pieces(after));
    if old.is_empty() {
        return None;
    }
    let lost = missing(&old, &new).map(|piece| {
        let name = |piece: &Piece| Some(piece.text.split_once("fn ")?.1.split(['(', '<']).next()?.to_owned());
        let now = name(piece).and_then(|wanted| new.iter().find(|it| name(it).as_ref() == Some(&wanted)));
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
    text.lines().any(makes_a_test) || text.starts_with("```")
}

/// The name of the attribute on a line.
fn attribute(line: &str) -> Option<&str> {
    let path = line.trim().strip_prefix("#[")?.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next()?;
    path.rsplit("::").next()
}

fn makes_a_test(line: &str) -> bool {
    attribute(line).is_some_and(|name| OF_TESTS.contains(&name))
}

fn is_for_tests(line: &str) -> bool {
    attribute(line) == Some("cfg") && line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "test")
}

/// The pieces of a text. An item ends where its closing brace stands below the beginning of its first line, as everything
/// does that was ever formatted.
fn pieces(text: &str) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = examples(&lines);
    let mut at = 0;
    while at < lines.len() {
        let (body, end) = item(&lines, at);
        if lines[at..body].iter().any(|line| makes_a_test(line)) {
            found.push(piece(&lines, at, end));
        } else if lines[at..body].iter().any(|line| is_for_tests(line)) {
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
        let is_test = lines[at..body].iter().any(|line| makes_a_test(line));
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
