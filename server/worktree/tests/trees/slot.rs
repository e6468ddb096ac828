//! Slots: projections, what checks do to them, and times.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use task::Mode;
use worktree::Slot;

use crate::home::{Home, path, tree, tree_with_modes};

fn mtime(path: &Path) -> SystemTime {
    fs::symlink_metadata(path).unwrap().modified().unwrap()
}

#[test]
fn two_tasks_never_share_a_slot_and_a_freed_one_is_leased_again() {
    let home = Home::plain();
    let first = Slot::lease(&home.workspace()).unwrap();
    let second = Slot::lease(&home.workspace()).unwrap();
    assert_eq!((first.number(), second.number()), (0, 1));
    drop(first);
    assert_eq!(Slot::lease(&home.workspace()).unwrap().number(), 0);
}

#[test]
fn a_projection_shows_exactly_the_tree_and_writes_only_what_differs() {
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let first = tree_with_modes(
        &store,
        &[
            ("a/b/c.rs", b"one", Mode::File),
            ("run", b"#!", Mode::Executable),
            ("link", b"/etc/passwd", Mode::Symlink),
            ("same", b"same", Mode::File),
        ],
    );
    let projection = slot.project(&store, &first, None).unwrap();
    assert_eq!(projection.written.len(), 4);
    assert_eq!(fs::read_link(slot.shadow().join("link")).unwrap(), Path::new("/etc/passwd"));
    assert_eq!(fs::metadata(slot.shadow().join("run")).unwrap().permissions().mode() & 0o777, 0o755);
    let kept = mtime(&slot.shadow().join("same"));
    let second = tree(&store, &[("a/b", b"now a file"), ("same", b"same"), ("link/deep", b"now a folder")]);
    let projection = slot.project(&store, &second, None).unwrap();
    assert_eq!(projection.written, [path("a/b"), path("link/deep")]);
    assert_eq!(projection.unchanged, 1);
    assert_eq!(mtime(&slot.shadow().join("same")), kept);
    assert!(!slot.shadow().join("run").exists());
    drop(slot);
    // The next process finds it warm.
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let again = slot.project(&store, &second, None).unwrap();
    assert_eq!((again.written.len(), again.removed.len(), again.unchanged), (0, 0, 3));
}

