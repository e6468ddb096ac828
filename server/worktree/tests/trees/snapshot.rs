//! Snapshots: what enters a base, what stays out and is named, and that nothing of the developer's is touched.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use task::Mode;
use worktree::{
    Error, FreezeOptions, Frozen, Interrupt, Store, Workspace, freeze, freeze_revision, merge_base_with_head,
};

use crate::home::{Home, git, path, picture};

fn names(store: &Store, frozen: &Frozen) -> Vec<String> {
    store.entries(&frozen.base).unwrap().keys().map(ToString::to_string).collect()
}

fn provisioned(frozen: &Frozen) -> Vec<String> {
    frozen.provisioned.iter().map(|file| file.path.to_string()).collect()
}

fn says(frozen: &Frozen, needle: &str) -> bool {
    frozen.limitations.iter().any(|limitation| limitation.text.contains(needle))
}

#[test]
fn a_base_is_what_is_tracked_and_what_git_would_add() {
    let home = Home::with(&[
        (".gitignore", "*.log\n/target/\n!keep.log\nbuild/\n"),
        ("src/lib.rs", "x"),
        ("forced.log", "tracked although ignored"),
    ]);
    home.run(&["add", "-f", "forced.log"]);
    home.commit();
    home.write("new.rs", "untracked");
    home.write("a.log", "ignored");
    home.write("keep.log", "not ignored");
    home.write("target/debug/x", "ignored");
    home.write("sub/.gitignore", "secretly\n");
    home.write("sub/secretly", "ignored");
    home.write("sub/build/x", "ignored");
    home.write(".git/info/exclude", "excluded\n");
    home.write("excluded", "ignored");
    fs::remove_file(home.top().join("src/lib.rs")).unwrap();
    let store = home.store();
    let frozen = home.freeze(&store);
    assert_eq!(names(&store, &frozen), [".gitignore", "forced.log", "keep.log", "new.rs", "sub/.gitignore"]);
    assert_eq!(frozen.head.unwrap(), home.run(&["rev-parse", "HEAD"]).trim());
    assert_eq!(frozen.limitations, []);
}

