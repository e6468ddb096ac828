//! Freezing: the developer's text at one instant becomes a tree in our store.
//!
//! Nothing is written outside our own folder. A second snapshot reads only what changed since the first.

mod index;
mod overlay;
mod read;
mod revision;
mod rules;
mod secret;
mod sparse;
mod walk;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use git2::Repository;
use task::{Digest, Limitation, Mode, TreeId, TreePath};

use crate::beneath::{Beneath, split, stamp_at};
use crate::stamps::{self, SeenFiles};
use crate::{Entries, Error, Store, Workspace, names};
use index::Tracked;
use read::{Reader, Taken};
pub use revision::{Revision, freeze_revision, merge_base_with_head};
use rules::Rules;
use secret::Allowed;
use walk::Found;

/// What the developer allows.
#[derive(Debug, Clone, Default)]
pub struct FreezeOptions {
    /// Globs of paths that may enter although they look like secrets.
    pub allow: Vec<String>,
    /// Asked while files are read whether the snapshot is still wanted.
    pub interrupt: Interrupt,
}

/// Says when a long work is to end before its time.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Ends the work once this answers yes. It is asked often and from several threads.
    pub fn when(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wanted))
    }

    fn is_wanted(&self) -> bool {
        (self.0)()
    }
}

impl Default for Interrupt {
    fn default() -> Self {
        Self::when(|| false)
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Interrupt").field(&self.is_wanted()).finish()
    }
}

/// A file that checks see but that is in no tree: it belongs to the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisioned {
    pub path: TreePath,
    pub mode: Mode,
    /// SHA-256 over its bytes.
    pub digest: Digest,
}

/// The snapshot.
#[derive(Debug, Clone)]
pub struct Frozen {
    pub base: TreeId,
    /// The provisioned files as a tree of their own, for [`crate::Slot::project`]; it may be empty.
    pub provision: TreeId,
    pub provisioned: Vec<Provisioned>,
    /// The commit that HEAD names, where there is one.
    pub head: Option<String>,
    /// Files left out because they look like secrets.
    pub withheld: Vec<TreePath>,
    /// Everything left out or read another way, one sentence each; withheld files included.
    pub limitations: Vec<Limitation>,
}

/// A file changed this shortly before it was read could change again without its stamp saying so.
const RACY: Duration = Duration::from_secs(2);
/// How often files that changed during the snapshot are read again.
const ROUNDS: usize = 4;
/// Submodules within submodules.
const DEEPEST_SUBMODULE: usize = 8;

/// Pictures tracked and untracked-unignored files, with unsaved editor text in place of disk text.
/// Writes nothing outside our own folder.
///
/// # Errors
/// When a file keeps changing while it is read, a glob is none, the store cannot be written, or it was interrupted.
pub fn freeze(
    workspace: &Workspace,
    store: &Store,
    overlays: &[(TreePath, Vec<u8>)],
    options: &FreezeOptions,
) -> Result<Frozen, Error> {
    let allowed = Allowed::new(&options.allow)?;
    store.refresh()?;
    let cache = workspace.state().join("seen");
    let note = workspace.top().to_string_lossy();
    let before = stamps::load(&cache, &note).unwrap_or_default();
    let mut freezer = Freezer::new(store, &allowed, &before, &options.interrupt);
    let mut base = freezer.folder(workspace.top(), None, 0)?;
    if let Some(rules) = freezer.rules.take().filter(|_| !overlays.is_empty()) {
        let beneath = Beneath::open(workspace.top()).map_err(Error::io("opened", workspace.top()))?;
        // Overlays are compared with what was read just now.
        store.flush()?;
        let ignored = |path: &TreePath| rules.clone().ignore_new(&beneath, path.as_bytes());
        for (path, text) in overlays {
            if overlay::lies_in_an_entry(&base, path) {
                let disk = std::fs::read(workspace.absolute(path)).unwrap_or_default();
                freezer.limitations.extend(overlay::not_taken(path, text, &disk));
                continue;
            }
            overlay::lay(store, &mut base, path, text, &allowed, ignored, &mut freezer.limitations)?;
        }
    }
    let base = store.tree(&base)?;
    let provision = store.tree(&freezer.provision)?;
    store.flush()?;
    // Only a cache: the next snapshot reads everything again without it.
    if freezer.seen != before {
        let _ = stamps::save(&cache, &note, &freezer.seen);
    }
    let Freezer { head, mut withheld, mut limitations, .. } = freezer;
    withheld.sort_unstable();
    limitations.sort_unstable();
    let provisioned = provisioned(store, &provision)?;
    Ok(Frozen { base, provision, provisioned, head, withheld, limitations })
}

