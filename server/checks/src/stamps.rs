//! Whether what was built is still what was built.
//!
//! Tests can write to the build folder (some run cargo there themselves), so one program could put another in the place
//! of its neighbour. Times of change cannot be set back from inside.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use task::Verdict;

use crate::commands::Ending;
use crate::message::Artifact;

/// Device, inode, size, and time of change in seconds and nanoseconds.
type Stamp = (u64, u64, u64, i64, i64);

/// The files that a build left, as they were when it ended.
pub(crate) struct Stamps(BTreeMap<String, Option<Stamp>>);

impl Stamps {
    pub(crate) fn of<'a>(artifacts: impl Iterator<Item = &'a Artifact>) -> Self {
        let files = artifacts.flat_map(|artifact| artifact.filenames.iter().chain(&artifact.executable));
        Self(files.map(|file| (file.clone(), stamp(file))).collect())
    }

    /// Says which file is another one by now, before it is used.
    pub(crate) fn verify(&self) -> Result<(), Ending> {
        match self.0.iter().find(|(file, then)| stamp(file) != **then) {
            Some((file, _)) => {
                let name = task::printable(file.rsplit('/').next().unwrap_or(file));
                Err(Ending::new(
                    Verdict::Failed,
                    format!("a test changed `{name}`, which was built before the tests ran"),
                ))
            }
            None => Ok(()),
        }
    }
}

/// Looks at a file without opening it or following a link in its place.
fn stamp(file: &str) -> Option<Stamp> {
    let metadata = std::fs::symlink_metadata(file).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec()))
}