#[test]
fn the_developers_folder_does_not_change_by_a_byte_a_mode_or_a_time() {
    let home = Home::with(&[("a.rs", "one\n"), ("d/b.rs", "two\n")]);
    // Stamps in the index that do not fit any more: whoever refreshes an index would write here.
    let file = fs::File::options().write(true).open(home.top().join("a.rs")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    home.write("d/b.rs", "changed\n");
    home.write("new.rs", "new\n");
    let before = picture(&home.top());
    let store = home.store();
    let first = home.freeze(&store);
    let head = freeze_revision(&home.workspace(), &store, "HEAD", &FreezeOptions::default()).unwrap();
    let diff = worktree::compare(&store, &head.tree, &first.base, &crate::home::external()).unwrap();
    let mut slot = worktree::Slot::lease(&home.workspace()).unwrap();
    slot.project(&store, &first.base, Some(&first.provision)).unwrap();
    store.keep(&"t".parse().unwrap(), &first.base).unwrap();
    assert_eq!(home.freeze(&store).base, first.base);
    assert_eq!(diff.files.len(), 2);
    assert_eq!(picture(&home.top()), before);
}

#[test]
fn the_base_survives_whatever_git_gc_does() {
    let home = Home::with(&[("a.rs", "one\n"), ("d/b.rs", "two\n")]);
    let (store, task) = (home.store(), "t".parse().unwrap());
    let frozen = home.freeze(&store);
    store.keep(&task, &frozen.base).unwrap();
    drop(store);
    home.run(&["checkout", "-q", "--orphan", "other"]);
    home.run(&["rm", "-qrf", "."]);
    home.write("c", "c");
    home.commit();
    home.run(&["branch", "-D", "main"]);
    home.run(&["reflog", "expire", "--expire=now", "--all"]);
    home.run(&["gc", "-q", "--prune=now"]);
    let store = home.store();
    assert_eq!(store.kept(&task).unwrap(), std::slice::from_ref(&frozen.base));
    assert_eq!(store.read(&frozen.base, &path("d/b.rs")).unwrap().as_deref(), Some(&b"two\n"[..]));
}

#[test]
fn a_plain_folder_an_empty_repository_and_a_detached_head_are_bases() {
    let plain = Home::plain();
    plain.write("a", "x");
    plain.write(".gitignore", "b\n");
    plain.write("b", "ignored");
    plain.write("target/CACHEDIR.TAG", "Signature");
    let store = plain.store();
    let frozen = plain.freeze(&store);
    assert_eq!((names(&store, &frozen), frozen.head.clone()), (vec![".gitignore".into(), "a".into()], None));
    assert!(says(&frozen, "cache"));
    assert!(freeze_revision(&plain.workspace(), &store, "HEAD", &FreezeOptions::default()).is_err());

    let empty = Home::git();
    let store = empty.store();
    let frozen = empty.freeze(&store);
    assert_eq!((names(&store, &frozen).len(), frozen.head), (0, None));
    let head = freeze_revision(&empty.workspace(), &store, "HEAD", &FreezeOptions::default()).unwrap();
    assert_eq!((head.tree, head.commit), (frozen.base, String::new()));

    let detached = Home::with(&[("a", "x")]);
    detached.run(&["checkout", "-q", "--detach"]);
    let store = detached.store();
    assert_eq!(names(&store, &detached.freeze(&store)), ["a"]);
}

#[test]
fn linked_worktrees_relative_or_not_are_their_own_workspaces() {
    let home = Home::with(&[("a", "x"), (".gitignore", "skip\n")]);
    home.run(&["worktree", "add", "-q", "../linked"]);
    home.run(&["worktree", "add", "-q", "../relative"]);
    // As a newer git writes it with `--relative-paths`.
    fs::write(home.beside("relative/.git"), "gitdir: ../work/.git/worktrees/relative\n").unwrap();
    home.write(".git/worktrees/relative/gitdir", "../../../../relative/.git\n");
    home.run(&["config", "core.repositoryFormatVersion", "1"]);
    home.run(&["config", "extensions.relativeWorktrees", "true"]);
    home.write(".git/info/exclude", "private\n");
    for name in ["linked", "relative"] {
        let top = home.beside(name);
        fs::write(top.join("new"), "n").unwrap();
        fs::write(top.join("skip"), "n").unwrap();
        fs::write(top.join("private"), "n").unwrap();
        let workspace = Workspace::open(&top, &home.beside("state")).unwrap();
        assert_ne!(workspace.id(), home.workspace().id());
        let store = Store::open(&workspace).unwrap();
        let frozen = freeze(&workspace, &store, &[], &FreezeOptions::default()).unwrap();
        assert_eq!(names(&store, &frozen), [".gitignore", "a", "new"], "{name} {:?}", frozen.limitations);
        assert!(frozen.head.is_some() && frozen.limitations.is_empty());
    }
}

#[test]
fn repositories_that_libgit2_cannot_open_are_walked_and_it_is_said() {
    for arguments in [&["--object-format=sha256"][..], &["--ref-format=reftable"]] {
        let home = Home::plain();
        home.run(&[&["init", "-q"], arguments].concat());
        home.write("a", "x");
        home.write(".gitignore", "b\n");
        home.write("b", "ignored");
        home.commit();
        let before = picture(&home.top());
        let store = home.store();
        let frozen = home.freeze(&store);
        assert_eq!(names(&store, &frozen), [".gitignore", "a"]);
        assert!(says(&frozen, "cannot be opened"), "{:?}", frozen.limitations);
        assert_eq!(picture(&home.top()), before);
    }
}

#[test]
fn sparse_and_split_indexes_and_partial_clones_are_bases() {
    let home = Home::with(&[("in/a", "x"), ("out/b", "y"), ("top", "z")]);
    home.run(&["sparse-checkout", "set", "--no-sparse-index", "in"]);
    let store = home.store();
    assert_eq!(names(&store, &home.freeze(&store)), ["in/a", "out/b", "top"]);

    let clone = home.beside("clone");
    home.run(&["sparse-checkout", "disable"]);
    home.run(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", home.top().display());
    git(&home.beside(""), &["clone", "-q", "--filter=blob:none", &url, clone.to_str().unwrap()]);
    let workspace = Workspace::open(&clone, &home.beside("state")).unwrap();
    let store = Store::open(&workspace).unwrap();
    let frozen = freeze(&workspace, &store, &[], &FreezeOptions::default()).unwrap();
    assert_eq!((names(&store, &frozen).len(), frozen.limitations.len()), (3, 0));

    let split = Home::with(&[("a", "x"), ("b", "y")]);
    split.run(&["update-index", "--split-index"]);
    let store = split.store();
    let frozen = split.freeze(&store);
    assert_eq!(names(&store, &frozen), ["a", "b"], "{:?}", frozen.limitations);

    let sparse = Home::with(&[("in/a", "x"), ("out/deep/b", "y"), ("top", "z")]);
    sparse.run(&["sparse-checkout", "set", "--sparse-index", "in"]);
    let store = sparse.store();
    let frozen = sparse.freeze(&store);
    assert!(names(&store, &frozen).contains(&"in/a".to_owned()), "{:?}", frozen.limitations);
}

#[test]
fn submodules_stay_gitlinks_and_their_files_are_provisioned() {
    let inner = Home::with(&[("lib.rs", "inner\n"), (".gitignore", "skip\n")]);
    let home = Home::with(&[("a", "x")]);
    let url = inner.top();
    home.run(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url.to_str().unwrap(), "deps/inner"]);
    home.commit();
    home.write("deps/inner/skip", "ignored there");
    let store = home.store();
    let frozen = home.freeze(&store);
    let entry = store.entry(&frozen.base, &path("deps/inner")).unwrap().unwrap();
    assert_eq!(
        (entry.mode, entry.blob.to_string()),
        (Mode::Gitlink, inner.run(&["rev-parse", "HEAD"]).trim().to_owned())
    );
    assert_eq!(provisioned(&frozen), ["deps/inner/.gitignore", "deps/inner/lib.rs"]);
    let mut slot = worktree::Slot::lease(&home.workspace()).unwrap();
    slot.project(&store, &frozen.base, Some(&frozen.provision)).unwrap();
    assert_eq!(fs::read(slot.shadow().join("deps/inner/lib.rs")).unwrap(), b"inner\n");
}

#[test]
fn odd_bytes_names_links_and_modes_are_taken_as_they_are() {
    let home = Home::git();
    home.write("crlf", "\u{feff}a\r\nb\r\n");
    home.write("latin", b"caf\xe9\n");
    home.write("run", "#!/bin/sh\n");
    fs::set_permissions(home.top().join("run"), std::os::unix::fs::PermissionsExt::from_mode(0o775)).unwrap();
    symlink("../outside", home.top().join("link")).unwrap();
    symlink("/etc", home.top().join("folder")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\x01 odd");
    fs::write(home.top().join(odd), "odd").unwrap();
    let store = home.store();
    let frozen = home.freeze(&store);
    let entries = store.entries(&frozen.base).unwrap();
    let read = |name: &str| store.read(&frozen.base, &path(name)).unwrap().unwrap().to_vec();
    assert_eq!(read("crlf"), "\u{feff}a\r\nb\r\n".as_bytes());
    assert_eq!(read("latin"), b"caf\xe9\n");
    assert_eq!(read("link"), b"../outside");
    assert_eq!(entries[&path("run")].mode, Mode::Executable);
    assert_eq!(entries[&path("folder")].mode, Mode::Symlink);
    assert_eq!(entries.len(), 6);
    assert!(says(&frozen, "cannot be changed by a task"));
}

#[test]
fn secrets_stay_out_and_are_listed_and_can_be_allowed() {
    let home = Home::with(&[
        (".env", "TOKEN=1"),
        (".env.example", "TOKEN="),
        ("tests/key.pem", "-----BEGIN PRIVATE KEY-----"),
        ("tests/cert.pem", "-----BEGIN CERTIFICATE-----"),
        ("src/id_map.rs", "x"),
        ("a/.npmrc", "//x/:_authToken=1"),
        ("b/.npmrc", "color=true"),
    ]);
    let store = home.store();
    for _ in 0..2 {
        let frozen = home.freeze(&store);
        assert_eq!(names(&store, &frozen), [".env.example", "b/.npmrc", "src/id_map.rs", "tests/cert.pem"]);
        let withheld: Vec<_> = frozen.withheld.iter().map(ToString::to_string).collect();
        assert_eq!(withheld, [".env", "a/.npmrc", "tests/key.pem"]);
        assert!(says(&frozen, "looks like a secret"));
    }
    let options = FreezeOptions { allow: vec!["tests/*.pem".into()], ..FreezeOptions::default() };
    let frozen = freeze(&home.workspace(), &store, &[], &options).unwrap();
    assert!(names(&store, &frozen).contains(&"tests/key.pem".to_owned()));
    let head = freeze_revision(&home.workspace(), &store, "HEAD", &options).unwrap();
    assert_eq!((head.tree, head.withheld), (frozen.base, frozen.withheld));
}

#[test]
fn a_snapshot_that_is_not_wanted_any_more_ends() {
    let home = Home::with(&[("a", "x")]);
    let store = home.store();
    let options = FreezeOptions { interrupt: Interrupt::when(|| true), ..FreezeOptions::default() };
    assert!(matches!(freeze(&home.workspace(), &store, &[], &options), Err(Error::Interrupted)));
    assert_eq!(names(&store, &home.freeze(&store)), ["a"], "it can be asked for again");
}

#[test]
fn ignored_files_that_checks_need_are_provisioned_but_no_secrets() {
    let home = Home::with(&[
        (".gitignore", "Cargo.lock\nlocal/\n*.local\n.env\n"),
        (".worktreeinclude", "# what a fresh worktree needs\nlocal/config.toml\n*.local\n.env\nsrc/lib.rs\n"),
        ("src/lib.rs", "x"),
    ]);
    home.write("Cargo.lock", "lock");
    home.write("local/config.toml", "c");
    home.write("local/other", "o");
    home.write("a.local", "a");
    home.write(".env", "TOKEN=1");
    symlink("/etc/passwd", home.top().join("link.local")).unwrap();
    let store = home.store();
    let frozen = home.freeze(&store);
    assert_eq!(provisioned(&frozen), ["Cargo.lock", "a.local", "local/config.toml"]);
    assert_eq!(names(&store, &frozen), [".gitignore", ".worktreeinclude", "src/lib.rs"]);
    assert_eq!(frozen.withheld, [path(".env")]);
    assert_eq!(worktree::provisioned(&store, &frozen.provision).unwrap(), frozen.provisioned);
}

#[test]
fn pipes_nested_repositories_and_unreadable_things_are_named_and_do_not_stop_anything() {
    let home = Home::with(&[("a", "x")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.top().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.top().join(".gitignore"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(home.top().join("socket")).unwrap();
    home.write("nested/b", "b");
    git(&home.top().join("nested"), &["init", "-q"]);
    let store = home.store();
    let frozen = home.freeze(&store);
    assert_eq!(names(&store, &frozen), ["a"]);
    for what in ["a named pipe", "a socket", "another git repository"] {
        assert!(says(&frozen, what), "{what}: {:?}", frozen.limitations);
    }
}

#[test]
fn a_folder_that_became_a_link_hides_what_is_tracked_below_it() {
    let home = Home::with(&[("d/a", "x"), ("b", "y")]);
    fs::rename(home.top().join("d"), home.beside("elsewhere")).unwrap();
    symlink(home.beside("elsewhere"), home.top().join("d")).unwrap();
    let store = home.store();
    let frozen = home.freeze(&store);
    assert_eq!(names(&store, &frozen), ["b", "d"]);
}

#[test]
fn overlays_replace_disk_text_and_only_where_they_say_something_else() {
    let home = Home::with(&[("a.rs", "\u{feff}one\r\ntwo\r\n"), ("b.rs", "one\n"), (".gitignore", "skip\n")]);
    home.write("latin.txt", b"caf\xe9\n");
    let store = home.store();
    let disk = home.freeze(&store);
    let with = |overlays: &[(&str, &str)]| {
        let overlays: Vec<_> = overlays.iter().map(|(name, text)| (path(name), text.as_bytes().to_vec())).collect();
        freeze(&home.workspace(), &store, &overlays, &FreezeOptions::default()).unwrap()
    };
    assert_eq!(with(&[("a.rs", "one\ntwo"), ("b.rs", "one"), ("skip", "x")]).base, disk.base);
    let changed = with(&[("a.rs", "one\n2\n"), ("b.rs", "1"), ("new.rs", "n"), ("latin.txt", "cafe"), (".env", "A=1")]);
    let read = |name: &str| store.read(&changed.base, &path(name)).unwrap().map(|bytes| bytes.to_vec());
    assert_eq!(read("a.rs").unwrap(), "\u{feff}one\r\n2\r\n".as_bytes());
    assert_eq!(read("b.rs").unwrap(), b"1");
    assert_eq!(read("new.rs").unwrap(), b"n");
    assert_eq!(read("latin.txt").unwrap(), b"caf\xe9\n");
    assert_eq!(read(".env"), None);
    assert!(says(&changed, "not UTF-8"));
    assert_eq!(home.read("b.rs"), b"one\n");
}

#[test]
fn documents_behind_a_link_or_in_a_submodule_leave_the_base_a_tree() {
    let home = Home::with(&[("real/a.rs", "one\n")]);
    symlink("real", home.top().join("link")).unwrap();
    home.write("inner/x.rs", "one\n");
    home.commit();
    let head = home.run(&["rev-parse", "HEAD"]);
    home.run(&["rm", "-q", "--cached", "-r", "inner"]);
    home.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},inner", head.trim())]);
    let store = home.store();
    let disk = home.freeze(&store);
    let with = |text: &str| {
        let overlays: Vec<_> = ["link/a.rs", "inner/x.rs"].map(|name| (path(name), text.into())).into();
        freeze(&home.workspace(), &store, &overlays, &FreezeOptions::default()).unwrap()
    };
    let clean = with("one\n");
    assert_eq!((&clean.base, says(&clean, "not taken")), (&disk.base, false));
    let typed = with("two\n");
    assert_eq!((&typed.base, says(&typed, "not taken")), (&disk.base, true));
}

#[test]
fn a_change_of_equal_length_right_after_a_snapshot_is_seen() {
    let home = Home::with(&[("a.rs", "one\n")]);
    let store = home.store();
    for text in ["two\n", "six\n", "ten\n"] {
        home.write("a.rs", text);
        let frozen = home.freeze(&store);
        assert_eq!(store.read(&frozen.base, &path("a.rs")).unwrap().as_deref(), Some(text.as_bytes()));
    }
}

#[test]
fn revisions_branches_and_merge_bases_come_from_the_developers_objects() {
    let home = Home::with(&[("a", "one")]);
    let first = home.run(&["rev-parse", "HEAD"]).trim().to_owned();
    home.run(&["checkout", "-q", "-b", "topic"]);
    home.write("b", "two");
    home.commit();
    home.run(&["checkout", "-q", "main"]);
    home.write("c", "three");
    home.commit();
    let (store, workspace) = (home.store(), home.workspace());
    assert_eq!(merge_base_with_head(&workspace, "topic").unwrap(), first);
    let base = freeze_revision(&workspace, &store, &first, &FreezeOptions::default()).unwrap();
    let topic = freeze_revision(&workspace, &store, "topic", &FreezeOptions::default()).unwrap();
    let diff = worktree::compare(&store, &base.tree, &topic.tree, &crate::home::external()).unwrap();
    assert_eq!(diff.files.len(), 1);
    let err = freeze_revision(&workspace, &store, "nowhere", &FreezeOptions::default()).unwrap_err();
    assert!(err.to_string().starts_with("`nowhere` cannot be resolved"), "{err}");
}

#[test]
fn a_file_of_fifty_megabytes_is_a_file() {
    let home = Home::git();
    let big: Vec<u8> = (0..50u32 << 20).map(|n| (n % 251) as u8).collect();
    home.write("big", &big);
    let store = home.store();
    let frozen = home.freeze(&store);
    assert_eq!(store.read(&frozen.base, &path("big")).unwrap().as_deref(), Some(&big[..]));
}
