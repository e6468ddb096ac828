//! A real fix, as the changes that a model has to make.

use task::{Author, Change, FileDiff, HunkKind, TreeId};
use worktree::{Authors, Store};

use crate::Failure;

/// What happens to one file.
#[derive(Debug, Clone)]
pub struct Changed {
    pub path: String,
    /// Empty for a new file.
    pub before: String,
    /// `None` for a file that goes away.
    pub after: Option<String>,
    pub is_new: bool,
    /// Of a file that was there and stays, in their order.
    pub hunks: Vec<Hunk>,
}

/// Lines of the file before, counted from 0, and the text that stands there afterwards.
#[derive(Debug, Clone)]
pub struct Hunk {
    pub start: usize,
    pub count: usize,
    pub new: String,
}

/// The changes from one tree to another, or why a model could not make them with the tools that it has: a sentence.
pub fn read(store: &Store, from: &TreeId, to: &TreeId) -> Result<Result<Vec<Changed>, String>, Failure> {
    let diff = worktree::compare(store, from, to, &Authors::all(Author::Model))?;
    let mut all = Vec::new();
    for file in &diff.files {
        match changed(store, from, to, file)? {
            Ok(changed) => all.extend(changed),
            Err(why) => return Ok(Err(format!("{}: {why}", file.path))),
        }
    }
    Ok(Ok(all))
}

fn changed(
    store: &Store,
    from: &TreeId,
    to: &TreeId,
    file: &FileDiff,
) -> Result<Result<Vec<Changed>, &'static str>, Failure> {
    let text = |tree, path| -> Result<Option<String>, Failure> {
        Ok(store.read(tree, path)?.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()))
    };
    if matches!(file.path.file_name(), b"Cargo.toml" | b"Cargo.lock") {
        return Ok(Err("other dependencies"));
    }
    if file.old_mode != file.new_mode && file.change == Change::Modified {
        return Ok(Err("another mode"));
    }
    let (before, after) = (text(from, &file.old_path)?, text(to, &file.path)?);
    let path = file.path.to_string();
    Ok(match (file.change, before, after) {
        (Change::Created, None, Some(after)) => {
            Ok(vec![Changed { path, before: String::new(), after: Some(after), is_new: true, hunks: Vec::new() }])
        }
        (Change::Deleted, Some(before), None) => {
            Ok(vec![Changed { path, before, after: None, is_new: false, hunks: Vec::new() }])
        }
        (Change::Modified, Some(before), Some(after)) if !before.is_empty() => {
            let texts = file.hunks.iter().filter(|hunk| hunk.kind == HunkKind::Text);
            let hunks = texts.map(|hunk| Hunk {
                start: hunk.base.start as usize,
                count: hunk.base.count as usize,
                new: String::from_utf8_lossy(&hunk.new_bytes).into_owned(),
            });
            Ok(vec![Changed { path, before, after: Some(after), is_new: false, hunks: hunks.collect() }])
        }
        // A file under another name is one that goes away and one that comes.
        (Change::Moved, Some(before), Some(after)) => {
            let old =
                Changed { path: file.old_path.to_string(), before, after: None, is_new: false, hunks: Vec::new() };
            Ok(vec![old, Changed { path, before: String::new(), after: Some(after), is_new: true, hunks: Vec::new() }])
        }
        _ => Err("no text"),
    })
}
