//! Carries messages: the service over standard input and output, and what the loop says to the client.
//!
//! Requests to the client live in tasks of their own, so that a late answer never meets a closed channel (which ends
//! tower-lsp), and nothing of ours waits for a client that does not read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Poll};

use lsp_types::notification::{LogMessage, Notification, Progress, PublishDiagnostics, ShowMessage};
use lsp_types::request::{
    ApplyWorkspaceEdit, CodeLensRefresh, Request, ShowDocument, ShowMessageRequest, WorkDoneProgressCreate,
};
use lsp_types::{
    ApplyWorkspaceEditParams, ApplyWorkspaceEditResponse, LogMessageParams, MessageType, ProgressParams, ProgressToken,
    PublishDiagnosticsParams, ShowDocumentParams, ShowMessageParams, ShowMessageRequestParams,
    WorkDoneProgressCreateParams,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::{Client, LspService, Server};

use crate::backend::Backend;
use crate::choices::Choice;
use crate::guard::Guard;
use crate::leaving;
use crate::lent::{ModelOver, Piece};
use crate::line::TaskLine;
use crate::mail::{Mail, Mailbox};
use crate::main_loop;
use crate::rooms::Rooms;

/// Requests of the client that may wait for their answers at one time.
const CONCURRENT: usize = 1 << 16;

/// What the loop and the acts say to the client.
#[derive(Debug)]
pub enum Outgoing {
    Log(String),
    Message(MessageType, String),
    Diagnostics(PublishDiagnosticsParams),
    Progress(ProgressParams),
    TaskChanged(Box<TaskLine>),
    RefreshLenses,
    ShowDocument(ShowDocumentParams),
    CreateProgress(ProgressToken),
    /// The answer is posted as [`Mail::Chosen`].
    Choose(ShowMessageRequestParams, Vec<Choice>),
    /// A model of the client is asked.
    Model(Box<serde_json::Value>, mpsc::Sender<Piece>),
    /// Nobody waits for that answer any more.
    ModelOver(ModelOver),
    ApplyEdit(Box<ApplyWorkspaceEditParams>, mpsc::Sender<Result<ApplyWorkspaceEditResponse, String>>),
    Save(SaveParams, mpsc::Sender<Result<SaveResult, String>>),
}

/// Where outgoing messages are put; never waits.
#[derive(Debug, Clone)]
pub struct Outbox(UnboundedSender<Outgoing>);

impl Outbox {
    pub fn new() -> (Self, UnboundedReceiver<Outgoing>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    pub fn put(&self, outgoing: Outgoing) {
        // Nobody takes them any more only when the process is about to end.
        let _ = self.0.send(outgoing);
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SaveParams {
    pub uris: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SaveResult {
    #[serde(default)]
    pub unsaved: Vec<String>,
}

enum Save {}

impl Request for Save {
    type Params = SaveParams;
    type Result = SaveResult;
    const METHOD: &'static str = "understudy/save";
}

enum AskModel {}

impl Request for AskModel {
    type Params = serde_json::Value;
    type Result = serde_json::Value;
    const METHOD: &'static str = "understudy/model";
}

enum CallOver {}

impl Notification for CallOver {
    type Params = ModelOver;
    const METHOD: &'static str = "understudy/modelOver";
}

enum TaskChanged {}

impl Notification for TaskChanged {
    type Params = serde_json::Value;
    const METHOD: &'static str = "understudy/taskChanged";
}

/// Serves one client on standard input and output until it says `exit` or closes them. Returns the exit status.
pub fn serve(rooms: Arc<dyn Rooms>) -> i32 {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(_) => return task::ExitCode::Infrastructure as i32,
    };
    let (mailbox, mail) = Mailbox::new();
    let (outbox, mut outgoing) = Outbox::new();
    let (output, leaving) = leaving::output(tokio::io::stdout());
    main_loop::start(rooms, mailbox.clone(), outbox, mail, leaving);
    runtime.block_on(async {
        let (ours, theirs) = (mailbox.clone(), mailbox.clone());
        let mut client = None;
        let service = LspService::build(|handle| {
            client = Some(handle);
            Backend { mailbox: ours }
        })
        .custom_method("understudy/document", Backend::document)
        .custom_method("understudy/models", Backend::models)
        .custom_method("understudy/modelText", Backend::model_text)
        .custom_method("window/workDoneProgress/cancel", Backend::progress_cancelled);
        let (service, socket) = service.finish();
        if let Some(client) = client {
            tokio::spawn(async move {
                while let Some(message) = outgoing.recv().await {
                    send(&client, &theirs, message).await;
                }
            });
        }
        let input = Watched { inner: tokio::io::stdin(), mailbox: mailbox.clone() };
        let guard = Guard { inner: service, mailbox: mailbox.clone() };
        Server::new(input, output, socket).concurrency_level(CONCURRENT).serve(guard).await;
        mailbox.post(Mail::Gone);
        // The loop ends the process.
        std::future::pending::<()>().await;
    });
    0
}

async fn send(client: &Client, mailbox: &Mailbox, message: Outgoing) {
    match message {
        Outgoing::Log(message) => {
            client.send_notification::<LogMessage>(LogMessageParams { typ: MessageType::INFO, message }).await;
        }
        Outgoing::Message(typ, message) => {
            client.send_notification::<ShowMessage>(ShowMessageParams { typ, message }).await;
        }
        Outgoing::Diagnostics(params) => client.send_notification::<PublishDiagnostics>(params).await,
        Outgoing::Progress(params) => client.send_notification::<Progress>(params).await,
        Outgoing::TaskChanged(line) => {
            // A line of plain fields is always JSON.
            let line = serde_json::to_value(&line).unwrap_or_default();
            client.send_notification::<TaskChanged>(line).await;
        }
        Outgoing::RefreshLenses => request::<CodeLensRefresh>(client, (), |_| {}),
        Outgoing::ShowDocument(params) => {
            let (mailbox, shown) = (mailbox.clone(), params.uri.clone());
            request::<ShowDocument>(client, params, move |answer| {
                if !answer.is_ok_and(|answer| answer.success) {
                    mailbox.post(Mail::NotShown(shown));
                }
            });
        }
        Outgoing::CreateProgress(token) => {
            let mailbox = mailbox.clone();
            let params = WorkDoneProgressCreateParams { token: token.clone() };
            request::<WorkDoneProgressCreate>(client, params, move |answer| {
                if answer.is_ok() {
                    mailbox.post(Mail::ProgressReady(token));
                }
            });
        }
        Outgoing::Choose(params, choices) => {
            let mailbox = mailbox.clone();
            request::<ShowMessageRequest>(client, params, move |answer| {
                let chosen = answer.ok().flatten().map(|item| item.title);
                if let Some(choice) = choices.into_iter().find(|choice| chosen.as_ref() == Some(&choice.title)) {
                    mailbox.post(Mail::Chosen(choice));
                }
            });
        }
        Outgoing::Model(params, pieces) => request::<AskModel>(client, *params, move |answer| {
            // An answer that comes late finds nobody and is dropped.
            let _ = pieces.send(Piece::Done(answer));
        }),
        Outgoing::ModelOver(over) => client.send_notification::<CallOver>(over).await,
        Outgoing::ApplyEdit(params, reply) => request::<ApplyWorkspaceEdit>(client, *params, move |answer| {
            // Whoever asked may have given up; then the document's text says what happened.
            let _ = reply.send(answer);
        }),
        Outgoing::Save(params, reply) => request::<Save>(client, params, move |answer| {
            let _ = reply.send(answer);
        }),
    }
}

/// Asks the client, detached: the request lives on whatever becomes of whoever asked.
fn request<R>(client: &Client, params: R::Params, done: impl FnOnce(Result<R::Result, String>) + Send + 'static)
where
    R: Request + 'static,
    R::Params: Send,
    R::Result: Send,
{
    let client = client.clone();
    tokio::spawn(
        async move { done(client.send_request::<R>(params).await.map_err(|error| error.message.into_owned())) },
    );
}

/// Standard input that tells the loop when it ends: the framework would first wait for every open answer.
struct Watched<R> {
    inner: R,
    mailbox: Mailbox,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        if let Poll::Ready(result) = &read
            && (result.is_err() || buffer.filled().len() == before && buffer.remaining() > 0)
        {
            self.mailbox.post(Mail::Gone);
        }
        read
    }
}
