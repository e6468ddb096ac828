//! What git tracks: the developer's index, read and never written.

use std::collections::{HashMap, HashSet};

use git2::{Oid, Repository};

/// One tracked file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) mode: u32,
    pub(super) id: Oid,
    /// A sparse checkout left the file out on purpose.
    pub(super) skipped: bool,
}

/// Tracked paths and the folders above them.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    pub(super) files: HashMap<Vec<u8>, Row>,
    pub(super) folders: HashSet<Vec<u8>>,
    pub(super) gitlinks: HashMap<Vec<u8>, Oid>,
}

const SKIP_WORKTREE: u16 = 1 << 14;

impl Tracked {
    pub(super) fn read(repository: &Repository) -> Result<Self, git2::Error> {
        let index = repository.index()?;
        let mut tracked = Self::default();
        for entry in index.iter() {
            // A file in conflict has several stages; what counts is what lies on disk.
            if entry.mode & 0o170_000 == 0o160_000 {
                tracked.gitlinks.insert(entry.path.clone(), entry.id);
            } else {
                let skipped = entry.flags_extended & SKIP_WORKTREE != 0;
                tracked.files.insert(entry.path.clone(), Row { mode: entry.mode, id: entry.id, skipped });
            }
            let mut path = &entry.path[..];
            while let Some(slash) = path.iter().rposition(|&byte| byte == b'/') {
                path = &path[..slash];
                if !tracked.folders.insert(path.to_vec()) {
                    break;
                }
            }
        }
        Ok(tracked)
    }
}
