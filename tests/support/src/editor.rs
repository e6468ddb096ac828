//! [`Editor`]: a fake editor that speaks the Language Server Protocol with the built command, over its pipes and without
//! a library, on documents of its own.
//!
//! It answers the server by itself, in the [`Manner`] that a test chose, while the test types, asks and looks. At the end
//! [`Editor::quit`] holds everything that was said against the rules that always hold.

mod acts;
mod applying;
mod check;
mod client;
mod desk;
mod document;
mod live;
mod manner;
mod position;
mod uri;
mod wire;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use client::Client;
pub use desk::{Desk, From};
pub use manner::Manner;
pub use position::Encoding;

use live::{Line, Shared};

use crate::{Finished, Running, Understudy};

/// Longer than a task takes on a busy machine.
const LONG: Duration = Duration::from_secs(180);
/// Generous: the promise is a second, and tests that measure are measurements.
const END: Duration = Duration::from_secs(20);

/// Several times the longest time for which the server gathers changes before it speaks.
const SILENCE: Duration = Duration::from_secs(1);

/// An editor with a server of its own.
#[derive(Debug)]
pub struct Editor {
    running: Option<Running>,
    shared: Arc<Shared>,
    folder: PathBuf,
}

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked(pub i64);

impl Editor {
    /// Starts `understudy lsp` in `folder` and introduces itself.
    pub fn start(understudy: &Understudy, folder: &Path, client: Client) -> Self {
        let editor = Self::silent(understudy, folder, client, &[]);
        editor.introduce();
        editor
    }

    /// Starts the server, with further variables, and says nothing yet.
    pub fn silent(understudy: &Understudy, folder: &Path, client: Client, variables: &[(&str, &str)]) -> Self {
        let shared = Arc::new(Shared::new(client));
        let running = live::connect(&shared, understudy.command(folder, ["lsp"], variables));
        Self { running: Some(running), shared, folder: folder.to_owned() }
    }

    /// `initialize` and `initialized`. Answers with what the server said.
    pub fn introduce(&self) -> Value {
        let introduction = self.look(|desk| desk.client.initialize());
        let result = self.ask("initialize", introduction);
        let encoding =
            if result["capabilities"]["positionEncoding"] == "utf-8" { Encoding::Utf8 } else { Encoding::Utf16 };
        self.with(|desk| {
            desk.encoding = encoding;
            desk.notify("initialized", json!({}));
        });
        result
    }

    /// The server is killed, and another one takes its place, to which the editor shows the documents that it has open.
    pub fn restart(&mut self, understudy: &Understudy) {
        self.kill();
        self.reconnect(understudy);
    }

    /// The same where the server is gone already.
    pub fn reconnect(&mut self, understudy: &Understudy) {
        self.reconnect_with(understudy, &[]);
    }

    /// The same with further variables for the server.
    pub fn reconnect_with(&mut self, understudy: &Understudy, variables: &[(&str, &str)]) {
        let old = std::mem::replace(&mut self.shared, Arc::new(Shared::new(Client::helix(&self.folder))));
        let faults = old.faults(false);
        assert!(faults.is_empty(), "before the restart:\n{}", faults.join("\n"));
        let (client, documents, typed) = old
            .look(|desk| (desk.client.clone(), std::mem::take(&mut desk.documents), std::mem::take(&mut desk.typed)));
        self.shared = Arc::new(Shared::new(client));
        self.running = Some(live::connect(&self.shared, understudy.command(&self.folder, ["lsp"], variables)));
        self.introduce();
        self.with(|desk| {
            let paths: Vec<PathBuf> = documents.keys().cloned().collect();
            (desk.documents, desk.typed) = (documents, typed);
            paths.iter().for_each(|path| desk.announce(path));
        });
    }

