//! What an editor knows: its documents, what the server told it, and everything that was said in either direction.
//!
//! Nothing here knows of pipes or processes. Whatever is to be said goes to [`Desk::out`], and whoever holds the pipe
//! takes it from there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::client::Client;
use super::document::Document;
use super::manner::{Coin, Manner};
use super::position::Encoding;
use super::uri;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Editor,
    Server,
}

/// Something that the editor is about to do with its pipe.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Out {
    Now(Value),
    /// When the editor comes to it, but before any message that is not an answer.
    Later(Value),
    Die,
}

/// The editor's side of everything.
#[derive(Debug)]
pub struct Desk {
    pub client: Client,
    pub manner: Manner,
    /// Where and what the developer types in the manners in which somebody types: before this text, or at the end.
    pub typing: (Option<String>, String),
    pub(crate) encoding: Encoding,
    pub(crate) documents: BTreeMap<PathBuf, Document>,
    pub(crate) out: Vec<Out>,
    /// Requests of the server that wait for [`Desk::let_go`].
    pub(crate) held: Vec<Value>,
    pub(crate) coin: Coin,
    /// What the developer typed, and where.
    pub(crate) typed: Vec<(PathBuf, String)>,
    transcript: Vec<(From, Value)>,
    diagnostics: BTreeMap<PathBuf, Vec<Value>>,
    answers: BTreeMap<i64, Value>,
    asked: BTreeSet<i64>,
}

impl Desk {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            manner: Manner::Honest,
            typing: (None, "// typed meanwhile\n".to_owned()),
            encoding: Encoding::Utf16,
            documents: BTreeMap::new(),
            out: Vec::new(),
            held: Vec::new(),
            coin: Coin::new(0),
            typed: Vec::new(),
            transcript: Vec::new(),
            diagnostics: BTreeMap::new(),
            answers: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Everything that was said, in order.
    pub fn transcript(&self) -> &[(From, Value)] {
        &self.transcript
    }

    /// The parameters of everything that the server said with this method.
    pub fn said(&self, method: &str) -> Vec<&Value> {
        let from_server =
            self.transcript.iter().filter(|(from, message)| *from == From::Server && message["method"] == method);
        from_server.map(|(_, message)| &message["params"]).collect()
    }

    /// The sentences that the developer was shown.
    pub fn messages(&self) -> Vec<&str> {
        self.said("window/showMessage").into_iter().filter_map(|it| it["message"].as_str()).collect()
    }

    /// Whether a message held this sentence.
    pub fn has_said(&self, sentence: &str) -> bool {
        self.messages().iter().any(|message| message.contains(sentence))
    }

    /// The diagnostics of a file as they stand.
    pub fn diagnostics(&self, path: &Path) -> &[Value] {
        self.diagnostics.get(path).map_or(&[], Vec::as_slice)
    }

    pub fn all_diagnostics(&self) -> impl Iterator<Item = (&Path, &Value)> {
        self.diagnostics.iter().flat_map(|(path, all)| all.iter().map(move |one| (path.as_path(), one)))
    }

    /// The answer to a request, once it came.
    pub fn answer(&self, id: i64) -> Option<&Value> {
        self.answers.get(&id)
    }

    /// Whether every request has its answer.
    pub fn is_answered(&self) -> bool {
        self.asked.iter().all(|id| self.answers.contains_key(id))
    }

    /// Whether something that the server asked for waits for an answer.
    pub fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.asked.last().map_or(1, |last| last + 1);
        self.asked.insert(id);
        self.say(request(json!({"id": id, "method": method}), params));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say(request(json!({ "method": method }), params));
    }

    pub(crate) fn say(&mut self, message: Value) {
        let message = self.written(message);
        self.out.push(Out::Now(message));
    }

    pub(crate) fn say_later(&mut self, method: &str, params: Value) {
        let message = self.written(json!({"method": method, "params": params}));
        self.out.push(Out::Later(message));
    }

    fn written(&mut self, mut message: Value) -> Value {
        message["jsonrpc"] = json!("2.0");
        self.transcript.push((From::Editor, message.clone()));
        message
    }

    /// Takes what the server said, and answers where it asked.
    pub(crate) fn receive(&mut self, message: Value) {
        self.transcript.push((From::Server, message.clone()));
        let params = &message["params"];
        match (message["method"].as_str(), message.get("id")) {
            (None, _) => {
                if let Some(id) = message["id"].as_i64() {
                    self.answers.entry(id).or_insert(message);
                }
            }
            (Some("textDocument/publishDiagnostics"), None) => {
                if let Some(path) = params["uri"].as_str().and_then(uri::path) {
                    self.diagnostics.insert(path, params["diagnostics"].as_array().cloned().unwrap_or_default());
                }
            }
            (Some(_), None) => {}
            (Some(_), Some(_)) if self.manner == Manner::Silent => self.held.push(message),
            (Some(_), Some(_)) => self.answer_request(&message),
        }
    }

    fn answer_request(&mut self, request: &Value) {
        match request["method"].as_str().unwrap_or_default() {
            "workspace/applyEdit" => self.take_edit(request),
            method => {
                let answer = self.courtesy(method, &request["params"]);
                self.reply(request, answer);
            }
        }
    }

    pub(crate) fn reply(&mut self, request: &Value, answer: Result<Value, Value>) {
        let id = &request["id"];
        self.say(match answer {
            Ok(result) => json!({"id": id, "result": result}),
            Err(error) => json!({"id": id, "error": error}),
        });
    }

    /// Requests that editors answer without asking anybody.
    fn courtesy(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        match method {
            "window/showDocument" => Ok(json!({"success": true})),
            "window/workDoneProgress/create" | "workspace/codeLens/refresh" | "window/showMessageRequest" => {
                Ok(Value::Null)
            }
            "workspace/workspaceFolders" => Ok(self.client.initialize()["workspaceFolders"].clone()),
            "workspace/configuration" => {
                Ok(params["items"].as_array().map_or(Value::Null, |items| items.iter().map(|_| Value::Null).collect()))
            }
            "understudy/model" if self.client.model.is_some() => {
                Ok(self.client.model.map_or(Value::Null, |model| model(params)))
            }
            "understudy/save" if self.client.rich => Ok(self.save_as_asked(params)),
            _ => Err(json!({"code": -32601, "message": format!("{method} is not known here")})),
        }
    }

    fn save_as_asked(&mut self, params: &Value) -> Value {
        let mut unsaved = Vec::new();
        for uri in params["uris"].as_array().into_iter().flatten() {
            let path = uri.as_str().and_then(uri::path).filter(|path| self.documents.contains_key(path));
            match path {
                Some(path) if self.manner != Manner::NeverSaves => self.save(&path),
                _ => unsaved.push(uri.clone()),
            }
        }
        json!({ "unsaved": unsaved })
    }

    /// Answers everything that waits, honestly.
    pub(crate) fn let_go(&mut self) {
        self.manner = Manner::Honest;
        for request in std::mem::take(&mut self.held) {
            self.answer_request(&request);
        }
    }
}

/// Null stands for no parameters at all.
fn request(mut message: Value, params: Value) -> Value {
    if !params.is_null() {
        message["params"] = params;
    }
    message
}
