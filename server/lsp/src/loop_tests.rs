//! The loop without a transport: mail in, answers and outgoing messages out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use agent::{Audience, Documents, House};
use lsp_types::{
    CodeActionContext, CodeActionOrCommand, CodeActionParams, CodeActionTriggerKind, DidChangeTextDocumentParams,
    ExecuteCommandParams, InitializeParams, Position, Range, TextDocumentContentChangeEvent, TextDocumentIdentifier,
    TextDocumentItem, Url, VersionedTextDocumentIdentifier, WorkspaceFolder,
};
use serde_json::{Value, json};
use task::Request;
use task::port::Publisher;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::act::Crew;
use crate::beside::Reader;
use crate::client::Facts;
use crate::lent::Lent;
use crate::mail::{Mail, Mailbox, Refusal};
use crate::main_loop::Loop;
use crate::rooms::{Ask, Rooms};
use crate::session::Session;
use crate::transport::{Outbox, Outgoing};

/// A binary whose state folder cannot be worked with.
struct NoRooms;

impl Rooms for NoRooms {
    fn house(&self, _: Audience, _: Arc<dyn Documents>, _: Lent) -> Result<House, String> {
        Err("the state folder is gone".into())
    }

    fn model(&self, _: &Lent) -> Result<(), String> {
        Err("no model is named in the settings".into())
    }

    fn take_editor_settings(&self, _: &Value) {}

    fn state(&self) -> Result<PathBuf, String> {
        Err("the state folder is gone".into())
    }

    fn request(&self, _: Ask) -> Result<Request, String> {
        Err("no request".into())
    }

    fn publisher(&self, _: &House, _: &str) -> Result<Box<dyn Publisher>, String> {
        Err("no publisher".into())
    }

    fn doctor(&self, _: Option<&Path>) -> String {
        "all is well".into()
    }
}

pub struct Bench {
    pub main: Loop,
    mail: Receiver<Mail>,
    pub outgoing: UnboundedReceiver<Outgoing>,
}

impl Bench {
    fn with(options: Value, folders: &[&str]) -> Self {
        Self::in_rooms(Arc::new(NoRooms), options, folders)
    }

    pub fn in_rooms(rooms: Arc<dyn Rooms>, options: Value, folders: &[&str]) -> Self {
        let (mailbox, mail) = Mailbox::new();
        let (outbox, outgoing) = Outbox::new();
        let crew = Crew { rooms, mailbox, outbox, facts: Facts::default(), reader: Reader::start() };
        let mut bench = Self { main: Loop { session: Session::default(), crew, leaving: None }, mail, outgoing };
        let folder = |path: &&str| WorkspaceFolder { uri: Url::from_file_path(path).unwrap(), name: String::new() };
        let params = InitializeParams {
            initialization_options: Some(options),
            workspace_folders: Some(folders.iter().map(folder).collect()),
            ..InitializeParams::default()
        };
        let (reply, mut answer) = oneshot::channel();
        bench.main.take(Mail::Initialize(Box::new(params), reply));
        answer.try_recv().unwrap().unwrap();
        bench
    }

    /// Takes mail until something holds.
    pub fn until(&mut self, mut holds: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            self.main.settle();
            if holds(self) {
                return;
            }
            assert!(Instant::now() < deadline, "it never came to hold");
            if let Ok(mail) = self.mail.recv_timeout(Duration::from_millis(20)) {
                self.main.take(mail);
            }
        }
    }

    pub fn open(&mut self, path: &str, text: &str) {
        let uri = Url::from_file_path(path).unwrap();
        self.main.take(Mail::Opened(TextDocumentItem::new(uri, "rust".into(), 1, text.into())));
    }

    fn replace(&mut self, path: &str, version: i32, text: &str) {
        let uri = Url::from_file_path(path).unwrap();
        let change = TextDocumentContentChangeEvent { range: None, range_length: None, text: text.into() };
        let text_document = VersionedTextDocumentIdentifier::new(uri, version);
        self.main.take(Mail::Changed(DidChangeTextDocumentParams { text_document, content_changes: vec![change] }));
    }

    /// Runs a command to its answer, whatever acts it takes.
    pub fn command(&mut self, command: &str, argument: Value) -> Result<Value, Refusal> {
        let (reply, mut answer) = oneshot::channel();
        let params = ExecuteCommandParams {
            command: command.into(),
            arguments: vec![argument],
            ..ExecuteCommandParams::default()
        };
        self.main.take(Mail::Command(params, reply));
        loop {
            self.main.settle();
            match answer.try_recv() {
                Ok(answer) => return answer,
                Err(oneshot::error::TryRecvError::Closed) => panic!("{command} is never answered"),
                // An answer from a thread of its own comes without mail.
                Err(_) => {
                    if let Ok(mail) = self.mail.recv_timeout(Duration::from_millis(20)) {
                        self.main.take(mail);
                    }
                }
            }
        }
    }

    pub fn titles(&mut self, path: &str, line: u32, trigger: CodeActionTriggerKind) -> Vec<String> {
        let position = Position::new(line, 5);
        let context = CodeActionContext { trigger_kind: Some(trigger), ..CodeActionContext::default() };
        let params = CodeActionParams {
            text_document: TextDocumentIdentifier::new(Url::from_file_path(path).unwrap()),
            range: Range::new(position, position),
            context,
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let (reply, mut answer) = oneshot::channel();
        self.main.take(Mail::CodeActions(params, reply));
        let actions = answer.try_recv().unwrap().unwrap();
        let title = |action| match action {
            CodeActionOrCommand::CodeAction(action) => action.title,
            CodeActionOrCommand::Command(command) => command.title,
        };
        actions.into_iter().map(title).collect()
    }

    pub fn messages(&mut self) -> Vec<String> {
        let mut messages = Vec::new();
        while let Ok(outgoing) = self.outgoing.try_recv() {
            if let Outgoing::Message(_, message) = outgoing {
                messages.push(message);
            }
        }
        messages
    }
}