    /// Sends SIGKILL to the server and waits until it is gone.
    pub fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.kill();
            drop(running.finish());
        }
    }

    /// The process of the server.
    ///
    /// # Panics
    /// When it was killed.
    pub fn process(&self) -> u32 {
        self.running.as_ref().map(Running::id).unwrap()
    }

    pub fn set_manner(&self, manner: Manner) {
        self.with(|desk| desk.manner = manner);
    }

    /// What the developer types in the manners in which somebody types: before a text, or at the end.
    pub fn will_type(&self, before: Option<&str>, text: &str) {
        self.with(|desk| desk.typing = (before.map(str::to_owned), text.to_owned()));
    }

    /// Looks at what the editor knows.
    pub fn look<T>(&self, look: impl FnOnce(&mut Desk) -> T) -> T {
        self.shared.look(look)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        self.shared.act(act)
    }

    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.join(path)
    }

    pub fn open(&self, path: &str) {
        self.with(|desk| desk.open(&self.path(path)));
    }

    pub fn save(&self, path: &str) {
        self.with(|desk| desk.save(&self.path(path)));
    }

    pub fn close(&self, path: &str) {
        self.with(|desk| desk.close(&self.path(path)));
    }

    /// Types over a text that occurs exactly once in an open document.
    #[track_caller]
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let path = self.path(path);
        self.with(|desk| {
            let text = desk.text(&path);
            assert_eq!(text.matches(from).count(), 1, "`{from}` in {}:\n{text}", path.display());
            let start = text.find(from).unwrap_or_default();
            desk.type_at(&path, start, start + from.len(), to);
        });
    }

    /// Types before the first place of a text in an open document.
    #[track_caller]
    pub fn type_before(&self, path: &str, before: &str, typed: &str) {
        let path = self.path(path);
        self.with(|desk| {
            let text = desk.text(&path);
            let start = text.find(before).unwrap_or_else(|| panic!("no `{before}` in {}:\n{text}", path.display()));
            desk.type_at(&path, start, start, typed);
        });
    }

    /// Types at the end of an open document.
    pub fn append(&self, path: &str, typed: &str) {
        let path = self.path(path);
        self.with(|desk| {
            let end = desk.text(&path).len();
            desk.type_at(&path, end, end, typed);
        });
    }

    /// The developer puts another text in the place of everything, by the editor's undo for instance.
    pub fn rewrite(&self, path: &str, text: &str) {
        self.with(|desk| desk.rewrite(&self.path(path), text));
    }

    pub fn text(&self, path: &str) -> String {
        self.look(|desk| desk.text(&self.path(path)))
    }

    /// What was typed so far may go, because the developer means it to.
    pub fn forget_typed(&self) {
        self.with(Desk::forget_typed);
    }

    /// Answers what waits in [`Manner::Waits`] or [`Manner::Silent`], honestly, and so everything later.
    pub fn let_go(&self) {
        self.with(Desk::let_go);
    }

    /// Says something that no editor would say.
    pub fn say(&self, message: Value) {
        self.with(|desk| desk.say(message));
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.with(|desk| desk.notify(method, params));
    }

    pub fn send(&self, method: &str, params: Value) -> Asked {
        Asked(self.with(|desk| desk.ask(method, params)))
    }

    /// Cancels a request, which gets an answer all the same.
    pub fn cancel(&self, asked: Asked) {
        self.notify("$/cancelRequest", json!({"id": asked.0}));
    }

    /// The answer to a request: a result, or an error.
    #[track_caller]
    pub fn answer(&self, asked: Asked) -> Result<Value, Value> {
        let answer = self.wait(&format!("request {} is answered", asked.0), |desk| desk.answer(asked.0).cloned());
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// # Panics
    /// When the answer is an error.
    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let asked = self.send(method, params);
        self.answer(asked).unwrap_or_else(|error| panic!("{method} was refused: {error}"))
    }

    /// A command of the server with its one argument.
    #[track_caller]
    pub fn command(&self, command: &str, argument: Value) -> Value {
        let asked = self.send_command(command, argument);
        self.answer(asked).unwrap_or_else(|error| panic!("{command} was refused: {error}"))
    }

    /// Code and sentence with which a command is refused.
    #[track_caller]
    pub fn refused(&self, command: &str, argument: Value) -> (i64, String) {
        let asked = self.send_command(command, argument);
        let error = self.answer(asked).expect_err("the command was carried out");
        (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default().to_owned())
    }

    pub fn send_command(&self, command: &str, argument: Value) -> Asked {
        self.send("workspace/executeCommand", json!({"command": command, "arguments": [argument]}))
    }

    /// The code actions at a text that occurs in an open document, with the diagnostics that lie there.
    #[track_caller]
    pub fn actions(&self, path: &str, at: &str) -> Vec<Value> {
        let path = self.path(path);
        let params = self.look(|desk| {
            let text = desk.text(&path);
            let start = text.find(at).unwrap_or_else(|| panic!("no `{at}` in {}:\n{text}", path.display()));
            let range = position::range(&text, start, start + at.len(), desk.encoding);
            let (first, last) = (range["start"]["line"].as_u64(), range["end"]["line"].as_u64());
            let near = |it: &&Value| {
                it["range"]["start"]["line"].as_u64() <= last && it["range"]["end"]["line"].as_u64() >= first
            };
            let near: Vec<&Value> = desk.diagnostics(&path).iter().filter(near).collect();
            let context = json!({"diagnostics": near, "triggerKind": 1});
            json!({"textDocument": {"uri": uri::of(&path)}, "range": range, "context": context})
        });
        self.ask("textDocument/codeAction", params).as_array().cloned().unwrap_or_default()
    }

    /// Titles of the code actions at a text.
    #[track_caller]
    pub fn titles(&self, path: &str, at: &str) -> Vec<String> {
        let title = |action: &Value| action["title"].as_str().map(str::to_owned);
        self.actions(path, at).iter().filter_map(title).collect()
    }

    /// Takes the one action whose title contains this, and answers with what its command answers.
    #[track_caller]
    pub fn take(&self, path: &str, at: &str, title: &str) -> Result<Value, Value> {
        let actions = self.actions(path, at);
        let fits = |action: &&Value| action["title"].as_str().is_some_and(|it| it.contains(title));
        let found: Vec<&Value> = actions.iter().filter(fits).collect();
        assert_eq!(found.len(), 1, "`{title}` among {actions:#?}");
        let command = &found[0]["command"];
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        let asked = self.send("workspace/executeCommand", params);
        self.answer(asked)
    }

    /// Waits until the editor knows something.
    ///
    /// # Panics
    /// When it does not come to know it, with what was said last.
    #[track_caller]
    pub fn wait<T>(&self, what: &str, look: impl FnMut(&mut Desk) -> Option<T>) -> T {
        self.shared.wait(what, LONG, look)
    }

    /// Asks again and again, with pauses that something new from the server ends.
    #[track_caller]
    pub fn poll<T>(&self, what: &str, mut ask: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + LONG;
        loop {
            if let Some(found) = ask(self) {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain until {what}\n{}", self.shared.last_lines());
            self.shared.pause(Duration::from_millis(50));
        }
    }

    /// Waits until the server has said nothing for longer than it ever holds back what it has to say.
    #[track_caller]
    pub fn wait_for_silence(&self) {
        let count = || self.look(|desk| desk.transcript().len());
        let mut last = (count(), Instant::now());
        self.poll("the server is silent", |_| {
            if count() != last.0 {
                last = (count(), Instant::now());
            }
            (last.1.elapsed() > SILENCE).then_some(())
        });
    }

    /// Whether the server still runs.
    pub fn is_connected(&mut self) -> bool {
        self.running.as_mut().is_some_and(Running::is_running)
    }

    /// The editor closes its end of the pipe, or dies, which looks the same.
    pub fn hang_up(&self) {
        self.shared.hang_up();
    }

    /// Waits until the server is gone, by its own crash for instance.
    #[track_caller]
    pub fn gone(&mut self) -> Finished {
        let mut running = self.running.take().unwrap();
        crate::wait_until("the server is gone", LONG, || !running.is_running());
        running.finish()
    }

    /// Waits until the server ended by itself, while its input is still open if nobody closed it.
    #[track_caller]
    pub fn ended(&mut self) -> Finished {
        let mut running = self.running.take().unwrap();
        crate::wait_until("the server ends", END, || !running.is_running());
        self.hang_up();
        running.finish()
    }

    /// `shutdown` and `exit` with everything answered; then the rules must have been kept and nothing typed be lost.
    #[track_caller]
    pub fn quit(mut self) {
        self.wait("every request is answered", |desk| desk.is_answered().then_some(()));
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let finished = self.ended().ended_with(0);
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        self.assert_kept(true);
    }

    /// # Panics
    /// When a rule was broken, or something that was typed is nowhere any more.
    #[track_caller]
    pub fn assert_kept(&self, answered: bool) {
        let mut wrong = self.shared.faults(answered);
        wrong.extend(self.look(|desk| desk.losses()));
        assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), self.shared.last_lines());
    }

    /// The last things that were said, for the message of a failed test.
    pub fn last_lines(&self) -> String {
        self.shared.last_lines()
    }

    /// Everything that was said, with who said it.
    pub fn transcript(&self) -> Vec<Line> {
        self.look(|desk| desk.transcript().to_vec())
    }
}
