//! Removes trees that hostile commands left: thousands of folders deep, folders without permissions, links, a million
//! entries. Recursion, one open descriptor per level, and whole paths all fail on such trees.
//!
//! It holds two descriptors at a time: a folder that still has folders in it is not descended into through its
//! parent's; instead the inner folder is moved up into the root and handled later. So everything happens one level
//! below the root, and the way back up is never asked of the hostile tree (`..` can be moved under our feet).

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags};
use rustix::io::Errno;

/// Why a tree could not be removed entirely.
#[derive(Debug, thiserror::Error)]
#[error("{path} could not be removed: check who owns it, and remove it by hand")]
pub struct CleanError {
    /// The root that was to be removed.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub source: io::Error,
}

/// Removes a folder and everything in it. A missing one is fine; a link in its place is removed and not followed.
/// Nothing outside of it is touched, whatever its links say. Nobody else may use the folder meanwhile.
pub fn remove_tree(root: &Path) -> Result<(), CleanError> {
    remove(root, true).map_err(|errno| CleanError { path: root.into(), source: errno.into() })
}

/// Removes everything in a folder and leaves it empty.
pub fn empty_tree(root: &Path) -> Result<(), CleanError> {
    remove(root, false).map_err(|errno| CleanError { path: root.into(), source: errno.into() })
}

fn remove(root: &Path, itself: bool) -> Result<(), Errno> {
    // The way to the root is ours; the root itself may have been exchanged.
    let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else { return Err(Errno::INVAL) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = match rustix::fs::open(parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) if itself => return Ok(()),
        other => other?,
    };
    let name = CString::new(name.as_encoded_bytes()).map_err(|_| Errno::INVAL)?;
    match rustix::fs::statat(&parent, &*name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) if itself => return Ok(()),
        Err(error) => return Err(error),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::Directory => {
            return if itself { rustix::fs::unlinkat(&parent, &*name, AtFlags::empty()) } else { Err(Errno::NOTDIR) };
        }
        Ok(_) => {}
    }
    let root = open_folder(&parent, &name)?;
    Cleaner { root: &root, counter: 0 }.run()?;
    if itself { rustix::fs::unlinkat(&parent, &*name, AtFlags::REMOVEDIR) } else { Ok(()) }
}

struct Cleaner<'a> {
    root: &'a OwnedFd,
    /// For the names of folders that were moved up.
    counter: u64,
}

impl Cleaner<'_> {
    fn run(&mut self) -> Result<(), Errno> {
        loop {
            // Files go, folders are collected: a batch at a time, so that a million entries need no million names.
            let Found { folders, anything } = unlink_files(self.root, BATCH)?;
            if !anything {
                return Ok(());
            }
            for name in folders {
                self.dissolve(&name)?;
            }
        }
    }

    /// Removes a folder directly below the root; what folders it contains become folders directly below the root.
    fn dissolve(&mut self, name: &CStr) -> Result<(), Errno> {
        let folder = open_folder(self.root, name)?;
        loop {
            let Found { folders, anything } = unlink_files(&folder, BATCH)?;
            if !anything {
                break;
            }
            for inner in folders {
                // Cheap where it is empty, which most are.
                if rustix::fs::unlinkat(&folder, &*inner, AtFlags::REMOVEDIR).is_ok() {
                    continue;
                }
                self.move_up(&folder, &inner)?;
            }
        }
        rustix::fs::unlinkat(self.root, name, AtFlags::REMOVEDIR)
    }

    fn move_up(&mut self, folder: &OwnedFd, inner: &CStr) -> Result<(), Errno> {
        let mut opened = false;
        loop {
            let fresh = CString::new(self.counter.to_string()).map_err(|_| Errno::INVAL)?;
            match rustix::fs::renameat_with(folder, inner, self.root, &*fresh, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => self.counter += 1,
                // Moving a folder changes its `..`, for which the kernel asks that the folder can be written.
                Err(Errno::ACCESS) if !opened => {
                    drop(open_folder(folder, inner)?);
                    opened = true;
                }
                other => return other,
            }
        }
    }
}

/// How many folders are remembered at a time.
const BATCH: usize = 1024;

struct Found {
    folders: Vec<CString>,
    /// Only a pass that found nothing proves that a folder is empty: a listing may skip entries while others go.
    anything: bool,
}

/// Removes what is no folder, and returns the names of up to `most` folders.
fn unlink_files(folder: &OwnedFd, most: usize) -> Result<Found, Errno> {
    // A descriptor of its own starts at the beginning, whatever an earlier listing has read.
    let listing =
        rustix::fs::openat(folder, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut buffer = vec![MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(&listing, &mut buffer);
    let (mut folders, mut anything) = (Vec::new(), false);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        anything = true;
        let is_folder = match entry.file_type() {
            FileType::Directory => true,
            FileType::Unknown => {
                let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            }
            _ => false,
        };
        if is_folder {
            folders.push(name.to_owned());
            if folders.len() == most {
                break;
            }
        } else {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
        }
    }
    Ok(Found { folders, anything })
}

/// Opens a folder for listing and changing, whatever its permissions say; never through a link.
fn open_folder(parent: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    // The handle works without permissions, and changing them through it cannot be led elsewhere.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat2(&parent, name, flags, Mode::empty(), resolve)?;
    let stat = rustix::fs::fstat(&handle)?;
    if stat.st_mode & 0o700 != 0o700 {
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
        rustix::fs::chmodat(CWD, link, Mode::RWXU, AtFlags::empty())?;
    }
    rustix::fs::openat2(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), resolve)
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
