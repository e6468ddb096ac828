//! Ending a task from the editor: by its progress bar, by a command, and while the editor itself keeps everybody waiting.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Client, Editor, Manner, assert_same, leftovers, wait_until};

use super::typing::running;
use super::{Room, bytes, line, mended, reviewed, until};

/// Waits until only the server, and perhaps its compiler, is left of everything that was started here.
fn assert_no_check_runs(room: &Room, editor: &Editor) {
    let (marker, server) = (room.understudy.marker(), editor.process());
    wait_until("no check runs", Duration::from_secs(30), || {
        leftovers(&marker).iter().all(|it| it.process == server || it.command.contains("compiler"))
    });
}

#[test]
fn the_progress_bar_of_a_task_ends_it() {
    let room = Room::data("waits");
    let before = room.fingerprint();
    let (editor, id) = running(&room, Client::helix);
    let token = editor.wait("a bar is shown", |desk| {
        let begun = desk.said("$/progress").into_iter().find(|it| it["value"]["kind"] == "begin")?;
        assert_eq!(begun["value"]["cancellable"], true, "{begun}");
        Some(begun["token"].clone())
    });
    editor.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let line = until(&editor, &id, &["ended"]);
    assert_eq!(line["verdict"], "cancelled", "{line:#}");
    editor.wait("the bar ends", |desk| {
        desk.said("$/progress").iter().any(|it| it["value"]["kind"] == "end").then_some(())
    });
    assert_no_check_runs(&room, &editor);
    assert_same(&before, &room.fingerprint());
    room.quit(editor);
}

#[test]
fn the_command_answers_when_nothing_of_the_task_runs_any_more() {
    let room = Room::data("waits");
    let before = room.fingerprint();
    let (editor, id) = running(&room, Client::neovim);
    assert_eq!(editor.command("understudy.task.cancel", json!({ "task": id })), json!({}));
    assert_eq!(line(&editor, &id)["verdict"], "cancelled");
    assert_no_check_runs(&room, &editor);
    assert_same(&before, &room.fingerprint());
    // A second time there is nothing to end, and nothing breaks.
    drop(editor.answer(editor.send_command("understudy.task.cancel", json!({ "task": id }))));
    room.quit(editor);
}

/// The editor does not answer an edit. Whoever asked gives up; the answer comes late; everything still is as it is said.
#[test]
fn a_publication_that_waits_for_the_editor_can_be_given_up() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open("src/lib.rs");
    let base = bytes(&editor);
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    editor.set_manner(Manner::Waits);
    let approval = json!({"task": id, "revision": seen["revision"], "tree": seen["kept_tree"]});
    let asked = editor.send_command("understudy.apply", approval);
    editor.wait("the edit is asked for", |desk| desk.is_waiting().then_some(()));
    editor.cancel(asked);
    // Answered once, whatever with.
    drop(editor.answer(asked));
    // The server hears everybody while it waits.
    assert_eq!(line(&editor, &id)["id"], json!(id));
    editor.let_go();
    let settled = until(&editor, &id, &["review", "ended"]);
    let (found, state) = (bytes(&editor), &settled["publication"]["state"]);
    let truth = match () {
        () if found == mended(&base) => "applied",
        () if found == base => "refused",
        () => "partial",
    };
    assert_eq!(state, truth, "{settled:#}");
    if truth != "applied" {
        assert_eq!(super::apply(&editor, &id)["outcome"], "applied");
    }
    assert!(bytes(&editor) == mended(&base));
    assert_eq!(super::undo(&editor, &id)["outcome"], "applied");
    assert!(bytes(&editor) == base);
    room.quit(editor);
}

#[test]
fn a_request_that_is_cancelled_is_answered_once() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open("src/lib.rs");
    for number in 0..50 {
        let asked = match number % 3 {
            0 => editor.send_command("understudy.doctor", json!({})),
            1 => editor.send_command("understudy.task.list", json!({})),
            _ => editor.send("textDocument/codeLens", json!({"textDocument": {"uri": "file:///nowhere"}})),
        };
        editor.cancel(asked);
    }
    editor.wait("all are answered", |desk| desk.is_answered().then_some(()));
    assert_eq!(super::lines(&editor), Vec::<Value>::new());
    room.quit(editor);
}
