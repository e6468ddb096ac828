//! Tools that change the tree: all of a call or nothing of it. Every new text passes the gate of its language before it
//! counts, and nothing outside the step's scope is ever touched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;
use task::port::{Answer, GateProblem, GateReport, Refactored, Refactoring, Retrieve};
use task::{Edit, EditSet, FileEdit, Mode, Step, TreeId, TreePath};
use worktree::ApplyError;

use super::arguments::{Create, ExactEdit, Move, SymbolEdit};
use super::locate::{Missed, locate, nearest};
use super::looks::{Looks, parse};
use super::test_files::is_installed;
use crate::{Error, walk::Walk};

/// Bytes of a new file at most.
const LARGEST: usize = 1 << 20;

/// What stands for a secret, or for text that was too long, in what a model is shown.
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[[A-Za-z0-9 ]{1,40} left out\]").ok());

/// What came of a call that wanted to change something: the new tree with a sentence, or a sentence about why not.
pub(crate) type Changed = Result<(TreeId, String), String>;

impl Walk<'_> {
    pub(crate) fn exact_edits(&self, looks: &Looks<'_>, step: &Step, edits: Vec<ExactEdit>) -> Result<Changed, Error> {
        let mut by_file: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
        for (number, edit) in (1..).zip(&edits) {
            let located = looks.file(&edit.path).and_then(|(path, text)| match locate(&text, &edit.old, &edit.new) {
                Ok(located) => Ok((path, located)),
                Err(Missed::Said(why)) => Err(why),
                Err(Missed::Absent) => Err(absent(looks, &path, &text, &edit.old)),
            });
            match located {
                Ok((path, located)) => {
                    by_file.entry(path).or_default().push(Edit::new(located.range, located.replacement));
                }
                // What was found instead comes last: it may be a quotation.
                Err(why) if edits.len() == 1 => return Ok(Err(format!("Nothing was changed. {}: {why}", edit.path))),
                Err(why) => return Ok(Err(format!("Nothing was changed. Edit {number}, {}: {why}", edit.path))),
            }
        }
        let files = by_file.into_iter().map(|(path, edits)| FileEdit::Replace { path, edits }).collect();
        self.change(looks, step, EditSet { files })
    }

    pub(crate) fn symbol_edit(&self, looks: &Looks<'_>, step: &Step, edit: SymbolEdit) -> Result<Changed, Error> {
        let found = looks.file(&edit.path).and_then(|(path, text)| {
            let items = match looks.retrieve.outline(&path) {
                Answer::Known { value, .. } => value,
                Answer::Unknown { reason } => {
                    return Err(format!("the items of {path} are not known ({reason}); use `edit`"));
                }
            };
            let named = |name: &str| name == edit.name || ends_with_path(name, &edit.name);
            let matching: Vec<_> = items.iter().filter(|item| named(&item.symbol.name)).collect();
            match matching.as_slice() {
                [only] => Ok((path, text, only.start..only.end)),
                [] => {
                    let names: Vec<&str> = items.iter().map(|item| item.symbol.name.as_str()).take(40).collect();
                    let names = looks.quoter.names("items", &names);
                    Err(format!("{path} has no item `{}`; it has{names}", edit.name))
                }
                several => {
                    let lines: Vec<String> = several.iter().map(|item| item.first_line.to_string()).collect();
                    Err(format!(
                        "{path} has `{}` {} times (lines {}); use `edit`",
                        edit.name,
                        several.len(),
                        lines.join(", ")
                    ))
                }
            }
        });
        let (path, text, range) = match found {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let old = &text[range.clone()];
        let mut new = if text.contains("\r\n") {
            edit.text.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            edit.text.clone()
        };
        // The item ends as it ended before: the range may or may not hold the end of its last line.
        new = new.trim_end_matches(['\n', '\r']).to_owned();
        if let Some(end) = old.strip_prefix(old.trim_end_matches(['\n', '\r'])).filter(|_| !new.is_empty()) {
            new.push_str(end);
        }
        let edits = vec![Edit::new(range, new)];
        self.change(looks, step, EditSet { files: vec![FileEdit::Replace { path, edits }] })
    }

    pub(crate) fn create(&self, looks: &Looks<'_>, step: &Step, new: Create) -> Result<Changed, Error> {
        if new.text.len() > LARGEST {
            return Ok(Err(format!("a new file may have {LARGEST} bytes at most")));
        }
        match parse(&new.path) {
            Ok(path) => self.change(looks, step, EditSet { files: vec![FileEdit::Create { path, text: new.text }] }),
            Err(why) => Ok(Err(why)),
        }
    }

    pub(crate) fn delete(&self, looks: &Looks<'_>, step: &Step, path: &str) -> Result<Changed, Error> {
        match looks.file(path) {
            Ok((path, _)) => self.change(looks, step, EditSet { files: vec![FileEdit::Delete { path }] }),
            Err(why) => Ok(Err(why)),
        }
    }

    pub(crate) fn move_file(&self, looks: &Looks<'_>, step: &Step, moved: &Move) -> Result<Changed, Error> {
        match looks.file(&moved.from).and_then(|(from, _)| Ok((from, parse(&moved.to)?))) {
            Ok((from, to)) => self.change(looks, step, EditSet { files: vec![FileEdit::Move { from, to }] }),
            Err(why) => Ok(Err(why)),
        }
    }

    /// A refactoring of the compiler, which knows names by meaning.
    pub(crate) fn refactoring(
        &mut self,
        looks: &Looks<'_>,
        step: &Step,
        refactoring: &Refactoring,
    ) -> Result<Changed, Error> {
        if !self.has_compiler(looks.tree)? {
            return Ok(Err("this needs a Rust project; use `references` and `edit`".to_owned()));
        }
        let base = self.base()?;
        let (compiler, at) = self.compiler_on(&base, looks.tree)?;
        match compiler.refactor(at, refactoring) {
            Answer::Known { value: Refactored::Edits { edits, limitations }, .. } => {
                let notes: Vec<String> = limitations.into_iter().take(5).map(|it| it.text).collect();
                let changed = self.change(looks, step, edits)?;
                Ok(changed.map(|(tree, said)| (tree, [said, notes.join("\n")].join("\n").trim_end().to_owned())))
            }
            Answer::Known { value: Refactored::Ambiguous { candidates }, .. } => {
                let names: Vec<String> = candidates.into_iter().map(|it| it.name).collect();
                Ok(Err(format!("the name may be{}", looks.quoter.names("names", &names))))
            }
            Answer::Known { value: Refactored::NotFound { nearest }, .. } => {
                Ok(Err(format!("nothing has that name; near it are{}", looks.quoter.names("names", &nearest))))
            }
            Answer::Known { value: Refactored::Refused { reason }, .. } | Answer::Unknown { reason } => {
                Ok(Err(format!("the compiler did not do it: {reason}")))
            }
        }
    }

    /// Applies a set of edits: scope first, then all of it or nothing, then the syntax of what came of it.
    fn change(&self, looks: &Looks<'_>, step: &Step, edits: EditSet) -> Result<Changed, Error> {
        let paths: BTreeSet<TreePath> = edits.paths().cloned().collect();
        let revise = "; if it has to change, call `propose_plan` with the reason";
        for (whose, scope, remedy) in
            [("the request", &self.state.request.scope, ""), ("this step", &step.scope, revise)]
        {
            if let Some(outside) = scope.outside(&paths)?.first() {
                let allowed = scope.paths.join(", ");
                return Ok(Err(format!(
                    "{outside} lies outside of what {whose} may change ({allowed}){remedy}. Nothing was changed."
                )));
            }
        }
        if let Some(why) = self.in_the_way(looks.tree, &edits)? {
            return Ok(Err(format!("{why}. Nothing was changed.")));
        }
        let tree = match self.store.apply(looks.tree, &edits) {
            Ok(tree) => tree,
            Err(ApplyError::Store(error)) => return Err(error.into()),
            Err(error) => return Ok(Err(format!("{error}. Nothing was changed."))),
        };
        if tree == *looks.tree {
            return Ok(Err("the text is the same as before: nothing was changed".to_owned()));
        }
        for path in &paths {
            let (before, after) = (self.store.read(looks.tree, path)?, self.store.read(&tree, path)?);
            let Some(after) = after else { continue };
            if let Some(mark) = new_mark(before.as_deref(), &after) {
                return Ok(Err(format!(
                    "the edit would write `{mark}` into {path}. That is not its text: it stands for something that you were not shown and that has to stay. Take smaller pieces around it as `old`. Nothing was changed."
                )));
            }
            if let Some(why) = new_fault(looks.retrieve, path, before, &after) {
                return Ok(Err(format!("the edit would leave {path} broken: {why}. Nothing was changed.")));
            }
        }
        let said: Vec<String> = paths.iter().map(ToString::to_string).collect();
        Ok(Ok((tree, format!("changed {}", said.join(", ")))))
    }

    /// What stands where a new file wants a folder, or a folder where it wants to be: a link or a file never goes away to
    /// make room.
    fn in_the_way(&self, tree: &TreeId, edits: &EditSet) -> Result<Option<String>, Error> {
        let made = edits.files.iter().filter_map(|edit| match edit {
            FileEdit::Create { path, .. } | FileEdit::Move { to: path, .. } => Some(path),
            _ => None,
        });
        for path in made {
            if is_installed(path) {
                return Ok(Some(format!(
                    "{path} would be a part of an installed package, and those the developer installs"
                )));
            }
            let mut above = path.parent();
            while let Some(folder) = above {
                if let Some(entry) = self.store.entry(tree, &folder)? {
                    let what = if entry.mode == Mode::Symlink { "a symbolic link" } else { "a file" };
                    return Ok(Some(format!("{folder} is {what} and no folder, so {path} cannot be there")));
                }
                above = folder.parent();
            }
            let entries = self.store.entries(tree)?;
            if entries.keys().any(|other| other.strip_prefix(path).is_some()) {
                return Ok(Some(format!("{path} is a folder")));
            }
        }
        Ok(None)
    }

    /// Whether the compiler has anything to say about this tree.
    pub(crate) fn has_compiler(&self, tree: &TreeId) -> Result<bool, Error> {
        Ok(self.house.sandbox.is_ok() && self.store.entries(tree)?.keys().any(|path| path.file_name() == b"Cargo.toml"))
    }

    /// The gate of a whole step: what the compiler sees that the base does not show. Empty where it sees nothing wrong, or
    /// nothing at all.
    pub(crate) fn gate_problems(&mut self, tree: &TreeId) -> Result<Vec<GateProblem>, Error> {
        let base = self.base()?;
        if !self.has_compiler(tree)? {
            return Ok(Vec::new());
        }
        let edited: Vec<TreePath> = worktree::published_files(&self.store, &base, tree)?
            .into_iter()
            .filter(|file| file.path.as_bytes().ends_with(b".rs"))
            .map(|file| file.path)
            .collect();
        if edited.is_empty() {
            return Ok(Vec::new());
        }
        let (compiler, at) = self.compiler_on(&base, tree)?;
        Ok(match compiler.gate(at, &edited) {
            GateReport::Errors { problems, .. } => problems,
            GateReport::Clean { .. } | GateReport::Unknown { .. } => Vec::new(),
        })
    }
}

