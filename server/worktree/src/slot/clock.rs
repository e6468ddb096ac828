//! The mtimes of a shadow. Cargo rebuilds what is newer than its last build, so a file that changes must be newer,
//! whatever the clock says; and a file that does not change must keep its time, or nothing stays warm.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::durable;

/// The latest mtime that this slot has given or seen, in nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    latest: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Usual,
    /// Something is dated so far ahead that a later date would not help.
    Future,
}

/// Two stamps differ by this much, in nanoseconds.
const STEP: i64 = 2_000_000;
const DAY: i64 = 86_400_000_000_000;
/// File times of the kernel lag behind the clock by up to a tick; a stamp must not be later than a build that follows.
const LAG: i64 = 20_000_000;

impl Clock {
    pub(super) fn load(slot: &Path) -> Self {
        let text = fs::read_to_string(slot.join("latest")).unwrap_or_default();
        Self { latest: text.trim_end().parse().unwrap_or_default() }
    }

    pub(super) fn save(&self, slot: &Path) -> io::Result<()> {
        durable::write_cache(&slot.join("latest"), &[self.latest.to_string().as_bytes()])
    }

    /// Takes the times of a build folder into account.
    pub(super) fn see(&mut self, build: &Path) -> Seen {
        let newest = newest(build);
        if newest > now().saturating_add(DAY) {
            return Seen::Future;
        }
        self.latest = self.latest.max(newest);
        Seen::Usual
    }

    /// A time later than every one given or seen so far.
    pub(super) fn next(&mut self) -> i64 {
        if self.latest > now().saturating_add(DAY) {
            // The clock was set back by more than a day. Build folders as far ahead were emptied, so only files that
            // keep an older stamp could be taken for newer, and that costs a rebuild at most.
            self.latest = 0;
        }
        self.latest = (self.latest + STEP).max(now() - LAG);
        self.latest
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// How deep below a build folder cargo's `.fingerprint` folders lie: target directory, triple, profile.
const DEEPEST: usize = 4;

/// The newest mtime among cargo's fingerprints in a build folder, zero where there is none. Links are not followed.
fn newest(build: &Path) -> i64 {
    let mut newest = 0;
    let mut folders = vec![(build.to_owned(), 0, false)];
    while let Some((folder, depth, fingerprint)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if fingerprint && let Ok(data) = entry.metadata() {
                use std::os::unix::fs::MetadataExt as _;
                let nanos = data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec());
                newest = newest.max(nanos);
            }
            let inside = fingerprint || name == ".fingerprint";
            let big = ["deps", "build", "incremental", "examples"].iter().any(|big| name == *big);
            if kind.is_dir() && (inside || (!big && depth < DEEPEST)) && depth < DEEPEST + 3 {
                folders.push((entry.path(), depth + 1, inside));
            }
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stamp_is_later_than_the_one_before_and_than_every_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let prints = folder.path().join("default/debug/.fingerprint/demo-1");
        fs::create_dir_all(&prints).unwrap();
        let file = fs::File::create(prints.join("dep-lib")).unwrap();
        let ahead = SystemTime::now() + std::time::Duration::from_secs(3600);
        file.set_modified(ahead).unwrap();
        let mut clock = Clock::default();
        let first = clock.next();
        assert_eq!(clock.see(folder.path()), Seen::Usual);
        let second = clock.next();
        let ahead = i64::try_from(ahead.duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
        assert!(first < ahead && second > ahead && clock.next() > second);
    }

    #[test]
    fn a_build_folder_from_another_year_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let prints = folder.path().join("debug/.fingerprint/demo-1");
        fs::create_dir_all(&prints).unwrap();
        let file = fs::File::create(prints.join("dep-lib")).unwrap();
        file.set_modified(SystemTime::now() + std::time::Duration::from_secs(400 * 86_400)).unwrap();
        assert_eq!(Clock::default().see(folder.path()), Seen::Future);
    }
}
