//! One tree becomes another, in memory: only the folders on the way to a change are read and written anew.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid};
use task::{EditSet, FileEdit, Mode, TreeId, TreePath};

use super::objects::Objects;
use super::tree::{Kind, Row, format};
use super::{ApplyError, BlobId, Entries, Entry, NewEntries, Store, oid_of, read_tree, tree_id};
use crate::{Error, names};

/// What happens at a path: an entry is put there, or what is there goes.
type Change = Option<Entry>;

impl Store {
    /// The tree with some paths replaced, created or deleted. A file put where a folder is replaces the folder, and a
    /// file below a path that is a file replaces that one. Folders that become empty vanish.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn edit(&self, tree: &TreeId, changes: &NewEntries) -> Result<TreeId, Error> {
        let mut objects = self.objects();
        let mut rows = Vec::with_capacity(changes.len());
        for (path, change) in changes {
            let change = match change {
                Some((bytes, mode)) => {
                    let blob = BlobId::of(bytes);
                    objects.put(blob.0, ObjectType::Blob, bytes)?;
                    Some(Entry { mode: *mode, blob })
                }
                None => None,
            };
            rows.push((path.as_bytes(), change));
        }
        edit_root(&mut objects, oid_of(tree)?, &rows)
    }

    /// The same, for entries whose blobs the store has.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn edit_entries(&self, tree: &TreeId, changes: &BTreeMap<TreePath, Option<Entry>>) -> Result<TreeId, Error> {
        let rows: Vec<_> = changes.iter().map(|(path, change)| (path.as_bytes(), *change)).collect();
        edit_root(&mut self.objects(), oid_of(tree)?, &rows)
    }

    /// The tree of exactly these entries, whose blobs the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tree(&self, entries: &Entries) -> Result<TreeId, Error> {
        let rows: Vec<_> = entries.iter().map(|(path, entry)| (path.as_bytes(), Some(*entry))).collect();
        edit_root(&mut self.objects(), super::empty_tree(), &rows)
    }

    /// The tree after an edit set: all of it or nothing. A file keeps its mode, also when it moves.
    ///
    /// # Errors
    /// When the set does not fit the tree or names a path that must not be edited.
    pub fn apply(&self, tree: &TreeId, edits: &EditSet) -> Result<TreeId, ApplyError> {
        let mut modes = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for path in edits.paths() {
            if let Some(why) = names::refused(path) {
                return Err(ApplyError::Refused { path: path.clone(), why });
            }
            let Some(entry) = self.entry(tree, path)? else { continue };
            match entry.mode {
                Mode::File | Mode::Executable => {}
                Mode::Symlink => return Err(ApplyError::Refused { path: path.clone(), why: "it is a symbolic link" }),
                Mode::Gitlink => return Err(ApplyError::Refused { path: path.clone(), why: "it is a submodule" }),
            }
            modes.insert(path.clone(), entry.mode);
            texts.insert(path.clone(), self.blob(entry.blob)?);
        }
        let new = edits.apply(|path| texts.get(path).cloned())?;
        for edit in &edits.files {
            if let FileEdit::Move { from, to } = edit
                && let Some(mode) = modes.get(from).copied()
            {
                modes.insert(to.clone(), mode);
            }
        }
        let changes: NewEntries = new
            .into_iter()
            .map(|(path, text)| {
                let mode = modes.get(&path).copied().unwrap_or(Mode::File);
                (path, text.map(|text| (text, mode)))
            })
            .collect();
        Ok(self.edit(tree, &changes)?)
    }
}

fn edit_root(objects: &mut Objects, root: Oid, changes: &[(&[u8], Change)]) -> Result<TreeId, Error> {
    let id = match edit_folder(objects, Some(root), changes)? {
        Some(id) => id,
        None => {
            let empty = super::empty_tree();
            objects.put(empty, ObjectType::Tree, b"")?;
            empty
        }
    };
    tree_id(id)
}

/// What happens under one name of a folder.
#[derive(Default)]
struct Below<'a> {
    own: Option<Change>,
    deeper: Vec<(&'a [u8], Change)>,
}

/// The folder after the changes, whose paths are relative to it; `None` when nothing is left of it.
/// As deep as the deepest changed path, which [`super::LONGEST_PATH`] bounds.
fn edit_folder(objects: &mut Objects, folder: Option<Oid>, changes: &[(&[u8], Change)]) -> Result<Option<Oid>, Error> {
    let mut below: BTreeMap<&[u8], Below> = BTreeMap::new();
    for &(path, change) in changes {
        match path.iter().position(|&byte| byte == b'/') {
            Some(slash) => below.entry(&path[..slash]).or_default().deeper.push((&path[slash + 1..], change)),
            None => below.entry(path).or_default().own = Some(change),
        }
    }
    let mut rows = match folder {
        Some(id) => read_tree(objects, id)?,
        None => Vec::new(),
    };
    let mut folders = BTreeMap::new();
    rows.retain(|row| {
        let Some(below) = below.get(&row.name[..]) else { return true };
        if row.kind == Kind::Folder {
            folders.insert(row.name.clone(), row.id);
            return false;
        }
        // A file stays unless it is replaced, deleted, or something new comes to lie below it.
        below.own.is_none() && below.deeper.iter().all(|(_, change)| change.is_none())
    });
    for (name, Below { own, deeper }) in below {
        if let Some(Some(entry)) = own {
            rows.push(Row { name: name.to_vec(), kind: Kind::Entry(entry.mode), id: entry.blob.0 });
            continue;
        }
        let old = folders.get(name).copied();
        // Deleting a path deletes the file there, never a folder.
        if old.is_none() && deeper.iter().all(|(_, change)| change.is_none()) {
            continue;
        }
        if let Some(id) = edit_folder(objects, old, &deeper)? {
            rows.push(Row { name: name.to_vec(), kind: Kind::Folder, id });
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let bytes = format(rows);
    let id = Oid::hash_object(ObjectType::Tree, &bytes).map_err(Error::git("hashing a tree"))?;
    objects.put(id, ObjectType::Tree, &bytes)?;
    Ok(Some(id))
}
