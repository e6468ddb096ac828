//! The store: edits, keep-refs, and what survives.

use std::sync::Arc;

use task::{Edit, EditSet, FileEdit, Mode, TaskId};
use worktree::{Store, Workspace, WorkspaceError};

use crate::home::{Home, path, tree, tree_with_modes};

#[test]
fn a_state_folder_inside_the_workspace_is_refused_and_leaves_no_trace() {
    let home = Home::git();
    let refused = Workspace::open(&home.top(), &home.top().join("a/state"));
    assert!(matches!(refused, Err(WorkspaceError::StateInside { .. })));
    assert!(!home.top().join("a").exists());
    let link = home.beside("link");
    std::os::unix::fs::symlink(home.top(), &link).unwrap();
    assert!(matches!(Workspace::open(&home.top(), &link.join("s")), Err(WorkspaceError::StateInside { .. })));
}

#[test]
fn the_top_level_is_found_from_below_and_bare_repositories_are_refused() {
    let home = Home::with(&[("a/b/c.rs", "x")]);
    let state = home.beside("state");
    let inside = Workspace::open(&home.top().join("a/b"), &state).unwrap();
    assert_eq!(inside.id(), home.workspace().id());
    let bare = home.beside("bare.git");
    std::fs::create_dir(&bare).unwrap();
    crate::home::git(&bare, &["init", "-q", "--bare"]);
    assert!(matches!(Workspace::open(&bare, &state), Err(WorkspaceError::Bare(_))));
    assert!(matches!(Workspace::open(&home.top().join("a/b/c.rs"), &state), Err(WorkspaceError::NotAFolder { .. })));
}

#[test]
fn a_kept_tree_is_there_for_the_next_process_and_another_one_is_not() {
    let home = Home::plain();
    let task: TaskId = "..".parse().unwrap();
    let (kept, lost) = {
        let store = home.store();
        let kept = tree(&store, &[("a/b.rs", b"one"), ("c", b"")]);
        store.keep(&task, &kept).unwrap();
        store.keep(&task, &kept).unwrap();
        (kept, tree(&store, &[("a", b"two")]))
    };
    let store = home.store();
    assert_eq!(store.kept(&task).unwrap(), std::slice::from_ref(&kept));
    assert_eq!(store.read(&kept, &path("a/b.rs")).unwrap().as_deref(), Some(&b"one"[..]));
    assert!(store.entries(&lost).is_err());
    assert_eq!(store.read(&kept, &path("a")).unwrap(), None);
}

#[test]
fn tidying_drops_what_is_forgotten_and_waits_while_others_look() {
    let home = Home::plain();
    let (one, two): (TaskId, TaskId) = ("one".parse().unwrap(), "two".parse().unwrap());
    let store = home.store();
    let first = tree(&store, &[("a", b"first"), ("shared", b"both")]);
    store.keep(&one, &first).unwrap();
    let second = tree(&store, &[("b", b"second"), ("shared", b"both")]);
    store.keep(&two, &second).unwrap();
    store.forget(&one).unwrap();
    let other = home.store();
    assert!(!store.tidy().unwrap());
    drop(other);
    assert!(store.tidy().unwrap());
    assert!(store.entries(&first).is_err());
    assert_eq!(store.read(&second, &path("shared")).unwrap().as_deref(), Some(&b"both"[..]));
    assert!(store.tidy().unwrap());
    assert_eq!(home.store().entries(&second).unwrap().len(), 2);
}

#[test]
fn a_moved_file_keeps_its_mode_and_links_are_not_edited() {
    let home = Home::plain();
    let store = home.store();
    let base =
        tree_with_modes(&store, &[("bin/run", b"#!/bin/sh\n", Mode::Executable), ("link", b"bin/run", Mode::Symlink)]);
    let edits = EditSet {
        files: vec![
            FileEdit::Move { from: path("bin/run"), to: path("tools/go") },
            FileEdit::Replace { path: path("bin/run"), edits: vec![Edit::new(0..0, "x")] },
        ],
    };
    let new = store.apply(&base, &edits).unwrap();
    assert_eq!(store.entry(&new, &path("tools/go")).unwrap().unwrap().mode, Mode::Executable);
    assert_eq!(store.entry(&new, &path("bin/run")).unwrap(), None);
    for bad in ["link", ".git/config"] {
        let edits = EditSet { files: vec![FileEdit::Delete { path: path(bad) }] };
        assert!(matches!(store.apply(&base, &edits), Err(worktree::ApplyError::Refused { .. })), "{bad}");
    }
}

#[test]
fn files_and_folders_take_each_others_place() {
    let home = Home::plain();
    let store: Arc<Store> = home.store();
    let base = tree(&store, &[("a", b"file"), ("a-b", b"x"), ("d/e", b"y")]);
    let changes = [(path("a"), None), (path("a/c"), Some((b"z"[..].into(), Mode::File))), (path("d/e"), None)];
    let new = store.edit(&base, &changes.into_iter().collect()).unwrap();
    let paths: Vec<_> = store.entries(&new).unwrap().keys().map(ToString::to_string).collect();
    assert_eq!(paths, ["a-b", "a/c"]);
    assert_eq!(new, tree(&store, &[("a/c", b"z"), ("a-b", b"x")]));
    // Real git agrees about the order of the rows.
    store.keep(&"t".parse().unwrap(), &new).unwrap();
    crate::home::git(&home.workspace().state().join("store.git"), &["fsck", "--strict"]);
}
