//! [`Mail`]: everything that reaches the loop, closed. What is not here cannot change state.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use agent::Progress;
use lsp_types::{
    CodeActionOrCommand, CodeActionParams, CodeLens, DidChangeTextDocumentParams, ExecuteCommandParams,
    InitializeParams, InitializeResult, ProgressToken, TextDocumentItem, Url, WorkspaceFoldersChangeEvent,
};
use serde_json::Value;
use task::{TaskId, TreePath};
use tokio::sync::oneshot;

use crate::act::{ActId, Canceller, Ended};
use crate::choices::Choice;
use crate::command::DocumentParams;
use crate::documents::Look;
use crate::entry::Loaded;
use crate::hints::Mapped;
use crate::lent::{Lends, ModelText, Piece};

/// Why a request is not done, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The caller saw an older revision.
    Stale(String),
    BadParams(String),
    Failed(String),
}

impl Refusal {
    pub fn sentence(&self) -> &str {
        let (Self::Stale(sentence) | Self::BadParams(sentence) | Self::Failed(sentence)) = self;
        sentence
    }
}

pub type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

#[derive(Debug)]
pub enum Mail {
    // From the client.
    Initialize(Box<InitializeParams>, Reply<InitializeResult>),
    Initialized,
    Opened(TextDocumentItem),
    Changed(DidChangeTextDocumentParams),
    Saved(Url),
    Closed(Url),
    FoldersChanged(WorkspaceFoldersChangeEvent),
    CodeActions(CodeActionParams, Reply<Vec<CodeActionOrCommand>>),
    CodeLenses(Url, Reply<Vec<CodeLens>>),
    Command(ExecuteCommandParams, Reply<Value>),
    Document(DocumentParams, Reply<Value>),
    ProgressCancelled(ProgressToken),
    Shutdown(Reply<()>),
    Exit,
    /// Standard input is closed.
    Gone,
    // Answers of the client.
    ProgressReady(ProgressToken),
    NotShown(Url),
    /// An option of a question: what it calls.
    Chosen(Choice),
    // Models that the client lends.
    /// Its models are these from now on.
    Models(Option<Lends>),
    /// A piece of a text that one of them says.
    ModelText(ModelText),
    /// Which there are.
    Lends(mpsc::Sender<Option<Lends>>),
    /// One is asked; the reply is the number of the call.
    Lend {
        ask: Box<Value>,
        pieces: mpsc::Sender<Piece>,
        reply: mpsc::Sender<u64>,
    },
    /// Nobody waits for that call any more.
    LendOver {
        call: u64,
        answered: bool,
    },
    /// Whether a model is configured, and if not why.
    ModelKnown(Result<(), String>),
    // From acts.
    /// The task is durable: its id may be said.
    Begun {
        act: ActId,
        task: TaskId,
        state: Box<task::State>,
        turn: mpsc::Sender<()>,
    },
    /// How this act can be ended.
    Cancellable {
        act: ActId,
        cancel: Canceller,
    },
    News {
        act: ActId,
        news: Progress,
    },
    Ended(Box<Ended>),
    /// A note for a task is in the journal.
    Told {
        loaded: Box<Loaded>,
        reply: Reply<Value>,
    },
    /// Tasks that were there when the server started.
    Restored(Vec<Loaded>),
    /// Tasks that other processes have changed, as they are now.
    Seen(Vec<Loaded>),
    /// Where the tree paths of a folder begin.
    FolderKnown {
        folder: PathBuf,
        top: PathBuf,
    },
    Mapped(Mapped),
    /// What is open below a folder.
    Documents {
        top: PathBuf,
        reply: mpsc::Sender<Vec<(TreePath, Arc<str>)>>,
    },
    /// One document, as it is now.
    Look {
        path: PathBuf,
        reply: mpsc::Sender<Option<Look>>,
    },
    /// One document, when its text is another one, or the time is over.
    Watch {
        path: PathBuf,
        unlike: Arc<str>,
        deadline: Instant,
        reply: mpsc::Sender<Option<Look>>,
    },
}

/// Where mail is posted; never waits.
#[derive(Debug, Clone)]
pub struct Mailbox(mpsc::Sender<Mail>);

impl Mailbox {
    pub fn new() -> (Self, mpsc::Receiver<Mail>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }

    pub fn post(&self, mail: Mail) {
        // The loop ends with the process and not before it.
        let _ = self.0.send(mail);
    }

    /// Posts mail that wants an answer; `None` when the loop is gone.
    pub fn ask<T>(&self, mail: impl FnOnce(mpsc::Sender<T>) -> Mail) -> Option<T> {
        let (reply, answer) = mpsc::channel();
        self.post(mail(reply));
        answer.recv().ok()
    }
}
