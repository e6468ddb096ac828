//! Applied bytes are the base with what was kept: line ends, byte order marks, letters that are not ASCII, files that
//! come, go and change their mode, open or not.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use support::{Client, Project, assert_same};

use super::{FILES, Room, apply, bytes, mended, reviewed, undo};
use crate::stage::contents;

#[test]
fn line_ends_marks_and_letters_survive_in_both_encodings() {
    for client in [Client::neovim as fn(&Path) -> Client, Client::vscode, Client::helix, Client::eglot] {
        let room = Room::data("desk");
        let before = room.fingerprint();
        let editor = room.editor(client);
        FILES.iter().for_each(|path| editor.open(path));
        let base = bytes(&editor);
        let (id, _) = reviewed(&editor, json!("fix warnings"));
        assert_same(&before, &room.fingerprint());
        let outcome = apply(&editor, &id);
        assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
        assert!(bytes(&editor) == mended(&base));
        FILES.iter().for_each(|path| editor.save(path));
        for path in FILES {
            assert_eq!(room.project.read(path), mended(&base)[path], "{path}");
        }
        assert_eq!(undo(&editor, &id)["outcome"], "applied");
        FILES.iter().for_each(|path| editor.save(path));
        assert_same(&contents(before), &contents(room.fingerprint()));
        room.quit(editor);
    }
}

/// A client that knows only the older form of edits.
#[test]
fn an_editor_without_versions_gets_the_same_bytes() {
    let room = Room::data("desk");
    let editor = room.editor(|folder| Client { document_changes: false, ..Client::eglot(folder) });
    FILES.iter().for_each(|path| editor.open(path));
    let base = bytes(&editor);
    let (id, _) = reviewed(&editor, json!("fix warnings"));
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    assert!(bytes(&editor) == mended(&base));
    room.quit(editor);
}

/// One of each: created, deleted, moved, made executable, changed; binary too.
fn change(project: &Project) {
    project.write("notes/new.txt", "new\n");
    project.write("picture.bin", [0, 255, 1, 2]);
    project.remove("gone.txt");
    project.remove("old name.txt");
    project.write("new name.txt", "stays what it was\nline for line\nto the end\n");
    let run = project.path().join("run.sh");
    std::fs::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.replace("src/lib.rs", "one + other", "other + one");
}

fn project() -> Project {
    let project = Project::data("desk");
    project.write("gone.txt", "goes\n");
    project.write("old name.txt", "stays what it was\nline for line\nto the end\n");
    project.write("run.sh", "#!/bin/sh\n");
    project.committed()
}

#[test]
fn files_that_come_go_and_change_their_mode_are_written_beside_open_documents() {
    let changed = project();
    change(&changed);
    changed.git(["add", "--all"]);
    let patch = changed.git(["diff", "--cached", "--binary", "--find-renames"]);
    for (client, closes) in
        [(Client::vscode as fn(&Path) -> Client, false), (Client::helix, false), (Client::eglot, true)]
    {
        let room = Room::of(project());
        let before = room.fingerprint();
        let editor = room.editor(client);
        for path in ["src/lib.rs", "gone.txt", "run.sh"] {
            editor.open(path);
        }
        let (id, seen) = reviewed(&editor, json!({ "patch": patch }));
        assert_same(&before, &room.fingerprint());
        let approval = |revision: &serde_json::Value| json!({"task": id, "revision": revision, "tree": seen["kept_tree"], "unverified": true, "consent": ["**"]});
        let mut outcome = editor.command("understudy.apply", approval(&seen["revision"]));
        if closes {
            // An open document is not deleted behind an editor that cannot be asked to.
            let word = outcome["outcome"].as_str().unwrap_or_default();
            assert!(["partial", "refused"].contains(&word), "{outcome:#}");
            assert!(room.project.path().join("gone.txt").exists());
            editor.close("gone.txt");
            outcome = editor.command("understudy.apply", approval(&super::line(&editor, &id)["revision"]));
        }
        assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
        editor.save("src/lib.rs");
        assert_same(&contents(changed.fingerprint()), &contents(room.fingerprint()));
        let outcome = undo(&editor, &id);
        assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
        editor.save("src/lib.rs");
        assert_same(&contents(before), &contents(room.fingerprint()));
        room.quit(editor);
    }
}

/// A document that is no UTF-8 on disk is neither base nor target, whatever its editor makes of it.
#[test]
fn a_document_of_other_bytes_is_left_alone() {
    let project = Project::data("desk");
    project.write("notes/latin.txt", b"caf\xE9\n");
    project.write("src/open.rs", "//! No newline at the end, and nobody's module.\n// last");
    let room = Room::of(project.committed());
    let editor = room.editor(Client::helix);
    for path in ["notes/latin.txt", "src/open.rs", "src/lib.rs"] {
        editor.open(path);
    }
    let (id, seen) = reviewed(&editor, json!("fix warnings"));
    assert_eq!((&seen["verdict"], &seen["files"]), (&json!("verified"), &json!(4)), "{seen:#}");
    let outcome = apply(&editor, &id);
    assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
    assert_eq!(room.project.read("notes/latin.txt"), b"caf\xE9\n");
    assert!(room.project.text("src/open.rs").ends_with("// last"));
    room.quit(editor);
}
