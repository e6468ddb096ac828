//! Several folders in one editor, folders that come and go, and clients that name none.

use serde_json::{Value, json};
use support::{Client, Editor, Project, assert_same};

use super::{Room, create, lines, until};

#[test]
fn a_task_belongs_to_the_folder_that_is_named() {
    let room = Room::data("desk");
    let other = Project::data("warns").committed();
    let (one, two) = (room.project.path(), other.path());
    let editor =
        room.editor(|folder| Client { folders: Some(vec![one.clone(), two.clone()]), ..Client::helix(folder) });
    let before = (room.fingerprint(), other.fingerprint());
    let (_, sentence) = editor.refused("understudy.task.create", json!("fix warnings"));
    assert!(
        sentence.contains(&one.display().to_string()) && sentence.contains(&two.display().to_string()),
        "{sentence}"
    );
    let tasks = [&one, &two].map(|folder| create(&editor, json!({"description": "fix warnings", "folder": folder})));
    let uri = json!({"description": "fix warnings", "folder": format!("file://{}", two.display())});
    assert_eq!(editor.command("understudy.task.list", json!({"folder": two})).as_array().unwrap().len(), 1);
    for (task, folder, files) in [(&tasks[0], &one, 4), (&tasks[1], &two, 1)] {
        let line = until(&editor, task, &["review", "ended"]);
        assert_eq!((&line["verdict"], &line["files"]), (&json!("verified"), &json!(files)), "{line:#}");
        assert_eq!(line["folder"], json!(folder));
    }
    assert_same(&before.0, &room.fingerprint());
    assert_same(&before.1, &other.fingerprint());
    assert_eq!(super::apply(&editor, &tasks[1])["outcome"], "applied");
    assert_same(&before.0, &room.fingerprint());
    assert!(!other.text("src/lib.rs").contains("let mut"));
    // Nothing is left to do there now; the name of a folder may be a URI.
    let again = create(&editor, uri);
    assert_eq!(until(&editor, &again, &["ended"])["verdict"], "nothing to do");
    room.quit(editor);
}

#[test]
fn a_folder_that_is_opened_later_is_a_folder() {
    let room = Room::data("desk");
    let editor = room.editor(|folder| Client { folders: None, root: None, process: None, ..Client::eglot(folder) });
    let (_, sentence) = editor.refused("understudy.task.create", json!("fix warnings"));
    assert!(sentence.contains("folder"), "{sentence}");
    assert_eq!(lines(&editor), Vec::<Value>::new());
    let folder = json!({"uri": format!("file://{}", room.project.path().display()), "name": "desk"});
    editor.notify("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [folder], "removed": []}}));
    let id = create(&editor, json!("fix warnings"));
    assert_eq!(until(&editor, &id, &["review"])["verdict"], "verified");
    editor.notify("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [], "removed": [folder]}}));
    editor.refused("understudy.task.create", json!("fix warnings"));
    room.quit(editor);
}

/// Clients of before there were several folders name a root, or nothing at all.
#[test]
fn a_client_that_names_only_a_root_has_one_folder() {
    let room = Room::data("desk");
    let before = room.fingerprint();
    let editor = room.editor(|folder| Client { folders: None, process: None, ..Client::eglot(folder) });
    let id = create(&editor, json!("fix warnings"));
    assert_eq!(until(&editor, &id, &["review"])["verdict"], "verified");
    assert_same(&before, &room.fingerprint());
    room.quit(editor);
}

/// The editor has a folder open that lies below the top of its repository, and through a link.
#[test]
fn a_folder_below_the_top_behind_a_link_is_the_folder_that_is_edited() {
    let project = Project::new("");
    project.write("notes.txt", "at the top\n");
    let app = project.path().join("app");
    let inner = Project::data("desk");
    std::fs::rename(inner.path(), &app).unwrap();
    std::fs::create_dir(inner.path()).unwrap();
    let room = Room::of(project.committed());
    let link = room.project.beside("link");
    std::os::unix::fs::symlink(&app, &link).unwrap();
    let editor = Editor::start(&room.understudy, &link, Client::helix(&link));
    editor.open("src/lib.rs");
    let id = create(&editor, json!("fix warnings"));
    let line = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&line["verdict"], &line["files"]), (&json!("verified"), &json!(4)), "{line:#}");
    assert_eq!(super::apply(&editor, &id)["outcome"], "applied");
    assert!(!editor.text("src/lib.rs").contains("let mut") && room.project.text("app/src/lib.rs").contains("let mut"));
    assert!(!room.project.text("app/src/words.rs").contains("let mut"));
    room.quit(editor);
}
