//! Machine-applicable suggestions of compiler and linter, as edit sets.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use checks::{Diagnostic, Level};
use task::{Digest, Edit, EditSet, FileEdit, Scope, StepAction, TreePath};

use crate::Error;

/// One thing that can be done about one diagnostic: its edits belong together.
#[derive(Debug, Clone)]
pub(super) struct Suggestion {
    pub code: String,
    pub edits: EditSet,
}

impl Suggestion {
    /// Names the suggestion by what it does to which text; positions move between rounds, the replaced text does not.
    pub(super) fn key(&self, read: impl Fn(&TreePath) -> Option<Vec<u8>>) -> Digest {
        let mut parts = vec![self.code.clone().into_bytes()];
        for (path, edit) in replacements(&self.edits) {
            let text = read(path).unwrap_or_default();
            let line = |at: usize| {
                text.get(..at).map_or(0, |head| head.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1))
            };
            parts.push(path.as_bytes().to_vec());
            parts.push(text.get(line(edit.start)..edit.end).unwrap_or_default().to_vec());
            parts.push(edit.replacement.clone().into_bytes());
        }
        Digest::of(parts)
    }

    /// The same, where a removal that leaves nothing but white space on its line takes the line with it.
    pub(super) fn with_whole_lines(mut self, read: impl Fn(&TreePath) -> Option<Vec<u8>>) -> Self {
        for file in &mut self.edits.files {
            let FileEdit::Replace { path, edits } = file else { continue };
            let Some(text) = read(path) else { continue };
            for edit in edits.iter_mut().filter(|edit| edit.replacement.is_empty()) {
                let (Some(head), Some(tail)) = (text.get(..edit.start), text.get(edit.end..)) else { continue };
                let from = head.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                let Some(to) = tail.iter().position(|&byte| byte == b'\n') else { continue };
                let blank = |bytes: &[u8]| bytes.trim_ascii().is_empty();
                // A removal that takes its line break along leaves the next line alone.
                let removed = text.get(edit.start..edit.end).is_some_and(|it| !blank(it) && !it.ends_with(b"\n"));
                if removed && blank(&head[from..]) && blank(&tail[..to]) {
                    (edit.start, edit.end) = (from, edit.end + to + 1);
                }
            }
        }
        self
    }
}

/// Whether the task asks to mend this diagnostic.
pub(super) fn is_wanted(action: &StepAction, diagnostic: &Diagnostic) -> bool {
    let code = diagnostic.code.as_deref().unwrap_or_default();
    match action {
        StepAction::FixErrors => diagnostic.level == Level::Error,
        StepAction::FixWarnings => diagnostic.level == Level::Warning && !code.starts_with("clippy::"),
        StepAction::FixClippy { lints } => match code.strip_prefix("clippy::") {
            Some(lint) => lints.is_empty() || lints.iter().any(|name| name == lint),
            None => false,
        },
        _ => false,
    }
}

/// The suggestions of these diagnostics that may be applied without asking and stay in scope. The second value counts
/// those that would have left the scope.
pub(super) fn collect<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    scope: &Scope,
) -> Result<(Vec<Suggestion>, usize), Error> {
    let mut found = Vec::new();
    let mut outside = 0;
    for diagnostic in diagnostics {
        for edits in edit_sets(diagnostic) {
            if scope.outside(edits.paths())?.is_empty() {
                found.push(Suggestion { code: diagnostic.code.clone().unwrap_or_default(), edits });
                break; // Alternatives of one diagnostic exclude each other.
            }
            outside += 1;
        }
    }
    Ok((found, outside))
}

/// `rustfix` decides which of the compiler's solutions are machine-applicable as a whole; the edits are ours, so that
/// they are applied all or none and keep every other byte.
fn edit_sets(diagnostic: &Diagnostic) -> Vec<EditSet> {
    let Ok(parsed) = serde_json::from_str::<rustfix::diagnostics::Diagnostic>(&diagnostic.json) else {
        return Vec::new();
    };
    let filter = rustfix::Filter::MachineApplicableOnly;
    let Some(suggestion) = rustfix::collect_suggestions(&parsed, &HashSet::new(), filter) else { return Vec::new() };
    let in_tree = |name: &str| -> Option<TreePath> {
        let path: TreePath = name.parse().ok()?;
        Some(diagnostic.root.as_ref().map_or(path.clone(), |root| root.join(&path)))
    };
    let solutions = suggestion.solutions.into_iter().filter_map(|solution| {
        let mut files: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
        for replacement in solution.replacements {
            // A span outside the tree (a registry source, a macro of std) makes the whole solution unusable.
            let path = in_tree(&replacement.snippet.file_name)?;
            files.entry(path).or_default().push(Edit::new(replacement.snippet.range, replacement.replacement));
        }
        let files: Vec<FileEdit> = files.into_iter().map(|(path, edits)| FileEdit::Replace { path, edits }).collect();
        (!files.is_empty()).then_some(EditSet { files })
    });
    solutions.collect()
}

