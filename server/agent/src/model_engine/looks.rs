//! Tools that only look: files, searches, definitions and uses in one tree. Whatever is not there is answered with what
//! is, because a name that a model made up is mostly near one that exists.

use std::fmt::Write as _;

use task::port::{Answer, Excerpt, Item, Origin, Query, Retrieve};
use task::{Mode, TreeId, TreePath};
use worktree::Store;

use super::quote::Quoter;

/// Lines of one read at most.
const LINES: u32 = 400;
/// Bytes of one answer at most.
const CAP: usize = 24 * 1024;
const EXCERPTS: usize = 8;
/// Places of a textual search for uses.
const USES: usize = 60;

/// One tree to look at. Every answer is a text to send; `Err` is one too, about what is wrong with the question.
pub(crate) struct Looks<'a> {
    pub store: &'a Store,
    pub tree: &'a TreeId,
    pub retrieve: &'a dyn Retrieve,
    pub quoter: &'a Quoter,
}

pub(crate) type Looked = Result<String, String>;

impl Looks<'_> {
    /// The path of a file of the tree that is text.
    pub fn file(&self, path: &str) -> Result<(TreePath, String), String> {
        let named = parse(path)?;
        let entry = self.store.entry(self.tree, &named).map_err(|error| error.to_string())?;
        match entry.map(|entry| entry.mode) {
            Some(Mode::File | Mode::Executable) => {}
            Some(Mode::Symlink) => return Err(format!("{named} is a symbolic link; name the file it leads to")),
            Some(Mode::Gitlink) => return Err(format!("{named} is a submodule, which is not part of the tree")),
            None => return Err(self.no_such(&named)),
        }
        let bytes = self.store.read(self.tree, &named).map_err(|error| error.to_string())?.unwrap_or_default();
        match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => Ok((named, text.to_owned())),
            _ => Err(format!("{named} is not UTF-8 text")),
        }
    }

    /// A file as it may be shown: redacted as a whole, since a part of a secret is not known as one. Its lines keep their
    /// numbers; what is shown is cut out of this text and never out of the file.
    pub fn shown(&self, path: &str) -> Result<(TreePath, String), String> {
        let (path, text) = self.file(path)?;
        Ok((path, self.quoter.redact(&text)))
    }

    fn no_such(&self, path: &TreePath) -> String {
        let name = path.to_string();
        let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let all = self.paths();
        let mut near: Vec<(f64, &String)> = all
            .iter()
            .map(|other| {
                let same = other.rsplit('/').next().is_some_and(|other| other == last);
                (strsim::jaro_winkler(other, &name) + if same { 1.0 } else { 0.0 }, other)
            })
            .filter(|(score, _)| *score > 0.8)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let near: Vec<&str> = near.iter().take(5).map(|(_, path)| path.as_str()).collect();
        if near.is_empty() {
            return format!("there is no file {name}");
        }
        format!("there is no file {name}; near it are{}", self.quoter.names("paths", &near))
    }

    fn paths(&self) -> Vec<String> {
        self.store.entries(self.tree).map(|all| all.keys().map(ToString::to_string).collect()).unwrap_or_default()
    }

    pub fn read(&self, path: &str, first: Option<u32>, last: Option<u32>) -> Looked {
        let (path, text) = self.shown(path)?;
        let total = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let first = first.unwrap_or(1).max(1);
        if first > total.max(1) {
            return Err(format!("{path} has only {total} lines"));
        }
        let last = last.unwrap_or(first.saturating_add(LINES - 1)).min(first.saturating_add(LINES - 1)).min(total);
        Ok(self.lines(&path, &text, first, last, total))
    }

    /// Lines of a text that [`Looks::shown`] gave.
    pub fn lines(&self, path: &TreePath, text: &str, first: u32, last: u32, total: u32) -> String {
        let take = last.saturating_sub(first).saturating_add(1) as usize;
        let shown: String = text.split_inclusive('\n').skip(first as usize - 1).take(take).collect();
        let rest = if last < total { format!(" of {total}") } else { String::new() };
        self.quoter.block(Origin::Repository, &format!("{path}:{first}-{last}{rest}"), &shown, CAP)
    }

    pub fn search(&self, query: &str) -> Looked {
        let query = Query { text: query.to_owned(), most: EXCERPTS, source_only: false };
        match self.retrieve.search(&query) {
            Answer::Unknown { reason } => Err(format!("the search knows nothing: {reason}")),
            Answer::Known { value, .. } if value.is_empty() => {
                Err("nothing in the repository has these words".to_owned())
            }
            Answer::Known { value, .. } => {
                let mut out = String::new();
                for excerpt in value {
                    let symbol = excerpt.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
                    let what = format!(
                        "{}:{}-{}{symbol} ({})",
                        excerpt.path, excerpt.first_line, excerpt.last_line, excerpt.reason
                    );
                    out.push_str(&self.excerpt(&excerpt, &what, CAP / 4));
                }
                Ok(out)
            }
        }
    }

    /// The lines of an excerpt, out of their whole file.
    pub fn excerpt(&self, excerpt: &Excerpt, what: &str, cap: usize) -> String {
        let Ok((_, text)) = self.shown(&excerpt.path.to_string()) else { return String::new() };
        let take = excerpt.last_line.saturating_sub(excerpt.first_line) as usize + 1;
        let lines: String =
            text.split_inclusive('\n').skip(excerpt.first_line.saturating_sub(1) as usize).take(take).collect();
        self.quoter.block(Origin::Repository, what, &lines, cap)
    }

    pub fn symbol(&self, name: &str) -> Looked {
        let items = self.items(name)?;
        let mut out = String::new();
        for item in items.iter().take(EXCERPTS) {
            let path = item.symbol.definition.path.to_string();
            let Ok((path, text)) = self.shown(&path) else { continue };
            let last = item.last_line.min(item.first_line.saturating_add(LINES / 2));
            out.push_str(&self.lines(&path, &text, item.first_line, last, last));
        }
        if items.len() > EXCERPTS {
            let _ =
                writeln!(out, "{} more definitions have this name; add the type or module.", items.len() - EXCERPTS);
        }
        Ok(out)
    }

    /// Items with this name, at least one.
    pub fn items(&self, name: &str) -> Result<Vec<Item>, String> {
        match self.retrieve.definitions(name) {
            Answer::Known { value, .. } if !value.is_empty() => Ok(value),
            Answer::Known { .. } => Err(format!("nothing in the repository is called `{name}`")),
            Answer::Unknown { reason } => Err(format!("definitions are not known: {reason}")),
        }
    }

    /// Lines that have this name as a whole word. By text: a name may mean several things.
    pub fn uses(&self, name: &str) -> Looked {
        let word = name.rsplit([':', '.']).next().unwrap_or(name);
        if word.is_empty() {
            return Err("the name is empty".to_owned());
        }
        let mut out = String::new();
        let mut count = 0_usize;
        let entries = self.store.entries(self.tree).map_err(|error| error.to_string())?;
        for (path, entry) in entries.iter().filter(|(_, entry)| matches!(entry.mode, Mode::File | Mode::Executable)) {
            let Ok(bytes) = self.store.blob(entry.blob) else { continue };
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            if bytes.len() > 1 << 20 || !text.contains(word) {
                continue;
            }
            let has_it = text.lines().enumerate().filter(|(_, line)| has_word(line, word));
            let numbers: Vec<usize> = has_it.map(|(at, _)| at).collect();
            if count < USES && !numbers.is_empty() {
                let clean = self.quoter.redact(text);
                let lines: Vec<&str> = clean.lines().collect();
                for at in numbers.iter().take(USES - count) {
                    let _ = writeln!(out, "{path}:{}: {}", at + 1, begin(lines.get(*at).copied().unwrap_or_default()));
                }
            }
            count += numbers.len();
        }
        match count {
            0 => Err(format!("no line has `{word}` as a word")),
            _ => {
                let what = format!("{count} lines with `{word}`, by text");
                let more = if count > USES { format!("{} more lines have it.\n", count - USES) } else { String::new() };
                Ok(self.quoter.block(Origin::Repository, &what, &out, CAP) + &more)
            }
        }
    }

    pub fn outline(&self, path: &str) -> Looked {
        let trimmed = path.trim_matches('/');
        let all = self.paths();
        let folder = if matches!(trimmed, "" | ".") { String::new() } else { format!("{trimmed}/") };
        let mut below: Vec<String> = all
            .iter()
            .filter_map(|path| path.strip_prefix(&folder))
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => format!("{name}/"),
                None => rest.to_owned(),
            })
            .collect();
        below.sort();
        below.dedup();
        if !below.is_empty() && !all.iter().any(|path| path == trimmed) {
            return Ok(self.quoter.block(Origin::Repository, &format!("folder {folder}"), &below.join("\n"), CAP));
        }
        let (path, text) = self.file(path)?;
        match self.retrieve.outline(&path) {
            Answer::Known { value, .. } => {
                let mut out = String::new();
                for item in value {
                    let kind = format!("{:?}", item.symbol.kind).to_lowercase();
                    let _ = writeln!(out, "{}-{} {kind} {}", item.first_line, item.last_line, item.symbol.name);
                }
                Ok(self.quoter.block(Origin::Repository, &format!("items of {path}"), &out, CAP))
            }
            Answer::Unknown { reason } => {
                Err(format!("the items of {path} are not known ({reason}); it has {} lines", text.lines().count()))
            }
        }
    }
}

/// The beginning of a line of a redacted text, as it is shown in a list.
pub(crate) fn begin(line: &str) -> String {
    line.trim().chars().take(200).collect()
}

/// A path as a model writes it.
pub(crate) fn parse(path: &str) -> Result<TreePath, String> {
    let trimmed = path.trim().trim_start_matches("./");
    trimmed.parse().map_err(|error| format!("`{}` is not a path in the repository: {error}", task::printable(path)))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + word.len()..].chars().next().is_some_and(is_part);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_uses() {
        assert!(has_word("a.accepts(b)", "accepts"));
        assert!(!has_word("a.accepts_all(b)", "accepts") && !has_word("reaccepts", "accepts"));
    }

    #[test]
    fn paths_that_leave_the_repository_are_no_paths() {
        assert_eq!(parse("./src/lib.rs").unwrap().to_string(), "src/lib.rs");
        for path in ["/etc/passwd", "../x", "a/../../x", ""] {
            parse(path).unwrap_err();
        }
    }
}
