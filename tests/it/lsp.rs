//! The language server as an editor meets it: over its pipes, with documents that are typed in, in every manner in which
//! editors take edits. In each, nothing that was typed is lost, what is reported is true, and what is written is the base
//! with the kept hunks.

mod bytes;
mod cancel;
mod comment;
mod death;
mod flood;
mod folders;
mod guard;
mod manners;
mod model;
mod review;
mod rich;
mod storm;
mod talk;
mod together;
mod typing;
mod working_tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Client, Editor, Fingerprint, Project, Understudy, assert_same, repository};

use crate::crash::{text, understudy};

/// A project and the command in a home of its own, before which editors come and go.
pub struct Room {
    pub project: Project,
    pub understudy: Understudy,
}

impl Room {
    /// A committed project from `tests/data/NAME.txt`.
    pub fn data(name: &str) -> Self {
        Self::of(Project::data(name).committed())
    }

    pub fn of(project: Project) -> Self {
        Self { project, understudy: understudy() }
    }

    pub fn editor(&self, client: impl FnOnce(&Path) -> Client) -> Editor {
        let folder = self.project.path();
        Editor::start(&self.understudy, &folder, client(&folder))
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.project.fingerprint()
    }

    /// Quits the editor: the rules were kept, and nothing is left behind.
    #[track_caller]
    pub fn quit(&self, editor: Editor) {
        editor.quit();
        self.understudy.assert_nothing_left();
    }
}

/// The files of `desk` in which something changes.
pub const FILES: [&str; 4] = ["src/dos.rs", "src/lib.rs", "src/marked.rs", "src/words.rs"];

/// Bytes of files by their path.
pub type Bytes = BTreeMap<&'static str, Vec<u8>>;

/// What the developer has, on disk or in open documents.
pub fn bytes(editor: &Editor) -> Bytes {
    let read = |path: &'static str| (path, editor.look(|desk| desk.bytes(&editor.path(path)).unwrap_or_default()));
    FILES.into_iter().map(read).collect()
}

/// The same with every warning mended.
pub fn mended(bytes: &Bytes) -> Bytes {
    bytes.iter().map(|(path, bytes)| (*path, mend(bytes))).collect()
}

pub fn mend(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8(bytes.to_vec()).unwrap().replace("let mut ", "let ").into_bytes()
}

/// A diff as it is expected, byte for byte.
pub fn golden(name: &str) -> String {
    fs::read_to_string(repository().join("tests/data").join(name)).unwrap()
}

/// Creates a task and answers with its id.
#[track_caller]
pub fn create(editor: &Editor, argument: Value) -> String {
    text(&editor.command("understudy.task.create", argument)["task"])
}

#[track_caller]
pub fn lines(editor: &Editor) -> Vec<Value> {
    editor.command("understudy.task.list", json!({})).as_array().unwrap().clone()
}

/// The line of a task; a server that began just now may still be reading what was there before it.
#[track_caller]
pub fn line(editor: &Editor, id: &str) -> Value {
    editor.poll(&format!("task {id} is in the list"), |editor| lines(editor).into_iter().find(|line| line["id"] == id))
}

/// Waits until a task has one of the states, and answers with its line.
#[track_caller]
pub fn until(editor: &Editor, id: &str, status: &[&str]) -> Value {
    editor.poll(&format!("task {id} is {status:?}"), |editor| {
        lines(editor).into_iter().find(|line| line["id"] == id && status.iter().any(|it| line["status"] == *it))
    })
}

/// Waits until a task lies there for its review, whatever came of it.
#[track_caller]
pub fn reviewed(editor: &Editor, argument: Value) -> (String, Value) {
    let id = create(editor, argument);
    let line = until(editor, &id, &["review", "ended"]);
    assert_eq!(line["status"], "review", "{line:#}");
    (id, line)
}

/// Approves what is kept of a task as it stands, and answers with the outcome.
#[track_caller]
pub fn apply(editor: &Editor, id: &str) -> Value {
    let line = line(editor, id);
    let tree = &line["kept_tree"];
    editor.command("understudy.apply", json!({"task": id, "revision": line["revision"], "tree": tree}))
}

#[track_caller]
pub fn undo(editor: &Editor, id: &str) -> Value {
    let revision = line(editor, id)["revision"].clone();
    editor.command("understudy.undo", json!({"task": id, "revision": revision}))
}

/// The report of a task.
#[track_caller]
pub fn report(editor: &Editor, id: &str) -> Value {
    editor.command("understudy.task.get", json!({"task": id}))
}

/// The ids of the hunks in a file, in the order of the diff.
#[track_caller]
pub fn hunks(editor: &Editor, id: &str, path: &str) -> Vec<String> {
    let report = report(editor, id);
    let hunks = report["hunks"].as_array().unwrap().iter();
    hunks.filter(|hunk| hunk["path"] == path).map(|hunk| text(&hunk["id"])).collect()
}

/// # Panics
/// When something below the folder changed, but for what git and builds of the developer leave.
#[track_caller]
pub fn assert_untouched(before: &Fingerprint, room: &Room) {
    assert_same(before, &room.fingerprint());
}

/// The folders in which a test of the project `waits` waits.
pub fn waiting(room: &Room) -> PathBuf {
    let mut found = Vec::new();
    support::wait_until("a test waits", std::time::Duration::from_secs(180), || {
        found = crate::crash::waiting_in(&room.understudy.state());
        !found.is_empty()
    });
    found.remove(0)
}
