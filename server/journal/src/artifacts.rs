//! Bytes kept under their own digest: `artifacts/ab/<digest>`, written aside, synced and renamed into place.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use task::Digest;

use crate::files::{private_folder, sync_folder};
use crate::problem::Problem;

/// Numbers the temporary files of this process.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(crate) struct Artifacts {
    folder: PathBuf,
}

impl Artifacts {
    pub(crate) fn open(state: &Path) -> Result<Self, Problem> {
        let folder = state.join("artifacts");
        private_folder(&folder)?;
        Ok(Self { folder })
    }

    pub(crate) fn digest(bytes: &[u8]) -> Digest {
        Digest::of([bytes])
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(&digest.as_str()[..2]).join(digest.as_str())
    }

    /// Keeps bytes. Where a file with that name holds other bytes, because a disk failed it, it is replaced.
    pub(crate) fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), Problem> {
        let path = self.path(digest);
        let folder = path.parent().unwrap_or(&self.folder);
        private_folder(folder)?;
        if !fs::read(&path).is_ok_and(|found| found == bytes) {
            let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
            let temporary = folder.join(format!("{}{number}", own_prefix()));
            let write = || {
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
                file.write_all(bytes)?;
                file.sync_all()?;
                fs::rename(&temporary, &path)
            };
            write().map_err(|source| {
                // What is left of a failed write is in the way on a full disk; the error that counts is the first.
                drop(fs::remove_file(&temporary));
                Problem::files(&path, source)
            })?;
        }
        sync_folder(folder).map_err(|source| Problem::files(folder, source))
    }

    pub(crate) fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Problem> {
        let path = self.path(digest);
        match fs::read(&path) {
            Ok(bytes) if Self::digest(&bytes) == *digest => Ok(Some(bytes)),
            Ok(_) => Err(Problem::ArtifactDamaged(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Problem::files(&path, source)),
        }
    }

    /// Removes every file that is not kept. Only for a caller that has the journal to itself: temporary files of other
    /// processes are taken for leftovers.
    pub(crate) fn retain(&self, kept: &BTreeSet<String>) -> Result<(), Problem> {
        let own = own_prefix();
        for folder in entries(&self.folder)? {
            for path in entries(&folder)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if !kept.contains(name.as_ref()) && !name.starts_with(&own) {
                    fs::remove_file(&path).map_err(|source| Problem::files(&path, source))?;
                }
            }
        }
        Ok(())
    }
}

fn own_prefix() -> String {
    format!(".new-{}-", std::process::id())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let list = || fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    list().map_err(|source| Problem::files(folder, source))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn bytes_come_back_and_only_their_owner_reads_them() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(state.path()).unwrap();
        let digest = Artifacts::digest(b"output");
        assert_eq!(artifacts.get(&digest).unwrap(), None);
        artifacts.put(&digest, b"output").unwrap();
        artifacts.put(&digest, b"output").unwrap();
        assert_eq!(artifacts.get(&digest).unwrap().as_deref(), Some(&b"output"[..]));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&artifacts.path(&digest)), 0o600);
        assert_eq!(mode(artifacts.path(&digest).parent().unwrap()), 0o700);
    }

    #[test]
    fn changed_bytes_are_an_error_and_keeping_them_again_mends_it() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(state.path()).unwrap();
        let digest = Artifacts::digest(b"output");
        artifacts.put(&digest, b"output").unwrap();
        fs::write(artifacts.path(&digest), b"outpux").unwrap();
        assert!(matches!(artifacts.get(&digest), Err(Problem::ArtifactDamaged(_))));
        artifacts.put(&digest, b"output").unwrap();
        assert_eq!(artifacts.get(&digest).unwrap().as_deref(), Some(&b"output"[..]));
    }

    #[test]
    fn leftovers_of_a_killed_process_go_with_what_is_not_kept() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(state.path()).unwrap();
        let (kept, gone) = (Artifacts::digest(b"kept"), Artifacts::digest(b"gone"));
        artifacts.put(&kept, b"kept").unwrap();
        artifacts.put(&gone, b"gone").unwrap();
        fs::write(artifacts.path(&kept).with_file_name(".new-0-0"), b"half").unwrap();
        artifacts.retain(&BTreeSet::from([kept.to_string()])).unwrap();
        assert!(artifacts.get(&kept).unwrap().is_some());
        assert!(artifacts.get(&gone).unwrap().is_none());
        assert_eq!(entries(artifacts.path(&kept).parent().unwrap()).unwrap().len(), 1);
    }
}
