//! Opening things below a folder without ever following a link, so that no path leads out of it.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};

/// A folder below which everything is opened.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: OwnedFd,
}

/// How often an `openat2` is tried that a rename elsewhere disturbed.
const TRIES: usize = 64;

impl Beneath {
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())? })
    }

    /// Opens a relative path (empty: the folder itself) with these flags, links refused in every component.
    pub(crate) fn at(&self, path: &[u8], flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let path = if path.is_empty() { &b"."[..] } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES {
            match rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, mode, resolve) {
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
        Err(io::Error::from(rustix::io::Errno::AGAIN))
    }

    pub(crate) fn folder(&self, path: &[u8]) -> io::Result<OwnedFd> {
        self.at(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }
}

/// What the kernel says about a file, as far as a change of the file shows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    /// Nanoseconds since the epoch.
    pub(crate) ctime: i64,
    pub(crate) mtime: i64,
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: u64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos as i64);
        Self {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: stat.st_mode,
            ctime: nanos(stat.st_ctime, stat.st_ctime_nsec),
            mtime: nanos(stat.st_mtime, stat.st_mtime_nsec),
        }
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

/// The stamp of a name in an open folder, links not followed.
pub(crate) fn stamp_at(folder: &OwnedFd, name: &[u8]) -> io::Result<Stamp> {
    let stat = rustix::fs::statat(folder, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Stamp::of(&stat))
}

/// The names in an open folder with what the folder says they are, sorted.
pub(crate) fn names(folder: &OwnedFd) -> io::Result<Vec<(Vec<u8>, FileType)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push((name.to_vec(), entry.file_type()));
        }
    }
    names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}

/// Splits a path into its folder (empty at the top) and its name.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&[], path),
    }
}

/// Reads a regular file below a folder to its end; `None` when it is none (a link, a pipe, a folder, too large).
pub(crate) fn read_small(beneath: &Beneath, path: &[u8], most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match beneath.at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty()) {
        Ok(file) => file,
        Err(err) if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        Err(err) if err.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => return Ok(None),
        Err(err) => return Err(err),
    };
    let stamp = Stamp::of(&rustix::fs::fstat(&file)?);
    if stamp.kind() != FileType::RegularFile || stamp.size > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
