//! Manners of the server itself: what it offers, what it refuses and in which words, and that it starts with little.

use serde_json::{Value, json};
use support::{Client, Editor};

use super::{Room, line, lines, reviewed};

#[test]
fn it_offers_exactly_what_it_does() {
    let room = Room::data("desk");
    let folder = room.project.path();
    for (client, encoding) in
        [(Client::helix(&folder), "utf-8"), (Client::eglot(&folder), "utf-16"), (Client::vscode(&folder), "utf-16")]
    {
        let rich = client.rich;
        let editor = Editor::silent(&room.understudy, &folder, client, &[]);
        let offered = editor.introduce()["capabilities"].clone();
        assert_eq!(offered["positionEncoding"], encoding);
        assert_eq!(offered["experimental"]["understudy"], if rich { json!({"protocol": 1}) } else { Value::Null });
        assert_eq!(offered["textDocumentSync"]["change"], 2);
        assert_ne!(offered["codeActionProvider"]["resolveProvider"], true);
        room.quit(editor);
    }
}

#[test]
fn it_does_not_answer_before_it_is_introduced_and_not_after_it_was_told_to_go() {
    let room = Room::data("desk");
    let folder = room.project.path();
    let mut editor = Editor::silent(&room.understudy, &folder, Client::helix(&folder), &[]);
    assert_eq!(editor.refused("understudy.task.list", json!({})).0, -32002);
    editor.introduce();
    lines(&editor);
    // Some write `null` where a method has no parameters.
    editor.say(json!({"id": 900, "method": "shutdown", "params": null}));
    let answer = editor.wait("it is told to go", |desk| desk.answer(900).cloned());
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(editor.refused("understudy.task.list", json!({})).0, -32600);
    editor.notify("exit", Value::Null);
    editor.ended().ended_with(0);
    room.understudy.assert_nothing_left();
}

/// A plain client may not show errors of commands: the sentence comes as a message too.
#[test]
fn what_is_refused_is_said_in_one_sentence() {
    let room = Room::data("desk");
    let before = room.fingerprint();
    let editor = room.editor(Client::eglot);
    let tree = "0123456789012345678901234567890123456789";
    let refused = [
        ("understudy.task.get", json!({"task": "nobody"})),
        ("understudy.apply", json!({"task": "nobody", "revision": 1, "tree": tree})),
        ("understudy.undo", json!({"task": "nobody", "revision": 1})),
        ("understudy.task.create", json!("make it nicer")),
        ("understudy.task.create", json!("rename nobody")),
        ("understudy.task.create", json!({"description": "fix warnings", "folder": "/nowhere"})),
    ];
    for (command, argument) in refused {
        let what = format!("{command} {argument}");
        let (code, sentence) = editor.refused(command, argument);
        assert!([-32602, -32803].contains(&code) && sentence.len() > 10, "{what}: {code} {sentence}");
        editor.wait(&format!("{what}: the sentence is shown"), |desk| desk.has_said(&sentence).then_some(()));
    }
    assert_eq!(lines(&editor), Vec::<Value>::new());
    super::assert_untouched(&before, &room);
    room.quit(editor);
}

/// Refused, as an error or as an outcome.
#[track_caller]
pub fn denied(editor: &Editor, command: &str, argument: Value) {
    let asked = editor.send_command(command, argument);
    match editor.answer(asked) {
        // Files that moved on make another tree before the approval is looked at, and nothing is written either.
        Ok(outcome) => assert!(["refused", "moved"].iter().any(|it| outcome["outcome"] == *it), "{outcome:#}"),
        Err(error) => assert_eq!(error["code"], -32803, "{error:#}"),
    }
}

#[test]
fn an_older_revision_and_another_tree_are_no_approval() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open("src/lib.rs");
    let before = (room.fingerprint(), editor.text("src/lib.rs"));
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    let revision = seen["revision"].as_u64().unwrap();
    let old = json!({"task": id, "revision": revision - 1, "tree": seen["kept_tree"]});
    let (code, sentence) = editor.refused("understudy.apply", old);
    assert!(code == -32801 && sentence.contains(&revision.to_string()), "{code}: {sentence}");
    let base = json!({"task": id, "revision": revision, "tree": seen["base"]});
    denied(&editor, "understudy.apply", base);
    denied(&editor, "understudy.undo", json!({"task": id, "revision": revision}));
    assert_eq!(line(&editor, &id)["publication"], Value::Null);
    super::assert_untouched(&before.0, &room);
    assert_eq!(editor.text("src/lib.rs"), before.1);
    room.quit(editor);
}

/// What the command line began, the editor goes on with, and the other way round.
#[test]
fn a_task_of_the_command_line_is_reviewed_in_the_editor() {
    let room = Room::data("desk");
    let report = room.understudy.run(&room.project.path(), ["run", "fix warnings", "--json"]).ended_with(0).json();
    let id = crate::crash::text(&report["task"]["id"]);
    let editor = room.editor(Client::kate);
    editor.open("src/lib.rs");
    let seen = super::until(&editor, &id, &["review"]);
    assert_eq!((&seen["tree"], &seen["source"]), (&report["tree"], &json!("command_line")), "{seen:#}");
    assert_eq!(super::apply(&editor, &id)["outcome"], "applied");
    assert!(!editor.text("src/lib.rs").contains("let mut"));
    editor.save("src/lib.rs");
    room.quit(editor);
    let shown = room.understudy.run(&room.project.path(), ["tasks", "show", &id, "--json"]).ended_with(0).json();
    let ends: Vec<_> = shown["publications"].as_array().unwrap().iter().map(|it| &it["end"]["kind"]).collect();
    assert_eq!(ends, ["applied"]);
    room.understudy.run(&room.project.path(), ["tasks", "undo", &id]).ended_with(0);
    assert!(room.project.text("src/lib.rs").contains("let mut"));
}
