//! Sparse checkouts: tracked files that are not on disk on purpose come from the developer's object database.

use git2::{ObjectType, Repository};
use task::{Limitation, TreePath};

use super::index::Tracked;
use super::secret::{Allowed, Suspicion, has_secret, suspicion};
use crate::store::Kind;
use crate::{BlobId, Entries, Entry, Error, Store};

pub(super) fn fill(
    store: &Store,
    repository: &Repository,
    tracked: &Tracked,
    allowed: &Allowed,
    entries: &mut Entries,
    limitations: &mut Vec<Limitation>,
) -> Result<(), Error> {
    let mut absent = 0;
    let mut odb = None;
    for (path, row) in tracked.files.iter().filter(|(_, row)| row.skipped) {
        let Ok(path) = TreePath::new(path.clone()) else { continue };
        let suspicion = if allowed.admits(&path) { Suspicion::None } else { suspicion(&path) };
        let Some(Kind::Entry(mode)) = Kind::from_git(row.mode) else { continue };
        if entries.contains_key(&path) || suspicion == Suspicion::Secret {
            continue;
        }
        let blob = BlobId(row.id);
        if suspicion == Suspicion::Content || !store.has(blob) {
            if odb.is_none() {
                odb = Some(repository.odb().map_err(Error::git("opening the repository's objects"))?);
            }
            let object = odb.as_ref().and_then(|odb| odb.read(row.id).ok());
            let Some(object) = object.filter(|object| object.kind() == ObjectType::Blob) else {
                absent += 1;
                continue;
            };
            if suspicion == Suspicion::Content && has_secret(&path, object.data()) {
                continue;
            }
            store.stream(blob, object.data())?;
        }
        entries.insert(path, Entry { mode, blob });
    }
    if absent > 0 {
        limitations.push(Limitation::general(format!(
            "{absent} files that the sparse checkout leaves out are not in the repository's objects either, so checks do not see them"
        )));
    }
    Ok(())
}
