//! New files beside their places, and putting each into its place by one rename.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{
    AtFlags, Mode as Permissions, OFlags, RenameFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fsync,
    mkdirat, openat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use task::{Digest, Mode, TreePath};

use super::place::{Found, Moved, is, look_at};
use super::{Side, Step};
use crate::beneath::{Beneath, split};

/// What lies beside its place and where.
#[derive(Debug, Default)]
pub(super) struct Staged {
    names: BTreeMap<TreePath, String>,
    /// Folders whose names changed, to be synced.
    touched: BTreeSet<Vec<u8>>,
    /// Folders that were made, the outermost first.
    made: Vec<Vec<u8>>,
}

/// Extended attributes larger than this are not ours to carry.
const LARGEST_ATTRIBUTE: usize = 64 << 10;

impl Staged {
    /// Writes the new file beside its place, synced. It takes owner, permissions and attributes of the one it replaces.
    pub(super) fn write(&mut self, beneath: &Beneath, step: &Step, mode: Mode, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = split(step.path.as_bytes());
        self.make(beneath, folder)?;
        let open = beneath.folder(folder)?;
        let temporary = beside(&step.path, "new");
        self.names.insert(step.path.clone(), temporary.clone());
        if mode == Mode::Symlink {
            symlinkat(OsStr::from_bytes(bytes), &open, &temporary)?;
            return Ok(());
        }
        let default = if mode == Mode::Executable { 0o777 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&open, &temporary, flags, Permissions::from_raw_mode(default))?);
        file.write_all(bytes)?;
        if matches!(step.before, Some((_, Mode::File | Mode::Executable))) {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let old = openat(&open, OsStr::from_bytes(name), flags, Permissions::empty())?;
            take_after(&file, &old, mode)?;
        }
        fsync(&file)?;
        Ok(())
    }

    /// Puts the step into its place, unless what is there is not what it was.
    pub(super) fn put(&mut self, beneath: &Beneath, step: &Step) -> io::Result<Moved> {
        let (folder, name) = split(step.path.as_bytes());
        let open = beneath.folder(folder)?;
        let moved = match self.names.get(&step.path) {
            Some(temporary) => exchange(&open, temporary, name, step.before)?,
            None => take_away(&open, name, step)?,
        };
        if moved == Moved::Done {
            self.names.remove(&step.path);
            self.touched.insert(folder.to_vec());
            if step.after.is_none() {
                self.remove_empty(beneath, folder);
            }
        }
        Ok(moved)
    }

    /// Removes what was written and not put, and folders made for it.
    pub(super) fn drop_rest(&mut self, beneath: &Beneath) {
        for (path, temporary) in std::mem::take(&mut self.names) {
            if let Ok(open) = beneath.folder(split(path.as_bytes()).0) {
                // What cannot be removed now is cleared by the next try.
                let _ = unlinkat(&open, temporary, AtFlags::empty());
            }
        }
        for folder in std::mem::take(&mut self.made).into_iter().rev() {
            // Fails, as it should, where something is inside.
            let (parent, name) = split(&folder);
            if let Ok(open) = beneath.folder(parent) {
                let _ = unlinkat(&open, OsStr::from_bytes(name), AtFlags::REMOVEDIR);
            }
        }
    }

    /// Makes the changed names last. An error changes nothing about what reading back says.
    pub(super) fn sync(&self, beneath: &Beneath) {
        for folder in &self.touched {
            if let Ok(open) = beneath.folder(folder) {
                let _ = fsync(&open);
            }
        }
    }

    fn make(&mut self, beneath: &Beneath, folder: &[u8]) -> io::Result<()> {
        let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([folder.len()]) {
            let part = &folder[..end];
            if part.is_empty() {
                continue;
            }
            let (parent, name) = split(part);
            match mkdirat(beneath.folder(parent)?, OsStr::from_bytes(name), Permissions::from_raw_mode(0o777)) {
                Ok(()) => {
                    self.made.push(part.to_vec());
                    self.touched.insert(parent.to_vec());
                }
                Err(Errno::EXIST) => {}
                Err(err) => return Err(err.into()),
            }
        }
        Ok(())
    }

    /// A folder that a deletion emptied goes too, as git would have it: git knows no empty folders, and undoing a
    /// publication that made one has to end where it began.
    fn remove_empty(&mut self, beneath: &Beneath, folder: &[u8]) {
        let mut folder = folder;
        while !folder.is_empty() {
            let (parent, name) = split(folder);
            let Ok(open) = beneath.folder(parent) else { return };
            if unlinkat(&open, OsStr::from_bytes(name), AtFlags::REMOVEDIR).is_err() {
                return;
            }
            self.touched.remove(folder);
            self.touched.insert(parent.to_vec());
            folder = parent;
        }
    }
}

/// A name for something that lies beside a file for a moment. The same one each time, so that the next try finds what a
/// killed one left.
fn beside(path: &TreePath, what: &str) -> String {
    format!(".understudy-{}.{what}", &Digest::of([path.as_bytes()]).as_str()[..16])
}

