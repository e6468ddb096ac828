//! Tasks from comments in documents that nobody saved: the unsaved text is the base, and the comment goes with the task.

use serde_json::{Value, json};
use support::{Client, Editor, assert_same};

use super::{Room, apply, bytes, lines, report, undo, until};
use crate::crash::text;

const LINE: &str = "// understudy: fix warnings";
const FILE: &str = "src/lib.rs";

/// The action that starts the task of a comment.
#[track_caller]
pub fn start(editor: &Editor, at: &str) -> String {
    let actions = editor.actions(FILE, at);
    let creates = |action: &&Value| {
        action["command"]["command"] == "understudy.task.create"
            && action["command"]["arguments"][0]["trigger"].is_object()
    };
    let found: Vec<&Value> = actions.iter().filter(creates).collect();
    assert_eq!(found.len(), 1, "{actions:#?}");
    text(&editor.command("understudy.task.create", found[0]["command"]["arguments"][0].clone())["task"])
}

#[test]
fn a_comment_that_was_never_saved_starts_a_task_and_goes_with_it() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    editor.replace(FILE, "pub fn double", &format!("{LINE}\npub fn double"));
    let (before, typed) = (room.fingerprint(), bytes(&editor));
    let id = start(&editor, "understudy: fix");
    let line = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&line["status"], &line["verdict"]), (&json!("review"), &json!("verified")), "{line:#}");
    let diff = text(&report(&editor, &id)["diff"]);
    assert!(diff.contains(&format!("-{LINE}\n")) && diff.contains("-    let mut sum"), "{diff}");
    // What waits for the developer is said once, where the task came from.
    let comment = editor.text(FILE).lines().position(|it| it == LINE).unwrap();
    let told = editor.wait("the diff that waits is said", |desk| {
        let waiting = desk
            .all_diagnostics()
            .filter(|(_, it)| it["severity"] == 3)
            .map(|(path, it)| (path.to_owned(), it["range"]["start"]["line"].clone()));
        let waiting: Vec<_> = waiting.collect();
        (!waiting.is_empty()).then_some(waiting)
    });
    assert_eq!(told, [(editor.path(FILE), json!(comment))]);
    assert_same(&before, &room.fingerprint());

    let outcome = apply(&editor, &id);
    assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
    let mut expected = super::mended(&typed);
    let with = String::from_utf8(expected[FILE].clone()).unwrap();
    expected.insert(FILE, with.replace(&format!("{LINE}\n"), "").into_bytes());
    assert!(bytes(&editor) == expected, "{}", editor.text(FILE));
    editor.forget_typed();
    // The document is the editor's to save.
    assert_eq!(room.project.text(FILE), String::from_utf8(room.project.read(FILE)).unwrap());
    assert!(room.project.text(FILE).contains("let mut sum"));
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert!(bytes(&editor) == typed);
    room.quit(editor);
}

#[test]
fn a_comment_behind_code_leaves_the_code_of_its_line() {
    let room = Room::data("desk");
    let editor = room.editor(Client::eglot);
    editor.open(FILE);
    editor.replace(FILE, "pub mod dos;", "pub mod dos; // understudy: rename add to sum_of");
    let id = start(&editor, "understudy: rename");
    let line = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&line["status"], &line["verdict"]), (&json!("review"), &json!("verified")), "{line:#}");
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    editor.forget_typed();
    let text = editor.text(FILE);
    assert!(
        text.contains("\npub mod dos;\n") && text.contains("pub fn sum_of(") && !text.contains("understudy"),
        "{text}"
    );
    room.quit(editor);
}

/// What no engine takes is refused at once, in one sentence, without a task.
#[test]
fn a_comment_that_no_engine_understands_is_answered_with_a_sentence() {
    let room = Room::data("desk");
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    editor.append(FILE, "// understudy: make it nicer\n");
    let before = room.fingerprint();
    let actions = editor.actions(FILE, "understudy: make");
    let create = actions.iter().find(|it| it["command"]["command"] == "understudy.task.create");
    let create = create.unwrap_or_else(|| panic!("{actions:#?}"));
    let (code, sentence) = editor.refused("understudy.task.create", create["command"]["arguments"][0].clone());
    assert!([-32602, -32803].contains(&code) && !sentence.contains('\n'), "{code}: {sentence}");
    editor.wait("the sentence is shown", |desk| desk.has_said(&sentence).then_some(()));
    assert_eq!(lines(&editor), Vec::<Value>::new());
    assert_same(&before, &room.fingerprint());
    room.quit(editor);
}