/// What to say about a text that does not stand in a file: the lines that are most like it, as they may be shown.
fn absent(looks: &Looks<'_>, path: &TreePath, text: &str, old: &str) -> String {
    let shown = looks.quoter.redact(text);
    match nearest(&shown, old) {
        Some((first, last)) => {
            format!("`old` does not stand there; nearest are\n{}", looks.lines(path, &shown, first, last, last))
        }
        None => "`old` does not stand there; read the file again".to_owned(),
    }
}

/// Whether a written name ends a name with its path: `accepts` and `VersionReq::accepts` end `semver::VersionReq::accepts`.
fn ends_with_path(name: &str, written: &str) -> bool {
    let wanted = written.replace('.', "::");
    let name = name.replace('.', "::");
    name == wanted || name.strip_suffix(&wanted).is_some_and(|before| before.ends_with("::"))
}

/// A mark for what the model was not shown that stands in a text more often than before: an edit that repeats it would put
/// the mark where a secret was.
fn new_mark(before: Option<&[u8]>, after: &[u8]) -> Option<String> {
    let count = |text: &str| {
        let mut marks: BTreeMap<String, usize> = BTreeMap::new();
        for found in MARK.iter().flat_map(|mark| mark.find_iter(text)) {
            *marks.entry(found.as_str().to_owned()).or_default() += 1;
        }
        marks
    };
    let before = count(std::str::from_utf8(before.unwrap_or_default()).unwrap_or_default());
    let after = count(std::str::from_utf8(after).ok()?);
    after.into_iter().find(|(mark, times)| before.get(mark).copied().unwrap_or(0) < *times).map(|(mark, _)| mark)
}

