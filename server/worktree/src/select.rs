//! Selecting: base plus the kept hunks, exactly.

use std::collections::{BTreeMap, BTreeSet};

use task::{Change, Diff, FileDiff, Hunk, HunkId, HunkKind, Mode, TreeId, TreePath};

use crate::{Entries, Entry, Error, Store, lines};

/// Why a selection names no tree.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("hunk {0} is not part of the diff")]
    Unknown(HunkId),
    #[error("{path}: this selection needs hunk {needs} too, because {why}")]
    Needs { path: TreePath, needs: HunkId, why: &'static str },
    #[error(transparent)]
    Store(#[from] Error),
}

/// The tree of base plus the kept hunks and nothing else. Keeping every hunk gives the tree, keeping none the base.
///
/// # Errors
/// When a hunk is unknown or the kept hunks cannot stand without another one.
pub fn select(store: &Store, diff: &Diff, kept: &BTreeSet<HunkId>) -> Result<TreeId, SelectError> {
    let known: BTreeSet<&HunkId> = diff.hunks().map(|(_, hunk)| &hunk.id).collect();
    if let Some(unknown) = kept.iter().find(|id| !known.contains(id)) {
        return Err(SelectError::Unknown(unknown.clone()));
    }
    let base = store.entries(&diff.base)?;
    let mut changes: BTreeMap<TreePath, Option<Entry>> = BTreeMap::new();
    for file in &diff.files {
        let hunks: Vec<&Hunk> = file.hunks.iter().filter(|hunk| kept.contains(&hunk.id)).collect();
        if hunks.is_empty() {
            continue;
        }
        let old = base.get(&file.old_path).copied();
        let new = selected(store, diff, file, old, &hunks)?;
        let moved = hunks.iter().any(|hunk| hunk.kind == HunkKind::Move);
        if moved {
            // Unless something else comes to lie where the file was.
            changes.entry(file.old_path.clone()).or_insert(None);
        }
        let path = if moved || file.change != Change::Moved { &file.path } else { &file.old_path };
        changes.insert(path.clone(), new);
    }
    stands(diff, &base, &changes)?;
    Ok(store.edit_entries(&diff.base, &changes)?)
}

/// What a file becomes with these of its hunks.
fn selected(
    store: &Store,
    diff: &Diff,
    file: &FileDiff,
    old: Option<Entry>,
    hunks: &[&Hunk],
) -> Result<Option<Entry>, SelectError> {
    let has = |kind| hunks.iter().any(|hunk| hunk.kind == kind);
    if has(HunkKind::Delete) {
        return Ok(None);
    }
    let tree = || store.entry(&diff.tree, &file.path);
    let Some(old) = old else { return Ok(tree()?) };
    if has(HunkKind::Symlink) || (has(HunkKind::Binary) && !is_file(old)) {
        return Ok(tree()?);
    }
    let mut entry = old;
    if has(HunkKind::Mode)
        && let Some(mode) = file.new_mode
    {
        entry.mode = mode;
    }
    if has(HunkKind::Binary) {
        if let Some(new) = tree()? {
            entry.blob = new.blob;
        }
        // A gitlink in place of a file is one hunk with its mode.
        if let Some(mode @ (Mode::Gitlink | Mode::Symlink)) = file.new_mode {
            entry.mode = mode;
        }
    } else if has(HunkKind::Text) {
        let bytes = store.blob(old.blob)?;
        let old_lines = lines::split(&bytes);
        let runs = hunks.iter().filter(|hunk| hunk.kind == HunkKind::Text).map(|hunk| {
            let start = hunk.base.start as usize;
            (start..start + hunk.base.count as usize, &hunk.new_bytes[..])
        });
        entry.blob = store.put(&lines::replace(&old_lines, runs))?;
    }
    Ok(Some(entry))
}

fn is_file(entry: Entry) -> bool {
    matches!(entry.mode, Mode::File | Mode::Executable)
}

/// A path cannot be a file and a folder at once: what is put somewhere may need the hunk that makes room for it.
fn stands(diff: &Diff, base: &Entries, changes: &BTreeMap<TreePath, Option<Entry>>) -> Result<(), SelectError> {
    let stays = |path: &TreePath| match changes.get(path) {
        Some(change) => change.is_some(),
        None => base.contains_key(path),
    };
    for (path, _) in changes.iter().filter(|(path, change)| change.is_some() && !base.contains_key(*path)) {
        let mut above = path.parent();
        let mut blocking = None;
        while let Some(folder) = above {
            if stays(&folder) {
                blocking = Some(folder.clone());
            }
            above = folder.parent();
        }
        let inside = || base.range(path.clone()..).skip_while(|(other, _)| *other == path).map(|(other, _)| other);
        // What sorts between `a` and `a/` (such as `a-b`) is not inside.
        let start = [path.as_bytes(), b"/"].concat();
        let blocked = blocking.or_else(|| {
            inside()
                .take_while(|other| other.as_bytes() <= &[path.as_bytes(), b"0"].concat()[..])
                .find(|other| other.as_bytes().starts_with(&start) && stays(other))
                .cloned()
        });
        let Some(blocked) = blocked else { continue };
        let makes_room = |hunk: &&Hunk| matches!(hunk.kind, HunkKind::Delete | HunkKind::Move);
        let file = diff.files.iter().find(|file| file.old_path == blocked || file.path == blocked);
        if let Some(hunk) = file.and_then(|file| file.hunks.iter().find(makes_room)) {
            let why = "a file and a folder cannot have the same name";
            return Err(SelectError::Needs { path: path.clone(), needs: hunk.id.clone(), why });
        }
    }
    Ok(())
}
