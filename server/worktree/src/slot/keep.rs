//! A copy of a build folder, so that it can be had again as it was before code ran that nobody vouches for.
//!
//! Cargo judges by times and names, so both are kept. A copy costs seconds and saves a build of minutes; where it cannot
//! be made, the build is cold, and nothing else is lost.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, statvfs, utimensat};

use super::remove;

/// Makes the copy what the folder is, if at least as much space as it takes is free afterwards.
pub(super) fn keep(folder: &Path, copy: &Path, trash: &Path) {
    let made = || -> io::Result<()> {
        discard(copy, trash)?;
        let free = statvfs(folder).map(|it| it.f_bavail.saturating_mul(it.f_frsize))?;
        if size(folder)?.saturating_mul(2) > free {
            return Ok(());
        }
        // Under another name until it is whole: a process that dies here leaves nothing that could be taken for it.
        let begun = copy.with_extension("new");
        discard(&begun, trash)?;
        copy_folder(folder, &begun)?;
        fs::rename(&begun, copy)
    };
    if made().is_err() {
        // Half a copy would only take space.
        let _ = discard(copy, trash).and_then(|()| discard(&copy.with_extension("new"), trash));
    }
}

/// Puts the copy in place of the folder, which is empty; the copy itself where it is not needed any more.
pub(super) fn bring_back(copy: &Path, folder: &Path, for_good: bool) {
    if !copy.is_dir() {
        return;
    }
    if for_good {
        let _cold = fs::remove_dir(folder).and_then(|()| fs::rename(copy, folder));
    } else {
        // Cargo builds what a copy that was cut short lacks: a unit counts as built by the file that is written last.
        let _cold = copy_folder(copy, folder);
    }
    let _there = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
}

fn discard(folder: &Path, trash: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    remove::empty(folder, trash)?;
    fs::remove_dir(folder)
}

/// Bytes that the files of a folder take, each counted once however many names it has.
fn size(folder: &Path) -> io::Result<u64> {
    let (mut sum, mut open, mut seen) = (0u64, vec![folder.to_owned()], HashSet::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let data = entry.metadata()?;
            if data.is_dir() {
                open.push(entry.path());
            } else if seen.insert(data.ino()) {
                sum = sum.saturating_add(data.blocks().saturating_mul(512));
            }
        }
    }
    Ok(sum)
}

/// Copies files, folders and links with their modes and times; two names of one file stay two names of one. Anything else
/// (sockets, pipes) is nothing that a build needs.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut copied: HashMap<u64, PathBuf> = HashMap::new();
    let mut open = vec![(from.to_owned(), to.to_owned())];
    let mut folders = Vec::new();
    while let Some((from, to)) = open.pop() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (old, new, data) = (entry.path(), to.join(entry.file_name()), entry.metadata()?);
            if data.is_dir() {
                open.push((old, new));
                continue;
            }
            if data.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&old)?, &new)?;
            } else if !data.is_file() {
                continue;
            } else if let Some(first) = copied.get(&data.ino()) {
                fs::hard_link(first, &new)?;
                continue;
            } else {
                fs::copy(&old, &new)?;
                if data.nlink() > 1 {
                    copied.insert(data.ino(), new.clone());
                }
            }
            keep_times(&new, &data)?;
        }
        folders.push((to, fs::metadata(&from)?));
    }
    // What holds another stands before it; its own time comes after those of what is in it.
    folders.iter().rev().try_for_each(|(folder, data)| {
        fs::set_permissions(folder, data.permissions())?;
        keep_times(folder, data)
    })
}

fn keep_times(path: &Path, data: &fs::Metadata) -> io::Result<()> {
    let spec = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps {
        last_access: spec(data.atime(), data.atime_nsec()),
        last_modification: spec(data.mtime(), data.mtime_nsec()),
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
