//! A task that a comment asked for: taking exactly that comment out again is part of the change.
//!
//! The engine works on the base without the comment, so its removal is a hunk of its own, and whatever the engine cannot
//! do leaves the comment where it is.

use std::ops::Range;

use task::{Engine, Limitation, Mode, TreeId, TreePath, Trigger};

use crate::{Error, walk::Walk};

/// Where the engine begins.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// The base, without the comment that asked.
    pub tree: TreeId,
    /// Why the comment stays.
    pub limitation: Option<Limitation>,
    /// File and line (from 1) that went as a whole.
    gone: Option<(TreePath, u32)>,
}

impl Start {
    /// Where a line (from 1) of the base is in this tree.
    pub fn line(&self, path: &TreePath, line: u32) -> u32 {
        let moved = self.gone.as_ref().is_some_and(|(file, gone)| file == path && *gone < line);
        if moved { line - 1 } else { line }
    }

    /// Where a line of this tree is in the base.
    pub fn line_at_base(&self, path: &TreePath, line: u32) -> u32 {
        let moved = self.gone.as_ref().is_some_and(|(file, gone)| file == path && *gone <= line);
        if moved { line + 1 } else { line }
    }
}

impl Walk<'_> {
    /// The tree that the engine works on.
    pub(crate) fn start(&self) -> Result<Start, Error> {
        let base = self.base()?;
        let mut start = Start { tree: base, limitation: None, gone: None };
        let asked = self.state.request.trigger.as_ref().filter(|_| self.state.request.engine != Engine::Patch);
        let Some(trigger) = asked else { return Ok(start) };
        match self.without(&start.tree, trigger)? {
            Ok((tree, gone)) => (start.tree, start.gone) = (tree, gone.map(|line| (trigger.path.clone(), line))),
            Err(why) => {
                let text = format!("the comment that asked for this stays: {why}");
                start.limitation = Some(Limitation::at(trigger.path.clone(), Some(trigger.line), text));
            }
        }
        Ok(start)
    }

    /// The tree without the comment, and the line that went with it; or why it has to stay.
    fn without(&self, base: &TreeId, trigger: &Trigger) -> Result<Result<(TreeId, Option<u32>), &'static str>, Error> {
        let path = &trigger.path;
        if !self.state.request.scope.admits(path)? {
            return Ok(Err("the file lies outside the permitted paths"));
        }
        let entry = self.store.entry(base, path)?;
        let Some(entry) = entry.filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable)) else {
            return Ok(Err("the file is not part of the base"));
        };
        let bytes = self.store.blob(entry.blob)?;
        let Some(line) = nearest(&bytes, trigger) else { return Ok(Err("its line is not in the base any more")) };
        let Some(comment) = comment(&trigger.text) else { return Ok(Err("its line holds no comment that ends there")) };
        let (text, whole) = cut(&bytes, &line, &trigger.text, comment);
        let changes = [(path.clone(), Some((text.into(), entry.mode)))].into();
        let number = u32::try_from(line.number).unwrap_or(u32::MAX);
        Ok(Ok((self.store.edit(base, &changes)?, whole.then_some(number))))
    }
}

/// A line of a file: where its text is, where the whole of it ends, and its number from 1.
struct Line {
    text: Range<usize>,
    end: usize,
    number: usize,
}

/// The line that is exactly as it was when it asked: where it was, or the nearest one.
fn nearest(bytes: &[u8], trigger: &Trigger) -> Option<Line> {
    let wanted = usize::try_from(trigger.line).unwrap_or(usize::MAX);
    let mut start = 0;
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate().map(|(at, line)| {
        // A byte order mark belongs to the file and to no line.
        let mark = if at == 0 && line.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let from = start;
        start += line.len();
        Line { text: from + mark..from + text.len(), end: start, number: at + 1 }
    });
    lines
        .filter(|line| bytes.get(line.text.clone()) == Some(trigger.text.as_bytes()))
        .min_by_key(|line| line.number.abs_diff(wanted))
}

/// The text without the comment; whether the whole line went.
fn cut(bytes: &[u8], line: &Line, text: &str, comment: Range<usize>) -> (Vec<u8>, bool) {
    let rest = [&text[..comment.start], &text[comment.end..]];
    let whole = rest.iter().all(|part| part.trim().is_empty());
    let gone =
        if whole { line.text.start..line.end } else { line.text.start + comment.start..line.text.start + comment.end };
    ([&bytes[..gone.start], &bytes[gone.end..]].concat(), whole)
}

const WORD: &str = "understudy:";

/// What begins a comment, and what ends it where that is not the end of the line. Longer ones first.
const TOKENS: [(&str, Option<&str>); 10] = [
    ("<!--", Some("-->")),
    ("/**", Some("*/")),
    ("/*!", Some("*/")),
    ("///", None),
    ("//!", None),
    ("/*", Some("*/")),
    ("//", None),
    ("--", None),
    ("##", None),
    ("#", None),
];