struct Freezer<'a> {
    store: &'a Store,
    allowed: &'a Allowed,
    before: &'a SeenFiles,
    interrupt: &'a Interrupt,
    seen: SeenFiles,
    provision: Entries,
    head: Option<String>,
    withheld: Vec<TreePath>,
    limitations: Vec<Limitation>,
    /// The outermost rules of the workspace itself.
    rules: Option<Rules>,
}

impl<'a> Freezer<'a> {
    fn new(store: &'a Store, allowed: &'a Allowed, before: &'a SeenFiles, interrupt: &'a Interrupt) -> Self {
        Self {
            store,
            allowed,
            before,
            interrupt,
            seen: SeenFiles::new(),
            provision: Entries::new(),
            head: None,
            withheld: Vec::new(),
            limitations: Vec::new(),
            rules: None,
        }
    }

    /// The entries of a folder; with `at`, of a submodule, whose files are provisioned under that path instead.
    fn folder(&mut self, top: &Path, at: Option<&TreePath>, depth: usize) -> Result<Entries, Error> {
        let beneath = Beneath::open(top).map_err(Error::io("opened", top))?;
        let repository = self.repository(top, at);
        let tracked = repository.as_ref().map(Tracked::read).transpose();
        let tracked = tracked.unwrap_or_else(|err| {
            self.limitations.push(Limitation {
                path: at.cloned(),
                line: None,
                text: format!(
                    "the git index cannot be read ({}): tracked files that are also ignored are left out",
                    err.message()
                ),
            });
            None
        });
        let tracked = tracked.unwrap_or_default();
        let rules = Rules::outermost(top, repository.as_ref());
        if at.is_none() {
            self.rules = Some(rules.clone());
            self.head =
                repository.as_ref().and_then(|git| Some(git.head().ok()?.peel_to_commit().ok()?.id().to_string()));
        }
        let walked = walk::walk(&beneath, &tracked, rules);
        self.limitations.extend(walked.limitations.into_iter().map(|mut limitation| {
            limitation.path = match (limitation.path, at) {
                (Some(path), Some(at)) => Some(at.join(&path)),
                (path, at) => path.or_else(|| at.cloned()),
            };
            limitation
        }));
        let modes = repository.as_ref().is_none_or(reads_modes);
        let mut entries = self.read(&beneath, walked.files, at, modes)?;
        let provision = self.read(&beneath, walked.provision, at, modes)?;
        let placed = |path: TreePath| at.map_or_else(|| path.clone(), |at| at.join(&path));
        self.provision.extend(provision.into_iter().map(|(path, entry)| (placed(path), entry)));
        if let Some(repository) = &repository {
            sparse::fill(self.store, repository, &tracked, self.allowed, &mut entries, &mut self.limitations)?;
        }
        for (path, commit) in &tracked.gitlinks {
            if let Ok(path) = TreePath::new(path.clone()) {
                entries.insert(path, crate::Entry { mode: Mode::Gitlink, blob: crate::BlobId(*commit) });
            }
        }
        for submodule in walked.submodules {
            let place = placed(submodule.clone());
            let path = top.join(bytes_as_path(submodule.as_bytes()));
            if depth < DEEPEST_SUBMODULE && path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                let files = self.folder(&path, Some(&place), depth + 1)?;
                let files = files.into_iter().filter(|(_, entry)| entry.mode != Mode::Gitlink);
                self.provision.extend(files.map(|(path, entry)| (place.join(&path), entry)));
            }
        }
        if at.is_none() {
            // A folder that only holds provisioned files must not hide an entry of the tree.
            self.provision.retain(|path, _| !entries.contains_key(path));
        }
        Ok(entries)
    }

    fn repository(&mut self, top: &Path, at: Option<&TreePath>) -> Option<Repository> {
        if top.join(".git").symlink_metadata().is_err() {
            return None;
        }
        match crate::git::open(top) {
            Ok(repository) => Some(repository),
            Err(err) => {
                let text = format!(
                    "this git repository is of a kind that cannot be opened ({}): its files were found by the ignore rules alone, so tracked files that are also ignored are left out",
                    err.message()
                );
                self.limitations.push(Limitation { path: at.cloned(), line: None, text });
                None
            }
        }
    }

    /// Reads the found files until none of them changed since it was read.
    fn read(
        &mut self,
        beneath: &Beneath,
        found: Vec<Found>,
        at: Option<&TreePath>,
        modes: bool,
    ) -> Result<Entries, Error> {
        let mut entries = Entries::new();
        // Submodules are read anew each time; their paths would have to be told apart in the cache.
        let nothing = SeenFiles::new();
        let before = if at.is_none() { self.before } else { &nothing };
        let reader =
            Reader { beneath, store: self.store, allowed: self.allowed, before, modes, interrupt: self.interrupt };
        let mut todo = found;
        for round in 0..ROUNDS {
            let taken = reader.read_all(&todo)?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let settled = i64::try_from(now.saturating_sub(RACY).as_nanos()).unwrap_or(i64::MAX);
            for (found, taken) in todo.iter().zip(&taken) {
                self.place(found, taken, at, settled, &mut entries);
            }
            todo = changed(beneath, &todo, &taken);
            if todo.is_empty() {
                return Ok(entries);
            }
            if round + 1 == ROUNDS {
                return Err(Error::Unstable(todo[0].path.clone()));
            }
        }
        Ok(entries)
    }

    fn place(&mut self, found: &Found, taken: &Taken, at: Option<&TreePath>, settled: i64, entries: &mut Entries) {
        let path = at.map_or_else(|| found.path.clone(), |at| at.join(&found.path));
        entries.remove(&found.path);
        self.withheld.retain(|withheld| *withheld != path);
        let seen = match taken {
            Taken::Known(seen) | Taken::Entry(seen) => {
                entries.insert(found.path.clone(), seen.entry);
                if let Some(why) = names::refused(&path) {
                    let text = format!("it is carried as it is and cannot be changed by a task: {why}");
                    self.limitations.push(Limitation::at(path.clone(), None, text));
                }
                Some(seen)
            }
            Taken::Withheld(seen) => {
                let text = "withheld because it looks like a secret; checks do not see it unless its path is allowed";
                self.limitations.push(Limitation::at(path.clone(), None, text));
                self.withheld.push(path.clone());
                seen.as_ref()
            }
            Taken::Gone => None,
            Taken::LeftOut(why) => {
                let text = format!("left out of the snapshot: it {why}");
                self.limitations.push(Limitation::at(path.clone(), None, text));
                None
            }
        };
        // What changed only just now may change again within one tick of the clock: not to be believed next time.
        if let Some(seen) = seen.filter(|seen| seen.stamp.ctime.max(seen.stamp.mtime) < settled && at.is_none()) {
            self.seen.insert(path, *seen);
        }
    }
}

