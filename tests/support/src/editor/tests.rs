//! The fake editor without a server: each manner does to a document what it says, and the rules notice who breaks them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::desk::{Desk, From, Out};
use super::{Client, Encoding, Manner, check, uri};
use crate::Understudy;

const TEXT: &str = "one\ntwo ä\nthree\n";

struct Scene {
    folder: TempDir,
    desk: Desk,
}

impl Scene {
    /// Two files, of which the first is open and not saved.
    fn new(manner: Manner) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Desk::new(Client::helix(folder.path()));
        (desk.manner, desk.encoding) = (manner, Encoding::Utf8);
        let scene = |name: &str| folder.path().join(name);
        std::fs::write(scene("a.rs"), TEXT).unwrap();
        std::fs::write(scene("b.rs"), TEXT).unwrap();
        desk.open(&scene("a.rs"));
        desk.type_at(&scene("a.rs"), TEXT.len(), TEXT.len(), "typed\n");
        desk.out.clear();
        Self { folder, desk }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Two edits of a file: `one` becomes `ONE`, `three` becomes `THREE`.
    fn change(&self, name: &str, version: Value) -> Value {
        let edit = |line: u32, end: u32, text: &str| {
            let at = |character: u32| json!({"line": line, "character": character});
            json!({"range": {"start": at(0), "end": at(end)}, "newText": text})
        };
        json!({
            "textDocument": {"uri": uri::of(&self.path(name)), "version": version},
            "edits": [edit(0, 3, "ONE"), edit(2, 5, "THREE")],
        })
    }

    /// The server asks for an edit; the answer of the editor.
    fn apply(&mut self, changes: Vec<Value>) -> Option<bool> {
        self.desk.receive(json!({
            "id": "edit", "method": "workspace/applyEdit", "params": {"edit": {"documentChanges": changes}}
        }));
        let last = self.desk.transcript().last().unwrap();
        (last.0 == From::Editor).then(|| last.1["result"]["applied"].as_bool()).flatten()
    }

    /// What the editor said, each in one word.
    fn said(&self) -> Vec<&str> {
        let word = |out: &'_ Out| match out {
            Out::Now(message) => match message["method"].as_str() {
                Some("textDocument/didChange") => "didChange",
                Some("textDocument/didSave") => "didSave",
                Some("textDocument/didClose") => "didClose",
                Some(_) => "something else",
                None => "answer",
            },
            Out::Later(_) => "late",
            Out::Die => "dies",
        };
        self.desk.out.iter().map(word).collect()
    }

    fn text(&self, name: &str) -> String {
        self.desk.text(&self.path(name))
    }
}

const DONE: &str = "ONE\ntwo ä\nTHREE\ntyped\n";

