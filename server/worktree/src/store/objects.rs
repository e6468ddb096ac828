//! Objects of the store: those on disk and those that only exist in memory so far.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ObjectType, Oid, Repository};

use super::pack::{self, Encoded, Pack};
use crate::Error;

/// Everything behind the store's mutex.
pub(super) struct Objects {
    repository: Repository,
    folder: PathBuf,
    /// Objects that no pack holds yet.
    pending: HashMap<Oid, (ObjectType, Arc<[u8]>)>,
    pending_bytes: usize,
    /// Fills while a snapshot is read.
    pack: Pack,
    /// What the packs on disk hold, and which packs have been looked at. Asking libgit2 about an object that is not
    /// there costs a look at the disk each time.
    packed: HashSet<Oid>,
    looked_at: HashSet<OsString>,
}

/// Edits are held in memory up to this many bytes, then packed although nothing asked for it.
const PENDING_LIMIT: usize = 64 << 20;

impl Objects {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        crate::git::prepare();
        let repository = if path.join("HEAD").is_file() {
            Repository::open_bare(path)
        } else {
            let mut options = git2::RepositoryInitOptions::new();
            // No template: whatever the user's templates hold (hooks among it) has no business here.
            options.bare(true).mkpath(true).external_template(false);
            Repository::init_opts(path, &options)
        };
        let repository = repository.map_err(Error::git(format!("opening the store {}", path.display())))?;
        let folder = path.join("objects");
        let mut objects = Self {
            repository,
            folder,
            pending: HashMap::new(),
            pending_bytes: 0,
            pack: Pack::default(),
            packed: HashSet::new(),
            looked_at: HashSet::new(),
        };
        objects.look()?;
        Ok(objects)
    }

    /// Whether the object is here, without looking for packs that others wrote since [`Self::refresh`].
    pub(super) fn has(&self, id: Oid) -> bool {
        self.pending.contains_key(&id) || self.pack.contains(id) || self.packed.contains(&id)
    }

    /// Takes note of packs that others wrote.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        let odb = self.repository.odb().map_err(Error::git("opening the object database"));
        odb.and_then(|odb| odb.refresh().map_err(Error::git("reading the list of packs")))?;
        self.look()
    }

    fn look(&mut self) -> Result<(), Error> {
        let folder = self.folder.join("pack");
        let entries = fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
        for entry in entries {
            let entry = entry.map_err(Error::io("read", &folder))?;
            let name = entry.file_name();
            if entry.path().extension().is_none_or(|extension| extension != "idx") || !self.looked_at.insert(name) {
                continue;
            }
            let bytes = fs::read(entry.path()).map_err(Error::io("read", entry.path()))?;
            // An index of another kind only means that what it names is written once more.
            self.packed.extend(pack::ids(&bytes).into_iter().flatten());
        }
        Ok(())
    }

    pub(super) fn read(&self, id: Oid, kind: ObjectType) -> Result<Arc<[u8]>, Error> {
        if let Some((found, bytes)) = self.pending.get(&id) {
            return if *found == kind { Ok(bytes.clone()) } else { Err(wrong_kind(id)) };
        }
        let odb = self.repository.odb().map_err(Error::git("opening the object database"))?;
        let object = odb.read(id).map_err(|err| match err.code() {
            git2::ErrorCode::NotFound => Error::Missing(id.to_string()),
            _ => Error::Git { what: format!("reading object {id}"), source: err },
        })?;
        if object.kind() == kind { Ok(object.data().into()) } else { Err(wrong_kind(id)) }
    }

    /// Adds an object in memory.
    pub(super) fn put(&mut self, id: Oid, kind: ObjectType, bytes: &[u8]) -> Result<(), Error> {
        if !self.has(id) {
            self.pending_bytes += bytes.len();
            self.pending.insert(id, (kind, bytes.into()));
            if self.pending_bytes > PENDING_LIMIT {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Adds an object to the pack of a snapshot that is under way; it can be read after [`Self::flush`].
    pub(super) fn stream(&mut self, id: Oid, object: Encoded) -> Result<(), Error> {
        if !self.has(id) {
            self.pack.add(id, object);
            if self.pack.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes everything that is only in memory, in one pack.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let mut pack = std::mem::take(&mut self.pack);
        for (id, (kind, bytes)) in &self.pending {
            pack.add(*id, Encoded::new(*kind, bytes));
        }
        if pack.is_empty() {
            return Ok(());
        }
        let ids: Vec<Oid> = pack.ids().collect();
        pack.write(&self.folder).map_err(Error::io("written", &self.folder))?;
        self.packed.extend(ids);
        self.pending.clear();
        self.pending_bytes = 0;
        self.refresh()
    }

    /// Forgets which packs there were, after some of them went.
    pub(super) fn reopen(&mut self) -> Result<(), Error> {
        let path = self.repository.path().to_owned();
        self.repository = Repository::open_bare(&path).map_err(Error::git("opening the store again"))?;
        self.packed.clear();
        self.looked_at.clear();
        self.look()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn wrong_kind(id: Oid) -> Error {
    Error::Damaged { id: id.to_string(), what: "it is another kind of object than its tree says" }
}
