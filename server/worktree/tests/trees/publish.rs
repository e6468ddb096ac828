//! The file publisher: all of it, or a word for what is not.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::sync::Arc;

use proptest::prelude::*;
use task::port::Publisher as _;
use task::{HunkId, PublicationEnd, PublishedFile};
use worktree::{FilePublisher, Store, compare, published_files, select};

use crate::home::{Home, contents, external, path, picture};

const YES: &dyn Fn() -> bool = &|| true;

/// The publication that takes this one back.
fn swapped(files: &[PublishedFile]) -> Vec<PublishedFile> {
    let swap = |file| {
        let PublishedFile { path, before, after } = file;
        PublishedFile { path, before: after, after: before }
    };
    files.iter().cloned().map(swap).collect()
}

/// A workspace at its base, and a publication that creates, changes, deletes, moves and links.
fn prepared() -> (Home, Arc<Store>, FilePublisher, Vec<PublishedFile>) {
    let home = Home::git();
    home.write("a.rs", "one\n");
    home.write("run", "#!\n");
    home.write("d/deep/gone", "gone\n");
    let store = home.store();
    let base = home.freeze(&store).base;
    home.write("a.rs", "two\n");
    fs::set_permissions(home.top().join("run"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::remove_dir_all(home.top().join("d")).unwrap();
    home.write("new/deep/file", "new\n");
    symlink("a.rs", home.top().join("link")).unwrap();
    let tree = home.freeze(&store).base;
    let files = published_files(&store, &base, &tree).unwrap();
    home.write("a.rs", "one\n");
    fs::set_permissions(home.top().join("run"), PermissionsExt::from_mode(0o644)).unwrap();
    home.write("d/deep/gone", "gone\n");
    fs::remove_dir_all(home.top().join("new")).unwrap();
    fs::remove_file(home.top().join("link")).unwrap();
    assert_eq!(home.freeze(&store).base, base);
    let publisher = FilePublisher::new(home.workspace(), store.clone());
    (home, store, publisher, files)
}

#[test]
fn a_publication_writes_exactly_the_tree_and_undo_ends_where_it_began() {
    let (home, _, publisher, files) = prepared();
    let before = contents(&home.top());
    fs::set_permissions(home.top().join("a.rs"), PermissionsExt::from_mode(0o640)).unwrap();
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
    assert_eq!(home.read("a.rs"), b"two\n");
    assert_eq!(fs::metadata(home.top().join("a.rs")).unwrap().mode() & 0o777, 0o640);
    assert!(!home.top().join("d").exists());
    assert_eq!(home.read("new/deep/file"), b"new\n");
    assert_eq!(fs::read_link(home.top().join("link")).unwrap().to_str(), Some("a.rs"));
    let after = picture(&home.top());
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
    assert_eq!(picture(&home.top()), after, "doing it again does nothing");
    assert_eq!(publisher.publish(&swapped(&files), YES).unwrap(), PublicationEnd::Applied);
    fs::set_permissions(home.top().join("a.rs"), PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(contents(&home.top()), before);
    assert!(!home.top().join("new").exists());
}

#[test]
fn one_file_that_moved_on_stops_everything_before_anything_is_written() {
    let (home, _, publisher, files) = prepared();
    home.write("run", "changed meanwhile\n");
    let before = picture(&home.top());
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Diverged { paths: vec![path("run")] });
    assert_eq!(picture(&home.top()), before);
}

/// A publication that died half-way is not taken for one that never began.
#[test]
fn a_file_that_moved_on_beside_files_that_are_written_is_a_partial_publication() {
    let (home, _, publisher, files) = prepared();
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
    home.write("run", "changed meanwhile\n");
    let before = picture(&home.top());
    let end = publisher.publish(&files, YES).unwrap();
    assert!(matches!(&end, PublicationEnd::Partial { missing, .. } if *missing == [path("run")]), "{end:?}");
    assert_eq!(picture(&home.top()), before);
}

#[test]
fn a_link_in_the_way_is_never_followed() {
    let (home, _, publisher, files) = prepared();
    let outside = home.beside("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/gone"), "gone\n").unwrap();
    fs::remove_dir_all(home.top().join("d")).unwrap();
    symlink(&outside, home.top().join("d")).unwrap();
    symlink(&outside, home.top().join("new")).unwrap();
    let before = picture(&outside);
    let end = publisher.publish(&files, YES).unwrap();
    assert_eq!(end, PublicationEnd::Diverged { paths: vec![path("d/deep/gone"), path("new/deep/file")] });
    assert_eq!(picture(&outside), before);
}

#[test]
fn a_lost_fence_stops_and_the_next_call_finishes() {
    let (home, _, publisher, files) = prepared();
    let before = picture(&home.top());
    assert!(matches!(publisher.publish(&files, &|| false).unwrap(), PublicationEnd::Refused { .. }));
    assert_eq!(picture(&home.top()), before);
    let asked = Cell::new(0);
    let twice = || {
        asked.set(asked.get() + 1);
        asked.get() <= 3
    };
    let PublicationEnd::Partial { missing, .. } = publisher.publish(&files, &twice).unwrap() else { panic!() };
    assert_eq!(missing.len(), files.len() - 2);
    let names = |home: &Home| {
        contents(&home.top()).into_keys().filter(|name| name.to_string_lossy().contains("understudy")).count()
    };
    assert_eq!(names(&home), 0, "nothing is left lying about");
    assert_eq!(publisher.publish(&swapped(&files), YES).unwrap(), PublicationEnd::Applied);
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
}

#[test]
fn a_file_that_becomes_a_folder_is_refused_with_the_way_out() {
    let home = Home::git();
    home.write("a", "file\n");
    let store = home.store();
    let base = home.freeze(&store).base;
    fs::remove_file(home.top().join("a")).unwrap();
    home.write("a/b", "inside\n");
    let tree = home.freeze(&store).base;
    let publisher = FilePublisher::new(home.workspace(), store.clone());
    let there = published_files(&store, &base, &tree).unwrap();
    let back = swapped(&there);
    let PublicationEnd::Refused { reason } = publisher.publish(&back, YES).unwrap() else { panic!() };
    assert!(reason.starts_with("a would have to be a folder and a file (a/b lies in it)"), "{reason}");
    assert_eq!(home.read("a/b"), b"inside\n");
    fs::remove_dir_all(home.top().join("a")).unwrap();
    home.write("a", "file\n");
    assert!(matches!(publisher.publish(&there, YES).unwrap(), PublicationEnd::Refused { .. }));
    assert_eq!(home.read("a"), b"file\n");
}

#[test]
fn what_a_killed_publication_left_is_cleared_but_never_somebodys_last_save() {
    let (home, _, publisher, files) = prepared();
    assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
    let digest = task::Digest::of(["a.rs"]);
    let left = home.top().join(format!(".understudy-{}.new", &digest.as_str()[..16]));
    fs::write(&left, "one\n").unwrap();
    publisher.publish(&files, YES).unwrap();
    assert!(!left.exists());
    fs::write(&left, "a save nobody has seen\n").unwrap();
    publisher.publish(&files, YES).unwrap();
    assert!(left.exists());
}

#[test]
fn submodules_git_and_paths_out_of_the_tree_are_refused() {
    let (home, store, publisher, _) = prepared();
    let blob = store.put(b"x").unwrap().to_string();
    let before = picture(&home.top());
    for name in [".git/hooks/post-commit", "sub/.GIT/config"] {
        let file =
            PublishedFile { path: path(name), before: None, after: Some((blob.clone(), task::Mode::Executable)) };
        assert!(matches!(publisher.publish(&[file], YES).unwrap(), PublicationEnd::Refused { .. }), "{name}");
    }
    assert_eq!(picture(&home.top()), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn published_bytes_are_base_plus_kept_hunks(
        base in prop::collection::vec(prop::option::of("[ab\r\n]{0,12}"), 4),
        new in prop::collection::vec(prop::option::of("[ab\r\n]{0,12}"), 4),
        bits in any::<u64>(),
    ) {
        let home = Home::plain();
        let store = home.store();
        let names = ["a", "b/c", "b/d", "e"];
        let lay = |texts: &[Option<String>]| {
            for (name, text) in names.iter().zip(texts) {
                let _ = fs::remove_file(home.top().join(name));
                if let Some(text) = text {
                    home.write(name, text);
                }
            }
        };
        lay(&new);
        let tree = home.freeze(&store).base;
        lay(&base);
        let base = home.freeze(&store).base;
        let diff = compare(&store, &base, &tree, &external()).unwrap();
        let kept: BTreeSet<HunkId> =
            diff.hunks().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, (_, hunk))| hunk.id.clone()).collect();
        let selected = select(&store, &diff, &kept).unwrap();
        let files = published_files(&store, &base, &selected).unwrap();
        let publisher = FilePublisher::new(home.workspace(), store.clone());
        prop_assert_eq!(publisher.publish(&files, YES).unwrap(), PublicationEnd::Applied);
        prop_assert_eq!(home.freeze(&store).base, selected);
        prop_assert_eq!(publisher.publish(&swapped(&files), YES).unwrap(), PublicationEnd::Applied);
        prop_assert_eq!(home.freeze(&store).base, base);
    }
}
