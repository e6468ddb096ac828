//! Comparing: base and tree become a diff of hunks that can be kept or rejected one by one.

mod hunks;
mod moves;

use std::collections::BTreeMap;

use task::{Author, Change, Diff, HunkId, Mode, PublishedFile, TreeId, TreePath};

use crate::{Entry, Error, Store};
use moves::Move;

/// Who wrote what: by hunk, else by path of the new file, else the default.
#[derive(Debug, Clone)]
pub struct Authors {
    pub default: Author,
    pub paths: BTreeMap<TreePath, Author>,
    pub hunks: BTreeMap<HunkId, Author>,
}

impl Authors {
    pub fn all(author: Author) -> Self {
        Self { default: author, paths: BTreeMap::new(), hunks: BTreeMap::new() }
    }

    fn of(&self, path: &TreePath, hunk: &HunkId) -> Author {
        self.hunks.get(hunk).or_else(|| self.paths.get(path)).copied().unwrap_or(self.default)
    }
}

/// One path with what it was and what it is; for a move, both paths.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) change: Change,
    pub(crate) old_path: TreePath,
    pub(crate) path: TreePath,
    pub(crate) old: Option<Entry>,
    pub(crate) new: Option<Entry>,
}

/// Everything from base to tree, moves found by equal or similar content.
///
/// # Errors
/// When an object is missing or damaged.
pub fn compare(store: &Store, base: &TreeId, tree: &TreeId, authors: &Authors) -> Result<Diff, Error> {
    let pairs = pairs(store, base, tree)?;
    let files = pairs.iter().map(|pair| hunks::file_diff(store, pair, authors)).collect::<Result<_, _>>()?;
    Ok(Diff { base: base.clone(), tree: tree.clone(), files })
}

/// What differs between two trees, sorted by path.
pub(crate) fn pairs(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Vec<Pair>, Error> {
    let mut pairs = Vec::new();
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for (path, old, new) in differing(store, base, tree)? {
        match (old, new) {
            (Some(old), None) => gone.push((path, old)),
            (None, Some(new)) => come.push((path, new)),
            (old, new) => {
                let change = Change::Modified;
                pairs.push(Pair { change, old_path: path.clone(), path, old, new });
            }
        }
    }
    for Move { from, to } in moves::find(store, &mut gone, &mut come)? {
        let change = Change::Moved;
        pairs.push(Pair { change, old_path: from.0, path: to.0, old: Some(from.1), new: Some(to.1) });
    }
    for (path, old) in gone {
        pairs.push(Pair { change: Change::Deleted, old_path: path.clone(), path, old: Some(old), new: None });
    }
    for (path, new) in come {
        pairs.push(Pair { change: Change::Created, old_path: path.clone(), path, old: None, new: Some(new) });
    }
    pairs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pairs)
}

type Differing = Vec<(TreePath, Option<Entry>, Option<Entry>)>;

fn differing(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Differing, Error> {
    let (base, tree) = (store.entries(base)?, store.entries(tree)?);
    let old = base.iter().filter(|(path, entry)| tree.get(*path) != Some(*entry));
    let mut all: Differing = old.map(|(path, entry)| (path.clone(), Some(*entry), tree.get(path).copied())).collect();
    let new = tree.iter().filter(|(path, _)| !base.contains_key(*path));
    all.extend(new.map(|(path, entry)| (path.clone(), None, Some(*entry))));
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// What a publication of `tree` over `base` has to write, sorted by path; gitlinks never change by publication.
///
/// # Errors
/// When an object is missing or damaged.
pub fn published_files(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Vec<PublishedFile>, Error> {
    let side = |entry: Option<Entry>| {
        entry.filter(|entry| entry.mode != Mode::Gitlink).map(|entry| (entry.blob.to_string(), entry.mode))
    };
    let files = differing(store, base, tree)?.into_iter().map(|(path, old, new)| {
        let (before, after) = (side(old), side(new));
        PublishedFile { path, before, after }
    });
    Ok(files.filter(|file| file.before != file.after).collect())
}
