//! Five faults of the framework under the server, each of which ended it or made it deaf: late answers, panics, handlers
//! that all wait, notifications out of order, and an end that never comes (see `death.rs` for the last one).

use serde_json::{Value, json};
use support::{Client, Editor, Manner};

use super::{Room, lines, reviewed};

const FILE: &str = "src/lib.rs";

#[track_caller]
fn assert_hears(editor: &Editor) {
    lines(editor);
}

#[test]
fn answers_that_come_too_late_do_no_harm() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    editor.set_manner(Manner::Silent);
    let approval = json!({"task": id, "revision": seen["revision"], "tree": seen["kept_tree"]});
    let asked = [
        editor.send_command("understudy.review.open", json!({ "task": id })),
        editor.send_command("understudy.apply", approval),
    ];
    editor.wait("both ask something", |desk| {
        (desk.is_waiting() && !desk.said("workspace/applyEdit").is_empty()).then_some(())
    });
    asked.iter().for_each(|asked| editor.cancel(*asked));
    asked.iter().for_each(|asked| drop(editor.answer(*asked)));
    editor.let_go();
    // A second answer, one to nothing, and one that makes no sense.
    for id in [json!(1), json!("nobody"), json!(4_000_000), Value::Null] {
        editor.say(json!({"id": id, "result": null}));
        editor.say(json!({"id": id, "error": {"code": 1, "message": "no"}}));
    }
    assert_hears(&editor);
    super::until(&editor, &id, &["review", "ended"]);
    room.quit(editor);
}

/// Whatever is sent: one answer where one is due, and the next request is heard.
#[test]
fn nothing_that_is_said_ends_the_server() {
    let room = Room::data("desk");
    let before = room.fingerprint();
    let editor = room.editor(Client::eglot);
    editor.open(FILE);
    let uri = json!({"uri": format!("file://{}", editor.path(FILE).display())});
    let far = json!({"line": u32::MAX, "character": u32::MAX});
    let back = json!({"start": far, "end": {"line": 0, "character": 0}});
    let requests = [
        ("textDocument/codeAction", json!({"textDocument": uri, "range": back, "context": {"diagnostics": []}})),
        (
            "textDocument/codeAction",
            json!({"textDocument": uri, "range": {"start": far, "end": far}, "context": {"diagnostics": []}}),
        ),
        (
            "textDocument/codeAction",
            json!({"textDocument": {"uri": "untitled:1"}, "range": back, "context": {"diagnostics": []}}),
        ),
        ("textDocument/codeAction", json!([])),
        ("textDocument/codeLens", json!({"textDocument": {"uri": "file:///%FF"}})),
        ("workspace/executeCommand", json!({"command": "rm", "arguments": ["-rf"]})),
        (
            "workspace/executeCommand",
            json!({"command": "understudy.apply", "arguments": [{"task": "../../x", "revision": 1, "tree": "x"}]}),
        ),
        (
            "workspace/executeCommand",
            json!({"command": "understudy.task.create", "arguments": [{"description": "x\u{0}\n\u{1b}[31m"}]}),
        ),
        ("workspace/executeCommand", json!({"command": "understudy.task.create", "arguments": [1, 2, 3]})),
        (
            "workspace/executeCommand",
            json!({"command": "understudy.task.create", "arguments": [{"patch": "--- a/../../etc/passwd\n"}]}),
        ),
        ("workspace/executeCommand", json!({"command": "understudy.task.create"})),
        ("textDocument/hover", json!({"textDocument": uri, "position": far})),
        ("understudy/document", json!({"uri": "understudy:/x/y/z"})),
        ("initialize", json!({"capabilities": {}})),
    ];
    let notes = [
        (
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri["uri"], "version": 2}, "contentChanges": [{"range": back, "text": "x"}]}),
        ),
        (
            "textDocument/didChange",
            json!({"textDocument": {"uri": "file:///nowhere", "version": -1}, "contentChanges": []}),
        ),
        ("textDocument/didChange", json!({"nothing": "at all"})),
        ("textDocument/didClose", json!({"textDocument": {"uri": "file:///nowhere"}})),
        ("textDocument/didSave", json!({"textDocument": {"uri": "not a uri"}})),
        (
            "textDocument/didOpen",
            json!({"textDocument": {"uri": "file:///dev/null", "languageId": "", "version": 0, "text": "\u{0}"}}),
        ),
        ("window/workDoneProgress/cancel", json!({"token": "nobody"})),
        ("$/cancelRequest", json!({"id": 99_999})),
        ("$/setTrace", json!({"value": "verbose"})),
        (
            "workspace/didChangeWorkspaceFolders",
            json!({"event": {"added": [{"uri": "file:///nowhere", "name": ""}], "removed": []}}),
        ),
        ("workspace/didChangeConfiguration", json!({"settings": null})),
        ("what/is/this", json!({})),
    ];
    for (method, params) in requests {
        let asked = editor.send(method, params);
        drop(editor.answer(asked));
    }
    for (method, params) in notes {
        editor.notify(method, params);
    }
    assert_hears(&editor);
    super::assert_untouched(&before, &room);
    room.quit(editor);
}

/// Every request of the server waits for an editor that says nothing, with hundreds of notifications behind it.
#[test]
fn an_editor_that_answers_nothing_does_not_make_the_server_deaf() {
    let room = Room::data("desk");
    let editor = room.editor(Client::kate);
    editor.open(FILE);
    let (id, _) = reviewed(&editor, json!("fix warnings"));
    editor.set_manner(Manner::Silent);
    let asked: Vec<_> = (0..12).map(|_| editor.send_command("understudy.review.open", json!({ "task": id }))).collect();
    editor.wait("something waits", |desk| desk.is_waiting().then_some(()));
    for _ in 0..300 {
        editor.append(FILE, "// x\n");
    }
    assert_hears(&editor);
    let given_up = editor.send_command("understudy.doctor", json!({}));
    editor.cancel(given_up);
    drop(editor.answer(given_up));
    editor.let_go();
    asked.iter().for_each(|asked| drop(editor.answer(*asked)));
    room.quit(editor);
}

/// The answer to a question speaks of the text as it was when the question was asked, however fast all of it came.
#[test]
fn what_is_typed_is_heard_in_the_order_in_which_it_was_typed() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    editor.append(FILE, "x\n");
    let comment = "// understudy: fix warnings";
    for round in 0..100 {
        for word in ["// a", "// understudy: fix clippy", "no comment", comment] {
            let text = editor.text(FILE);
            let last = text.lines().last().unwrap().to_owned();
            editor.rewrite(FILE, &format!("{}{word}\n", text.strip_suffix(&format!("{last}\n")).unwrap()));
        }
        let offered = editor.titles(FILE, comment).len();
        assert!(offered > 0, "round {round}: {}", editor.text(FILE));
        editor.rewrite(FILE, &editor.text(FILE).replace(comment, "x"));
    }
    editor.forget_typed();
    room.quit(editor);
}
