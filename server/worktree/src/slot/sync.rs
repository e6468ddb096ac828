//! Making the shadow show what is wanted: what is not as it was written goes, then what is missing is written.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::fs::{
    AtFlags, FileType, Mode as Permissions, OFlags, Timespec, Timestamps, fchmod, fstat, futimens, openat, readlinkat,
    symlinkat, utimensat,
};
use task::{Mode, TreePath};

use super::Content;
use super::remove::{Trash, make};
use crate::beneath::{Beneath, Stamp, names, split, stamp_at};
use crate::stamps::{Seen, SeenFiles};
use crate::{BlobId, Entries, Entry, Error, Store};

/// What a projection did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projection {
    pub written: Vec<TreePath>,
    /// Files and folders that did not belong.
    pub removed: Vec<TreePath>,
    pub unchanged: usize,
}

pub(super) struct Sync<'a> {
    shadow: &'a Path,
    slot: &'a Path,
    store: &'a Store,
    /// The mtime of whatever is written.
    stamp: i64,
}

impl<'a> Sync<'a> {
    pub(super) fn new(shadow: &'a Path, slot: &'a Path, store: &'a Store) -> Self {
        Self { shadow, slot, store, stamp: 0 }
    }

    /// Asks for a time only when something changes, so that looking does not use times up.
    pub(super) fn run(
        mut self,
        wanted: &Entries,
        shown: &mut SeenFiles,
        stamp: &mut dyn FnMut() -> Result<i64, Error>,
    ) -> Result<Projection, Error> {
        let beneath = Beneath::open(self.shadow).map_err(Error::io("opened", self.shadow))?;
        let folders = folders(wanted);
        let mut projection = Projection::default();
        let kept = self.sweep(&beneath, wanted, &folders, shown, &mut projection)?;
        projection.unchanged = kept.len();
        shown.retain(|path, _| kept.contains(path));
        let missing: Vec<_> = wanted.iter().filter(|(path, _)| !kept.contains(*path)).collect();
        if !missing.is_empty() || !projection.removed.is_empty() {
            self.stamp = stamp()?;
        }
        self.make_folders(&beneath, &folders, &missing)?;
        for (path, seen) in self.write_all(&beneath, &missing)? {
            if seen.entry.mode != Mode::Gitlink {
                projection.written.push(path.clone());
            }
            shown.insert(path, seen);
        }
        self.date_folders(&beneath, &projection);
        Ok(projection)
    }

    /// Removes everything that is not exactly as recorded and wanted; answers what stayed.
    fn sweep(
        &self,
        beneath: &Beneath,
        wanted: &Entries,
        folders: &HashSet<Vec<u8>>,
        shown: &SeenFiles,
        projection: &mut Projection,
    ) -> Result<HashSet<TreePath>, Error> {
        let failed = |what| Error::io(what, self.shadow);
        let mut trash = Trash::open(&self.slot.join("trash")).map_err(failed("swept"))?;
        let mut kept = HashSet::with_capacity(wanted.len());
        let mut todo = vec![Vec::new()];
        while let Some(folder) = todo.pop() {
            let open = beneath.folder(&folder).map_err(failed("read"))?;
            for (name, _) in names(&open).map_err(failed("read"))? {
                let stamp = stamp_at(&open, &name).map_err(failed("read"))?;
                let full = if folder.is_empty() { name.clone() } else { [&folder[..], b"/", &name].concat() };
                let is_folder = stamp.kind() == FileType::Directory;
                if is_folder && folders.contains(&full) {
                    if stamp.mode & 0o700 != 0o700 {
                        let mode = Permissions::from_raw_mode(0o755);
                        rustix::fs::chmodat(&open, OsStr::from_bytes(&name), mode, AtFlags::empty())
                            .map_err(|err| failed("opened")(err.into()))?;
                    }
                    todo.push(full);
                    continue;
                }
                let path = TreePath::new(full).map_err(|err| failed("read")(io::Error::other(err)))?;
                let stays = !is_folder
                    && wanted.get(&path).is_some_and(|entry| {
                        shown.get(&path).is_some_and(|seen| seen.stamp == stamp && seen.entry == *entry)
                    });
                if stays {
                    kept.insert(path);
                    continue;
                }
                trash.remove(&open, &name).map_err(failed("swept"))?;
                if !wanted.contains_key(&path) {
                    projection.removed.push(path);
                }
            }
        }
        trash.purge().map_err(failed("swept"))?;
        projection.removed.sort_unstable();
        Ok(kept)
    }

    fn make_folders(
        &self,
        beneath: &Beneath,
        folders: &HashSet<Vec<u8>>,
        missing: &[(&TreePath, &Entry)],
    ) -> Result<(), Error> {
        let mut needed: Vec<&[u8]> = Vec::new();
        for (path, entry) in missing {
            let own = if entry.mode == Mode::Gitlink { path.as_bytes() } else { split(path.as_bytes()).0 };
            needed.push(own);
        }
        needed.dedup();
        let mut made: HashSet<&[u8]> = HashSet::new();
        for folder in needed {
            // From the top down, each folder once.
            let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            for end in ends.chain([folder.len()]) {
                let part = &folder[..end];
                if part.is_empty() || !made.insert(part) {
                    continue;
                }
                debug_assert!(folders.contains(part));
                let (parent, name) = split(part);
                beneath.folder(parent).and_then(|open| make(&open, name)).map_err(|source| Error::Io {
                    what: "made",
                    path: self.path(part),
                    source,
                })?;
            }
        }
        Ok(())
    }

