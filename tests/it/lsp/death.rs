//! The server, the editor or both end at the worst moment: what was asked for is resumed or reported, a publication is
//! finished or taken back in one act, and nothing stays behind.

use serde_json::{Value, json};
use support::{Client, Editor, Manner, Running, assert_same, command};

use super::typing::{Going, running};
use super::{Bytes, Room, apply, bytes, line, mended, reviewed, undo, until};

const FILE: &str = "src/lib.rs";

#[test]
fn a_task_whose_server_was_killed_is_resumed_in_the_next_one() {
    let room = Room::data("waits");
    let before = room.fingerprint();
    let (mut editor, id) = running(&room, Client::helix);
    editor.append(FILE, "// typed\n");
    editor.kill();
    room.understudy.assert_nothing_left();
    editor.reconnect(&room.understudy);
    let found = until(&editor, &id, &["interrupted"]);
    assert!(found["next"].as_array().unwrap().contains(&json!("resume")), "{found:#}");
    assert_eq!(found["verdict"], Value::Null);
    let going = Going::begin(&room);
    assert_eq!(editor.command("understudy.task.resume", json!({ "task": id })), json!({ "task": id }));
    let found = until(&editor, &id, &["review"]);
    assert_eq!(found["verdict"], "verified", "{found:#}");
    assert_same(&before, &room.fingerprint());
    assert!(editor.text(FILE).ends_with("// typed\n"));
    drop(going);
    room.quit(editor);
}

/// A verified task of `desk`, with a file of it open.
fn verified(room: &Room) -> (Editor, String, Bytes) {
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    let base = bytes(&editor);
    let (id, _) = reviewed(&editor, json!("fix warnings"));
    (editor, id, base)
}

/// Asks for a publication without waiting for what comes of it.
fn ask_to_apply(editor: &Editor, id: &str) {
    let seen = line(editor, id);
    let approval = json!({"task": id, "revision": seen["revision"], "tree": seen["kept_tree"]});
    editor.send_command("understudy.apply", approval);
}

/// What the server says about a publication that somebody else began follows from the bytes.
fn assert_true(editor: &Editor, id: &str, base: &Bytes) {
    let found = bytes(editor);
    let seen = line(editor, id);
    let state = &seen["publication"]["state"];
    let truth: &[&str] = match () {
        () if found == mended(base) => &["applied", "partial"],
        () if found == *base => &["refused", "partial", "undone"],
        () => &["partial"],
    };
    // A publication of which nothing was written may be as if it never was.
    let nothing = state.is_null() && found == *base;
    assert!(nothing || truth.iter().any(|it| state == it), "{seen:#}");
}

#[test]
fn a_publication_whose_server_was_killed_is_finished_or_taken_back_in_one_act() {
    let room = Room::data("desk");
    let (mut editor, id, base) = verified(&room);
    for finishes in [true, false] {
        for manner in [Manner::Waits, Manner::SaysNo] {
            editor.set_manner(manner);
            ask_to_apply(&editor, &id);
            match manner {
                Manner::Waits => editor.wait("the edit is asked for", |desk| desk.is_waiting().then_some(())),
                _ => editor.wait("the edit is made", |desk| {
                    (!desk.text(&editor.path(FILE)).contains("let mut")).then_some(())
                }),
            }
            editor.restart(&room.understudy);
            assert_true(&editor, &id, &base);
            if finishes {
                let outcome = apply(&editor, &id);
                let word = outcome["outcome"].as_str().unwrap_or_default();
                assert!(["applied", "already there"].contains(&word), "{outcome:#}");
                assert!(bytes(&editor) == mended(&base));
            }
            take_back(&editor, &id, &base);
        }
    }
    room.quit(editor);
}

fn take_back(editor: &Editor, id: &str, base: &Bytes) {
    if line(editor, id)["next"].as_array().unwrap().contains(&json!("undo")) {
        let outcome = undo(editor, id);
        assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
    }
    assert!(bytes(editor) == *base, "{:#}", line(editor, id));
}