/// What a manner makes of an edit with the right version: the answer, what is said, and the text afterwards.
#[test]
fn each_manner_takes_an_edit_in_its_own_way() {
    let mut unlike = Vec::new();
    let untouched = format!("{TEXT}typed\n");
    let meanwhile = format!("{untouched}// typed meanwhile\n");
    let after = format!("{DONE}// typed meanwhile\n");
    let rows: [(Manner, Option<bool>, &[&str], &str); 18] = [
        (Manner::Honest, Some(true), &["didChange", "answer"], DONE),
        (Manner::FirstVersionOnly, Some(true), &["didChange", "answer"], DONE),
        (Manner::OpenOnly, Some(true), &["didChange", "answer"], DONE),
        (Manner::Refuses, Some(false), &["answer"], &untouched),
        (Manner::Partial, Some(true), &["didChange", "answer"], "ONE\ntwo ä\nthree\ntyped\n"),
        (Manner::SaysYes, Some(true), &["answer"], &untouched),
        (Manner::SaysNo, Some(false), &["didChange", "answer"], DONE),
        (
            Manner::MakesSomethingElse,
            Some(true),
            &["didChange", "answer"],
            "/* something else */\n\ntwo ä\n/* something else */\n\ntyped\n",
        ),
        (Manner::TypesMeanwhile, Some(false), &["didChange", "answer"], &meanwhile),
        (Manner::TypesUnnoticed, Some(true), &["didChange", "didChange", "answer"], &after),
        (Manner::TypesAfter, Some(true), &["didChange", "didChange", "answer"], &after),
        (Manner::SlowChange, Some(true), &["answer", "late"], DONE),
        (Manner::ClosesBefore, Some(false), &["didSave", "didClose", "answer"], &untouched),
        (Manner::ClosesAfter, Some(true), &["didChange", "didSave", "didClose", "answer"], DONE),
        (Manner::DropsAfter, Some(true), &["didChange", "didClose", "answer"], TEXT),
        (Manner::DiesBefore, None, &["dies"], &untouched),
        (Manner::DiesAfter, None, &["didChange", "dies"], DONE),
        (Manner::Waits, None, &[], &untouched),
    ];
    for (manner, answer, said, text) in rows {
        let mut scene = Scene::new(manner);
        let change = scene.change("a.rs", json!(2));
        let found = (scene.apply(vec![change]), scene.said(), scene.text("a.rs"));
        let found = (found.0, found.1, found.2.as_str());
        if found != (answer, said.to_vec(), text) {
            unlike.push(format!("{manner:?}: {found:?}"));
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}

#[test]
fn stale_versions_are_noticed_by_those_who_look() {
    for (manner, answer, done) in
        [(Manner::Honest, false, false), (Manner::FirstVersionOnly, true, false), (Manner::OpenOnly, false, false)]
    {
        let mut scene = Scene::new(manner);
        let change = scene.change("a.rs", json!(1));
        assert_eq!(scene.apply(vec![change]), Some(answer), "{manner:?}");
        assert_eq!(scene.text("a.rs") == DONE, done, "{manner:?}");
    }
    // Only the first of two files is compared, and the second is written over.
    let mut scene = Scene::new(Manner::FirstVersionOnly);
    let changes = vec![scene.change("b.rs", Value::Null), scene.change("a.rs", json!(1))];
    assert_eq!((scene.apply(changes), scene.text("a.rs").as_str()), (Some(true), DONE));
    // Nobody looks at the version of a file that is not open, which is opened and left unsaved.
    let mut scene = Scene::new(Manner::OpenOnly);
    let change = scene.change("b.rs", json!(7));
    assert_eq!(scene.apply(vec![change]), Some(true));
    let b = scene.path("b.rs");
    assert!(scene.desk.is_dirty(&b) && std::fs::read_to_string(b).unwrap() == TEXT);
}

#[test]
fn who_waited_is_honest_when_let_go() {
    let mut scene = Scene::new(Manner::Waits);
    let change = scene.change("a.rs", json!(2));
    scene.apply(vec![change]);
    assert!(scene.desk.is_waiting());
    scene.desk.let_go();
    assert_eq!((scene.said(), scene.text("a.rs").as_str()), (vec!["didChange", "answer"], DONE));
}

#[test]
fn saves_that_nobody_can_foresee_come_the_same_way_each_time() {
    let rows = |seed| {
        let mut scene = Scene::new(Manner::SavesAtRandom(seed));
        let change = scene.change("a.rs", json!(2));
        scene.apply(vec![change]);
        scene.said().join(" ")
    };
    let all: std::collections::BTreeSet<_> = (0..20).map(rows).collect();
    assert!(all.len() > 3, "{all:?}");
    assert_eq!(rows(3), rows(3));
}

#[test]
fn what_is_lost_or_written_behind_the_editor_is_noticed() {
    let mut scene = Scene::new(Manner::Honest);
    assert!(scene.desk.losses().is_empty());
    let (a, mut text) = (scene.path("a.rs"), scene.text("a.rs"));
    std::fs::write(&a, "other").unwrap();
    text.truncate(TEXT.len());
    scene.desk.type_at(&a, TEXT.len(), TEXT.len() + "typed\n".len(), "");
    let losses = scene.desk.losses();
    assert_eq!(losses.len(), 2, "{losses:?}");
}

/// What a server says, and what the rules find wrong with it.
#[test]
fn broken_rules_are_found() {
    let folder = Path::new("/tmp");
    let (plain, rich) = (Client::eglot(folder), Client::neovim(folder));
    let note = |method: &str, params: Value| json!({"method": method, "params": params});
    let diagnostic = |severity: u32| {
        note(
            "textDocument/publishDiagnostics",
            json!({"diagnostics": [
                {"severity": severity, "source": "understudy", "message": "a diff waits"}
            ]}),
        )
    };
    let edit = |document: Value| json!({"id": 1, "method": "workspace/applyEdit", "params": {"edit": {"documentChanges": document}}});
    let change = |version: Option<u32>| {
        let mut change = json!({"textDocument": {"uri": "file:///a"}, "edits": []});
        if let Some(version) = version {
            change["textDocument"]["version"] = json!(version);
        }
        change
    };
    let lens = note("workspace/codeLens/refresh", Value::Null);
    let rows = [
        (&plain, diagnostic(3), 0),
        (&plain, diagnostic(4), 0),
        (&plain, diagnostic(2), 1),
        (&rich, diagnostic(3), 1),
        (&plain, note("window/showMessage", json!({"message": "one line"})), 0),
        (&plain, note("window/showMessage", json!({"message": "two\nlines"})), 1),
        (&plain, note("understudy/taskChanged", json!({})), 1),
        (&rich, note("understudy/taskChanged", json!({})), 0),
        (&plain, lens.clone(), 1),
        (&rich, lens, 0),
        (&plain, edit(json!([change(Some(1))])), 0),
        (&plain, edit(json!([change(None)])), 1),
        (&plain, edit(json!([change(Some(1)), change(Some(2))])), 1),
        (&plain, edit(json!([{"kind": "delete", "uri": "file:///a"}])), 1),
        (&rich, edit(json!([{"kind": "delete", "uri": "file:///a"}])), 0),
        (&plain, json!({"id": 9, "result": null}), 1),
        (&plain, note("$/progress", json!({"token": 1, "value": {"kind": "begin"}})), 1),
        (&plain, note("window/showDocument", json!({})), 2),
    ];
    for (client, message, expected) in rows {
        let found = check::faults(client, &[(From::Server, message.clone())]);
        assert_eq!(found.len(), expected, "{message}: {found:?}");
    }
}

#[test]
fn a_second_answer_and_an_action_with_an_edit_are_found() {
    let asked = |method: &str| (From::Editor, json!({"id": 1, "method": method}));
    let answer = |result: Value| (From::Server, json!({"id": 1, "result": result}));
    let client = Client::helix(Path::new("/tmp"));
    let twice = [asked("shutdown"), answer(Value::Null), answer(Value::Null)];
    assert_eq!(check::faults(&client, &twice).len(), 1);
    let action = json!([{"title": "Mend it", "edit": {}, "command": {"command": "unheard.of"}}]);
    let found = check::faults(&client, &[asked("textDocument/codeAction"), answer(action)]);
    assert_eq!(found.len(), 2, "{found:?}");
}

/// `cat` is a server that says everything back: what the editor asks comes to it as a request.
#[test]
fn an_editor_talks_with_a_process_until_it_hangs_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("echo");
    std::fs::write(&script, "#!/bin/sh\nexec cat\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let understudy = Understudy::new(&script);
    let mut editor = super::Editor::silent(&understudy, folder.path(), Client::helix(folder.path()), &[]);
    let asked = editor.send("window/showDocument", json!({"uri": "file:///a"}));
    // The editor answers its own request, and its answer comes back as an answer.
    let answer = editor.answer(asked).unwrap();
    assert_eq!(answer, json!({"success": true}));
    assert!(editor.is_connected());
    editor.hang_up();
    editor.ended().ended_with(0);
    understudy.assert_nothing_left();
}
