//! A document as an editor holds it: text, version, whether it was saved.

use std::fs;
use std::path::{Path, PathBuf};

/// What a byte order mark looks like on disk. Editors hide it and write it back.
const MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub path: PathBuf,
    pub text: String,
    pub version: i64,
    pub dirty: bool,
    marked: bool,
    /// The editor holds the text with plain line feeds and writes CR LF back.
    windows: bool,
    /// What this editor knows to lie on disk. Whoever else writes there while the document is open makes the editor ask
    /// the developer which text to lose.
    on_disk: Option<Vec<u8>>,
}

impl Document {
    /// What lies on disk, or an empty text where nothing does. With `plain` an editor that knows one kind of line end.
    pub fn open(path: &Path, plain: bool) -> Self {
        let on_disk = fs::read(path).ok();
        let bytes = on_disk.as_deref().unwrap_or_default();
        let marked = bytes.starts_with(MARK);
        let mut text = String::from_utf8_lossy(bytes.strip_prefix(MARK).unwrap_or(bytes)).into_owned();
        let windows = plain && text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
        if windows {
            text = text.replace("\r\n", "\n");
        }
        Self { path: path.to_owned(), text, version: 1, dirty: false, marked, windows, on_disk }
    }

    /// What saving would write.
    pub fn bytes(&self) -> Vec<u8> {
        let mark = if self.marked { MARK } else { b"" };
        let text = if self.windows { self.text.replace('\n', "\r\n") } else { self.text.clone() };
        [mark, text.as_bytes()].concat()
    }

    pub fn save(&mut self) {
        let bytes = self.bytes();
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&self.path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        self.on_disk = Some(bytes);
        self.dirty = false;
    }

    /// Whether somebody else wrote to the file of this document.
    pub fn changed_on_disk(&self) -> bool {
        fs::read(&self.path).ok() != self.on_disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_edited_is_saved_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rs");
        fs::write(&path, b"\xEF\xBB\xBFone\r\ntwo").unwrap();
        for (plain, text) in [(false, "one\r\ntwo"), (true, "one\ntwo")] {
            let mut document = Document::open(&path, plain);
            assert_eq!(document.text, text);
            document.save();
            assert_eq!(fs::read(&path).unwrap(), b"\xEF\xBB\xBFone\r\ntwo");
            assert!(!document.changed_on_disk());
        }
        let document = Document::open(&path, true);
        fs::write(&path, "three").unwrap();
        assert!(document.changed_on_disk());
    }
}
