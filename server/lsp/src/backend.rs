//! The framework's handlers. Each posts to the mailbox before its first await and then waits for the loop's answer, never
//! for the client.

use lsp_types::{
    CodeActionOrCommand, CodeActionParams, CodeLens, CodeLensParams, DidChangeTextDocumentParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    ExecuteCommandParams, InitializeParams, InitializeResult, InitializedParams, WorkDoneProgressCancelParams,
};
use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::{LanguageServer, async_trait};

use crate::command::DocumentParams;
use crate::entry::one_line;
use crate::lent::{Lends, ModelText};
use crate::mail::{Mail, Mailbox, Refusal, Reply};

/// The service that tower-lsp calls.
pub struct Backend {
    pub mailbox: Mailbox,
}

impl Backend {
    async fn ask<T>(&self, mail: impl FnOnce(Reply<T>) -> Mail) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.post(mail(reply));
        match answer.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(refusal)) => Err(error(refusal)),
            Err(_) => Err(Error::internal_error()),
        }
    }

    pub async fn document(&self, params: DocumentParams) -> Result<Value> {
        self.ask(|reply| Mail::Document(params, reply)).await
    }

    pub async fn models(&self, models: Value) {
        self.mailbox.post(Mail::Models(Lends::read(&models["models"])));
    }

    pub async fn model_text(&self, text: ModelText) {
        self.mailbox.post(Mail::ModelText(text));
    }

    pub async fn progress_cancelled(&self, params: WorkDoneProgressCancelParams) {
        self.mailbox.post(Mail::ProgressCancelled(params.token));
    }
}

fn error(refusal: Refusal) -> Error {
    let code = match refusal {
        Refusal::Stale(_) => ErrorCode::ContentModified,
        Refusal::BadParams(_) => ErrorCode::InvalidParams,
        // `RequestFailed` of LSP 3.17.
        Refusal::Failed(_) => ErrorCode::ServerError(-32803),
    };
    Error { code, message: one_line(refusal.sentence()).into(), data: None }
}

#[async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        self.ask(|reply| Mail::Initialize(Box::new(params), reply)).await
    }

    async fn initialized(&self, _: InitializedParams) {
        self.mailbox.post(Mail::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        self.ask(Mail::Shutdown).await
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.mailbox.post(Mail::Opened(params.text_document));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.mailbox.post(Mail::Changed(params));
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.mailbox.post(Mail::Saved(params.text_document.uri));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.mailbox.post(Mail::Closed(params.text_document.uri));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.mailbox.post(Mail::FoldersChanged(params.event));
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<Vec<CodeActionOrCommand>>> {
        self.ask(|reply| Mail::CodeActions(params, reply)).await.map(Some)
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.ask(|reply| Mail::CodeLenses(params.text_document.uri, reply)).await.map(Some)
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        self.ask(|reply| Mail::Command(params, reply)).await.map(Some)
    }
}
