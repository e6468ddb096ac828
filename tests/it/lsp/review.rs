//! Reviewing in a plain editor: what waits is said once, hunks are kept and rejected where they are, a selection is
//! checked as the tree it is, and exactly what is kept is written.

use std::path::Path;

use serde_json::{Value, json};
use support::{Client, Editor, assert_same};

use super::{Bytes, Room, apply, bytes, hunks, line, mended, reviewed, undo};
use crate::crash::text;

const FILE: &str = "src/lib.rs";

fn severities(editor: &Editor, severity: u64) -> Vec<(String, u64)> {
    let folder = editor.path("");
    editor.look(|desk| {
        let found = desk.all_diagnostics().filter(|(_, it)| it["severity"] == severity);
        let place = |(path, it): (&Path, &Value)| {
            let path = path.strip_prefix(&folder).unwrap().display().to_string();
            (path, it["range"]["start"]["line"].as_u64().unwrap())
        };
        found.map(place).collect()
    })
}

fn line_of(editor: &Editor, path: &str, text: &str) -> u64 {
    editor.text(path).lines().position(|line| line.contains(text)).unwrap() as u64
}

/// A verified task of `desk` and its base.
fn scene(room: &Room, client: fn(&Path) -> Client) -> (Editor, String, Bytes) {
    let editor = room.editor(client);
    editor.open(FILE);
    let base = bytes(&editor);
    let (id, _) = reviewed(&editor, json!("fix warnings"));
    (editor, id, base)
}

#[test]
fn a_diff_that_waits_is_said_once_and_nothing_else_is() {
    let room = Room::data("desk");
    let (editor, id, _) = scene(&room, Client::helix);
    editor.poll("the diff that waits is said", |editor| (severities(editor, 3).len() == 1).then_some(()));
    let at = severities(&editor, 3).remove(0);
    assert_eq!(at, ("src/dos.rs".to_owned(), 3), "on the first changed line");
    // No hints before the review is opened, or only where a diff lies.
    editor.open("src/dos.rs");
    let titles = editor.titles("src/dos.rs", "let mut one");
    for title in ["Approve", "review", "Cancel"] {
        assert!(titles.iter().any(|it| it.contains(title)), "`{title}` among {titles:?}");
    }
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    editor.poll("nothing waits any more", |editor| {
        (severities(editor, 3).is_empty() && severities(editor, 4).is_empty()).then_some(())
    });
    room.quit(editor);
}

#[test]
fn hunks_are_rejected_and_kept_where_they_are_and_only_what_is_kept_is_written() {
    for client in [Client::helix as fn(&Path) -> Client, Client::eglot] {
        let room = Room::data("desk");
        let (editor, id, base) = scene(&room, client);
        let before = room.fingerprint();
        editor.command("understudy.review.open", json!({ "task": id }));
        editor.poll("hunks are hinted", |editor| (severities(editor, 4).len() == 5).then_some(()));
        let second = line_of(&editor, FILE, "let mut result");
        assert!(severities(&editor, 4).contains(&(FILE.to_owned(), second)), "{:?}", severities(&editor, 4));

        editor.take(FILE, "let mut result", "Reject").unwrap();
        let seen = editor.poll("what is kept is checked", |editor| {
            let line = line(editor, &id);
            (line["status"] == "review" && line["kept_verdict"].is_string()).then_some(line)
        });
        assert_eq!((&seen["rejected"], &seen["kept_verdict"]), (&json!(1), &json!("verified")), "{seen:#}");
        assert_ne!(seen["tree"], seen["kept_tree"]);
        assert_same(&before, &room.fingerprint());

        // Rejected and taken back, it is what it was.
        editor.take(FILE, "let mut result", "undo reject").unwrap();
        let again = editor.poll("the whole is kept", |editor| {
            let line = line(editor, &id);
            (line["status"] == "review" && line["rejected"] == 0).then_some(line)
        });
        assert_eq!((&again["kept_tree"], &again["kept_verdict"]), (&seen["tree"], &json!("verified")));

        let rejected = hunks(&editor, &id, FILE)[1].clone();
        let reject = json!({"task": id, "revision": again["revision"], "hunks": [rejected], "reason": "not this one"});
        let answer = editor.command("understudy.hunk.reject", reject.clone());
        assert_eq!(answer["id"], json!(id));
        // The same call again speaks of a task that is not any more.
        assert_eq!(editor.refused("understudy.hunk.reject", reject).0, -32801);
        editor.poll("what is kept is checked", |editor| {
            let line = line(editor, &id);
            (line["status"] == "review" && line["kept_verdict"] == "verified").then_some(())
        });
        assert_eq!(apply(&editor, &id)["outcome"], "applied");
        let mut expected = mended(&base);
        let lib = String::from_utf8(expected[FILE].clone()).unwrap();
        expected.insert(FILE, lib.replace("let result", "let mut result").into_bytes());
        assert!(bytes(&editor) == expected, "{}", editor.text(FILE));
        assert_eq!(undo(&editor, &id)["outcome"], "applied");
        assert!(bytes(&editor) == base);
        room.quit(editor);
    }
}

