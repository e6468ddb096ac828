//! What a query names: files, with lines where it has them, and names that look like code.

use task::TreePath;

use super::words::identifiers;

/// More than these are not looked for: a log was pasted.
const MOST_PATHS: usize = 200;
const MOST_NAMES: usize = 400;

/// A file as the query writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMention {
    /// From the last component to the first.
    reversed: Vec<String>,
    /// Counted from 1, both included.
    pub lines: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    pub paths: Vec<PathMention>,
    /// Identifiers as written, each once.
    pub names: Vec<String>,
}

impl PathMention {
    /// How many components the end of a path has in common with it, and whether that is all of one of them.
    pub fn common(&self, path: &TreePath) -> (usize, bool) {
        let mut theirs = path.as_bytes().rsplit(|&byte| byte == b'/');
        let common =
            self.reversed.iter().zip(theirs.by_ref()).take_while(|(our, their)| our.as_bytes() == *their).count();
        let depth = path.components().count();
        (common, common > 0 && (common == self.reversed.len() || common == depth))
    }
}

/// Reads `src/foo.rs:12`, `File "foo.py", line 12`, `blob/main/src/foo.rs#L3-L9`, `at f (src/foo.js:3:4)`, and names.
pub fn mentions(text: &str) -> Mentions {
    let mut out = Mentions::default();
    let between = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|=".contains(c);
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c| !between(c)) {
        let start = at + skipped;
        let end = text[start..].find(between).map_or(text.len(), |length| start + length);
        at = end;
        if out.paths.len() < MOST_PATHS
            && let Some(mention) = path(&text[start..end], &text[end..])
            && !out.paths.contains(&mention)
        {
            out.paths.push(mention);
        }
    }
    for (start, word) in identifiers(text) {
        if out.names.len() == MOST_NAMES {
            break;
        }
        if looks_like_code(text, start, word) && !out.names.iter().any(|name| name == word) {
            out.names.push(word.to_owned());
        }
    }
    out
}

/// `after` is the text that follows, which may name the line.
fn path(word: &str, after: &str) -> Option<PathMention> {
    let (word, anchor) = word.split_once('#').unwrap_or((word, ""));
    let word = word.trim_matches([':', '.', '*']);
    let mut pieces = word.splitn(3, ':');
    // A URL has a colon before its path.
    let (path, number) = match (pieces.next(), pieces.next()) {
        (Some("http" | "https" | "file"), Some(rest)) => (rest, None),
        (Some(path), number) => (path, number),
        _ => return None,
    };
    let name = path.rsplit(['/', '\\']).next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending = (1..=8).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    if stem.is_empty() || !is_ending || !ending.chars().all(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let single = |line: u32| (line, line);
    let lines = number.and_then(|number| number.parse().ok()).map(single).or_else(|| anchored(anchor)).or_else(|| {
        let digits = after.trim_start_matches(['"', '\'', ',', '`']).trim_start().strip_prefix("line ")?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok().map(single)
    });
    let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != "." && *part != "..");
    Some(PathMention { reversed: parts.rev().map(str::to_owned).collect(), lines })
}

/// `L3-L9`, `L3`.
fn anchored(anchor: &str) -> Option<(u32, u32)> {
    let (first, last) = anchor.split_once('-').unwrap_or((anchor, anchor));
    let number = |text: &str| text.strip_prefix('L')?.parse().ok();
    Some((number(first)?, number(last)?))
}

/// Two parts, or written the way code is: `a::b`, `.b`, `b(`, `` `b` ``.
fn looks_like_code(text: &str, start: usize, word: &str) -> bool {
    let (before, after) = (&text[..start], &text[start + word.len()..]);
    let inner = word.trim_matches('_');
    let humps = inner.chars().skip(1).any(char::is_uppercase) && inner.chars().any(char::is_lowercase);
    let parts = inner.contains('_') || humps;
    word.len() > 2
        && (parts
            || before.ends_with("::")
            || after.starts_with("::")
            || before.ends_with('`') && after.starts_with(['`', '(', '<'])
            || before.ends_with('.') && after.starts_with('(')
            || after.starts_with('(') && !before.ends_with(' '))
}
