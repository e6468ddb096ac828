//! Diffs, selections, unified diffs and rebases.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use task::{Change, HunkId, HunkKind, Mode, Risk, TreeId};
use worktree::{Rebased, SelectError, Store, compare, published_files, rebase, select, unified};

use crate::home::{Home, contents, external, git, path, tree, tree_with_modes};

fn kinds(store: &Store, base: &TreeId, new: &TreeId) -> Vec<(String, Change, Vec<HunkKind>)> {
    let diff = compare(store, base, new, &external()).unwrap();
    let kinds = |file: &task::FileDiff| file.hunks.iter().map(|hunk| hunk.kind).collect();
    diff.files.iter().map(|file| (file.path.to_string(), file.change, kinds(file))).collect()
}

#[test]
fn every_kind_of_change_is_one_hunk_and_moves_are_seen() {
    let home = Home::plain();
    let store = home.store();
    let long = "a line of the file\n".repeat(10);
    let moved = format!("{long}one more\n");
    let base = tree_with_modes(
        &store,
        &[
            ("binary", b"\0one", Mode::File),
            ("gone", b"x\n", Mode::File),
            ("link", b"a", Mode::Symlink),
            ("old/name.rs", long.as_bytes(), Mode::File),
            ("run", b"#!\n", Mode::File),
            ("text", b"a\nb\nc\nd\n", Mode::File),
        ],
    );
    let new = tree_with_modes(
        &store,
        &[
            ("binary", b"\0two", Mode::File),
            ("come", b"completely different\n", Mode::File),
            ("link", b"b", Mode::Symlink),
            ("new/name.rs", moved.as_bytes(), Mode::File),
            ("run", b"#!\n", Mode::Executable),
            ("text", b"A\nb\nc\nD\n", Mode::File),
        ],
    );
    let text = [HunkKind::Text; 2].to_vec();
    assert_eq!(
        kinds(&store, &base, &new),
        [
            ("binary".to_owned(), Change::Modified, vec![HunkKind::Binary]),
            ("come".to_owned(), Change::Created, vec![HunkKind::Create]),
            ("gone".to_owned(), Change::Deleted, vec![HunkKind::Delete]),
            ("link".to_owned(), Change::Modified, vec![HunkKind::Symlink]),
            ("new/name.rs".to_owned(), Change::Moved, vec![HunkKind::Move, HunkKind::Text]),
            ("run".to_owned(), Change::Modified, vec![HunkKind::Mode]),
            ("text".to_owned(), Change::Modified, text),
        ]
    );
    let files = published_files(&store, &base, &new).unwrap();
    assert_eq!(files.len(), 8);
    assert!(files.is_sorted_by(|a, b| a.path < b.path));
}

#[test]
fn what_hides_or_reorders_text_is_marked() {
    let home = Home::plain();
    let store = home.store();
    let base = tree(&store, &[("a.rs", b"a\r\n"), ("b.rs", b"b\n")]);
    let new = tree(&store, &[("a.rs", "\u{feff}a\r\nb\r\n".as_bytes()), ("b.rs", "b\u{202e}\n".as_bytes())]);
    let diff = compare(&store, &base, &new, &external()).unwrap();
    assert_eq!(diff.files[0].risks, []);
    assert_eq!(diff.files[1].risks, [Risk::HardToRead]);
}

#[test]
fn a_selection_that_needs_room_names_the_hunk_that_makes_it() {
    let home = Home::plain();
    let store = home.store();
    let base = tree(&store, &[("a", b"file\n"), ("b/c", b"deep\n"), ("b-x", b"near\n")]);
    let new = tree(&store, &[("a/in", b"new\n"), ("b", b"flat\n"), ("b-x", b"near\n")]);
    let diff = compare(&store, &base, &new, &external()).unwrap();
    for (keep, blocker) in [("a/in", "a"), ("b", "b/c")] {
        let hunk = |name: &str| diff.files.iter().find(|file| file.path == path(name)).unwrap().hunks[0].id.clone();
        let kept = BTreeSet::from([hunk(keep)]);
        let refused = select(&store, &diff, &kept).unwrap_err();
        assert!(matches!(refused, SelectError::Needs { needs, .. } if needs == hunk(blocker)));
    }
    let all: BTreeSet<HunkId> = diff.hunks().map(|(_, hunk)| hunk.id.clone()).collect();
    assert_eq!(select(&store, &diff, &all).unwrap(), new);
}

