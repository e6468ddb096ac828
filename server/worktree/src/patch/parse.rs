//! Reading a patch: its bytes become what it says about each file. Nothing is applied here.

use super::PatchError;
use super::base85;
use super::names::{git_line_names, header_name};

/// What a patch says about one file.
#[derive(Debug, Default, Clone)]
pub(super) struct FilePatch {
    /// Line of the patch, from 1, where it begins.
    pub(super) line: usize,
    /// Which commit of a series it belongs to.
    pub(super) group: usize,
    /// Names as they stand there, prefixes included; `None` is `/dev/null`, or absent where nothing names the file.
    pub(super) old_name: Option<Vec<u8>>,
    pub(super) new_name: Option<Vec<u8>>,
    /// From `rename from` and the like: no prefix.
    pub(super) from: Option<Vec<u8>>,
    pub(super) to: Option<Vec<u8>>,
    /// Both names of a `diff --git` line, when it can be read without doubt.
    pub(super) git_names: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) is_git: bool,
    pub(super) copy: bool,
    pub(super) created: Option<u32>,
    pub(super) deleted: bool,
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    /// Blob ids, perhaps shortened.
    pub(super) old_id: Option<Vec<u8>>,
    pub(super) new_id: Option<Vec<u8>>,
    pub(super) hunks: Vec<PatchHunk>,
    pub(super) binary: Option<Binary>,
}

/// Lines with their ends; `old` is context and removed lines, `new` context and added ones.
#[derive(Debug, Clone, Default)]
pub(super) struct PatchHunk {
    pub(super) line: usize,
    /// Line of the file, from 1, or the line before it when nothing is removed.
    pub(super) start: usize,
    pub(super) old: Vec<Vec<u8>>,
    pub(super) new: Vec<Vec<u8>>,
    /// Lines of context before the first and after the last change.
    pub(super) leading: usize,
    pub(super) trailing: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Binary {
    Literal(Vec<u8>),
    Delta(Vec<u8>),
}

/// A binary file in a patch may not inflate to more than this.
pub(super) const LARGEST: usize = 200 << 20;

pub(super) struct Parser<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    group: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(patch: &'a [u8]) -> Self {
        Self { lines: patch.split_inclusive(|&byte| byte == b'\n').collect(), at: 0, group: 0 }
    }

    pub(super) fn parse(mut self) -> Result<Vec<FilePatch>, PatchError> {
        let mut files: Vec<FilePatch> = Vec::new();
        while let Some(line) = self.peek() {
            if line.starts_with(b"diff --git ") {
                files.push(self.git_file()?);
            } else if line.starts_with(b"--- ") && self.next_starts_plain() {
                let mut file = FilePatch { line: self.at + 1, group: self.group, ..FilePatch::default() };
                self.names_and_hunks(&mut file)?;
                files.push(file);
            } else if line.starts_with(b"@@ -") && line[4..].contains(&b'@') {
                return Err(self.malformed("a hunk stands here without the name of its file"));
            } else {
                // `git format-patch` begins each commit of a series so.
                if line.starts_with(b"From ") && line.len() > 45 && line[5..45].iter().all(u8::is_ascii_hexdigit) {
                    self.group += 1;
                }
                self.at += 1;
            }
        }
        Ok(files)
    }

