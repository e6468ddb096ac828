//! Patches made elsewhere: a unified diff becomes a tree, or a sentence about why it does not apply.

pub(crate) mod base85;
mod names;
mod parse;
mod place;

use std::collections::BTreeMap;
use std::sync::Arc;

use task::{Mode, TreeId, TreePath};

use crate::names::{refused, refused_entry};
use crate::store::Kind;
use crate::{BlobId, Entry, Error, NewEntries, Store};
use parse::{Binary, FilePatch, LARGEST, Parser};

/// Why a patch does not apply; nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    #[error("line {line} of the patch: {why}")]
    Malformed { line: usize, why: &'static str },
    #[error("the patch holds no change")]
    Empty,
    #[error("{path}: the patch may not touch it: {why}")]
    Refused { path: String, why: &'static str },
    #[error("{path}: the hunk at line {line} of the patch does not apply: {why}")]
    DoesNotApply { path: TreePath, line: usize, why: &'static str },
    #[error("{path} {why}")]
    File { path: TreePath, why: &'static str },
    #[error(transparent)]
    Store(#[from] Error),
}

/// Most files one patch may touch, and most bytes they may have afterwards.
const MOST_FILES: usize = 5000;

/// Applies the bytes of a patch (git style, plain `diff -u`, or mails of `git format-patch`) to a tree: all of it or
/// nothing. Hunks may stand at other lines than they say where their context fits exactly once.
///
/// # Errors
/// Names the file and the line of the patch that does not apply.
pub fn apply_patch(store: &Store, base: &TreeId, patch: &[u8]) -> Result<TreeId, PatchError> {
    match apply(store, base, patch) {
        // A patch that went through a program with other line ends has them in its own headers too.
        Err(PatchError::DoesNotApply { .. }) if has_foreign_ends(patch) => {
            apply(store, base, &patch.split(|&byte| byte == b'\r').collect::<Vec<_>>().concat())
        }
        result => result,
    }
}

fn has_foreign_ends(patch: &[u8]) -> bool {
    let lines = || patch.split(|&byte| byte == b'\n');
    lines().any(|line| line.starts_with(b"+++ "))
        && lines().filter(|line| line.starts_with(b"+++ ")).all(|line| line.ends_with(b"\r"))
}

fn apply(store: &Store, base: &TreeId, patch: &[u8]) -> Result<TreeId, PatchError> {
    let files = Parser::new(patch).parse()?;
    if files.is_empty() {
        return Err(PatchError::Empty);
    }
    let mut state = State { store, base, changed: BTreeMap::new() };
    for group in files.chunk_by(|a, b| a.group == b.group) {
        state.group(group)?;
    }
    if state.changed.len() > MOST_FILES {
        return Err(PatchError::Refused { path: "the patch".to_owned(), why: "it touches more than 5,000 files" });
    }
    let total: usize = state.changed.values().flatten().map(|(bytes, _)| bytes.len()).sum();
    if total > LARGEST {
        return Err(PatchError::Refused { path: "the patch".to_owned(), why: "its files hold more than 200 MiB" });
    }
    collides(store, base, &state.changed)?;
    Ok(store.edit(base, &state.changed)?)
}

/// A new name that differs from another one only by case is one file on many machines.
fn collides(store: &Store, base: &TreeId, changed: &NewEntries) -> Result<(), PatchError> {
    let entries = store.entries(base)?;
    let lower = |path: &TreePath| String::from_utf8_lossy(path.as_bytes()).to_lowercase();
    let new = changed.iter().filter(|(path, change)| change.is_some() && !entries.contains_key(*path));
    let new: BTreeMap<String, &TreePath> = new.map(|(path, _)| (lower(path), path)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let stays = entries.keys().filter(|path| changed.get(*path).is_none_or(Option::is_some));
    let all = stays.chain(changed.iter().filter(|(_, change)| change.is_some()).map(|(path, _)| path));
    for path in all {
        if new.get(&lower(path)).is_some_and(|other| *other != path) {
            return Err(PatchError::Refused { path: path.to_string(), why: "two names would differ only by case" });
        }
    }
    Ok(())
}

type Content = Option<(Arc<[u8]>, Mode)>;

/// The tree while a patch is applied.
struct State<'a> {
    store: &'a Store,
    base: &'a TreeId,
    changed: NewEntries,
}

impl State<'_> {
    fn read(&self, path: &TreePath) -> Result<Content, PatchError> {
        if let Some(change) = self.changed.get(path) {
            return Ok(change.clone());
        }
        match self.store.entry(self.base, path)? {
            Some(Entry { mode: Mode::Gitlink, .. }) => {
                Err(PatchError::Refused { path: path.to_string(), why: "it is a submodule" })
            }
            Some(entry) => Ok(Some((self.store.blob(entry.blob)?, entry.mode))),
            None => Ok(None),
        }
    }

    fn exists(&self, path: &TreePath) -> bool {
        match self.changed.get(path) {
            Some(change) => change.is_some(),
            None => self.store.entry(self.base, path).is_ok_and(|entry| entry.is_some()),
        }
    }

    /// One commit: moves and copies read what was there before it, so that files can trade places.
    fn group(&mut self, files: &[FilePatch]) -> Result<(), PatchError> {
        let mut written: NewEntries = BTreeMap::new();
        let mut removed = Vec::new();
        for file in files {
            let (old, new) = names::paths(file, &|path| self.exists(path))?;
            for path in [&old, &new].into_iter().flatten() {
                if let Some(why) = refused(path) {
                    return Err(PatchError::Refused { path: path.to_string(), why });
                }
            }
            let old = old.filter(|path| file.from.is_some() || file.created.is_none() || self.exists(path));
            let moves = file.from.is_some();
            let source = match &old {
                None => None,
                // Two pieces about one file follow each other; a moved file is read as it was.
                Some(path) => match written.get(path).filter(|_| !moves) {
                    Some(content) => content.clone(),
                    None => self.read(path)?,
                },
            };
            let path = new.as_ref().or(old.as_ref());
            let path =
                path.ok_or(PatchError::Malformed { line: file.line, why: "nothing here says which file it is about" })?;
            let source = self.source(file, path, old.as_ref(), source)?;
            let content = result(file, path, source)?;
            if let (Some(old), true) = (&old, file.deleted || (moves && !file.copy)) {
                removed.push(old.clone());
            }
            if let (Some(new), Some((bytes, mode))) = (&new, content) {
                if let Some(why) = refused_entry(new, mode, &bytes) {
                    return Err(PatchError::Refused { path: new.to_string(), why });
                }
                written.insert(new.clone(), Some((bytes, mode)));
            }
        }
        let taken = |path: &TreePath| self.exists(path) && !removed.contains(path);
        for file in files.iter().filter(|file| file.created.is_some() || file.from.is_some()) {
            let (_, Some(new)) = names::paths(file, &|path| self.exists(path))? else { continue };
            if taken(&new) {
                return Err(PatchError::File { path: new, why: "is there already, but the patch creates it" });
            }
        }
        for path in removed {
            self.changed.insert(path, None);
        }
        self.changed.extend(written);
        Ok(())
    }

    /// What the patch starts from: nothing for a file it creates, else a file that must be there.
    fn source(
        &self,
        file: &FilePatch,
        path: &TreePath,
        old: Option<&TreePath>,
        source: Content,
    ) -> Result<Content, PatchError> {
        match source {
            Some(source) => Ok(Some(source)),
            None if file.created.is_some() => Ok(None),
            // `diff -N` names a new file on both sides and has nothing on the old one.
            None if !file.is_git
                && file.hunks.len() == 1
                && file.hunks[0].old.is_empty()
                && file.hunks[0].start == 0 =>
            {
                Ok(None)
            }
            None => Err(PatchError::File {
                path: old.unwrap_or(path).clone(),
                why: "is not in the tree, but the patch changes it",
            }),
        }
    }
}

/// The file after the patch; `None` when it is deleted.
fn result(file: &FilePatch, path: &TreePath, source: Content) -> Result<Content, PatchError> {
    let old: Arc<[u8]> = source.as_ref().map_or_else(|| (&b""[..]).into(), |(bytes, _)| bytes.clone());
    let id = BlobId::of(&old).to_string();
    let matches = |wanted: &Option<Vec<u8>>, id: &str| {
        wanted.as_ref().is_some_and(|wanted| wanted.len() >= 7 && id.as_bytes().starts_with(wanted))
    };
    let exact = matches(&file.old_id, &id);
    let new: Arc<[u8]> = match &file.binary {
        Some(binary) => {
            let unfit =
                PatchError::File { path: path.clone(), why: "is not the binary file that the patch was made from" };
            if file.old_id.is_some() && source.is_some() && !exact {
                return Err(unfit);
            }
            let bytes = match binary {
                Binary::Literal(bytes) => bytes.clone(),
                Binary::Delta(delta) => base85::apply_delta(&old, delta, LARGEST).ok_or(unfit)?,
            };
            bytes.into()
        }
        None if file.hunks.is_empty() => old,
        None => match place::place(&old, &file.hunks, exact) {
            Ok(text) => text.into(),
            Err(misfit) => {
                return Err(PatchError::DoesNotApply { path: path.clone(), line: misfit.line, why: misfit.why });
            }
        },
    };
    if exact
        && file.new_id.as_ref().is_some_and(|id| id.len() == 40)
        && !matches(&file.new_id, &BlobId::of(&new).to_string())
    {
        let why = "does not come out as the patch says it should: the patch is damaged";
        if !file.deleted {
            return Err(PatchError::File { path: path.clone(), why });
        }
    }
    if file.deleted {
        return if new.is_empty() || file.hunks.is_empty() {
            Ok(None)
        } else {
            Err(PatchError::File { path: path.clone(), why: "would not be empty after the patch that deletes it" })
        };
    }
    let mode = match (file.created.or(file.new_mode), source) {
        (Some(mode), _) => match Kind::from_git(mode) {
            Some(Kind::Entry(mode)) => mode,
            _ => return Err(PatchError::File { path: path.clone(), why: "gets a mode that no file can have" }),
        },
        (None, Some((_, mode))) => mode,
        (None, None) => Mode::File,
    };
    Ok(Some((new, mode)))
}
