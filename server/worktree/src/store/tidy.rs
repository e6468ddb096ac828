//! Giving space back: one new set of packs with what kept trees need, and the old packs go.

use std::collections::BTreeSet;
use std::fs;

use git2::ObjectType;

use super::pack::{Encoded, Pack};
use super::{Kind, Store, oid_of, read_tree};
use crate::{Error, durable};

impl Store {
    /// Drops what no kept tree needs and joins many small packs, when nobody else uses the store just now.
    /// Answers whether it did. Trees of this process that are not kept are gone afterwards.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn tidy(&self) -> Result<bool, Error> {
        let alone = self.lock.try_become_alone()?;
        let result = if alone { self.repack() } else { Ok(()) };
        // Where somebody else holds it, they hold it shared, so this does not wait.
        self.lock.share()?;
        result.map(|()| alone)
    }

    fn repack(&self) -> Result<(), Error> {
        let roots = self.roots()?;
        let mut objects = self.objects();
        objects.flush()?;
        let folder = objects.folder().to_owned();
        let old = packs(&folder.join("pack"))?;
        let mut kept = BTreeSet::new();
        let mut pack = Pack::default();
        let mut seen = BTreeSet::new();
        let mut trees = roots.iter().map(oid_of).collect::<Result<Vec<_>, _>>()?;
        let mut write = |pack: &mut Pack, force: bool| -> Result<(), Error> {
            if pack.is_full() || force {
                let written = std::mem::take(pack).write(&folder).map_err(Error::io("written", &folder))?;
                kept.extend(written);
            }
            Ok(())
        };
        while let Some(id) = trees.pop() {
            if !seen.insert(id) {
                continue;
            }
            let rows = read_tree(&objects, id)?;
            if id != super::empty_tree() {
                pack.add(id, Encoded::new(ObjectType::Tree, &objects.read(id, ObjectType::Tree)?));
            }
            for row in rows {
                match row.kind {
                    Kind::Folder => trees.push(row.id),
                    Kind::Entry(task::Mode::Gitlink) => {}
                    Kind::Entry(_) => {
                        if seen.insert(row.id) {
                            let bytes = objects.read(row.id, ObjectType::Blob)?;
                            pack.add(row.id, Encoded::new(ObjectType::Blob, &bytes));
                            write(&mut pack, false)?;
                        }
                    }
                }
            }
        }
        write(&mut pack, true)?;
        for path in old {
            if !kept.contains(&path) {
                // The index first: a pack without one is nothing to git.
                for path in [path.with_extension("idx"), path] {
                    fs::remove_file(&path).map_err(Error::io("removed", &path))?;
                }
            }
        }
        durable::sync_folder(&folder.join("pack")).map_err(Error::io("synced", &folder))?;
        self.listed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
        objects.reopen()
    }
}

fn packs(folder: &std::path::Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(Error::io("read", folder)(err)),
    };
    let mut packs = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "pack") {
            packs.push(path);
        }
    }
    Ok(packs)
}
