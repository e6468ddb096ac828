//! Reading the files that a walk found, several at a time, into the store.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::fs::{FileType, Mode as Permissions, OFlags, fstat, readlinkat};
use task::{Mode, TreePath};

use super::secret::{Allowed, Suspicion, has_secret, suspicion};
use super::walk::Found;
use crate::beneath::{Beneath, Stamp};
use crate::stamps::{Seen, SeenFiles};
use crate::{BlobId, Entry, Error, Store};

/// What became of a file.
#[derive(Debug, Clone)]
pub(super) enum Taken {
    /// As the snapshot before saw it; it was not read again.
    Known(Seen),
    Entry(Seen),
    Withheld(Option<Seen>),
    Gone,
    LeftOut(String),
}

/// A larger file is left out: the formats in between count in 32 bits, and nobody reviews it.
const LARGEST: u64 = 1 << 30;
/// How often a file is read that changes meanwhile.
const TRIES: usize = 5;
/// More threads only queue at the disk.
const MOST_THREADS: usize = 8;

pub(super) struct Reader<'a> {
    pub(super) beneath: &'a Beneath,
    pub(super) store: &'a Store,
    pub(super) allowed: &'a Allowed,
    /// What the snapshot before saw, as far as it can be believed.
    pub(super) before: &'a SeenFiles,
    /// Whether the executable bit on disk means something.
    pub(super) modes: bool,
    pub(super) interrupt: &'a super::Interrupt,
}

impl Reader<'_> {
    /// Reads every file; the answers stand in the order of the files.
    pub(super) fn read_all(&self, files: &[Found]) -> Result<Vec<Taken>, Error> {
        let threads =
            thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(files.len() / 64 + 1);
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results = Mutex::new(vec![Taken::Gone; files.len()]);
        let work = || -> Result<(), Error> {
            let mut buffer = Vec::new();
            loop {
                // Taken in runs, so that the lock around the results is cold.
                let start = next.fetch_add(32, Ordering::Relaxed);
                if start >= files.len() || failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if self.interrupt.is_wanted() {
                    failed.store(true, Ordering::Relaxed);
                    return Err(Error::Interrupted);
                }
                let end = files.len().min(start + 32);
                let mut run = Vec::with_capacity(end - start);
                for found in &files[start..end] {
                    run.push(self.take(found, &mut buffer).inspect_err(|_| failed.store(true, Ordering::Relaxed))?);
                }
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                for (slot, taken) in results[start..end].iter_mut().zip(run) {
                    *slot = taken;
                }
            }
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut result = work();
            for other in others {
                let ended = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(ended);
            }
            result
        })?;
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn take(&self, found: &Found, buffer: &mut Vec<u8>) -> Result<Taken, Error> {
        let suspicion = if self.allowed.admits(&found.path) { Suspicion::None } else { suspicion(&found.path) };
        if suspicion == Suspicion::Secret {
            return Ok(Taken::Withheld(None));
        }
        if let Some(seen) = self.before.get(&found.path)
            && seen.stamp == found.stamp
        {
            if seen.secret && suspicion == Suspicion::Content {
                return Ok(Taken::Withheld(Some(*seen)));
            }
            if !seen.secret && self.store.has(seen.entry.blob) {
                return Ok(Taken::Known(*seen));
            }
        }
        for _ in 0..TRIES {
            match self.read(&found.path, buffer) {
                Ok(Read::Whole(stamp)) => return self.keep(found, suspicion, stamp, buffer),
                Ok(Read::Changed) => {}
                Ok(Read::Strange(what)) => return Ok(Taken::LeftOut(what.to_owned())),
                Err(err) if is_gone(&err) => return Ok(Taken::Gone),
                Err(err) => return Ok(Taken::LeftOut(format!("cannot be read: {err}"))),
            }
        }
        Err(Error::Unstable(found.path.clone()))
    }

    fn keep(&self, found: &Found, suspicion: Suspicion, stamp: Stamp, bytes: &[u8]) -> Result<Taken, Error> {
        let mode = match stamp.kind() {
            FileType::Symlink => Mode::Symlink,
            _ if self.modes && stamp.is_executable() => Mode::Executable,
            _ => Mode::File,
        };
        let secret = suspicion == Suspicion::Content && mode != Mode::Symlink && has_secret(&found.path, bytes);
        let seen = Seen { stamp, entry: Entry { mode, blob: BlobId::of(bytes) }, secret };
        if secret {
            return Ok(Taken::Withheld(Some(seen)));
        }
        self.store.stream(seen.entry.blob, bytes)?;
        Ok(Taken::Entry(seen))
    }

    /// Reads a file or the target of a link, and says whether it stayed the same meanwhile.
    fn read(&self, path: &TreePath, buffer: &mut Vec<u8>) -> io::Result<Read> {
        buffer.clear();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match self.beneath.at(path.as_bytes(), flags, Permissions::empty()) {
            Err(err) if err.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                let link = self.beneath.at(path.as_bytes(), OFlags::PATH | OFlags::NOFOLLOW, Permissions::empty())?;
                let before = Stamp::of(&fstat(&link)?);
                if before.kind() != FileType::Symlink {
                    return Ok(Read::Changed);
                }
                buffer.extend_from_slice(readlinkat(&link, "", Vec::new())?.as_bytes());
                return Ok(Read::Whole(before));
            }
            result => result?,
        };
        let before = Stamp::of(&fstat(&file)?);
        if before.kind() != FileType::RegularFile {
            return Ok(Read::Strange("is no regular file any more"));
        }
        if before.size > LARGEST {
            return Ok(Read::Strange("is larger than 1 GiB"));
        }
        buffer.reserve(usize::try_from(before.size).unwrap_or_default() + 1);
        let mut file = File::from(file);
        (&mut file).take(LARGEST + 1).read_to_end(buffer)?;
        let after = Stamp::of(&fstat(&file)?);
        Ok(if after == before && buffer.len() as u64 == before.size { Read::Whole(before) } else { Read::Changed })
    }
}

enum Read {
    Whole(Stamp),
    Changed,
    Strange(&'static str),
}

fn is_gone(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
