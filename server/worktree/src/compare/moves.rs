//! Moves: a file that is gone and one that came, with equal or similar content.

use std::collections::{BTreeMap, HashMap, hash_map::DefaultHasher};
use std::hash::{Hash as _, Hasher as _};

use task::{Mode, TreePath};

use crate::{BlobId, Entry, Error, Store, lines};

type File = (TreePath, Entry);

#[derive(Debug)]
pub(super) struct Move {
    pub(super) from: File,
    pub(super) to: File,
}

/// Share of the larger file, in percent, that both must have in common.
const SIMILAR: usize = 60;
/// More pairs than this are not compared by content; equal files are still found.
const MOST_PAIRS: usize = 40_000;
/// Larger files are only moved when equal.
const LARGEST: usize = 1 << 20;

/// Takes the moves out of what is gone and what came. The same files always give the same moves.
pub(super) fn find(store: &Store, gone: &mut Vec<File>, come: &mut Vec<File>) -> Result<Vec<Move>, Error> {
    let mut moves = equal(gone, come);
    moves.extend(similar(store, gone, come)?);
    Ok(moves)
}

fn equal(gone: &mut Vec<File>, come: &mut Vec<File>) -> Vec<Move> {
    let empty = BlobId::of(b"");
    let mut by_blob: HashMap<(BlobId, bool), Vec<TreePath>> = HashMap::new();
    for (path, entry) in gone.iter().filter(|(_, entry)| entry.mode != Mode::Gitlink && entry.blob != empty) {
        by_blob.entry((entry.blob, entry.mode == Mode::Symlink)).or_default().push(path.clone());
    }
    let mut found = Vec::new();
    for (path, entry) in come.iter() {
        let Some(sources) = by_blob.get_mut(&(entry.blob, entry.mode == Mode::Symlink)) else { continue };
        // Of several sources, one with the same name.
        let at = sources.iter().position(|source| source.file_name() == path.file_name()).unwrap_or(0);
        if at < sources.len() {
            found.push((sources.remove(at), path.clone()));
        }
    }
    take(gone, come, found)
}

fn similar(store: &Store, gone: &mut Vec<File>, come: &mut Vec<File>) -> Result<Vec<Move>, Error> {
    if gone.is_empty() || come.is_empty() || gone.len() * come.len() > MOST_PAIRS {
        return Ok(Vec::new());
    }
    let sketch = |file: &File| Sketch::of(store, file.1);
    let old = gone.iter().map(sketch).collect::<Result<Vec<_>, _>>()?;
    let new = come.iter().map(sketch).collect::<Result<Vec<_>, _>>()?;
    let mut scores = Vec::new();
    for (from, old) in old.iter().enumerate() {
        for (to, new) in new.iter().enumerate() {
            if let (Some(old), Some(new)) = (old, new)
                && let Some(score) = old.score(new)
            {
                let renamed = gone[from].0.file_name() != come[to].0.file_name();
                scores.push((std::cmp::Reverse(score), renamed, from, to));
            }
        }
    }
    scores.sort_unstable();
    let (mut used_from, mut used_to) = (vec![false; gone.len()], vec![false; come.len()]);
    let mut found = Vec::new();
    for (_, _, from, to) in scores {
        if !used_from[from] && !used_to[to] {
            used_from[from] = true;
            used_to[to] = true;
            found.push((gone[from].0.clone(), come[to].0.clone()));
        }
    }
    Ok(take(gone, come, found))
}

fn take(gone: &mut Vec<File>, come: &mut Vec<File>, found: Vec<(TreePath, TreePath)>) -> Vec<Move> {
    let pick = |files: &mut Vec<File>, path: &TreePath| {
        files.iter().position(|(other, _)| other == path).map(|at| files.remove(at))
    };
    found.iter().filter_map(|(from, to)| Some(Move { from: pick(gone, from)?, to: pick(come, to)? })).collect()
}

/// How many bytes of which lines a file has.
struct Sketch {
    size: usize,
    lines: BTreeMap<u64, usize>,
}

impl Sketch {
    /// `None` for what is not compared: links, submodules, binary, empty and very large files.
    fn of(store: &Store, entry: Entry) -> Result<Option<Self>, Error> {
        if !matches!(entry.mode, Mode::File | Mode::Executable) {
            return Ok(None);
        }
        let bytes = store.blob(entry.blob)?;
        if bytes.is_empty() || bytes.len() > LARGEST || lines::is_binary(&bytes) {
            return Ok(None);
        }
        let mut counted = BTreeMap::new();
        for line in lines::split(&bytes) {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            *counted.entry(hasher.finish()).or_default() += line.len();
        }
        Ok(Some(Self { size: bytes.len(), lines: counted }))
    }

    /// Percent in common, when that is enough for a move.
    fn score(&self, other: &Self) -> Option<usize> {
        let larger = self.size.max(other.size);
        if self.size.min(other.size) * 100 < larger * SIMILAR {
            return None;
        }
        let shared: usize =
            self.lines.iter().map(|(line, size)| other.lines.get(line).map_or(0, |theirs| *size.min(theirs))).sum();
        let score = shared * 100 / larger;
        (score >= SIMILAR).then_some(score)
    }
}
