//! What a client that knows the protocol gets: lines of tasks as they change, files of trees, requests to save; and
//! nothing that it did not ask for.

use std::time::Instant;

use serde_json::{Value, json};
use support::Client;

use super::typing::{Going, running};
use super::{Room, apply, bytes, hunks, line, mended, reviewed, until};
use crate::crash::text;

#[test]
fn a_task_tells_its_changes_and_not_more_often_than_anybody_can_read() {
    let room = Room::data("desk");
    let editor = room.editor(Client::neovim);
    let begin = Instant::now();
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    let took = begin.elapsed();
    let told: Vec<Value> = editor.look(|desk| desk.said("understudy/taskChanged").into_iter().cloned().collect());
    assert!(told.iter().all(|it| it["id"] == json!(id)), "{told:#?}");
    assert!(told.iter().any(|it| it["status"] == "running" && it["doing"] != ""), "{told:#?}");
    assert!(told.len() as f64 <= 10.0 * (took.as_secs_f64() + 1.0), "{} in {took:?}", told.len());
    // The last one says what asking says.
    editor.poll("the end is told", |editor| {
        editor.look(|desk| desk.said("understudy/taskChanged").last().is_some_and(|it| **it == seen)).then_some(())
    });
    // A revision never falls.
    let revisions: Vec<_> = told.iter().map(|it| it["revision"].as_u64()).collect();
    assert!(revisions.is_sorted(), "{revisions:?}");
    room.quit(editor);
}

#[test]
fn files_of_a_tree_are_read_without_touching_any_folder() {
    let room = Room::data("desk");
    let editor = room.editor(Client::vscode);
    let before = room.fingerprint();
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    let document = |tree: &Value, path: &str| {
        editor.ask("understudy/document", json!({"uri": format!("understudy:/{id}/{}/{path}", text(tree))}))
    };
    assert_eq!(
        document(&seen["base"], "src/lib.rs"),
        json!({"text": room.project.text("src/lib.rs"), "binary": false})
    );
    let mended = room.project.text("src/lib.rs").replace("let mut ", "let ");
    assert_eq!(document(&seen["tree"], "src/lib.rs"), json!({"text": mended, "binary": false}));
    assert_eq!(document(&seen["tree"], "src/nobody.rs"), json!({"text": null, "binary": false}));
    for wrong in ["understudy:/nobody/x/y", "file:///etc/passwd", "understudy:/", "understudy:/x/../../etc/passwd"] {
        let asked = editor.send("understudy/document", json!({ "uri": wrong }));
        let answer = editor.answer(asked);
        assert!(
            answer.as_ref().is_err() || answer.as_ref().is_ok_and(|it| it["text"].is_null()),
            "{wrong}: {answer:?}"
        );
    }
    super::assert_untouched(&before, &room);
    room.quit(editor);
}

#[test]
fn a_selection_checks_itself_and_what_is_kept_is_saved() {
    let room = Room::data("desk");
    let editor = room.editor(Client::vscode);
    editor.open("src/words.rs");
    let base = bytes(&editor);
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    let rejected = hunks(&editor, &id, "src/dos.rs");
    let answer =
        editor.command("understudy.hunk.reject", json!({"task": id, "revision": seen["revision"], "hunks": rejected}));
    assert_eq!(answer["rejected"], 1, "{answer:#}");
    editor.wait("what is kept was checked", |desk| {
        let last = desk.said("understudy/taskChanged").into_iter().next_back()?;
        (last["status"] == "review" && last["rejected"] == 1 && last["kept_verdict"] == "verified").then_some(())
    });
    let outcome = apply(&editor, &id);
    assert_eq!((&outcome["outcome"], &outcome["unsaved"]), (&json!("applied"), &json!([])), "{outcome:#}");
    let mut expected = mended(&base);
    expected.insert("src/dos.rs", base["src/dos.rs"].clone());
    for (path, bytes) in expected {
        assert_eq!(room.project.read(path), bytes, "{path}");
    }
    room.quit(editor);
}

/// The second task waits for the first one, and says so.
#[test]
fn a_second_task_of_a_workspace_waits_for_its_turn() {
    let room = Room::data("waits");
    let (editor, first) = running(&room, Client::neovim);
    let second = super::create(&editor, json!({"patch": super::typing::patch(), "request_id": "second"}));
    assert_eq!(until(&editor, &second, &["waiting"])["status"], "waiting");
    // Asked again under the same name it is the same task.
    let again = super::create(&editor, json!({"patch": super::typing::patch(), "request_id": "second"}));
    assert_eq!(again, second);
    let going = Going::begin(&room);
    until(&editor, &first, &["review"]);
    until(&editor, &second, &["review"]);
    assert_eq!(line(&editor, &first)["verdict"], "verified");
    drop(going);
    room.quit(editor);
}
