//! From the compiler's changes to edits of the developer's bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use ra_ap_ide_db::FileId;
use ra_ap_ide_db::source_change::{FileSystemEdit, SourceChange};
use ra_ap_ide_db::text_edit::TextEdit;
use ra_ap_vfs::AnchoredPathBuf;
use task::{Edit, EditSet, FileEdit, Limitation, TreePath};

use crate::analysis::Analysis;

/// Edits that are being gathered.
#[derive(Debug, Default)]
pub struct Gathered {
    pub replacements: BTreeMap<TreePath, BTreeSet<Edit>>,
    pub moves: BTreeMap<TreePath, TreePath>,
    pub creations: BTreeMap<TreePath, String>,
    pub limitations: Vec<Limitation>,
}

impl Gathered {
    /// The edits as one set, in a fixed order.
    pub fn into_set(self) -> EditSet {
        let mut files: Vec<FileEdit> = Vec::new();
        for (path, edits) in self.replacements {
            files.push(FileEdit::Replace { path, edits: edits.into_iter().collect() });
        }
        files.extend(self.creations.into_iter().map(|(path, text)| FileEdit::Create { path, text }));
        files.extend(self.moves.into_iter().map(|(from, to)| FileEdit::Move { from, to }));
        EditSet { files }
    }
}

impl Analysis {
    /// Adds a change of the compiler's. What lies outside the tree becomes a limitation, never an edit.
    ///
    /// # Errors
    /// When the change moves files in a way that cannot be expressed inside the tree.
    pub(crate) fn gather(&self, change: &SourceChange, gathered: &mut Gathered) -> Result<(), String> {
        for (file, (edit, _)) in &change.source_file_edits {
            self.gather_file(*file, edit, gathered);
        }
        for edit in &change.file_system_edits {
            match edit {
                FileSystemEdit::CreateFile { dst, initial_contents } => {
                    let path = self.anchored(dst).ok_or("the new file would lie outside the tree")?;
                    gathered.creations.insert(path, initial_contents.clone());
                }
                FileSystemEdit::MoveFile { src, dst } => {
                    let from = self.tree_path_of(*src).ok_or("a file to move lies outside the tree")?;
                    let to = self.anchored(dst).ok_or("a file would move out of the tree")?;
                    gathered.moves.insert(from, to);
                }
                FileSystemEdit::MoveDir { src, dst, .. } => {
                    let from = self.anchored(src).ok_or("a folder to move lies outside the tree")?;
                    let to = self.anchored(dst).ok_or("a folder would move out of the tree")?;
                    for path in self.files().keys() {
                        if let Some(tail) = path.strip_prefix(&from) {
                            gathered.moves.entry(path.clone()).or_insert_with(|| to.join(&tail));
                        }
                    }
                }
            }
        }
        for (from, to) in &gathered.moves {
            if self.files().contains_key(to) && !gathered.moves.contains_key(to) {
                return Err(format!("{from} would move to {to}, which already exists"));
            }
        }
        Ok(())
    }

    fn gather_file(&self, file: FileId, edit: &TextEdit, gathered: &mut Gathered) {
        let Some(path) = self.file_path(file) else { return };
        for indel in edit.iter() {
            let synthetic = self.doctests.is_synthetic(&path);
            let (origin, range) = match self.doctests.origin(&path, indel.delete) {
                Some((origin, range)) => (origin.to_owned(), range),
                // The wrapping around an example is ours; nothing in it is the developer's.
                None if synthetic => continue,
                None => (path.clone(), indel.delete),
            };
            let Some((tree_path, text)) =
                self.tree_path(&origin).and_then(|path| Some((path.clone(), self.text(&path)?)))
            else {
                let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                gathered.limitations.push(Limitation::general(format!(
                    "{shown}, which lies outside the tree (generated or a dependency), also refers to it and was left as it is"
                )));
                continue;
            };
            let range = text.range_to_bytes(usize::from(range.start())..usize::from(range.end()));
            let replacement = text.localise(&indel.insert);
            gathered.replacements.entry(tree_path).or_default().insert(Edit::new(range, replacement));
        }
    }

    fn anchored(&self, path: &AnchoredPathBuf) -> Option<TreePath> {
        let folder = self.file_path(path.anchor)?.parent()?.to_owned();
        let mut out = PathBuf::new();
        for component in folder.join(Path::new(&path.path)).components() {
            match component {
                Component::ParentDir => out.pop().then_some(())?,
                Component::CurDir => {}
                other => out.push(other),
            }
        }
        self.relative(&out)
    }
}