    fn write_all(&self, beneath: &Beneath, missing: &[(&TreePath, &Entry)]) -> Result<Vec<(TreePath, Seen)>, Error> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(8).min(missing.len() / 64 + 1);
        let out = Mutex::new(Vec::with_capacity(missing.len()));
        let work = |part: &[(&TreePath, &Entry)]| -> Result<(), Error> {
            let mut written = Vec::with_capacity(part.len());
            let mut open: Option<(&[u8], OwnedFd)> = None;
            for (path, entry) in part {
                let (folder, name) = split(path.as_bytes());
                let failed = |source| Error::Io { what: "written", path: self.path(path.as_bytes()), source };
                if open.as_ref().is_none_or(|(path, _)| *path != folder) {
                    open = Some((folder, beneath.folder(folder).map_err(failed)?));
                }
                let Some((_, fd)) = &open else { continue };
                let stamp = match entry.mode {
                    Mode::Gitlink => stamp_at(fd, name).map_err(failed)?,
                    _ => self.write(fd, name, entry.mode, &self.store.blob(entry.blob)?).map_err(failed)?,
                };
                written.push(((*path).clone(), Seen { stamp, entry: **entry, secret: false }));
            }
            out.lock().unwrap_or_else(PoisonError::into_inner).extend(written);
            Ok(())
        };
        thread::scope(|scope| {
            let size = missing.len().div_ceil(threads).max(1);
            let parts: Vec<_> = missing.chunks(size).collect();
            let others: Vec<_> = parts.iter().skip(1).map(|part| scope.spawn(|| work(part))).collect();
            let mut result = parts.first().map_or(Ok(()), |part| work(part));
            for other in others {
                let ended = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(ended);
            }
            result
        })?;
        let mut out = out.into_inner().unwrap_or_else(PoisonError::into_inner);
        out.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(out)
    }

    fn write(&self, folder: &OwnedFd, name: &[u8], mode: Mode, bytes: &[u8]) -> io::Result<Stamp> {
        let name = OsStr::from_bytes(name);
        let times = self.times();
        if mode == Mode::Symlink {
            symlinkat(OsStr::from_bytes(bytes), folder, name)?;
            utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            return stamp_at(folder, name.as_bytes());
        }
        let permissions = Permissions::from_raw_mode(if mode == Mode::Executable { 0o755 } else { 0o644 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, name, flags, permissions)?);
        file.write_all(bytes)?;
        futimens(&file, &times)?;
        let stamp = Stamp::of(&fstat(&file)?);
        if stamp.mode & 0o7777 == permissions.as_raw_mode() {
            return Ok(stamp);
        }
        // An unusual umask.
        fchmod(&file, permissions)?;
        Ok(Stamp::of(&fstat(&file)?))
    }

    /// Cargo also watches folders that build scripts name: one whose content changed is newer too. Failing to say so
    /// only costs what a build script would have seen by looking, so it is no error.
    fn date_folders(&self, beneath: &Beneath, projection: &Projection) {
        let changed = projection.written.iter().chain(&projection.removed);
        let folders: HashSet<&[u8]> = changed.map(|path| split(path.as_bytes()).0).collect();
        for folder in folders {
            if let Ok(open) = beneath.folder(folder) {
                let _ = futimens(&open, &self.times());
            }
        }
    }

    fn times(&self) -> Timestamps {
        let stamp =
            Timespec { tv_sec: self.stamp.div_euclid(1_000_000_000), tv_nsec: self.stamp.rem_euclid(1_000_000_000) };
        Timestamps { last_access: stamp, last_modification: stamp }
    }

    fn path(&self, path: &[u8]) -> std::path::PathBuf {
        self.shadow.join(OsStr::from_bytes(path))
    }
}

/// Every folder that the entries need, gitlinks included.
fn folders(wanted: &Entries) -> HashSet<Vec<u8>> {
    let mut folders = HashSet::new();
    for (path, entry) in wanted {
        let mut path = path.as_bytes();
        if entry.mode == Mode::Gitlink {
            folders.insert(path.to_vec());
        }
        while let Some(slash) = path.iter().rposition(|&byte| byte == b'/') {
            path = &path[..slash];
            if !folders.insert(path.to_vec()) {
                break;
            }
        }
    }
    folders
}

/// What lies at a path, as a tree would hold it; `None` where it is nothing that a tree can hold.
pub(super) fn content(beneath: &Beneath, path: &TreePath) -> Option<Content> {
    let open = beneath.folder(split(path.as_bytes()).0).ok()?;
    let name = OsStr::from_bytes(path.file_name());
    let stamp = stamp_at(&open, path.file_name()).ok()?;
    match stamp.kind() {
        FileType::Symlink => {
            let target = readlinkat(&open, name, Vec::new()).ok()?;
            Some((Mode::Symlink, BlobId::of(target.as_bytes())))
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut bytes = Vec::new();
            File::from(openat(&open, name, flags, Permissions::empty()).ok()?).read_to_end(&mut bytes).ok()?;
            let mode = if stamp.is_executable() { Mode::Executable } else { Mode::File };
            Some((mode, BlobId::of(&bytes)))
        }
        _ => None,
    }
}
