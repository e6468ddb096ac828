//! Three-way: a diff made on one base, put onto text that moved.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use task::{Change, Mode, TreeId, TreePath};

use crate::compare::pairs;
use crate::{Entry, Error, Store, lines};

/// How a rebase ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    /// `current` plus the changes from base to tree. Equal to the tree when `current` is the base.
    Tree(TreeId),
    /// Both sides changed the same or adjacent lines, or one changed what the other deleted.
    Diverged { paths: Vec<TreePath> },
}

/// Puts the changes from `base` to `tree` onto `current`, file by file and line by line.
///
/// # Errors
/// When an object is missing or damaged.
pub fn rebase(store: &Store, base: &TreeId, tree: &TreeId, current: &TreeId) -> Result<Rebased, Error> {
    if base == current {
        return Ok(Rebased::Tree(tree.clone()));
    }
    let ours = store.entries(current)?;
    let mut changes: BTreeMap<TreePath, Option<Entry>> = BTreeMap::new();
    let mut diverged = BTreeSet::new();
    for pair in pairs(store, base, tree)? {
        let theirs = ours.get(&pair.old_path).copied();
        // A move whose file went elsewhere on the other side too, or whose target is taken, cannot be placed.
        if pair.change == Change::Moved {
            let target = ours.get(&pair.path).copied();
            if target.is_some() && target != pair.new {
                diverged.insert(pair.path.clone());
                continue;
            }
            if theirs.is_none() && target == pair.new {
                continue;
            }
        }
        match merge(store, pair.old, pair.new, theirs)? {
            Some(merged) => {
                if pair.change == Change::Moved {
                    changes.entry(pair.old_path.clone()).or_insert(None);
                }
                changes.insert(pair.path.clone(), merged);
            }
            None => {
                diverged.insert(pair.old_path.clone());
            }
        }
    }
    // Folders and files of one name: what one side added may lie in the way of what the other did.
    let mut result = (*ours).clone();
    for (path, change) in &changes {
        match change {
            Some(entry) => result.insert(path.clone(), *entry),
            None => result.remove(path),
        };
    }
    for path in result.keys() {
        let mut above = path.parent();
        while let Some(folder) = above {
            if result.contains_key(&folder) {
                diverged.insert(path.clone());
            }
            above = folder.parent();
        }
    }
    if !diverged.is_empty() {
        return Ok(Rebased::Diverged { paths: diverged.into_iter().collect() });
    }
    Ok(Rebased::Tree(store.edit_entries(current, &changes)?))
}

/// The entry that has both changes; `None` when they do not go together.
#[expect(clippy::option_option, reason = "the inner one is whether the file is there, the outer one whether it merges")]
fn merge(
    store: &Store,
    base: Option<Entry>,
    tree: Option<Entry>,
    current: Option<Entry>,
) -> Result<Option<Option<Entry>>, Error> {
    if current == base || current == tree {
        return Ok(Some(tree));
    }
    if tree == base {
        return Ok(Some(current));
    }
    let (Some(base), Some(tree), Some(current)) = (base, tree, current) else { return Ok(None) };
    let is_file = |entry: Entry| matches!(entry.mode, Mode::File | Mode::Executable);
    if ![base, tree, current].into_iter().all(is_file) {
        return Ok(None);
    }
    let mode = if tree.mode == base.mode { current.mode } else { tree.mode };
    let blob = if tree.blob == base.blob {
        current.blob
    } else if current.blob == base.blob || current.blob == tree.blob {
        tree.blob
    } else {
        let [base, tree, current] = [store.blob(base.blob)?, store.blob(tree.blob)?, store.blob(current.blob)?];
        if [&base, &tree, &current].into_iter().any(|bytes| lines::is_binary(bytes)) {
            return Ok(None);
        }
        match merge_text(&base, &tree, &current)? {
            Some(text) => store.put(&text)?,
            None => return Ok(None),
        }
    };
    Ok(Some(Some(Entry { mode, blob })))
}

/// Lines of the base and what stands there instead.
type Changed = (Range<usize>, Vec<u8>);

/// Both changes of a text; `None` where they touch the same or adjacent lines and are not the same change.
fn merge_text(base: &[u8], tree: &[u8], current: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let changes = |side: &[u8]| -> Result<Vec<Changed>, Error> {
        let new = lines::split(side);
        Ok(lines::runs(base, side)?.into_iter().map(|run| (run.old, new[run.new].concat())).collect())
    };
    let (ours, theirs) = (changes(tree)?, changes(current)?);
    let mut all: Vec<&Changed> = ours.iter().chain(&theirs).collect();
    all.sort_by(|a, b| (a.0.start, a.0.end, &a.1).cmp(&(b.0.start, b.0.end, &b.1)));
    all.dedup();
    if all.windows(2).any(|pair| pair[0].0.end >= pair[1].0.start) {
        return Ok(None);
    }
    let lines = lines::split(base);
    Ok(Some(lines::replace(&lines, all.into_iter().map(|(range, bytes)| (range.clone(), &bytes[..])))))
}
