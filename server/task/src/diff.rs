//! Diffs: everything from a base to a tree, cut into hunks that can be kept or rejected one by one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, HunkId, Risk, TreeId, TreePath};

/// Everything from base to tree. Names both, so that a diff can never be read against something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    pub base: TreeId,
    pub tree: TreeId,
    /// Sorted by path.
    pub files: Vec<FileDiff>,
}

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub change: Change,
    /// Where the file is in base; differs from `path` only for a move.
    pub old_path: TreePath,
    pub path: TreePath,
    pub old_mode: Option<Mode>,
    pub new_mode: Option<Mode>,
    /// In the order in which they stand in the file, a move or mode hunk first.
    pub hunks: Vec<Hunk>,
    pub risks: Vec<Risk>,
}

/// The smallest thing that is kept or rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub id: HunkId,
    pub kind: HunkKind,
    /// Lines of the base file that go away; counted from 0. Empty for hunks that are not text.
    pub base: Lines,
    /// Lines of the new file that come instead.
    pub new: Lines,
    pub old_bytes: Vec<u8>,
    pub new_bytes: Vec<u8>,
    pub author: Author,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lines {
    pub start: u32,
    pub count: u32,
}

/// `Text` is a maximal run of changed lines without context; every other kind is one hunk for the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HunkKind {
    Text,
    Create,
    Delete,
    Move,
    Mode,
    Symlink,
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Created,
    Deleted,
    Modified,
    Moved,
}

/// What kind of entry a path is in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    File,
    Executable,
    Symlink,
    /// A submodule; carried, never edited.
    Gitlink,
}

impl Mode {
    pub fn as_git(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Executable => 0o100_755,
            Self::Symlink => 0o120_000,
            Self::Gitlink => 0o160_000,
        }
    }
}

/// Who wrote a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    User,
    Model,
    Compiler,
    External,
}

impl FileDiff {
    /// The id of a hunk of this file. Two hunks have the same id exactly when they are the same change of the same
    /// base text, so a verdict survives a re-diff exactly when its id does.
    pub fn hunk_id(&self, kind: HunkKind, base_blob: &str, base: Lines, new_bytes: &[u8]) -> HunkId {
        let mode = |mode: Option<Mode>| mode.map_or(0, Mode::as_git).to_le_bytes();
        let range = [base.start.to_le_bytes(), base.count.to_le_bytes()].concat();
        HunkId::from_digest(&Digest::of([
            &[kind as u8][..],
            self.old_path.as_bytes(),
            self.path.as_bytes(),
            base_blob.as_bytes(),
            &range,
            &mode(self.old_mode),
            &mode(self.new_mode),
            new_bytes,
        ]))
    }

    pub fn insertions(&self) -> u64 {
        self.hunks.iter().map(|hunk| u64::from(hunk.new.count)).sum()
    }

    pub fn deletions(&self) -> u64 {
        self.hunks.iter().map(|hunk| u64::from(hunk.base.count)).sum()
    }
}

impl Diff {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn hunks(&self) -> impl Iterator<Item = (&FileDiff, &Hunk)> {
        self.files.iter().flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
    }
}
