//! What the client can do, and what we answer to it.

use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, ExecuteCommandOptions,
    InitializeParams, InitializeResult, OneOf, ResourceOperationKind, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
    WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::{Value, json};

use crate::command;
use crate::lent::Lends;
use crate::position::Encoding;

/// Version of `protocol.md`.
const PROTOCOL: u64 = 1;

/// What is asked about a client again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    pub encoding: Encoding,
    /// It knows `protocol.md`: state, review and results are its own.
    pub rich: bool,
    pub lenses: bool,
    pub refreshes_lenses: bool,
    pub progress: bool,
    pub shows_documents: bool,
    pub document_changes: bool,
    pub deletes: bool,
    /// It reports no text while it waits for the answer to a command, and gives up after ten seconds: Emacs.
    pub waits_deaf: bool,
    /// The process that started us, to end with it.
    pub process: Option<u32>,
}

/// Whether there is such a process.
pub fn is_running(process: u32) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

impl Facts {
    pub fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let window = capabilities.window.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let text = capabilities.text_document.as_ref();
        let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let operations = edit.and_then(|edit| edit.resource_operations.as_deref()).unwrap_or_default();
        let options = params.initialization_options.as_ref();
        Self {
            encoding: Encoding::chosen(general.and_then(|general| general.position_encodings.as_deref())),
            rich: options.is_some_and(|options| options["understudy"]["protocol"] == PROTOCOL),
            lenses: text.is_some_and(|text| text.code_lens.is_some()),
            refreshes_lenses: workspace
                .and_then(|workspace| workspace.code_lens.as_ref())
                .is_some_and(|lens| lens.refresh_support == Some(true)),
            progress: window.is_some_and(|window| window.work_done_progress == Some(true)),
            shows_documents: window.and_then(|window| window.show_document.as_ref()).is_some_and(|show| show.support),
            document_changes: edit.is_some_and(|edit| edit.document_changes == Some(true)),
            deletes: operations.contains(&ResourceOperationKind::Delete),
            waits_deaf: params.client_info.as_ref().is_some_and(|info| {
                let name = info.name.to_ascii_lowercase();
                name.contains("eglot") || name.contains("emacs")
            }),
            // One that cannot be seen, from inside a container for instance, cannot be watched either.
            process: params.process_id.filter(|process| is_running(*process)),
        }
    }

    /// The models that the client lends from the beginning.
    pub fn lends(options: &Value) -> Option<Lends> {
        Lends::read(&options["understudy"]["models"])
    }

    /// The answer to `initialize`.
    pub fn answer(&self) -> InitializeResult {
        let commands = command::NAMES.into_iter().chain([command::DOCTOR]).map(str::to_owned).collect();
        let capabilities = ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
                ..TextDocumentSyncOptions::default()
            })),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QUICKFIX,
                    CodeActionKind::REFACTOR,
                    CodeActionKind::SOURCE,
                ]),
                resolve_provider: Some(false),
                ..CodeActionOptions::default()
            })),
            code_lens_provider: (!self.rich).then_some(CodeLensOptions { resolve_provider: Some(false) }),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands,
                work_done_progress_options: WorkDoneProgressOptions::default(),
            }),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                    supported: Some(true),
                    change_notifications: Some(OneOf::Left(true)),
                }),
                file_operations: None,
            }),
            experimental: self.rich.then(|| json!({ "understudy": { "protocol": PROTOCOL } })),
            ..ServerCapabilities::default()
        };
        InitializeResult {
            capabilities,
            server_info: Some(ServerInfo {
                name: "understudy".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        }
    }
}