#[test]
fn an_editor_with_lenses_gets_lenses_and_no_hints() {
    let room = Room::data("desk");
    let (editor, id, _) = scene(&room, Client::kate);
    editor.command("understudy.review.open", json!({ "task": id }));
    let lenses = |editor: &Editor| {
        let uri = format!("file://{}", editor.path(FILE).display());
        let lenses = editor.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
        lenses.as_array().cloned().unwrap_or_default()
    };
    let found = editor.poll("there are lenses", |editor| Some(lenses(editor)).filter(|it| !it.is_empty()));
    let lines: std::collections::BTreeSet<_> =
        found.iter().filter_map(|it| it["range"]["start"]["line"].as_u64()).collect();
    for text in ["let mut sum", "let mut result"] {
        assert!(lines.contains(&line_of(&editor, FILE, text)), "{found:#?}");
    }
    let reject = found.iter().find(|it| text(&it["command"]["title"]).contains("reject this")).unwrap();
    let params = json!({"command": reject["command"]["command"], "arguments": reject["command"]["arguments"]});
    editor.ask("workspace/executeCommand", params);
    assert_eq!(line(&editor, &id)["rejected"], 1);
    assert!(severities(&editor, 4).is_empty());
    // Typing above moves them along.
    editor.replace(FILE, "//! Adds and doubles.", "//! Adds\n//! and doubles.");
    let moved = editor.poll("lenses moved", |editor| {
        let lines: Vec<_> = lenses(editor).iter().filter_map(|it| it["range"]["start"]["line"].as_u64()).collect();
        lines.contains(&line_of(editor, FILE, "let mut result")).then_some(lines)
    });
    assert!(!moved.is_empty());
    editor.forget_typed();
    room.quit(editor);
}

/// A check that the change breaks: said where it is while the review is open, with its evidence.
#[test]
fn failures_that_the_base_does_not_have_are_shown_with_their_evidence() {
    let room = Room::data("desk");
    let changed = support::Project::data("desk").committed();
    changed.replace(FILE, "one + other", "one + other + 1");
    let patch = changed.git(["diff"]);
    let editor = room.editor(Client::helix);
    editor.open(FILE);
    let (id, seen) = reviewed(&editor, json!({ "patch": patch }));
    assert_eq!(seen["verdict"], "not verified", "{seen:#}");
    editor.command("understudy.review.open", json!({ "task": id }));
    editor.poll("the failing test is shown", |editor| {
        let shown =
            editor.look(|desk| desk.all_diagnostics().any(|(_, it)| it["message"].to_string().contains("counts")));
        shown.then_some(())
    });
    let report = super::report(&editor, &id);
    let check = report["checks"].as_array().unwrap().iter().find(|it| it["verdict"] != "passed").unwrap();
    let asks = json!({"task": id, "check": check["check"]});
    let receipt = text(&editor.command("understudy.check.receipt", asks.clone())["text"]);
    assert!(receipt.contains("cargo") && receipt.contains("assertion"), "{receipt}");
    let compared = text(&editor.command("understudy.check.compare", asks)["text"]);
    assert!(compared.contains("counts"), "{compared}");
    // It is written only on the word that says so.
    let approval = |unverified: bool| {
        let seen = line(&editor, &id);
        json!({"task": id, "revision": seen["revision"], "tree": seen["kept_tree"], "unverified": unverified})
    };
    let before = (room.fingerprint(), editor.text(FILE));
    super::talk::denied(&editor, "understudy.apply", approval(false));
    assert_same(&before.0, &room.fingerprint());
    assert_eq!(editor.text(FILE), before.1);
    assert_eq!(editor.command("understudy.apply", approval(true))["outcome"], "applied");
    assert!(editor.text(FILE).contains("one + other + 1"));
    room.quit(editor);
}

/// A hunk that is rejected after all was applied is taken out by the next approval, and comes back by one undo.
#[test]
fn a_selection_takes_the_place_of_another_one_that_was_applied() {
    let room = Room::data("desk");
    let (editor, id, base) = scene(&room, Client::vscode);
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    let whole = bytes(&editor);
    editor.append(FILE, "// typed since\n");
    let seen = line(&editor, &id);
    let rejected = hunks(&editor, &id, FILE)[1].clone();
    editor.command("understudy.hunk.reject", json!({"task": id, "revision": seen["revision"], "hunks": [rejected]}));
    let checked = |editor: &Editor| {
        editor.poll("what is kept is checked", |editor| {
            let line = line(editor, &id);
            (line["status"] == "review" && line["kept_verdict"] == "verified").then_some(())
        });
    };
    checked(&editor);
    assert_eq!(apply(&editor, &id)["outcome"], "moved");
    checked(&editor);
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    let text = editor.text(FILE);
    assert!(
        text.contains("let mut result") && text.contains("let sum") && text.ends_with("// typed since\n"),
        "{text}"
    );
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert_eq!(editor.text(FILE), text.replace("let mut result", "let result"));
    editor.rewrite(FILE, &String::from_utf8(whole[FILE].clone()).unwrap());
    editor.forget_typed();
    assert_eq!(undo(&editor, &id)["outcome"], "applied");
    assert!(bytes(&editor) == base);
    room.quit(editor);
}
