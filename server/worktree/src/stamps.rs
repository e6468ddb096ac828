//! What was seen of files, remembered: path, stamp, and the entry it was. A cache on disk, worthless when damaged.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use task::{Mode, TreePath};

use crate::beneath::Stamp;
use crate::store::adler32;
use crate::{BlobId, Entry, durable};

/// A file as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) stamp: Stamp,
    pub(crate) entry: Entry,
    /// Its content looks like a secret; only snapshots say so.
    pub(crate) secret: bool,
}

pub(crate) type SeenFiles = HashMap<TreePath, Seen>;

/// Grows when the format or the meaning of what is stored changes, or which files are taken for secrets, so that an older file is not understood.
const MAGIC: &[u8] = b"understudy stamps 2\n";

/// Reads what [`save`] wrote with the same note; `None` when it is not there, damaged or of another note.
pub(crate) fn load(path: &Path, note: &str) -> Option<SeenFiles> {
    read(path).filter(|(found, _)| found == note.as_bytes()).map(|(_, files)| files)
}

/// Reads what [`save`] wrote, whatever the note.
pub(crate) fn load_any(path: &Path) -> Option<SeenFiles> {
    read(path).map(|(_, files)| files)
}

fn read(path: &Path) -> Option<(Vec<u8>, SeenFiles)> {
    let bytes = fs::read(path).ok()?;
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if adler32(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let mut take = |length: usize| {
        let (head, tail) = rest.split_at_checked(length)?;
        rest = tail;
        Some(head)
    };
    let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
    let note = take(length as usize)?.to_vec();
    let count = u32::from_le_bytes(take(4)?.try_into().ok()?);
    let mut files = SeenFiles::with_capacity(count as usize);
    for _ in 0..count {
        let mut number = || Some(u64::from_le_bytes(take(8)?.try_into().ok()?));
        let (inode, size, mode, ctime, mtime) = (number()?, number()?, number()?, number()?, number()?);
        let kind = take(1)?[0];
        let blob = BlobId(git2::Oid::from_bytes(take(20)?).ok()?);
        let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
        let path = TreePath::new(take(length as usize)?).ok()?;
        let stamp = Stamp { inode, size, mode: mode as u32, ctime: ctime as i64, mtime: mtime as i64 };
        let mode = match kind & 3 {
            0 => Mode::File,
            1 => Mode::Executable,
            2 => Mode::Symlink,
            _ => Mode::Gitlink,
        };
        files.insert(path, Seen { stamp, entry: Entry { mode, blob }, secret: kind & 4 != 0 });
    }
    Some((note, files))
}

/// Replaces the file; the note says under which circumstances it may be believed.
pub(crate) fn save(path: &Path, note: &str, files: &SeenFiles) -> io::Result<()> {
    let mut out = Vec::with_capacity(64 + files.len() * 128);
    out.extend_from_slice(MAGIC);
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&length(note.len()));
    out.extend_from_slice(note.as_bytes());
    out.extend_from_slice(&length(files.len()));
    for (path, Seen { stamp, entry, secret }) in files {
        for number in [stamp.inode, stamp.size, u64::from(stamp.mode), stamp.ctime as u64, stamp.mtime as u64] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let kind = match entry.mode {
            Mode::File => 0,
            Mode::Executable => 1,
            Mode::Symlink => 2,
            Mode::Gitlink => 3,
        };
        out.push(kind | (u8::from(*secret) << 2));
        out.extend_from_slice(entry.blob.0.as_bytes());
        out.extend_from_slice(&length(path.as_bytes().len()));
        out.extend_from_slice(path.as_bytes());
    }
    let sum = adler32(&out).to_le_bytes();
    durable::write_cache(path, &[&out, &sum])
}
