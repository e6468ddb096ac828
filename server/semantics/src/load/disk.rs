//! Reading dependency sources and build output without ever following a link out of the folder that was named.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, open, openat2};

use crate::text::PARSED_FILE_CAP;

/// How deep a folder of sources may be nested.
const DEPTH_CAP: usize = 64;

/// A folder that is read from; everything below is opened relative to it, links refused.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: OwnedFd,
}

impl Root {
    /// Opens the folder. Links on the way to it are followed: it is a path of ours, not of the tree.
    pub fn open(path: &Path) -> Option<Root> {
        let folder = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Root { path: path.to_owned(), folder })
    }

    /// Whether a path lies below this root.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path)
    }

    /// The UTF-8 text of a file at an absolute path below this root.
    pub fn read(&self, path: &Path) -> Option<String> {
        let relative = path.strip_prefix(&self.path).ok()?;
        let file = beneath(&self.folder, relative.as_os_str(), OFlags::RDONLY | OFlags::NONBLOCK)?;
        let mut text = String::new();
        let file = std::fs::File::from(file);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        file.take(PARSED_FILE_CAP as u64 + 1).read_to_string(&mut text).ok()?;
        (text.len() <= PARSED_FILE_CAP).then_some(text)
    }

    /// Visits the regular files below `folder` in a fixed order. `enter` decides about folders, `visit` gets files.
    ///
    /// The order matters: file numbers are given in order of arrival and inference depends on them.
    pub fn walk(&self, folder: &Path, enter: &dyn Fn(&Path) -> bool, visit: &mut dyn FnMut(PathBuf)) {
        self.walk_at(folder, enter, visit, 0);
    }

    fn walk_at(&self, folder: &Path, enter: &dyn Fn(&Path) -> bool, visit: &mut dyn FnMut(PathBuf), depth: usize) {
        let Ok(relative) = folder.strip_prefix(&self.path) else { return };
        let relative = if relative.as_os_str().is_empty() { OsStr::new(".") } else { relative.as_os_str() };
        let Some(opened) = beneath(&self.folder, relative, OFlags::RDONLY | OFlags::DIRECTORY) else { return };
        let Ok(entries) = Dir::read_from(&opened) else { return };
        let mut found: Vec<(Vec<u8>, FileType)> = entries
            .flatten()
            .map(|entry| (entry.file_name().to_bytes().to_vec(), entry.file_type()))
            .filter(|(name, _)| name != b"." && name != b"..")
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in found {
            let path = folder.join(OsStr::from_bytes(&name));
            match kind {
                FileType::Directory if depth < DEPTH_CAP && enter(&path) => {
                    self.walk_at(&path, enter, visit, depth + 1)
                }
                FileType::RegularFile => visit(path),
                _ => {}
            }
        }
    }
}

fn beneath(root: &OwnedFd, relative: &OsStr, flags: OFlags) -> Option<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let root: BorrowedFd<'_> = rustix::fd::AsFd::as_fd(root);
    openat2(root, relative, flags | OFlags::CLOEXEC, Mode::empty(), resolve).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_neither_walked_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let secret = tempfile::tempdir().unwrap();
        std::fs::write(secret.path().join("secret.rs"), "secret").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/b.rs"), "b").unwrap();
        std::fs::write(folder.path().join("src/a.rs"), "a").unwrap();
        std::os::unix::fs::symlink(secret.path(), folder.path().join("linked")).unwrap();
        std::os::unix::fs::symlink(secret.path().join("secret.rs"), folder.path().join("src/c.rs")).unwrap();
        let root = Root::open(folder.path()).unwrap();
        let mut seen = Vec::new();
        root.walk(folder.path(), &|_| true, &mut |path| seen.push(path));
        assert_eq!(seen, [folder.path().join("src/a.rs"), folder.path().join("src/b.rs")]);
        assert_eq!(root.read(&folder.path().join("src/a.rs")).as_deref(), Some("a"));
        assert_eq!(root.read(&folder.path().join("src/c.rs")), None);
        assert_eq!(root.read(&folder.path().join("linked/secret.rs")), None);
        assert_eq!(root.read(&secret.path().join("secret.rs")), None);
    }
}
