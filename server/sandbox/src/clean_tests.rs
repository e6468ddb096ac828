//! The cleaner on trees as hostile commands leave them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    fs::create_dir(&root).unwrap();
    (folder, root)
}

/// Makes `depth` nested folders below `root` and returns the innermost.
fn deepen(root: &Path, depth: usize) -> OwnedFd {
    let open = |parent: &OwnedFd, name: &CStr| {
        rustix::fs::openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    let mut folder = rustix::fs::open(root, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..depth {
        rustix::fs::mkdirat(&folder, c"d", Mode::RWXU).unwrap();
        folder = open(&folder, c"d");
    }
    folder
}

#[test]
fn a_tree_deeper_than_any_path_is_removed() {
    let (_folder, root) = place();
    let innermost = deepen(&root, 4000);
    rustix::fs::symlinkat(c"/etc/passwd", &innermost, c"link").unwrap();
    remove_tree(&root).unwrap();
    assert!(!root.exists());
}

#[test]
fn folders_without_permissions_are_removed() {
    let (_folder, root) = place();
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::write(root.join("a/b/c/file"), "x").unwrap();
    for (path, mode) in [("a/b/c", 0o000), ("a/b", 0o500), ("a", 0o000), ("", 0o000)] {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    remove_tree(&root).unwrap();
    assert!(!root.exists());
}

#[test]
fn links_are_removed_and_not_followed() {
    let (folder, root) = place();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    fs::create_dir(root.join("folder")).unwrap();
    symlink("../../outside", root.join("folder/link")).unwrap();
    remove_tree(&root).unwrap();
    assert!(outside.join("precious").exists() && !root.exists());
}

#[test]
fn a_root_that_became_a_link_is_not_followed() {
    let (folder, root) = place();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    fs::remove_dir(&root).unwrap();
    symlink(&outside, &root).unwrap();
    assert!(empty_tree(&root).is_err());
    remove_tree(&root).unwrap();
    assert!(outside.join("precious").exists() && fs::symlink_metadata(&root).is_err());
}

#[test]
fn odd_names_and_kinds_are_removed() {
    use std::os::unix::ffi::OsStrExt;
    let (_folder, root) = place();
    for name in [&b"new\nline"[..], b"\x1b[2J", b"\xff\xfe", b"-rf", b"0", b"1"] {
        fs::create_dir_all(root.join(std::ffi::OsStr::from_bytes(name)).join("0/1/2")).unwrap();
    }
    rustix::fs::mknodat(CWD, root.join("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    empty_tree(&root).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn more_entries_than_a_batch_are_removed() {
    let (_folder, root) = place();
    for index in 0..1100 {
        fs::create_dir(root.join(format!("folder{index}"))).unwrap();
        fs::write(root.join(format!("folder{index}/file")), "").unwrap();
        fs::write(root.join(format!("file{index}")), "").unwrap();
    }
    fs::create_dir(root.join("wide")).unwrap();
    for index in 0..1100 {
        fs::create_dir_all(root.join(format!("wide/{index}/inner"))).unwrap();
    }
    remove_tree(&root).unwrap();
    assert!(!root.exists());
}

#[test]
fn a_missing_tree_is_fine_and_a_file_is_removed() {
    let (_folder, root) = place();
    remove_tree(&root.join("missing")).unwrap();
    remove_tree(&root.join("missing/deep")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    remove_tree(&root.join("file")).unwrap();
    assert!(!root.join("file").exists());
}
