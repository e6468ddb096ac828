//! What is at a path of the developer's tree, read without following anything.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{FileType, Mode as Permissions, OFlags, openat, readlinkat};
use rustix::io::Errno;
use task::{Mode, TreePath};

use super::Side;
use crate::BlobId;
use crate::beneath::{Beneath, split, stamp_at};

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Is(Side),
    /// A folder, a pipe, or a path that leads through a link or a file.
    Strange,
}

/// Whether a step was made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Done,
    /// The file is not what it was when it was looked at; it is untouched.
    Differs,
}

pub(super) struct Place;

impl Place {
    pub(super) fn look(beneath: &Beneath, path: &TreePath) -> io::Result<Found> {
        let (folder, name) = split(path.as_bytes());
        match beneath.folder(folder) {
            Ok(open) => look_at(&open, name),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Found::Is(None)),
            Err(err) if is(&err, Errno::LOOP) || is(&err, Errno::NOTDIR) || is(&err, Errno::XDEV) => Ok(Found::Strange),
            Err(err) => Err(err),
        }
    }
}

/// What one name of an open folder is.
pub(super) fn look_at(folder: &OwnedFd, name: &[u8]) -> io::Result<Found> {
    let os = OsStr::from_bytes(name);
    let stamp = match stamp_at(folder, name) {
        Ok(stamp) => stamp,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Found::Is(None)),
        Err(err) => return Err(err),
    };
    match stamp.kind() {
        FileType::Symlink => {
            let target = readlinkat(folder, os, Vec::new())?;
            Ok(Found::Is(Some((BlobId::of(target.as_bytes()), Mode::Symlink))))
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let mut bytes = Vec::new();
            File::from(openat(folder, os, flags, Permissions::empty())?).read_to_end(&mut bytes)?;
            let mode = if stamp.is_executable() { Mode::Executable } else { Mode::File };
            Ok(Found::Is(Some((BlobId::of(&bytes), mode))))
        }
        _ => Ok(Found::Strange),
    }
}

pub(super) fn is(err: &io::Error, errno: Errno) -> bool {
    err.raw_os_error() == Some(errno.raw_os_error())
}
