//! Proving what the developer typed: the change is what stands in the editor against HEAD. Keeping writes nothing,
//! rejecting brings the text of HEAD back.

use serde_json::{Value, json};
use support::{Client, Editor};

use super::{Room, apply, create, hunks, line, undo, until};

const FILE: &str = "src/lib.rs";

fn action(editor: &Editor, title: &str) -> Value {
    let actions = editor.actions(FILE, "pub fn add");
    let found = actions.iter().find(|it| it["title"].as_str().is_some_and(|it| it.contains(title)));
    found.unwrap_or_else(|| panic!("`{title}` among {actions:#?}"))["command"]["arguments"][0].clone()
}

#[test]
fn what_was_typed_is_proved_unsaved_and_a_rejected_hunk_is_taken_out_of_the_document() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    editor.replace(FILE, "let mut sum = one + other;", "let sum = other + one;");
    editor.replace(FILE, "let mut result = number * 2;", "let result = number + number;");
    let (before, typed) = (room.fingerprint(), editor.text(FILE));
    let id = create(&editor, action(&editor, "prove my working-tree changes"));
    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["verdict"], &seen["hunks"]), (&json!("verified"), &json!(2)), "{seen:#}");
    super::assert_untouched(&before, &room);
    assert_eq!(editor.text(FILE), typed);

    let rejected = hunks(&editor, &id, FILE)[1].clone();
    let reject = json!({"task": id, "revision": seen["revision"], "hunks": [rejected]});
    editor.command("understudy.hunk.reject", reject);
    editor.poll("what is kept is checked", |editor| {
        let line = line(editor, &id);
        (line["status"] == "review" && line["kept_verdict"] == "verified").then_some(())
    });
    // The developer wants it out, and has been told so by nobody but themselves.
    editor.forget_typed();
    let outcome = apply(&editor, &id);
    assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
    assert_eq!(editor.text(FILE), typed.replace("let result = number + number;", "let mut result = number * 2;"));
    super::assert_untouched(&before, &room);
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert_eq!(editor.text(FILE), typed);
    room.quit(editor);
}

#[test]
fn a_task_for_one_file_changes_that_file_alone() {
    let room = Room::data("desk");
    let editor = room.editor(Client::kate);
    editor.open(FILE);
    let before = room.fingerprint();
    let id = create(&editor, action(&editor, "fix warnings in this file"));
    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["status"], &seen["files"], &seen["hunks"]), (&json!("review"), &json!(1), &json!(2)), "{seen:#}");
    super::assert_untouched(&before, &room);
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    assert!(!editor.text(FILE).contains("let mut") && room.project.text("src/words.rs").contains("let mut"));
    room.quit(editor);
}