/// Removes what a killed publication left beside a file. What was swapped out and is not the text that was to be
/// replaced is somebody's last save: it stays.
pub(super) fn sweep(beneath: &Beneath, step: &Step, done: bool) {
    let Ok(open) = beneath.folder(split(step.path.as_bytes()).0) else { return };
    for (what, ours) in [("new", !done), ("old", false)] {
        let name = beside(&step.path, what);
        let is_known = || look_at(&open, name.as_bytes()).is_ok_and(|found| found == Found::Is(step.before));
        if ours || is_known() {
            // Most often there is nothing.
            let _ = unlinkat(&open, &name, AtFlags::empty());
        }
    }
}

/// Swaps the new file in, looks at what came out, and swaps back if that is not what was expected: so that nothing the
/// developer saved in the last moment is lost.
fn exchange(folder: &OwnedFd, temporary: &str, name: &[u8], before: Side) -> io::Result<Moved> {
    let name = OsStr::from_bytes(name);
    let Some(before) = before else {
        return match renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Moved::Done),
            Err(Errno::EXIST) => Ok(Moved::Differs),
            Err(Errno::INVAL | Errno::NOSYS) => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => Ok(renameat(folder, temporary, folder, name).map(|()| Moved::Done)?),
                _ => Ok(Moved::Differs),
            },
            Err(err) => Err(err.into()),
        };
    };
    let expected = Found::Is(Some(before));
    match renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(Moved::Differs),
        // Some file systems cannot swap; a moment remains in which a save could be lost.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if look_at(folder, name.as_bytes())? != expected {
                return Ok(Moved::Differs);
            }
            return Ok(renameat(folder, temporary, folder, name).map(|()| Moved::Done)?);
        }
        Err(err) => return Err(err.into()),
    }
    if look_at(folder, temporary.as_bytes())? == expected {
        unlinkat(folder, temporary, AtFlags::empty())?;
        return Ok(Moved::Done);
    }
    renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE)?;
    Ok(Moved::Differs)
}

/// Deletes a file by the same care: moved aside, looked at, then removed or moved back.
fn take_away(folder: &OwnedFd, name: &[u8], step: &Step) -> io::Result<Moved> {
    let aside = beside(&step.path, "old");
    let name = OsStr::from_bytes(name);
    let expected = Found::Is(step.before);
    if look_at(folder, name.as_bytes())? != expected {
        return Ok(Moved::Differs);
    }
    match renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS) => return Ok(unlinkat(folder, name, AtFlags::empty()).map(|()| Moved::Done)?),
        Err(err) => return Err(err.into()),
    }
    if look_at(folder, aside.as_bytes())? == expected {
        unlinkat(folder, &aside, AtFlags::empty())?;
        return Ok(Moved::Done);
    }
    renameat_with(folder, &aside, folder, name, RenameFlags::NOREPLACE)?;
    Ok(Moved::Differs)
}

/// Gives a new file owner, permissions and extended attributes (access lists among them) of the one it replaces; only
/// the executable bits follow the tree.
fn take_after(file: &File, old: &OwnedFd, mode: Mode) -> io::Result<()> {
    let stat = rustix::fs::fstat(old)?;
    let new = rustix::fs::fstat(file)?;
    if (new.st_uid, new.st_gid) != (stat.st_uid, stat.st_gid) {
        let owner = rustix::process::Uid::from_raw(stat.st_uid);
        let group = rustix::process::Gid::from_raw(stat.st_gid);
        // Only root gives files away; a group of one's own can be kept without the owner.
        if fchown(file, Some(owner), Some(group)).is_err() {
            let _ = fchown(file, None, Some(group));
        }
    }
    let permissions = stat.st_mode & 0o7777;
    let permissions = match mode {
        Mode::Executable if permissions & 0o100 == 0 => permissions | ((permissions & 0o444) >> 2),
        Mode::Executable => permissions,
        _ if permissions & 0o100 != 0 => permissions & !0o111,
        _ => permissions,
    };
    fchmod(file, Permissions::from_raw_mode(permissions))?;
    match attributes(old) {
        Ok(attributes) => {
            for (name, value) in attributes {
                match fsetxattr(file.as_fd(), &name, &value, rustix::fs::XattrFlags::empty()) {
                    Ok(()) | Err(Errno::NOTSUP | Errno::PERM | Errno::ACCESS) => {}
                    Err(err) => return Err(err.into()),
                }
            }
            Ok(())
        }
        Err(err) if is(&err, Errno::NOTSUP) => Ok(()),
        Err(err) => Err(err),
    }
}

fn attributes(file: &OwnedFd) -> io::Result<Vec<(CString, Vec<u8>)>> {
    let mut list = vec![0u8; LARGEST_ATTRIBUTE];
    let length = flistxattr(file, &mut list[..])?;
    let mut attributes = Vec::new();
    for name in list[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        // Security labels belong to the folder's policy, not to the file.
        let wanted = name.starts_with(b"user.") || name == b"system.posix_acl_access";
        let Ok(name) = CString::new(name) else { continue };
        let mut value = vec![0u8; LARGEST_ATTRIBUTE];
        if wanted && let Ok(length) = fgetxattr(file, &name, &mut value[..]) {
            value.truncate(length);
            attributes.push((name, value));
        }
    }
    Ok(attributes)
}