    /// The current line without its end.
    fn peek(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).map(|line| trim(line))
    }

    fn next_starts_plain(&self) -> bool {
        let starts =
            |ahead: usize, with: &[u8]| self.lines.get(self.at + ahead).is_some_and(|line| line.starts_with(with));
        starts(1, b"+++ ") && starts(2, b"@@ -")
    }

    fn malformed(&self, why: &'static str) -> PatchError {
        PatchError::Malformed { line: self.at + 1, why }
    }

    fn git_file(&mut self) -> Result<FilePatch, PatchError> {
        let first = self.peek().unwrap_or_default();
        let mut file = FilePatch { line: self.at + 1, group: self.group, is_git: true, ..FilePatch::default() };
        file.git_names = git_line_names(&first[b"diff --git ".len()..]);
        self.at += 1;
        while let Some(line) = self.peek() {
            let name = |rest: &[u8]| header_name(rest, false).ok_or(self.malformed("a name is not quoted as git does"));
            let mode = |rest: &[u8]| {
                let text = std::str::from_utf8(rest).ok();
                text.and_then(|text| u32::from_str_radix(text.trim(), 8).ok())
                    .ok_or(self.malformed("a mode is no number"))
            };
            if let Some(rest) = line.strip_prefix(b"old mode ") {
                file.old_mode = Some(mode(rest)?);
            } else if let Some(rest) = line.strip_prefix(b"new mode ") {
                file.new_mode = Some(mode(rest)?);
            } else if let Some(rest) = line.strip_prefix(b"new file mode ") {
                file.created = Some(mode(rest)?);
            } else if line.starts_with(b"deleted file mode ") {
                file.deleted = true;
            } else if let Some(rest) = line.strip_prefix(b"rename from ") {
                file.from = Some(name(rest)?);
            } else if let Some(rest) = line.strip_prefix(b"rename to ") {
                file.to = Some(name(rest)?);
            } else if let Some(rest) = line.strip_prefix(b"copy from ") {
                file.from = Some(name(rest)?);
                file.copy = true;
            } else if let Some(rest) = line.strip_prefix(b"copy to ") {
                file.to = Some(name(rest)?);
            } else if let Some(rest) = line.strip_prefix(b"index ") {
                let ids = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
                if let Some(dots) = ids.windows(2).position(|pair| pair == b"..") {
                    file.old_id = Some(ids[..dots].to_vec());
                    file.new_id = Some(ids[dots + 2..].to_vec());
                }
            } else if line.starts_with(b"similarity index ") || line.starts_with(b"dissimilarity index ") {
            } else if line == b"GIT binary patch" {
                self.at += 1;
                file.binary = Some(self.binary()?);
                return Ok(file);
            } else if line.starts_with(b"Binary files ") {
                return Err(
                    self.malformed("the patch leaves the bytes of a binary file out; make it with `git diff --binary`")
                );
            } else if line.starts_with(b"--- ") {
                self.names_and_hunks(&mut file)?;
                return Ok(file);
            } else {
                return Ok(file);
            }
            self.at += 1;
        }
        Ok(file)
    }

    fn names_and_hunks(&mut self, file: &mut FilePatch) -> Result<(), PatchError> {
        for (prefix, is_old) in [(b"--- ", true), (b"+++ ", false)] {
            let line = self.peek().unwrap_or_default();
            let rest =
                line.strip_prefix(prefix).ok_or(self.malformed("a line with the name of the new file is missing"))?;
            let name = header_name(rest, true).ok_or(self.malformed("a name is not quoted as git does"))?;
            let name = (name != b"/dev/null").then_some(name);
            if is_old {
                file.old_name = name;
            } else {
                file.new_name = name;
            }
            self.at += 1;
        }
        if !file.is_git {
            file.created = file.old_name.is_none().then_some(0o100_644);
            file.deleted = file.new_name.is_none();
        }
        while self.peek().is_some_and(|line| line.starts_with(b"@@ -")) {
            let hunk = self.hunk()?;
            file.hunks.push(hunk);
        }
        if file.hunks.is_empty() { Err(self.malformed("a file is named here and no hunk follows")) } else { Ok(()) }
    }

    fn hunk(&mut self) -> Result<PatchHunk, PatchError> {
        let header = self.peek().unwrap_or_default();
        let numbers = parse_range(header).ok_or(self.malformed("this is not the head of a hunk"))?;
        let (start, mut old_left, mut new_left) = numbers;
        let mut hunk = PatchHunk { line: self.at + 1, start, ..PatchHunk::default() };
        self.at += 1;
        let mut changed = false;
        while old_left > 0 || new_left > 0 {
            let raw = self.lines.get(self.at).copied().ok_or(self.malformed("the patch ends within a hunk"))?;
            let (&kind, text) = raw.split_first().unwrap_or((&b' ', b""));
            // Mail programs strip the blank of an empty line of context.
            let (kind, text) = if kind == b'\n' { (b' ', raw) } else { (kind, text) };
            let (takes_old, takes_new) = match kind {
                b' ' => (true, true),
                b'-' => (true, false),
                b'+' => (false, true),
                _ => return Err(self.malformed("a line of a hunk begins with neither a blank, `+` nor `-`")),
            };
            if (takes_old && old_left == 0) || (takes_new && new_left == 0) {
                return Err(self.malformed("the hunk has more lines than its head says"));
            }
            self.at += 1;
            let ends = self.lines.get(self.at).is_some_and(|next| next.starts_with(b"\\"));
            let text = if ends { text.strip_suffix(b"\n").unwrap_or(text) } else { text };
            if takes_old {
                old_left -= 1;
                hunk.old.push(text.to_vec());
            }
            if takes_new {
                new_left -= 1;
                hunk.new.push(text.to_vec());
            }
            if takes_old && takes_new {
                if !changed {
                    hunk.leading += 1;
                }
                hunk.trailing += 1;
            } else {
                changed = true;
                hunk.trailing = 0;
            }
            if ends {
                self.at += 1;
            }
        }
        Ok(hunk)
    }

    /// The first section is the new content; a second one would undo it.
    fn binary(&mut self) -> Result<Binary, PatchError> {
        let first = self.section()?;
        if self.peek().is_some_and(|line| line.starts_with(b"literal ") || line.starts_with(b"delta ")) {
            self.section()?;
        }
        Ok(first)
    }

    fn section(&mut self) -> Result<Binary, PatchError> {
        let line = self.peek().unwrap_or_default();
        let (is_literal, size) = match (line.strip_prefix(b"literal "), line.strip_prefix(b"delta ")) {
            (Some(size), _) => (true, size),
            (None, Some(size)) => (false, size),
            _ => return Err(self.malformed("a binary patch has neither `literal` nor `delta` here")),
        };
        let size = std::str::from_utf8(size).ok().and_then(|size| size.trim().parse::<usize>().ok());
        let size = size
            .filter(|size| *size <= LARGEST)
            .ok_or(self.malformed("the size of a binary file is none or too large"))?;
        self.at += 1;
        let mut deflated = Vec::new();
        while let Some(line) = self.peek() {
            if line.is_empty() {
                self.at += 1;
                break;
            }
            base85::read_line(line, &mut deflated).ok_or(self.malformed("a line of a binary patch is damaged"))?;
            self.at += 1;
        }
        let bytes = base85::inflate(&deflated, size).ok_or(self.malformed("a binary patch is damaged"))?;
        Ok(if is_literal { Binary::Literal(bytes) } else { Binary::Delta(bytes) })
    }
}

/// A line without newline and, in headers, without carriage return.
fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Start and count of the old side and count of the new one, from `@@ -1,2 +3,4 @@ ...`.
fn parse_range(header: &[u8]) -> Option<(usize, usize, usize)> {
    let text = String::from_utf8_lossy(header);
    let (ranges, _) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    (old.max(new) < 1 << 30).then_some((start, old, new))
}
