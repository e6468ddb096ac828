//! The developer goes on typing while a task runs: what is typed elsewhere makes another tree, which is checked and
//! approved anew; what is typed where the diff changes something stops the publication.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use support::{Client, Editor, Manner, Project, assert_same};

use super::{Room, apply, create, line, undo, until, waiting};
use crate::crash::{go, waiting_in};

const FILE: &str = "src/lib.rs";

/// Lets every test that waits end, until this value goes.
pub struct Going(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Going {
    pub fn begin(room: &Room) -> Self {
        let (over, state) = (Arc::new(AtomicBool::new(false)), room.understudy.state());
        let ends = Arc::clone(&over);
        let goes = move || {
            while !ends.load(Ordering::Relaxed) {
                waiting_in(&state).iter().filter(|folder| folder.exists()).for_each(|folder| go(folder));
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        Self(over, Some(std::thread::spawn(goes)))
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        drop(self.1.take().map(JoinHandle::join));
    }
}

/// A change of `waits`, as a patch.
pub fn patch() -> String {
    let project = Project::data("waits").committed();
    project.replace(FILE, "6 * 7", "7 * 6");
    project.git(["diff"])
}

/// A task in the middle of a check, and an editor with its file open.
pub fn running(room: &Room, client: fn(&std::path::Path) -> Client) -> (Editor, String) {
    let editor = room.editor(client);
    editor.open(FILE);
    let id = create(&editor, json!({ "patch": patch() }));
    waiting(room);
    (editor, id)
}

#[test]
fn what_is_typed_elsewhere_while_a_task_runs_is_carried_into_a_new_tree() {
    let room = Room::data("waits");
    let (editor, id) = running(&room, Client::helix);
    assert_eq!(line(&editor, &id)["status"], "running");
    let before = room.fingerprint();
    editor.append(FILE, "\npub fn typed() {}\n");
    let going = Going::begin(&room);
    let first = until(&editor, &id, &["review"]);
    assert_eq!(first["verdict"], "verified", "{first:#}");
    let outcome = apply(&editor, &id);
    assert_eq!(outcome["outcome"], "moved", "{outcome:#}");
    assert_same(&before, &room.fingerprint());
    assert!(editor.text(FILE).contains("6 * 7"));
    // Another tree, which the old approval does not name.
    let second = until(&editor, &id, &["review"]);
    assert_ne!(second["kept_tree"], first["kept_tree"]);
    assert_eq!(second["kept_verdict"], "verified", "{second:#}");
    let stale = json!({"task": id, "revision": second["revision"], "tree": first["kept_tree"]});
    super::talk::denied(&editor, "understudy.apply", stale);
    let old = json!({"task": id, "revision": first["revision"], "tree": second["kept_tree"]});
    assert_eq!(editor.refused("understudy.apply", old).0, -32801);
    assert_same(&before, &room.fingerprint());
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    let text = editor.text(FILE);
    assert!(text.contains("7 * 6") && text.ends_with("\npub fn typed() {}\n"), "{text}");
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert_eq!(editor.text(FILE), text.replace("7 * 6", "6 * 7"));
    drop(going);
    room.quit(editor);
}

#[test]
fn what_is_typed_where_the_diff_changes_something_is_not_overwritten() {
    let room = Room::data("waits");
    let (editor, id) = running(&room, Client::helix);
    editor.replace(FILE, "6 * 7", "2 * 21");
    let (before, typed) = (room.fingerprint(), editor.text(FILE));
    let going = Going::begin(&room);
    until(&editor, &id, &["review"]);
    let outcome = apply(&editor, &id);
    assert_eq!(outcome["outcome"], "diverged", "{outcome:#}");
    assert_eq!(editor.text(FILE), typed);
    assert_same(&before, &room.fingerprint());
    drop(going);
    room.quit(editor);
}

/// The developer saves, and another program writes a file that is not open.
#[test]
fn files_that_change_on_disk_while_a_task_runs_are_moved_on_too() {
    let room = Room::data("waits");
    let (editor, id) = running(&room, Client::vscode);
    editor.append(FILE, "\npub fn typed() {}\n");
    editor.save(FILE);
    room.project.write("notes.txt", "written by somebody\n");
    let going = Going::begin(&room);
    until(&editor, &id, &["review"]);
    assert_eq!(apply(&editor, &id)["outcome"], "moved");
    until(&editor, &id, &["review"]);
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    // It was clean, and the editor was asked to save it.
    let text = room.project.text(FILE);
    assert!(text.contains("7 * 6") && text.contains("typed()"), "{text}");
    assert_eq!(room.project.text("notes.txt"), "written by somebody\n");
    drop(going);
    room.quit(editor);
}

/// Into the very line that a hunk changes, while the editor takes the edit and right after it did.
#[test]
fn what_is_typed_into_a_hunk_while_it_is_written_stays() {
    let room = Room::data("desk");
    for manner in [Manner::TypesMeanwhile, Manner::TypesAfter] {
        let editor = room.editor(Client::helix);
        editor.open(FILE);
        let (id, _) = super::reviewed(&editor, json!("fix warnings"));
        editor.set_manner(manner);
        let place = if manner == Manner::TypesAfter { "let sum" } else { "let mut sum" };
        editor.will_type(Some(place), "/* mine */ ");
        let outcome = apply(&editor, &id);
        let expected = if manner == Manner::TypesAfter { "partial" } else { "diverged" };
        assert_eq!(outcome["outcome"], expected, "{manner:?}: {outcome:#}");
        editor.set_manner(Manner::Honest);
        let typed = editor.text(FILE);
        assert_eq!(typed.matches("/* mine */").count(), 1);
        // Neither going on nor taking back touches it.
        for act in [apply, undo] {
            let asked = act(&editor, &id);
            assert_ne!(asked["outcome"], "applied", "{manner:?}: {asked:#}");
            assert_eq!(editor.text(FILE), typed);
        }
        // Without what was typed, one act takes back what there is.
        editor.rewrite(FILE, &typed.replace("/* mine */ ", ""));
        editor.forget_typed();
        if line(&editor, &id)["next"].as_array().unwrap().contains(&json!("undo")) {
            assert_eq!(undo(&editor, &id)["outcome"], "applied");
        }
        assert_eq!(editor.text(FILE), room.project.text(FILE));
        editor.close(FILE);
        drop(editor.answer(editor.send_command("understudy.task.cancel", json!({ "task": id }))));
        room.quit(editor);
    }
}

/// What was applied and then typed into is not taken back.
#[test]
fn an_undo_does_not_take_what_was_typed_since() {
    let room = Room::data("desk");
    let editor = room.editor(Client::vscode);
    editor.open(FILE);
    let (id, _) = super::reviewed(&editor, json!("fix warnings"));
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    let applied = super::bytes(&editor);
    editor.replace(FILE, "let sum = one", "let sum = 0 + one");
    let typed = super::bytes(&editor);
    let outcome = undo(&editor, &id);
    assert_ne!(outcome["outcome"], "applied", "{outcome:#}");
    assert!(super::bytes(&editor) == typed);
    editor.rewrite(FILE, &String::from_utf8(applied[FILE].clone()).unwrap());
    editor.forget_typed();
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert!(editor.text(FILE).contains("let mut sum"));
    room.quit(editor);
}
