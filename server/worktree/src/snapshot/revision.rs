//! Trees from the developer's history, copied into our store through the same filter as a snapshot.

use git2::{Commit, ObjectType, Odb, Oid, Repository};
use task::{Limitation, Mode, TreeId, TreePath};

use super::FreezeOptions;
use super::secret::{Allowed, Suspicion, has_secret, suspicion};
use crate::store::{Kind, parse_tree};
use crate::{BlobId, Entries, Entry, Error, Store, Workspace};

/// A tree taken from the developer's history.
#[derive(Debug, Clone)]
pub struct Revision {
    pub tree: TreeId,
    /// The commit it is the tree of; empty for `HEAD` of a repository without one.
    pub commit: String,
    pub withheld: Vec<TreePath>,
    pub limitations: Vec<Limitation>,
}

/// Copies the tree of a revision (`HEAD`, a branch, a tag, a commit id) into our store, through the same filter as a
/// snapshot. `HEAD` of an empty repository is the empty tree with an empty commit.
///
/// # Errors
/// When the name does not resolve or its objects cannot be read.
pub fn freeze_revision(
    workspace: &Workspace,
    store: &Store,
    name: &str,
    options: &FreezeOptions,
) -> Result<Revision, Error> {
    let allowed = Allowed::new(&options.allow)?;
    store.refresh()?;
    let repository = open(workspace, name)?;
    let mut out = Revision {
        tree: store.tree(&Entries::new())?,
        commit: String::new(),
        withheld: Vec::new(),
        limitations: Vec::new(),
    };
    if name == "HEAD" && repository.is_empty().unwrap_or(false) || is_unborn(&repository, name) {
        store.flush()?;
        return Ok(out);
    }
    let commit = resolve(&repository, name)?;
    let odb = repository.odb().map_err(Error::git("opening the repository's objects"))?;
    let mut copy = Copy { store, odb: &odb, allowed: &allowed, entries: Entries::new(), out: &mut out, absent: 0 };
    copy.tree(commit.tree_id())?;
    let (entries, absent) = (copy.entries, copy.absent);
    out.commit = commit.id().to_string();
    out.tree = store.tree(&entries)?;
    store.flush()?;
    if absent > 0 {
        out.limitations.push(Limitation::general(format!(
            "{absent} files of {name} are not in the repository's objects (a partial clone), so they are left out"
        )));
    }
    out.withheld.sort_unstable();
    out.limitations.sort_unstable();
    Ok(out)
}

/// The commit id from which `branch` and HEAD grew apart.
///
/// # Errors
/// When the branch does not resolve or shares no history with HEAD.
pub fn merge_base_with_head(workspace: &Workspace, branch: &str) -> Result<String, Error> {
    let repository = open(workspace, branch)?;
    let (head, other) = (resolve(&repository, "HEAD")?, resolve(&repository, branch)?);
    match repository.merge_base(head.id(), other.id()) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(unresolved(branch, "it shares no history with HEAD")),
    }
}

fn open(workspace: &Workspace, name: &str) -> Result<Repository, Error> {
    if workspace.top().join(".git").symlink_metadata().is_err() {
        return Err(unresolved(name, "the folder is not a git repository"));
    }
    crate::git::open(workspace.top()).map_err(|err| unresolved(name, err.message()))
}

fn resolve<'r>(repository: &'r Repository, name: &str) -> Result<Commit<'r>, Error> {
    let object = repository.revparse_single(name).and_then(|object| object.peel_to_commit());
    object.map_err(|err| unresolved(name, err.message()))
}

fn is_unborn(repository: &Repository, name: &str) -> bool {
    name == "HEAD" && repository.head().is_err_and(|err| err.code() == git2::ErrorCode::UnbornBranch)
}

fn unresolved(name: &str, why: &str) -> Error {
    Error::Revision { name: task::printable(name), why: why.to_owned() }
}

struct Copy<'a> {
    store: &'a Store,
    odb: &'a Odb<'a>,
    allowed: &'a Allowed,
    entries: Entries,
    out: &'a mut Revision,
    absent: usize,
}

impl Copy<'_> {
    fn tree(&mut self, root: Oid) -> Result<(), Error> {
        let mut folders = vec![(Vec::new(), root)];
        while let Some((prefix, id)) = folders.pop() {
            let object = match self.odb.read(id) {
                Ok(object) if object.kind() == ObjectType::Tree => object,
                _ if id == Oid::hash_object(ObjectType::Tree, b"").unwrap_or_else(|_| Oid::zero()) => continue,
                Ok(_) => return Err(Error::Damaged { id: id.to_string(), what: "it is not a tree" }),
                Err(err) => return Err(Error::git(format!("reading tree {id}"))(err)),
            };
            let rows = parse_tree(object.data());
            let rows =
                rows.ok_or_else(|| Error::Damaged { id: id.to_string(), what: "it is not a tree that can be read" })?;
            for row in rows {
                let mut path = [&prefix[..], &row.name[..]].concat();
                match row.kind {
                    Kind::Folder if path.len() < 4000 => {
                        path.push(b'/');
                        folders.push((path, row.id));
                    }
                    Kind::Entry(mode) if path.len() < 4096 => {
                        if let Ok(path) = TreePath::new(path) {
                            self.entry(path, mode, row.id)?;
                        }
                    }
                    _ => self.out.limitations.push(Limitation::general("a path of more than 4096 bytes is left out")),
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: TreePath, mode: Mode, id: Oid) -> Result<(), Error> {
        let blob = BlobId(id);
        let suspicion = match mode {
            Mode::Gitlink => Suspicion::None,
            _ if self.allowed.admits(&path) => Suspicion::None,
            Mode::Symlink if suspicion(&path) == Suspicion::Content => Suspicion::None,
            _ => suspicion(&path),
        };
        if suspicion == Suspicion::Secret {
            self.withhold(path);
            return Ok(());
        }
        if mode != Mode::Gitlink && (suspicion == Suspicion::Content || !self.store.has(blob)) {
            let Ok(object) = self.odb.read(id) else {
                self.absent += 1;
                return Ok(());
            };
            if suspicion == Suspicion::Content && has_secret(&path, object.data()) {
                self.withhold(path);
                return Ok(());
            }
            self.store.stream(blob, object.data())?;
        }
        self.entries.insert(path, Entry { mode, blob });
        Ok(())
    }

    fn withhold(&mut self, path: TreePath) {
        let text = "withheld because it looks like a secret; checks do not see it unless its path is allowed";
        self.out.limitations.push(Limitation::at(path.clone(), None, text));
        self.out.withheld.push(path);
    }
}