#[test]
fn a_refusal_is_an_error_and_for_plain_clients_a_message_of_one_line() {
    for (options, told) in [(json!({}), true), (json!({"understudy": {"protocol": 1}}), false)] {
        let mut bench = Bench::with(options, &["/a"]);
        let refused = bench.command("understudy.task.create", json!("make it nice")).unwrap_err();
        assert!(matches!(&refused, Refusal::Failed(sentence) if sentence.contains("rename SYMBOL")), "{refused:?}");
        let messages = bench.messages();
        assert_eq!(messages.len(), usize::from(told), "{messages:?}");
        assert!(messages.iter().all(|message| !message.contains('\n')));
    }
}

#[test]
fn nothing_is_lost_without_a_folder_a_task_or_a_state_folder() {
    let mut bench = Bench::with(json!({}), &[]);
    let sentence = |result: Result<Value, Refusal>| result.unwrap_err().sentence().to_owned();
    assert!(sentence(bench.command("understudy.task.create", json!("fix warnings"))).contains("no folder is open"));
    assert!(sentence(bench.command("understudy.task.get", json!("nope"))).contains("no task nope"));
    assert!(
        sentence(bench.command("understudy.undo", json!({"task": "nope", "revision": 0}))).contains("no task nope")
    );
    assert_eq!(bench.command("understudy.task.list", json!({})), Ok(json!([])));
    assert_eq!(bench.command("understudy.doctor", json!({})), Ok(json!({"text": "all is well"})));

    let mut bench = Bench::with(json!({}), &["/a"]);
    assert!(sentence(bench.command("understudy.task.create", json!("fix warnings"))).contains("state folder is gone"));
    let three = json!({"worktree": true, "branch": "x"});
    assert!(sentence(bench.command("understudy.task.create", three)).contains("name one of them"));
}

#[test]
fn file_actions_come_when_asked_for_and_a_comment_offers_its_task_always() {
    let mut bench = Bench::with(json!({}), &["/a"]);
    bench.open("/a/x.rs", "// understudy: fix warnings\nfn f() {}\n");
    let title = "Understudy: do `fix warnings`";
    assert_eq!(bench.titles("/a/x.rs", 0, CodeActionTriggerKind::AUTOMATIC), [title]);
    assert_eq!(bench.titles("/a/x.rs", 1, CodeActionTriggerKind::AUTOMATIC), [""; 0]);
    let asked = bench.titles("/a/x.rs", 1, CodeActionTriggerKind::INVOKED);
    assert!(asked.iter().any(|title| title.ends_with("fix errors in this file")), "{asked:?}");
    assert!(
        !asked.iter().any(|title| title.contains("rename")),
        "a plain client cannot be asked for a name: {asked:?}"
    );
    let mut rich = Bench::with(json!({"understudy": {"protocol": 1}}), &["/a"]);
    rich.open("/a/x.rs", "// understudy: fix warnings\nfn f_g() {}\n");
    let asked = rich.titles("/a/x.rs", 1, CodeActionTriggerKind::INVOKED);
    assert!(asked.contains(&"Understudy: rename `f_g` and prove it".to_owned()), "{asked:?}");
    let asked = rich.titles("/a/x.rs", 0, CodeActionTriggerKind::INVOKED);
    assert!(!asked.iter().any(|title| title.contains("rename")), "words of a task are no names: {asked:?}");
}

#[test]
fn a_watch_is_answered_by_another_text_by_closing_or_by_time() {
    let mut bench = Bench::with(json!({}), &["/a"]);
    let uri = Url::from_file_path("/a/x.rs").unwrap();
    let watch = |bench: &mut Bench, unlike: &str, patience: Duration| {
        let (reply, answer) = channel();
        let deadline = Instant::now() + patience;
        bench.main.take(Mail::Watch { path: "/a/x.rs".into(), unlike: unlike.into(), deadline, reply });
        answer
    };
    bench.open("/a/x.rs", "old");
    let waiting = watch(&mut bench, "old", Duration::from_secs(600));
    bench.replace("/a/x.rs", 2, "old");
    assert!(waiting.try_recv().is_err());
    bench.replace("/a/x.rs", 3, "new");
    assert_eq!(waiting.try_recv().unwrap().unwrap().version, 3);
    let late = watch(&mut bench, "old", Duration::from_secs(600));
    assert_eq!(late.try_recv().unwrap().unwrap().version, 3);

    bench.replace("/a/x.rs", 4, "other");
    let over = watch(&mut bench, "other", Duration::ZERO);
    bench.main.settle();
    assert_eq!(&*over.try_recv().unwrap().unwrap().text, "other");

    let closed = watch(&mut bench, "other", Duration::from_secs(600));
    bench.main.take(Mail::Closed(uri));
    assert!(closed.try_recv().unwrap().is_none());
}