#[test]
fn git_applies_the_unified_diff_and_gets_exactly_the_tree() {
    let home = Home::git();
    let store = home.store();
    home.write("sp ace.rs", "a\nb\n");
    home.write("caf\u{e9} \"q\".rs", "x\n");
    home.write("crlf", "a\r\nb\r\nc");
    home.write("binary", [0, 1, 2, 255]);
    home.write("gone", "x\n");
    home.write("empty", "");
    home.write("moved/from.rs", "one\ntwo\nthree\nfour\nfive\nsix\n");
    home.write(".gitattributes", "* -diff\n*.rs diff=nothing\n");
    std::os::unix::fs::symlink("gone", home.top().join("link")).unwrap();
    home.commit();
    let base = home.freeze(&store).base;
    home.write("sp ace.rs", "a\nB\nc");
    home.write("caf\u{e9} \"q\".rs", "y");
    home.write("crlf", "a\r\nB\r\nc\r\n");
    home.write("binary", [0, 9, 9]);
    home.write("new binary", [0; 5000]);
    home.write("new/empty", "");
    std::fs::remove_file(home.top().join("gone")).unwrap();
    std::fs::remove_file(home.top().join("empty")).unwrap();
    std::fs::remove_file(home.top().join("link")).unwrap();
    home.write("link", "a file now\n");
    home.write("moved/to.rs", "one\ntwo\n3\nfour\nfive\nsix\n");
    std::fs::remove_file(home.top().join("moved/from.rs")).unwrap();
    let data = std::fs::metadata(home.top().join("crlf")).unwrap();
    let mut mode = data.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(home.top().join("crlf"), mode).unwrap();
    let new = home.freeze(&store).base;
    let after = contents(&home.top());
    let diff = unified(&store, &base, &new).unwrap();
    home.run(&["reset", "-q", "--hard"]);
    home.run(&["clean", "-qfd"]);
    std::fs::write(home.beside("x.patch"), &diff).unwrap();
    git(&home.top(), &["apply", "--whitespace=nowarn", "../x.patch"]);
    assert_eq!(contents(&home.top()), after, "{}", String::from_utf8_lossy(&diff));
    // Our own reader agrees with git's.
    assert_eq!(worktree::apply_patch(&store, &base, &diff).unwrap(), new);
}

#[test]
fn a_rebase_merges_what_lies_apart_and_names_what_does_not() {
    let home = Home::plain();
    let store = home.store();
    let text = |lines: &[&str]| lines.join("\n").into_bytes();
    let base = text(&["a", "b", "c", "d", "e", ""]);
    let base_tree = tree(&store, &[("f", &base), ("other", b"1")]);
    let ours = tree(&store, &[("f", &text(&["A", "b", "c", "d", "e", ""])), ("other", b"1")]);
    let theirs = tree(&store, &[("f", &text(&["a", "b", "c", "D", "e", ""])), ("other", b"2"), ("new", b"n")]);
    let both = tree(&store, &[("f", &text(&["A", "b", "c", "D", "e", ""])), ("other", b"2"), ("new", b"n")]);
    assert_eq!(rebase(&store, &base_tree, &ours, &theirs).unwrap(), Rebased::Tree(both));
    let near = tree(&store, &[("f", &text(&["a", "B", "c", "d", "e", ""])), ("other", b"1")]);
    let diverged = Rebased::Diverged { paths: vec![path("f")] };
    assert_eq!(rebase(&store, &base_tree, &ours, &near).unwrap(), diverged);
    let without = tree(&store, &[("other", b"1")]);
    assert_eq!(rebase(&store, &base_tree, &ours, &without).unwrap(), diverged);
    assert_eq!(rebase(&store, &base_tree, &ours, &ours).unwrap(), Rebased::Tree(ours.clone()));
    assert_eq!(rebase(&store, &base_tree, &ours, &base_tree).unwrap(), Rebased::Tree(ours));
}

#[test]
fn a_moved_file_takes_the_edits_that_were_made_under_its_old_name() {
    let home = Home::plain();
    let store = home.store();
    let body = |last: &str| format!("{}{last}\n", "a line of the file\n".repeat(9)).into_bytes();
    let base = tree(&store, &[("old.rs", &body("end"))]);
    let ours = tree(&store, &[("new.rs", &body("end"))]);
    let theirs = tree(&store, &[("old.rs", &body("changed"))]);
    let both = tree(&store, &[("new.rs", &body("changed"))]);
    assert_eq!(rebase(&store, &base, &ours, &theirs).unwrap(), Rebased::Tree(both));
}

