//! The documents that the client has open, as it last said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{DidChangeTextDocumentParams, TextDocumentItem, Url};

use crate::folders::path_of;
use crate::position::{Encoding, Lines};

/// An open document. Its text is shared: readers get a snapshot and never wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub uri: Url,
    pub version: i32,
    pub text: Arc<str>,
    pub language: String,
}

/// Open documents by the path that the client gave them. Documents without a file are not held.
#[derive(Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Look>,
}

impl Documents {
    pub fn opened(&mut self, item: TextDocumentItem) -> Option<PathBuf> {
        let path = path_of(&item.uri)?;
        let look = Look { uri: item.uri, version: item.version, text: item.text.into(), language: item.language_id };
        self.open.insert(path.clone(), look);
        Some(path)
    }

    /// Takes changes in, each relative to the text after the one before it.
    pub fn changed(&mut self, params: DidChangeTextDocumentParams, encoding: Encoding) -> Option<PathBuf> {
        let path = path_of(&params.text_document.uri)?;
        let document = self.open.get_mut(&path)?;
        let mut text = String::from(&*document.text);
        let mut lines = Lines::of(&text);
        // Lines before this one are still where `lines` has them. Many changes at once mostly come from below upwards.
        let mut known = u32::MAX;
        for change in params.content_changes {
            match change.range {
                None => {
                    text = change.text;
                    known = 0;
                }
                Some(range) => {
                    if range.start.line.max(range.end.line) >= known {
                        lines = Lines::of(&text);
                    }
                    let start = lines.offset(&text, range.start, encoding);
                    let end = lines.offset(&text, range.end, encoding).max(start);
                    text.replace_range(start..end, &change.text);
                    known = range.start.line.min(range.end.line);
                }
            }
        }
        document.text = text.into();
        document.version = params.text_document.version;
        Some(path)
    }

    pub fn closed(&mut self, uri: &Url) -> Option<PathBuf> {
        let path = path_of(uri)?;
        self.open.remove(&path).map(|_| path)
    }

    pub fn get(&self, path: &Path) -> Option<&Look> {
        self.open.get(path)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Look)> {
        self.open.iter()
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range, TextDocumentContentChangeEvent, VersionedTextDocumentIdentifier};

    use super::*;

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1));
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.into() }
    }

    #[test]
    fn what_only_looks_like_a_file_is_no_open_document() {
        let mut documents = Documents::default();
        for uri in ["git:/a/b.rs?HEAD", "untitled:/a/b.rs", "fugitive:///a/.git//0/b.rs", "understudy:/t/0/b.rs"] {
            let item = TextDocumentItem::new(Url::parse(uri).unwrap(), "rust".into(), 1, "older".into());
            assert_eq!(documents.opened(item), None, "{uri}");
        }
        assert_eq!(documents.iter().count(), 0);
    }

    #[test]
    fn changes_follow_one_another_within_one_notification() {
        let uri = Url::parse("file:///a/b.rs").unwrap();
        let mut documents = Documents::default();
        let item = TextDocumentItem::new(uri.clone(), "rust".into(), 1, "one\r\ntwo\r\n".into());
        let path = documents.opened(item).unwrap();
        let params = DidChangeTextDocumentParams {
            text_document: VersionedTextDocumentIdentifier::new(uri.clone(), 2),
            content_changes: vec![
                change((0, 0), (1, 0), ""),
                change((0, 3), (0, 99), "!"),
                change((1, 0), (1, 0), "é"),
            ],
        };
        assert_eq!(documents.changed(params, Encoding::Utf16), Some(path.clone()));
        let look = documents.get(&path).unwrap();
        assert_eq!((&*look.text, look.version), ("two!\r\né", 2));
        documents.closed(&uri);
        assert!(documents.get(&path).is_none());
    }
}