/// As many of the suggestions as can be applied together, in order; the others wait for the next round.
pub(super) fn together(suggestions: &[Suggestion]) -> Vec<Suggestion> {
    let mut taken: BTreeMap<TreePath, BTreeSet<(usize, usize)>> = BTreeMap::new();
    let mut chosen = Vec::new();
    for suggestion in suggestions {
        let free = |path: &TreePath, edit: &Edit| {
            taken.get(path).is_none_or(|ranges| ranges.iter().all(|&(start, end)| edit.end < start || edit.start > end))
        };
        if replacements(&suggestion.edits).all(|(path, edit)| free(path, edit)) {
            for (path, edit) in replacements(&suggestion.edits) {
                taken.entry(path.clone()).or_default().insert((edit.start, edit.end));
            }
            chosen.push(suggestion.clone());
        }
    }
    chosen
}

/// One edit set of many.
pub(super) fn merged(suggestions: &[Suggestion]) -> EditSet {
    let mut files: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for (path, edit) in suggestions.iter().flat_map(|suggestion| replacements(&suggestion.edits)) {
        files.entry(path.clone()).or_default().push(edit.clone());
    }
    EditSet { files: files.into_iter().map(|(path, edits)| FileEdit::Replace { path, edits }).collect() }
}

fn replacements(edits: &EditSet) -> impl Iterator<Item = (&TreePath, &Edit)> {
    edits.files.iter().flat_map(|file| match file {
        FileEdit::Replace { path, edits } => edits.iter().map(|edit| (path, edit)).collect::<Vec<_>>(),
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(path: &str, start: usize, end: usize) -> Suggestion {
        let edits = vec![Edit::new(start..end, "x")];
        Suggestion {
            code: "c".into(),
            edits: EditSet { files: vec![FileEdit::Replace { path: path.parse().unwrap(), edits }] },
        }
    }

    #[test]
    fn suggestions_that_touch_each_other_wait_for_the_next_round() {
        let all = [suggestion("a", 0, 4), suggestion("a", 4, 6), suggestion("b", 0, 4), suggestion("a", 7, 9)];
        let chosen = together(&all);
        let starts: Vec<usize> =
            chosen.iter().flat_map(|it| replacements(&it.edits).map(|(_, edit)| edit.start)).collect();
        assert_eq!(starts, [0, 0, 7]);
        assert_eq!(merged(&chosen).files.len(), 2);
    }

    #[test]
    fn a_removal_takes_its_line_with_it_where_nothing_else_stands_there() {
        let text = "a\r\n    let x = 1;\r\n\r\n    x\r\n";
        let removal = |start: usize, end: usize| {
            let mut suggestion = suggestion("a", start, end);
            let FileEdit::Replace { edits, .. } = &mut suggestion.edits.files[0] else { unreachable!() };
            edits[0].replacement.clear();
            let whole = suggestion.with_whole_lines(|_| Some(text.into()));
            let edit = replacements(&whole.edits).next().map(|(_, edit)| (edit.start, edit.end));
            edit.unwrap()
        };
        assert_eq!(removal(7, 17), (3, 19));
        assert_eq!(removal(7, 16), (7, 16), "the rest of the line stays");
        assert_eq!(removal(3, 7), (3, 7), "indentation alone is no line");
        assert_eq!(removal(3, 19), (3, 19), "the line is whole already");
    }

    #[test]
    fn a_rejected_suggestion_is_known_again_when_lines_have_moved() {
        let key =
            |text: &'static str, at: usize| suggestion("a", at, at + 1).key(move |_| Some(text.as_bytes().to_vec()));
        assert_eq!(key("one\ntwo\n", 4), key("zero\none\ntwo\n", 9));
        assert_ne!(key("one\ntwo\n", 4), key("one\ntwo\n", 0));
    }
}