/// What is wrong with a text that was not wrong before.
fn new_fault(retrieve: &dyn Retrieve, path: &TreePath, before: Option<Arc<[u8]>>, after: &[u8]) -> Option<String> {
    let faults = |text: &[u8]| match retrieve.syntax(path, text) {
        Answer::Known { value, .. } => value,
        Answer::Unknown { .. } => Vec::new(),
    };
    let now = faults(after);
    let first = now.first()?;
    if before.is_some_and(|before| !faults(&before).is_empty()) {
        return None;
    }
    Some(format!("line {}: {}", first.line, first.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_for_what_was_left_out_is_never_written_down() {
        let text = b"key = '[AWS key left out]'";
        assert_eq!(new_mark(Some(b"key = 'AKIA'"), text).as_deref(), Some("[AWS key left out]"));
        assert_eq!(new_mark(None, b"a [120 bytes left out] b").as_deref(), Some("[120 bytes left out]"));
        assert_eq!(new_mark(Some(text), text), None);
        assert_eq!(new_mark(Some(text), b"nobody was left out"), None);
    }

    #[test]
    fn a_written_name_may_leave_out_the_beginning_of_a_path() {
        assert!(ends_with_path("Outer::inner", "inner") && ends_with_path("a::Outer::inner", "Outer.inner"));
        assert!(!ends_with_path("Outer::winner", "inner"));
    }
}
