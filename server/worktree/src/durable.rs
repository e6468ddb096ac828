//! Writing files of our own so that they are there after a crash, whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes the parts to a temporary file beside `path`, syncs it and renames it over `path`.
pub(crate) fn write_file(path: &Path, parts: &[&[u8]], mode: u32) -> io::Result<()> {
    write(path, parts, mode, true)
}

/// The same without syncing, for what can be made again: whole or not at all unless the machine fails.
pub(crate) fn write_cache(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    write(path, parts, 0o600, false)
}

fn write(path: &Path, parts: &[&[u8]], mode: u32, sync: bool) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{unique}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let result = (|| {
        let file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode | 0o200).open(&temporary)?;
        let mut writer = io::BufWriter::with_capacity(1 << 18, &file);
        for part in parts {
            writer.write_all(part)?;
        }
        writer.flush()?;
        drop(writer);
        if sync {
            file.sync_all()?;
        }
        fs::rename(&temporary, path)
    })();
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Makes the names in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}