/// The server dies around each event of a publication, with part of it in documents that are open and part in files.
#[test]
fn a_publication_killed_at_any_event_is_finished_or_taken_back_in_one_act() {
    let room = Room::data("desk");
    let (mut editor, id, base) = verified(&room);
    editor.open("src/words.rs");
    for (number, point) in ["before:1", "after:1", "before:2", "after:2", "before:3", "after:3"].into_iter().enumerate()
    {
        editor.kill();
        editor.reconnect_with(&room.understudy, &[("UNDERSTUDY_CRASH_AT", point)]);
        ask_to_apply(&editor, &id);
        assert_eq!(editor.gone().signal(), Some(9), "{point}");
        editor.reconnect(&room.understudy);
        assert_true(&editor, &id, &base);
        if number % 2 == 0 {
            let outcome = apply(&editor, &id);
            let word = outcome["outcome"].as_str().unwrap_or_default();
            assert!(["applied", "already there"].contains(&word), "{point}: {outcome:#}");
            assert!(bytes(&editor) == mended(&base), "{point}");
        }
        take_back(&editor, &id, &base);
    }
    room.quit(editor);
}

/// The editor takes its documents with it: what was not saved is gone by its doing, and what it was told to write is not
/// written behind its back.
#[test]
fn a_publication_whose_editor_died_is_finished_in_the_next_editor() {
    let room = Room::data("desk");
    for manner in [Manner::DiesBefore, Manner::DiesAfter] {
        let (mut editor, id, base) = verified(&room);
        editor.set_manner(manner);
        ask_to_apply(&editor, &id);
        editor.ended();
        room.understudy.assert_nothing_left();
        let editor = room.editor(Client::kate);
        assert_eq!(editor.text(FILE).into_bytes(), base[FILE], "the document was never saved");
        assert_true(&editor, &id, &base);
        let outcome = apply(&editor, &id);
        assert_eq!(outcome["outcome"], "applied", "{manner:?}: {outcome:#}");
        assert!(bytes(&editor) == mended(&base));
        take_back(&editor, &id, &base);
        room.quit(editor);
    }
}

/// However it is told to go, in the middle of a check and with its input still open.
#[test]
fn the_server_goes_when_it_is_told_to_and_takes_everything_with_it() {
    let ways: [(&str, Option<i32>); 4] =
        [("shutdown and exit", Some(0)), ("exit alone", Some(1)), ("closed input", None), ("its parent", None)];
    for (way, code) in ways {
        let room = Room::data("waits");
        let before = room.fingerprint();
        let mut shell = command("sh");
        shell.args(["-c", "read line"]);
        let parent = Running::start(shell);
        let mut editor = room.editor(|folder| Client { process: Some(parent.id()), ..Client::neovim(folder) });
        editor.open(FILE);
        let id = super::create(&editor, json!({ "patch": super::typing::patch() }));
        super::waiting(&room);
        match way {
            "closed input" => editor.hang_up(),
            "its parent" => {
                parent.kill();
                drop(parent.finish());
            }
            _ => {
                if way == "shutdown and exit" {
                    editor.ask("shutdown", Value::Null);
                }
                editor.notify("exit", Value::Null);
            }
        }
        let finished = editor.ended();
        assert!(!finished.stderr.contains("panicked"), "{way}: {}", finished.stderr);
        assert!(code.is_none_or(|code| finished.code() == Some(code)), "{way}: {:?}", finished.status);
        room.understudy.assert_nothing_left();
        assert_same(&before, &room.fingerprint());
        // The journal knows.
        let editor = room.editor(Client::helix);
        assert_eq!(line(&editor, &id)["status"], "interrupted", "{way}");
        assert_eq!(editor.command("understudy.task.cancel", json!({ "task": id })), json!({}));
        room.quit(editor);
    }
}