/// Those of the files that are not what they were when they were read. What did not have to be read is as it was when
/// the walk came by.
fn changed(beneath: &Beneath, files: &[Found], taken: &[Taken]) -> Vec<Found> {
    let mut changed = Vec::new();
    let mut open: Option<(&[u8], std::io::Result<std::os::fd::OwnedFd>)> = None;
    for (found, taken) in files.iter().zip(taken) {
        let (Taken::Entry(seen) | Taken::Withheld(Some(seen))) = taken else { continue };
        let (folder, name) = split(found.path.as_bytes());
        if open.as_ref().is_none_or(|(path, _)| *path != folder) {
            open = Some((folder, beneath.folder(folder)));
        }
        let Some((_, Ok(fd))) = &open else { continue };
        match stamp_at(fd, name) {
            Ok(stamp) if stamp != seen.stamp => changed.push(Found { path: found.path.clone(), stamp }),
            _ => {}
        }
    }
    changed
}

/// Some file systems cannot hold the executable bit, and git then says so.
fn reads_modes(repository: &Repository) -> bool {
    let config = repository.config().and_then(|mut config| config.snapshot());
    config.and_then(|config| config.get_bool("core.filemode")).unwrap_or(true)
}

/// The provisioned files of a provision tree, as [`freeze`] reported them.
///
/// # Errors
/// When an object is missing or damaged.
pub fn provisioned(store: &Store, provision: &TreeId) -> Result<Vec<Provisioned>, Error> {
    let entries = store.entries(provision)?;
    let files = entries.iter().map(|(path, entry)| {
        let digest = Digest::of([store.blob(entry.blob)?]);
        Ok(Provisioned { path: path.clone(), mode: entry.mode, digest })
    });
    files.collect()
}

fn bytes_as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