/// What begins a comment only where nothing stands before it.
const ALONE: [&str; 4] = [";", ";;", "%", "*"];

/// What a comment on this line asks for, in whatever language; `None` where there is none that could be taken out.
pub fn asked_in(line: &str) -> Option<String> {
    let comment = &line[comment(line)?];
    let said = comment.to_ascii_lowercase().find(WORD)? + WORD.len();
    let mut description = comment[said..].trim();
    for close in TOKENS.iter().filter_map(|(_, close)| *close) {
        description = description.strip_suffix(close).unwrap_or(description).trim_end();
    }
    (!description.is_empty()).then(|| description.to_owned())
}

/// Where the comment is that says `understudy:`, with the white space that only stands there because of it.
fn comment(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices(WORD).find_map(|(said, _)| {
        let before = text[..said].trim_end();
        let (start, close) = if ALONE.contains(&before.trim_start()) {
            (before.len() - before.trim_start().len(), None)
        } else {
            let (token, close) = TOKENS.iter().find(|(token, _)| before.ends_with(token))?;
            (before.len() - token.len(), *close)
        };
        let end = match close {
            None => text.len(),
            Some(close) => said + text[said..].find(close)? + close.len(),
        };
        let code = text[..start].trim_end().len();
        let after = text[end..].trim_start();
        // Before code the indentation stays; after code the gap goes.
        Some(if code == 0 { start..text.len() - after.len() } else { code..end })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_out(text: &str, line: u32, of: &str) -> Option<String> {
        let trigger = Trigger { path: "a.rs".parse().unwrap(), line, text: of.to_owned() };
        let found = nearest(text.as_bytes(), &trigger)?;
        let (left, _) = cut(text.as_bytes(), &found, of, comment(of)?);
        Some(String::from_utf8(left).unwrap())
    }

    #[test]
    fn a_task_is_read_from_comments_and_from_nothing_else() {
        for (line, task) in [
            ("    // understudy: fix warnings", Some("fix warnings")),
            ("let x = 1; // Understudy: rename `x` to `y`  ", Some("rename `x` to `y`")),
            ("# understudy: fix clippy", Some("fix clippy")),
            ("/* understudy: fix errors */ f()", Some("fix errors")),
            ("<!-- understudy: fix errors -->", Some("fix errors")),
            ("let text = \"understudy: no\";", None),
            ("    \"understudy: no\",", None),
            ("x; understudy: no", None),
            ("// understudy:", None),
            ("// understudies: x", None),
        ] {
            assert_eq!(asked_in(line).as_deref(), task, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_only_the_comment_goes_with_its_end() {
        for (text, of, left) in [
            ("a\n// understudy: fix warnings\nb\n", "// understudy: fix warnings", "a\nb\n"),
            ("a\r\n  # Understudy: fix\r\nb\r\n", "  # Understudy: fix", "a\r\nb\r\n"),
            ("a\n/* understudy: fix */", "/* understudy: fix */", "a\n"),
            ("a\n<!-- understudy: fix -->  \nb", "<!-- understudy: fix -->  ", "a\nb"),
            (";; understudy: fix\n", ";; understudy: fix", ""),
        ] {
            assert_eq!(taken_out(text, 2, of).as_deref(), Some(left), "{text:?}");
        }
    }

    #[test]
    fn of_a_line_of_code_only_the_comment_goes() {
        for (of, left) in [
            ("    let a = \"//\";  // understudy: fix warnings", "    let a = \"//\";"),
            ("} /// understudy: fix", "}"),
            ("f(/* understudy: fix */ 1)", "f( 1)"),
            ("\t/* understudy: fix */ f()", "\tf()"),
            ("key: 1 # understudy: fix", "key: 1"),
        ] {
            let text = format!("x\n{of}\r\ny\n");
            assert_eq!(taken_out(&text, 2, of), Some(format!("x\n{left}\r\ny\n")), "{of}");
        }
        // A comment that goes on in the next line, or none at all, stays whole.
        for of in ["/* understudy: fix", "a understudy: fix", "x; understudy: fix"] {
            assert_eq!(taken_out(&format!("x\n{of}\n"), 2, of), None, "{of}");
        }
    }

    #[test]
    fn a_line_that_moved_is_found_and_one_that_changed_is_not() {
        let of = "// understudy: fix errors";
        let text = format!("\u{feff}{of}\na\nb\nc\n{of}\n");
        assert_eq!(taken_out(&text, 4, of), Some(format!("\u{feff}{of}\na\nb\nc\n")));
        assert_eq!(taken_out(&text, 2, of), Some(format!("\u{feff}a\nb\nc\n{of}\n")));
        assert_eq!(taken_out(&text, 1, "// understudy: fix"), None);
    }
}
