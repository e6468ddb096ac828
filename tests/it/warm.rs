//! The compiler of the language server stays loaded between tasks, as long as what it was loaded for is the same.

use serde_json::json;
use support::{Client, Editor, leftovers};

use crate::compiler::semver;
use crate::lsp::{Room, apply, report, reviewed};

/// The workers of this server.
fn workers(room: &Room) -> Vec<u32> {
    let is_worker = |command: &str| command.split(' ').nth(1) == Some("__compiler-worker");
    let found = leftovers(&room.understudy.marker()).into_iter();
    found.filter(|process| is_worker(&process.command)).map(|process| process.process).collect()
}

#[track_caller]
fn renamed(editor: &Editor, task: &str) -> String {
    let (id, line) = reviewed(editor, json!(task));
    assert_eq!(line["verdict"], "verified", "{line:#}");
    id
}

#[test]
fn the_second_task_starts_no_second_compiler_and_sees_what_was_typed_since() {
    let room = Room::of(semver());
    let editor = room.editor(Client::helix);
    editor.open("src/lib.rs");
    let first = renamed(&editor, "rename `VersionReq::matches` to `accepts`");
    let waiting = workers(&room);
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(apply(&editor, &first)["outcome"], "applied");
    editor.replace(
        "src/lib.rs",
        "impl VersionReq {",
        "impl VersionReq {\n    fn all(&self) -> bool { self.accepts(&Version::new(0, 0, 0)) }\n",
    );

    // The new base has the first change, and a use of it that nobody saved.
    let second = renamed(&editor, "rename `VersionReq::accepts` to `admits`");
    assert_eq!(workers(&room), waiting);
    let diff = report(&editor, &second)["diff"].as_str().unwrap().to_owned();
    assert!(diff.contains("+    fn all(&self) -> bool { self.admits(&Version::new(0, 0, 0)) }"), "{diff}");

    // Packages are another matter.
    room.project.replace("Cargo.toml", "[features]", "[features]\nmore = []");
    renamed(&editor, "rename `Comparator::matches` to `admits`");
    let anew = workers(&room);
    assert!(anew.len() == 1 && anew != waiting, "{waiting:?}, then {anew:?}");
    editor.forget_typed();
    room.quit(editor);
}
