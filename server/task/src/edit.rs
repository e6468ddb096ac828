//! Edits: how one tree becomes another, all of it or nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::TreePath;

/// One text replacement. The range counts UTF-8 bytes of the text before any edit of the set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub replacement: String,
}

impl Edit {
    pub fn new(range: Range<usize>, replacement: impl Into<String>) -> Self {
        Self { start: range.start, end: range.end, replacement: replacement.into() }
    }

    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FileEdit {
    Replace { path: TreePath, edits: Vec<Edit> },
    Create { path: TreePath, text: String },
    Delete { path: TreePath },
    Move { from: TreePath, to: TreePath },
}

/// Edits that belong together. Replacements speak of the text before the set; moves happen after replacements, so a
/// file that is both edited and moved is named by its old path in both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditSet {
    pub files: Vec<FileEdit>,
}

/// Why an edit set was not applied; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{0} does not exist in the tree")]
    Missing(TreePath),
    #[error("{0} already exists in the tree")]
    Exists(TreePath),
    #[error("{path}: the edit of bytes {start}..{end} lies outside the file or cuts a character")]
    Range { path: TreePath, start: usize, end: usize },
    #[error("{path}: two edits overlap at byte {at}")]
    Overlap { path: TreePath, at: usize },
}

/// New contents by path; `None` deletes.
pub type NewTexts = BTreeMap<TreePath, Option<Arc<[u8]>>>;

impl EditSet {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Every path the set touches.
    pub fn paths(&self) -> impl Iterator<Item = &TreePath> {
        self.files.iter().flat_map(|file| match file {
            FileEdit::Replace { path, .. } | FileEdit::Create { path, .. } | FileEdit::Delete { path } => vec![path],
            FileEdit::Move { from, to } => vec![from, to],
        })
    }

    /// Computes all new texts first: either every edit of the set holds, or nothing is returned.
    /// Bytes outside the edited ranges are taken over as they are.
    ///
    /// # Errors
    /// Says which file and range cannot be edited.
    pub fn apply(&self, read: impl Fn(&TreePath) -> Option<Arc<[u8]>>) -> Result<NewTexts, EditError> {
        let mut new: NewTexts = BTreeMap::new();
        let current = |new: &NewTexts, path: &TreePath| new.get(path).cloned().unwrap_or_else(|| read(path));
        let mut replacements: BTreeMap<&TreePath, Vec<&Edit>> = BTreeMap::new();
        for file in &self.files {
            if let FileEdit::Replace { path, edits } = file {
                replacements.entry(path).or_default().extend(edits);
            }
        }
        for (path, edits) in replacements {
            let old = read(path).ok_or_else(|| EditError::Missing(path.clone()))?;
            new.insert(path.clone(), Some(replace(path, &old, edits)?));
        }
        for file in &self.files {
            match file {
                FileEdit::Replace { .. } => {}
                FileEdit::Create { path, text } => {
                    if current(&new, path).is_some() {
                        return Err(EditError::Exists(path.clone()));
                    }
                    new.insert(path.clone(), Some(text.as_bytes().into()));
                }
                FileEdit::Delete { path } => {
                    current(&new, path).ok_or_else(|| EditError::Missing(path.clone()))?;
                    new.insert(path.clone(), None);
                }
                FileEdit::Move { from, to } => {
                    let text = current(&new, from).ok_or_else(|| EditError::Missing(from.clone()))?;
                    if current(&new, to).is_some() {
                        return Err(EditError::Exists(to.clone()));
                    }
                    new.insert(from.clone(), None);
                    new.insert(to.clone(), Some(text));
                }
            }
        }
        Ok(new)
    }
}

fn replace(path: &TreePath, old: &[u8], mut edits: Vec<&Edit>) -> Result<Arc<[u8]>, EditError> {
    edits.sort();
    // The same replacement proposed twice is one replacement; two insertions at one place are kept in order.
    edits.dedup_by(|a, b| a == b && a.start < a.end);
    let mut new = Vec::with_capacity(old.len());
    let mut done = 0;
    for edit in edits {
        let Edit { start, end, .. } = *edit;
        let cuts = |at: usize| old.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
        if start > end || end > old.len() || cuts(start) || cuts(end) {
            return Err(EditError::Range { path: path.clone(), start, end });
        }
        if start < done {
            return Err(EditError::Overlap { path: path.clone(), at: start });
        }
        new.extend_from_slice(&old[done..start]);
        new.extend_from_slice(edit.replacement.as_bytes());
        done = end;
    }
    new.extend_from_slice(&old[done..]);
    Ok(new.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> TreePath {
        text.parse().unwrap()
    }

    fn apply(old: &str, edits: Vec<Edit>) -> Result<String, EditError> {
        let set = EditSet { files: vec![FileEdit::Replace { path: path("a"), edits }] };
        let new = set.apply(|_| Some(old.as_bytes().into()))?;
        Ok(String::from_utf8(new[&path("a")].clone().unwrap().to_vec()).unwrap())
    }

    #[test]
    fn a_failing_edit_leaves_the_whole_set_undone() {
        let set = EditSet {
            files: vec![
                FileEdit::Replace { path: path("a"), edits: vec![Edit::new(0..1, "x")] },
                FileEdit::Delete { path: path("missing") },
            ],
        };
        let read = |p: &TreePath| (p == &path("a")).then(|| b"abc"[..].into());
        assert_eq!(set.apply(read), Err(EditError::Missing(path("missing"))));
    }

    #[test]
    fn overlapping_and_character_cutting_edits_are_refused() {
        assert!(matches!(apply("abc", vec![Edit::new(0..2, ""), Edit::new(1..3, "")]), Err(EditError::Overlap { .. })));
        assert!(matches!(apply("é", vec![Edit::new(1..2, "")]), Err(EditError::Range { .. })));
        assert!(matches!(apply("abc", vec![Edit::new(2..9, "")]), Err(EditError::Range { .. })));
    }

    #[test]
    fn an_edited_file_can_move_in_the_same_set() {
        let set = EditSet {
            files: vec![
                FileEdit::Move { from: path("a"), to: path("b") },
                FileEdit::Replace { path: path("a"), edits: vec![Edit::new(0..1, "x")] },
            ],
        };
        let new = set.apply(|p| (p == &path("a")).then(|| b"abc"[..].into())).unwrap();
        assert_eq!(new[&path("b")].as_deref(), Some(&b"xbc"[..]));
        assert_eq!(new[&path("a")], None);
    }

    proptest! {
        #[test]
        fn bytes_outside_the_edited_range_stay(old in "[a-zé\r\n\u{feff}]{0,40}", at in 0usize..60, len in 0usize..10, text in "[xyz]{0,5}") {
            match apply(&old, vec![Edit::new(at..at + len, text.clone())]) {
                Ok(new) => prop_assert_eq!(new, format!("{}{}{}", &old[..at], text, &old[at + len..])),
                Err(_) => prop_assert!(!old.is_char_boundary(at) || !old.is_char_boundary(at + len)),
            }
        }
    }
}
