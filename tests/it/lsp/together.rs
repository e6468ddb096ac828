//! Two editors on one workspace, and the command line beside an editor: each sees what the others did, and nobody acts on
//! what is not so any more.

use serde_json::json;
use support::{Client, Editor};

use super::{Room, apply, bytes, hunks, line, mended, reviewed, undo, until};
use crate::crash::text;

/// An act of somebody who saw the task as it was before.
fn late(editor: &Editor, id: &str, seen: &serde_json::Value) -> (i64, String) {
    let approval = json!({"task": id, "revision": seen["revision"], "tree": seen["kept_tree"]});
    editor.refused("understudy.apply", approval)
}

#[test]
fn a_verdict_in_one_editor_makes_an_approval_in_the_other_stale() {
    let room = Room::data("desk");
    let one = room.editor(Client::vscode);
    let base = bytes(&one);
    let (id, seen) = reviewed(&one, json!("fix warnings"));
    let two = room.editor(Client::helix);
    assert_eq!(until(&two, &id, &["review"])["tree"], seen["tree"]);
    let rejected = hunks(&two, &id, "src/dos.rs");
    two.command("understudy.hunk.reject", json!({"task": id, "revision": seen["revision"], "hunks": rejected}));
    two.poll("what is kept was checked", |two| {
        let line = line(two, &id);
        (line["status"] == "review" && line["kept_verdict"] == "verified").then_some(())
    });
    let before = room.fingerprint();
    let (code, sentence) = late(&one, &id, &seen);
    assert_eq!(code, -32801, "{sentence}");
    super::assert_untouched(&before, &room);
    // Having been told, the first one sees what is so.
    let now =
        one.poll("the first editor sees the verdict", |one| Some(line(one, &id)).filter(|it| it["rejected"] == 1));
    assert_ne!(now["revision"], seen["revision"]);
    assert_eq!(apply(&two, &id)["outcome"], "applied");
    let mut expected = mended(&base);
    expected.insert("src/dos.rs", base["src/dos.rs"].clone());
    assert!(bytes(&one) == expected);
    two.quit();
    room.quit(one);
}

/// A publication by the command line, with an editor open that does not have the files.
#[test]
fn what_the_command_line_wrote_the_editor_takes_back() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    let base = bytes(&editor);
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    let apply = ["tasks", "apply", &id, "--tree", &text(&seen["kept_tree"])];
    room.understudy.run(&room.project.path(), apply).ended_with(0);
    assert!(bytes(&editor) == mended(&base));
    let (code, sentence) = late(&editor, &id, &seen);
    assert_eq!(code, -32801, "{sentence}");
    editor.poll("the editor sees the publication", |editor| {
        Some(line(editor, &id)).filter(|it| it["publication"]["state"] == "applied")
    });
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert!(bytes(&editor) == base);
    room.quit(editor);
}
