//! Patches made by git, by diff and by hand.

use task::{Mode, TreeId};
use worktree::{PatchError, Store, apply_patch};

use crate::home::{Home, path, tree, tree_with_modes};

fn refused(store: &Store, base: &TreeId, patch: &str) -> String {
    apply_patch(store, base, patch.as_bytes()).unwrap_err().to_string()
}

/// What git prints about two commits gives the second from the first.
fn agrees(home: &Home, arguments: &[&str]) {
    let store = home.store();
    let base = worktree::freeze_revision(&home.workspace(), &store, "HEAD~1", &Default::default()).unwrap().tree;
    let new = worktree::freeze_revision(&home.workspace(), &store, "HEAD", &Default::default()).unwrap().tree;
    home.run(&[arguments, &["--output=../x.patch", "HEAD~1", "HEAD"]].concat());
    let patch = std::fs::read(home.beside("x.patch")).unwrap();
    let applied = apply_patch(&store, &base, &patch);
    assert_eq!(applied.unwrap(), new, "{arguments:?}\n{}", String::from_utf8_lossy(&patch));
}

fn changed() -> Home {
    let home = Home::git();
    let long: String = (0..60).map(|n| format!("line {n}\n")).collect();
    home.write("a.rs", &long);
    home.write("crlf", "one\r\ntwo\r\nthree");
    home.write("with space/\u{e9}t\u{e9}.rs", "x\n");
    home.write("moved/from.rs", &long);
    home.write("binary", [0u8; 3000]);
    home.write("latin", b"caf\xe9\n");
    home.write("gone", "gone\n");
    home.write("empty", "");
    home.write("run", "#!\n");
    home.commit();
    home.write("a.rs", long.replace("line 3\n", "LINE 3\nand more\n").replace("line 50\n", ""));
    home.write("crlf", "one\r\n2\r\nthree\r\n");
    home.write("with space/\u{e9}t\u{e9}.rs", "y");
    std::fs::remove_file(home.top().join("moved/from.rs")).unwrap();
    home.write("moved/to.rs", long.replace("line 30", "LINE 30"));
    let mut binary = [0u8; 3000];
    binary[1500] = 7;
    home.write("binary", binary);
    home.write("new.bin", [1, 0, 2]);
    home.write("latin", b"caf\xe9 \xe8\n");
    std::fs::remove_file(home.top().join("gone")).unwrap();
    std::fs::remove_file(home.top().join("empty")).unwrap();
    home.write("fresh/empty", "");
    std::fs::set_permissions(home.top().join("run"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("a.rs", home.top().join("link")).unwrap();
    home.commit();
    home
}

#[test]
fn whatever_git_prints_is_read_exactly() {
    let home = changed();
    for arguments in [
        &["diff", "--binary"][..],
        &["diff", "--binary", "-M", "-C"],
        &["diff", "--binary", "--no-renames", "-U1"],
        &["diff", "--binary", "-U0"],
        &["diff", "--binary", "--no-prefix"],
        &["-c", "diff.mnemonicPrefix=true", "diff", "--binary"],
        &["diff", "--binary", "--full-index", "-W"],
        &["diff", "--binary", "--patience", "--inter-hunk-context=5"],
    ] {
        agrees(&home, arguments);
    }
}

#[test]
fn a_series_of_mails_is_applied_commit_by_commit() {
    let home = changed();
    home.write("a.rs", "short now\n");
    std::fs::rename(home.top().join("crlf"), home.top().join("swap")).unwrap();
    std::fs::rename(home.top().join("latin"), home.top().join("crlf")).unwrap();
    home.commit();
    let store = home.store();
    let base = worktree::freeze_revision(&home.workspace(), &store, "HEAD~2", &Default::default()).unwrap().tree;
    let new = worktree::freeze_revision(&home.workspace(), &store, "HEAD", &Default::default()).unwrap().tree;
    home.run(&["format-patch", "-q", "-M", "--binary", "-o", "../mails", "HEAD~2"]);
    let mut mails: Vec<_> =
        std::fs::read_dir(home.beside("mails")).unwrap().map(|entry| entry.unwrap().path()).collect();
    mails.sort();
    let patch: Vec<u8> = mails.iter().flat_map(|mail| std::fs::read(mail).unwrap()).collect();
    assert_eq!(apply_patch(&store, &base, &patch).unwrap(), new);
}

#[test]
fn plain_diffs_find_their_file_with_and_without_prefixes() {
    let home = Home::plain();
    let store = home.store();
    let base = tree(&store, &[("src/a.c", b"one\ntwo\n"), ("b/b", b"x\n")]);
    let new = tree(&store, &[("src/a.c", b"one\n2\n"), ("b/b", b"x\n")]);
    let hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    for names in [
        "--- a/src/a.c\n+++ b/src/a.c\n",
        "--- src/a.c\n+++ src/a.c\n",
        "--- src/a.c.orig\t2026-01-01 10:00:00.000000000 +0000\n+++ src/a.c\t2026-01-01 10:00:01.000000000 +0000\n",
        "--- old-1.0/src/a.c\n+++ new-1.1/src/a.c\n",
        "Some words before.\n\ndiff -u src/a.c src/a.c\n--- src/a.c\n+++ src/a.c\n",
        "Index: src/a.c\n=====\n--- src/a.c\t(revision 1)\n+++ src/a.c\t(working copy)\n",
    ] {
        let patch = format!("{names}{hunk}");
        assert_eq!(apply_patch(&store, &base, patch.as_bytes()).unwrap(), new, "{names}");
    }
    let created = "--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+n\n";
    let tree = apply_patch(&store, &base, created.as_bytes()).unwrap();
    assert_eq!(store.read(&tree, &path("new.rs")).unwrap().as_deref(), Some(&b"n\n"[..]));
    let deleted = "--- b/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let tree = apply_patch(&store, &base, deleted.as_bytes()).unwrap();
    assert_eq!(store.entry(&tree, &path("b/b")).unwrap(), None);
}

#[test]
fn a_patch_with_foreign_line_ends_still_applies() {
    let home = Home::plain();
    let store = home.store();
    let base = tree(&store, &[("a", b"one\ntwo\n")]);
    let patch = "--- a/a\r\n+++ b/a\r\n@@ -1,2 +1,2 @@\r\n one\r\n-two\r\n+2\r\n";
    let tree = apply_patch(&store, &base, patch.as_bytes()).unwrap();
    assert_eq!(store.read(&tree, &path("a")).unwrap().as_deref(), Some(&b"one\n2\n"[..]));
}

#[test]
fn a_hunk_moves_only_to_the_one_place_where_it_fits() {
    let home = Home::plain();
    let store = home.store();
    let patch = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n x\n-y\n+Y\n z\n";
    let apply = |text: &str| apply_patch(&store, &tree(&store, &[("f", text.as_bytes())]), patch.as_bytes());
    let at = |text: &str, expected: &str| assert_eq!(apply(text).unwrap(), tree(&store, &[("f", expected.as_bytes())]));
    at("0\nx\ny\nz\n", "0\nx\nY\nz\n");
    at("0\n1\n2\n3\nx\ny\nz\n4\n", "0\n1\n2\n3\nx\nY\nz\n4\n");
    let twice = apply("0\n1\n2\n3\nx\ny\nz\nx\ny\nz\n").unwrap_err();
    assert_eq!(
        twice.to_string(),
        "f: the hunk at line 3 of the patch does not apply: its context fits in several places, and not where it says"
    );
    assert!(matches!(apply("other\n"), Err(PatchError::DoesNotApply { line: 3, .. })));
    let blind = "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+new\n";
    assert!(refused(&store, &tree(&store, &[("f", b"a\nb\n")]), blind).contains("without context"));
}

#[test]
fn paths_out_of_the_tree_into_git_and_strange_ones_are_refused() {
    let home = Home::plain();
    let store = home.store();
    let base = tree_with_modes(&store, &[("a", b"x\n", Mode::File)]);
    for name in ["b/../../etc/passwd", "b//etc/passwd", "b/.git/hooks/pre-commit", "b/.GIT/config", "\"b/a\\033[2J\""] {
        let patch = format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n");
        let said = refused(&store, &base, &patch);
        assert!(said.contains("may not touch"), "{name}: {said}");
    }
    for target in ["/etc/passwd", "../../x", ".git/config"] {
        let patch = format!(
            "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        );
        assert!(refused(&store, &base, &patch).contains("symbolic link"), "{target}");
    }
    let submodule =
        "diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 0\n";
    assert!(refused(&store, &base, submodule).contains("submodule"));
}

#[test]
fn what_is_wrong_with_a_patch_is_one_sentence() {
    let home = Home::plain();
    let store = home.store();
    let base = tree(&store, &[("a", b"x\n")]);
    for (patch, said) in [
        ("", "the patch holds no change"),
        ("hello\n", "the patch holds no change"),
        ("--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n", "b is not in the tree, but the patch changes it"),
        ("--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n", "line 5 of the patch: the patch ends within a hunk"),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n*x\n",
            "line 4 of the patch: a line of a hunk begins with neither a blank, `+` nor `-`",
        ),
        (
            "diff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n",
            "line 3 of the patch: the patch leaves the bytes of a binary file out; make it with `git diff --binary`",
        ),
        ("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+y\n", "a is there already, but the patch creates it"),
    ] {
        assert_eq!(refused(&store, &base, patch), said);
    }
}
