//! What an editor says about itself when it introduces itself to a server.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::position::Encoding;
use super::uri;

/// What a client can do, and which folders it has open.
#[derive(Debug, Clone)]
pub struct Client {
    /// Encodings of positions in the order of preference; a client that says nothing counts in UTF-16.
    pub encodings: Vec<Encoding>,
    /// Knows the messages of our own.
    pub rich: bool,
    pub code_lens: bool,
    pub document_changes: bool,
    /// Creates, renames and deletes files where an edit says so.
    pub resource_operations: bool,
    pub progress: bool,
    pub show_document: bool,
    /// Holds texts with plain line feeds, whatever the file has.
    pub plain_lines: bool,
    /// The folders of the workspace; `None` where the client has no notion of them and names one root.
    pub folders: Option<Vec<PathBuf>>,
    pub root: Option<PathBuf>,
    pub process: Option<u32>,
    /// Further options for the server, beside what `rich` says.
    pub options: Value,
    /// Answers for a model that the editor lends; `None` where it lends none.
    pub model: Option<fn(&Value) -> Value>,
}

impl Client {
    /// Draws hints and diagnostics, no lenses; shows progress; saves only by hand.
    pub fn helix(folder: &Path) -> Self {
        Self {
            encodings: vec![Encoding::Utf8, Encoding::Utf16],
            rich: false,
            code_lens: false,
            document_changes: true,
            resource_operations: true,
            progress: true,
            show_document: true,
            plain_lines: false,
            folders: Some(vec![folder.to_owned()]),
            root: Some(folder.to_owned()),
            process: Some(std::process::id()),
            options: Value::Null,
            model: None,
        }
    }

    /// As little as a client can be: UTF-16, one kind of line end, no progress, no documents shown, no files created or
    /// deleted.
    pub fn eglot(folder: &Path) -> Self {
        Self {
            encodings: Vec::new(),
            resource_operations: false,
            progress: false,
            show_document: false,
            plain_lines: true,
            ..Self::helix(folder)
        }
    }

    /// A plain client that has lenses.
    pub fn kate(folder: &Path) -> Self {
        Self { code_lens: true, ..Self::helix(folder) }
    }

    /// Our own client in an editor that counts in UTF-8.
    pub fn neovim(folder: &Path) -> Self {
        Self { rich: true, code_lens: true, ..Self::helix(folder) }
    }

    /// Our own client in an editor that counts in UTF-16.
    pub fn vscode(folder: &Path) -> Self {
        Self { encodings: vec![Encoding::Utf16], ..Self::neovim(folder) }
    }

    pub(crate) fn initialize(&self) -> Value {
        let folders = self.folders.as_ref().map(|folders| {
            folders.iter().map(|folder| json!({"uri": uri::of(folder), "name": name(folder)})).collect::<Vec<_>>()
        });
        json!({
            "processId": self.process,
            "clientInfo": {"name": "a fake editor"},
            "rootUri": self.root.as_deref().map(uri::of),
            "workspaceFolders": folders,
            "capabilities": self.capabilities(),
            "initializationOptions": self.initialization_options(),
        })
    }

    fn capabilities(&self) -> Value {
        let operations: &[&str] = if self.resource_operations { &["create", "rename", "delete"] } else { &[] };
        let encodings: Vec<_> = self.encodings.iter().map(|encoding| encoding.name()).collect();
        let mut capabilities = json!({
            "general": {},
            "window": {"workDoneProgress": self.progress, "showDocument": {"support": self.show_document}},
            "workspace": {
                "applyEdit": true,
                "workspaceFolders": self.folders.is_some(),
                "workspaceEdit": {"documentChanges": self.document_changes, "resourceOperations": operations},
                "executeCommand": {},
            },
            "textDocument": {
                "synchronization": {"didSave": true},
                "publishDiagnostics": {"versionSupport": true},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}},
            },
        });
        if !encodings.is_empty() {
            capabilities["general"]["positionEncodings"] = json!(encodings);
        }
        if self.code_lens {
            capabilities["textDocument"]["codeLens"] = json!({});
            capabilities["workspace"]["codeLens"] = json!({"refreshSupport": true});
        }
        capabilities
    }

    fn initialization_options(&self) -> Value {
        let mut options = self.options.clone();
        if self.rich {
            options["understudy"]["protocol"] = json!(1);
            if self.model.is_some() {
                options["understudy"]["models"] = json!({"name": "lent", "window": 100_000, "max_output": 4000});
            }
        }
        options
    }
}

fn name(folder: &Path) -> String {
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
