//! What a person does at the keyboard: open, type, save, close.

use std::path::Path;

use serde_json::{Value, json};

use super::desk::Desk;
use super::document::Document;
use super::position::{self, Replacement};
use super::uri;

impl Desk {
    pub(crate) fn open(&mut self, path: &Path) {
        if !self.documents.contains_key(path) {
            self.documents.insert(path.to_owned(), Document::open(path, self.client.plain_lines));
            self.announce(path);
        }
    }

    /// Tells the server about a document that is open already, as after a restart of the server.
    pub(crate) fn announce(&mut self, path: &Path) {
        let document = &self.documents[path];
        let language = if path.extension().is_some_and(|it| it == "rs") { "rust" } else { "plaintext" };
        let item = json!({
            "uri": uri::of(path), "languageId": language, "version": document.version, "text": document.text
        });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces what stands between two offsets by what the developer types.
    ///
    /// # Panics
    /// When the document is not open.
    pub(crate) fn type_at(&mut self, path: &Path, start: usize, end: usize, text: &str) {
        let edit = Replacement { start, end, text: text.to_owned() };
        let change = self.change(path, &[edit]);
        self.notify("textDocument/didChange", change);
        if !text.trim().is_empty() {
            self.typed.push((path.to_owned(), text.to_owned()));
        }
    }

    /// Types what [`Desk::typing`] says.
    pub(crate) fn type_meanwhile(&mut self, path: &Path) {
        if let Some(document) = self.documents.get(path) {
            let (before, text) = self.typing.clone();
            let at = before.and_then(|before| document.text.find(&before)).unwrap_or(document.text.len());
            self.type_at(path, at, at, &text);
        }
    }

    /// Makes edits, last one first, and answers with what to tell the server.
    pub(crate) fn change(&mut self, path: &Path, edits: &[Replacement]) -> Value {
        let encoding = self.encoding;
        let missing = || panic!("{} is not open", path.display());
        let document = self.documents.get_mut(path).unwrap_or_else(missing);
        let mut changes = Vec::new();
        for edit in edits {
            let range = position::range(&document.text, edit.start, edit.end, encoding);
            changes.push(json!({"range": range, "text": edit.text}));
            document.text.replace_range(edit.start..edit.end, &edit.text);
        }
        document.version += 1;
        document.dirty = true;
        let named = json!({"uri": uri::of(path), "version": document.version});
        json!({"textDocument": named, "contentChanges": changes})
    }

    pub(crate) fn save(&mut self, path: &Path) {
        if let Some(document) = self.documents.get_mut(path) {
            document.save();
            self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri::of(path)}}));
        }
    }

    /// Whatever was not saved is gone, as the developer wanted it to be.
    pub(crate) fn close(&mut self, path: &Path) {
        if self.documents.remove(path).is_some() {
            self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri::of(path)}}));
        }
    }

    /// What the developer would see in a file: the open document, else the disk.
    pub fn text(&self, path: &Path) -> String {
        match self.documents.get(path) {
            Some(document) => document.text.clone(),
            None => String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned(),
        }
    }

    /// What would lie on disk once everything is saved.
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        match self.documents.get(path) {
            Some(document) => Some(document.bytes()),
            None => std::fs::read(path).ok(),
        }
    }

    pub fn is_open(&self, path: &Path) -> bool {
        self.documents.contains_key(path)
    }

    /// Whether an open document holds what was not saved.
    pub fn is_dirty(&self, path: &Path) -> bool {
        self.documents.get(path).is_some_and(|document| document.dirty)
    }

    /// Texts that the developer typed and that are nowhere any more, and files that were written behind an open document.
    pub fn losses(&self) -> Vec<String> {
        // Whatever ends its lines, in the editor or on disk.
        let plain = |text: &str| text.replace("\r\n", "\n");
        let gone = self.typed.iter().filter(|(path, text)| !plain(&self.text(path)).contains(&plain(text)));
        let gone = gone.map(|(path, text)| format!("{text:?} is gone from {}", path.display()));
        let written = self.documents.values().filter(|document| document.changed_on_disk());
        let written = written.map(|document| format!("{} was written while open", document.path.display()));
        gone.chain(written).collect()
    }

    /// The developer puts another text in the place of everything, by the editor's undo for instance.
    pub(crate) fn rewrite(&mut self, path: &Path, text: &str) {
        let end = self.text(path).len();
        let edit = Replacement { start: 0, end, text: text.to_owned() };
        let change = self.change(path, &[edit]);
        self.notify("textDocument/didChange", change);
    }

    /// The developer takes back what was typed, by hand or with the editor's undo: it is missed no more.
    pub(crate) fn forget_typed(&mut self) {
        self.typed.clear();
    }
}