/// A small tree of a few names: text with odd line ends, binary, links, executables, nested and moved files.
fn any_tree() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>, Mode)>> {
    let names = prop::sample::subsequence(vec!["a", "b", "c.rs", "d/e", "d/f", "g/h/i", "k"], 0..=7);
    let text =
        prop::collection::vec(prop::sample::select(vec!["x\n", "y\n", "z\r\n", "long line here\n", "\n", "end"]), 0..8);
    let bytes = prop_oneof![
        6 => text.prop_map(|lines| lines.concat().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    let mode = prop::sample::select(vec![Mode::File, Mode::File, Mode::File, Mode::Executable, Mode::Symlink]);
    (names, prop::collection::vec((bytes, mode), 7)).prop_map(|(names, contents)| {
        names.into_iter().zip(contents).map(|(name, (bytes, mode))| (name, bytes, mode)).collect()
    })
}

fn made(store: &Store, files: &[(&'static str, Vec<u8>, Mode)]) -> TreeId {
    let files: Vec<_> = files.iter().map(|(name, bytes, mode)| (*name, &bytes[..], *mode)).collect();
    tree_with_modes(store, &files)
}

thread_local! {
    static HOME: (Home, Arc<Store>) = {
        let home = Home::plain();
        let store = home.store();
        (home, store)
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn kept_hunks_compose_to_the_tree_and_to_nothing_else(base in any_tree(), new in any_tree(), bits in any::<u64>()) {
        HOME.with(|(_, store)| {
            let (base, new) = (made(store, &base), made(store, &new));
            let diff = compare(store, &base, &new, &external()).unwrap();
            let all: BTreeSet<HunkId> = diff.hunks().map(|(_, hunk)| hunk.id.clone()).collect();
            prop_assert_eq!(all.len(), diff.hunks().count());
            prop_assert_eq!(select(store, &diff, &all).unwrap(), new.clone());
            prop_assert_eq!(select(store, &diff, &BTreeSet::new()).unwrap(), base.clone());
            // A part, and then the rest of what still differs, ends at the same tree.
            let part = all.iter().enumerate().filter(|(at, _)| bits >> (at % 64) & 1 == 1).map(|(_, id)| id.clone()).collect();
            if let Ok(middle) = select(store, &diff, &part) {
                let rest = compare(store, &middle, &new, &external()).unwrap();
                let all: BTreeSet<HunkId> = rest.hunks().map(|(_, hunk)| hunk.id.clone()).collect();
                prop_assert_eq!(select(store, &rest, &all).unwrap(), new);
                // And what was kept is not in the rest: as many lines differ from base as were kept.
                let back = compare(store, &base, &middle, &external()).unwrap();
                prop_assert!(back.hunks().count() <= part.len() || !part.is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_unified_diff_read_back_gives_the_tree(base in any_tree(), new in any_tree()) {
        HOME.with(|(_, store)| {
            let (base, new) = (made(store, &base), made(store, &new));
            let diff = unified(store, &base, &new).unwrap();
            match worktree::apply_patch(store, &base, &diff) {
                Ok(tree) => prop_assert_eq!(tree, new, "{}", String::from_utf8_lossy(&diff)),
                Err(worktree::PatchError::Empty) => prop_assert_eq!(base, new),
                // Random links point anywhere.
                Err(worktree::PatchError::Refused { why, .. }) => prop_assert!(why.contains("symbolic link")),
                Err(err) => prop_assert!(false, "{err}\n{}", String::from_utf8_lossy(&diff)),
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_rebase_is_the_same_from_both_sides(base in any_tree(), ours in any_tree(), theirs in any_tree()) {
        HOME.with(|(_, store)| {
            let (base, ours, theirs) = (made(store, &base), made(store, &ours), made(store, &theirs));
            prop_assert_eq!(rebase(store, &base, &base, &theirs).unwrap(), Rebased::Tree(theirs.clone()));
            prop_assert_eq!(rebase(store, &base, &ours, &base).unwrap(), Rebased::Tree(ours.clone()));
            if let Rebased::Tree(merged) = rebase(store, &base, &ours, &theirs).unwrap() {
                // The merge holds the one change; taking it away again leaves the other.
                if let Rebased::Tree(again) = rebase(store, &base, &ours, &merged).unwrap() {
                    prop_assert_eq!(again, merged);
                }
            }
            Ok(())
        })?;
    }
}