#[test]
fn what_a_check_changes_is_named_and_taken_back() {
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let files: &[(&str, &[u8])] = &[("a", b"a"), ("b", b"b"), ("c/d", b"d"), ("e", b"e"), ("f/g", b"g"), ("h", b"h")];
    let shown = tree(&store, files);
    slot.project(&store, &shown, None).unwrap();
    assert_eq!(slot.verify().unwrap(), []);
    let shadow = slot.shadow();
    fs::write(shadow.join("a"), "A").unwrap();
    fs::remove_file(shadow.join("b")).unwrap();
    fs::remove_dir_all(shadow.join("c")).unwrap();
    let outside = home.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("d"), "d").unwrap();
    symlink(&outside, shadow.join("c")).unwrap();
    fs::set_permissions(shadow.join("e"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(shadow.join("Cargo.lock"), "made by a check").unwrap();
    fs::create_dir_all(shadow.join("junk/deep")).unwrap();
    fs::write(shadow.join("junk/deep/x"), "x").unwrap();
    fs::write(shadow.join("h"), "h").unwrap();
    fs::set_permissions(shadow.join("f"), PermissionsExt::from_mode(0o500)).unwrap();
    let touched = [path("a"), path("b"), path("c/d"), path("e")];
    assert_eq!(slot.verify().unwrap(), touched);
    assert_eq!(slot.inspect().unwrap().rewritten, [path("h")]);
    assert_eq!(slot.restore(&store).unwrap(), touched);
    assert_eq!(slot.verify().unwrap(), []);
    for (name, text) in files {
        assert_eq!(fs::read(shadow.join(name)).unwrap(), *text);
    }
    assert!(!shadow.join("Cargo.lock").exists() && !shadow.join("junk").exists());
    assert_eq!(fs::read(outside.join("d")).unwrap(), b"d");
}

#[test]
fn what_the_code_of_a_tree_left_serves_that_tree_only() {
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let [base, one, two] = [&b"0"[..], b"1", b"2"].map(|text| tree(&store, &[("a", text)]));
    let (built, source) = (slot.proof().join("lib.rlib"), slot.sources().join("registry/src/x.rs"));
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    fs::write(&built, "of the base").unwrap();
    assert!(!slot.admit(&base, true).unwrap() && !slot.admit(&one, false).unwrap());
    assert!(built.exists(), "what the base left is used");
    fs::write(&source, "planted").unwrap();
    assert!(!slot.admit(&one, false).unwrap());
    assert!(built.exists() && source.exists());
    fs::write(&built, "of one").unwrap();
    let planted = slot.proof().join("planted");
    fs::write(&planted, "planted").unwrap();
    drop(slot);
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    assert!(slot.admit(&two, false).unwrap());
    assert!(!planted.exists() && !source.exists() && source.parent().unwrap().is_dir());
    assert_eq!(fs::read_to_string(&built).unwrap(), "of the base");
    fs::write(&built, "of two").unwrap();
    assert!(slot.admit(&base, true).unwrap());
    assert_eq!(fs::read_to_string(&built).unwrap(), "of the base");
    assert!(!slot.admit(&one, false).unwrap());
}

#[test]
fn what_was_built_before_comes_back_with_its_times_links_and_modes() {
    use std::os::unix::fs::MetadataExt as _;
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let [base, one, two] = [&b"0"[..], b"1", b"2"].map(|text| tree(&store, &[("a", text)]));
    let deps = slot.proof().join("debug/deps");
    fs::create_dir_all(&deps).unwrap();
    fs::write(deps.join("program-1f"), "bytes").unwrap();
    fs::set_permissions(deps.join("program-1f"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::hard_link(deps.join("program-1f"), slot.proof().join("debug/program")).unwrap();
    std::os::unix::fs::symlink("debug", slot.proof().join("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(slot.proof().join("socket")).unwrap();
    let file = fs::File::open(deps.join("program-1f")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_234_567)).unwrap();
    fs::File::open(&deps).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let seen = |name: &str| {
        let data = fs::symlink_metadata(slot.proof().join(name)).unwrap();
        (data.mode(), data.mtime(), data.mtime_nsec())
    };
    let names = ["debug", "debug/deps", "debug/deps/program-1f", "debug/program", "link"];
    let before = names.map(seen);
    assert!(!slot.admit(&base, true).unwrap() && !slot.admit(&one, false).unwrap());
    fs::write(slot.proof().join("debug/program"), "other bytes, through a link").unwrap();
    fs::remove_file(slot.proof().join("link")).unwrap();
    for (tree, vouched_for) in [(&two, false), (&base, true)] {
        assert!(slot.admit(tree, vouched_for).unwrap());
        let seen = |name: &str| {
            let data = fs::symlink_metadata(slot.proof().join(name)).unwrap();
            (data.mode(), data.mtime(), data.mtime_nsec())
        };
        assert_eq!(names.map(seen), before);
        assert_eq!(fs::read(slot.proof().join("debug/program")).unwrap(), b"bytes");
        let inode = |name: &str| fs::metadata(slot.proof().join(name)).unwrap().ino();
        assert_eq!(inode("debug/program"), inode("debug/deps/program-1f"));
        assert!(!slot.proof().join("socket").exists());
    }
}

#[test]
fn a_changed_file_is_newer_than_every_build_whatever_the_clock_says() {
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let (one, two) = (tree(&store, &[("a", b"1"), ("b", b"b")]), tree(&store, &[("a", b"2"), ("b", b"b")]));
    slot.project(&store, &one, None).unwrap();
    let file = slot.shadow().join("a");
    let first = mtime(&file);
    // A build by a clock that was an hour ahead.
    let print = slot.work().join("debug/.fingerprint/x-1/invoked.timestamp");
    fs::create_dir_all(print.parent().unwrap()).unwrap();
    let built = SystemTime::now() + Duration::from_secs(3600);
    fs::File::create(&print).unwrap().set_modified(built).unwrap();
    slot.project(&store, &two, None).unwrap();
    let second = mtime(&file);
    assert!(second > built && second > first);
    drop(slot);
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    slot.project(&store, &one, None).unwrap();
    assert!(mtime(&file) > second, "going back to an earlier text is a change too");
    assert!(mtime(&slot.shadow().join("b")) < built, "what did not change keeps its time");
}

#[test]
fn a_build_folder_from_a_far_future_is_emptied() {
    let home = Home::plain();
    let store = home.store();
    let mut slot = Slot::lease(&home.workspace()).unwrap();
    let print = slot.proof().join("debug/.fingerprint/x-1/dep-lib");
    fs::create_dir_all(print.parent().unwrap()).unwrap();
    fs::File::create(&print).unwrap().set_modified(SystemTime::now() + Duration::from_secs(1 << 30)).unwrap();
    slot.project(&store, &tree(&store, &[("a", b"1")]), None).unwrap();
    assert!(!print.exists() && slot.proof().is_dir());
    assert!(fs::metadata(slot.shadow().join("a")).unwrap().mtime() < print.ancestors().count() as i64 + 4_000_000_000);
}
