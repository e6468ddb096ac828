//! Removing what hostile code left: without recursion, with few open files, never through a link.
//!
//! A folder of any depth is flattened: its subfolders are moved up into a trash folder until every folder in there
//! only holds files. Nothing runs in the slot meanwhile, so names do not change under us.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmodat, mkdirat, openat, renameat, unlinkat};

use crate::beneath::{Beneath, names, stamp_at};

/// Removes everything in a folder; the folder stays.
pub(super) fn empty(folder: &Path, trash: &Path) -> io::Result<()> {
    let open = Beneath::open(folder)?.folder(b"")?;
    let mut bin = Trash::open(trash)?;
    for (name, _) in names(&open)? {
        bin.remove(&open, &name)?;
    }
    bin.purge()
}

/// A folder beside the shadow in which things wait to be gone.
pub(super) struct Trash {
    open: OwnedFd,
    next: u64,
}

impl Trash {
    /// Opens the trash folder, whatever an earlier process left in it included.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let open = Beneath::open(path)?.folder(b"")?;
        let next =
            names(&open)?.iter().filter_map(|(name, _)| std::str::from_utf8(name).ok()?.parse::<u64>().ok()).max();
        Ok(Self { open, next: next.map_or(0, |last| last + 1) })
    }

    /// Removes a name from a folder: a file at once, a folder by moving it here.
    pub(super) fn remove(&mut self, folder: &OwnedFd, name: &[u8]) -> io::Result<()> {
        let os = OsStr::from_bytes(name);
        if stamp_at(folder, name)?.kind() != FileType::Directory {
            return Ok(unlinkat(folder, os, AtFlags::empty())?);
        }
        // Moving a folder writes its `..`, which needs leave to write in it.
        chmodat(folder, os, Mode::RWXU, AtFlags::empty())?;
        let place = self.next.to_string();
        self.next += 1;
        Ok(renameat(folder, os, &self.open, place)?)
    }

    /// Removes everything that waits.
    pub(super) fn purge(&mut self) -> io::Result<()> {
        loop {
            let waiting = names(&self.open)?;
            if waiting.is_empty() {
                return Ok(());
            }
            for (name, _) in waiting {
                let os = OsStr::from_bytes(&name);
                if stamp_at(&self.open, &name)?.kind() != FileType::Directory {
                    unlinkat(&self.open, os, AtFlags::empty())?;
                    continue;
                }
                chmodat(&self.open, os, Mode::RWXU, AtFlags::empty())?;
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let folder = openat(&self.open, os, flags, Mode::empty())?;
                for (inner, _) in names(&folder)? {
                    self.remove(&folder, &inner)?;
                }
                unlinkat(&self.open, os, AtFlags::REMOVEDIR)?;
            }
        }
    }
}

/// Makes a folder unless it is there.
pub(super) fn make(parent: &OwnedFd, name: &[u8]) -> io::Result<()> {
    match mkdirat(parent, OsStr::from_bytes(name), Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(err) => Err(err.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_three_thousand_closed_folders_and_a_link_out_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let (work, trash) = (home.path().join("work"), home.path().join("trash"));
        fs::create_dir_all(&work).unwrap();
        fs::write(home.path().join("precious"), "x").unwrap();
        let mut at = Beneath::open(&work).unwrap().folder(b"").unwrap();
        for _ in 0..3000 {
            make(&at, b"d").unwrap();
            rustix::fs::symlinkat("../precious", &at, "link").unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let next = openat(&at, "d", flags, Mode::empty()).unwrap();
            chmodat(&at, "d", Mode::from_raw_mode(0o555), AtFlags::empty()).unwrap();
            chmodat(&at, "d", Mode::RWXU, AtFlags::empty()).unwrap();
            at = next;
        }
        rustix::fs::symlinkat(home.path(), &at, "out").unwrap();
        empty(&work, &trash).unwrap();
        assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&trash).unwrap().count(), 0);
        assert!(home.path().join("precious").is_file());
    }
}
