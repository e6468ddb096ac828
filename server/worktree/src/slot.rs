//! [`Slot`]: a leased place outside the workspace where checks see a tree.
//!
//! The shadow is written by us and never read back into a tree. What is recorded of each file as it was written
//! (inode, times, size, mode) tells later whether anything touched it.

mod clock;
mod keep;
mod remove;
mod sync;

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use task::{Mode, TreeId, TreePath};

use crate::beneath::{Beneath, split, stamp_at};
use crate::lock::Lock;
use crate::stamps::{self, SeenFiles};
use crate::{BlobId, Entries, Error, Store, Workspace, durable};
use clock::Clock;
pub use sync::Projection;

/// What became of the files of a projection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Not any more what was projected: content, kind or mode, missing ones included.
    pub differing: Vec<TreePath>,
    /// Written since, with the projected content in the end.
    pub rewritten: Vec<TreePath>,
}

/// A leased slot. Dropping it, or the end of the process, frees it.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    folder: PathBuf,
    /// What the shadow shows, as written.
    shown: SeenFiles,
    /// The entries of the last projection.
    wanted: Entries,
    clock: Clock,
    /// Whether the record on disk says the same as `shown`.
    is_recorded: bool,
    /// Its lock is the lease.
    _lease: Lock,
}

/// More tasks than this never run at a time in one workspace.
const SLOTS: u32 = 64;

const FOLDERS: [&str; 4] = ["shadow", "work", "proof", "sources"];

impl Slot {
    /// Takes the first slot that nobody holds.
    ///
    /// # Errors
    /// When the state folder cannot be written, or all slots are taken.
    pub fn lease(workspace: &Workspace) -> Result<Self, Error> {
        for number in 0..SLOTS {
            let folder = workspace.state().join(format!("slot-{number}"));
            for part in FOLDERS {
                let part = folder.join(part);
                fs::DirBuilder::new().recursive(true).mode(0o700).create(&part).map_err(Error::io("made", &part))?;
            }
            let Some(lock) = Lock::try_alone(&folder.join("lock"))? else { continue };
            let clock = Clock::load(&folder);
            let (shown, is_recorded) = recorded(&folder);
            return Ok(Self { number, folder, shown, wanted: Entries::new(), clock, is_recorded, _lease: lock });
        }
        Err(Error::io("leased: all 64 slots are taken", workspace.state())(std::io::ErrorKind::WouldBlock.into()))
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The projection of the tree.
    pub fn shadow(&self) -> PathBuf {
        self.folder.join("shadow")
    }

    /// The warm build folder.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// The build folder that only final checks write.
    pub fn proof(&self) -> PathBuf {
        self.folder.join("proof")
    }

    /// Unpacked registry sources, private to this slot.
    pub fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    /// Makes the shadow show exactly this tree and these provisioned files, writing only what differs.
    /// A file whose content is not what a build folder last saw gets an mtime later than everything in them.
    ///
    /// # Errors
    /// When the slot cannot be written or an object is missing.
    pub fn project(&mut self, store: &Store, tree: &TreeId, provision: Option<&TreeId>) -> Result<Projection, Error> {
        let mut wanted = Entries::clone(&*store.entries(tree)?);
        if let Some(provision) = provision {
            for (path, entry) in store.entries(provision)?.iter() {
                wanted.entry(path.clone()).or_insert(*entry);
            }
        }
        self.wanted = wanted;
        self.sync(store)
    }

    /// Files of the projection that are not any more what was projected (content, kind or mode), missing ones included.
    ///
    /// # Errors
    /// When the shadow cannot be read.
    pub fn verify(&self) -> Result<Vec<TreePath>, Error> {
        Ok(self.inspect()?.differing)
    }

    /// The same, and which files were written although they show what was projected.
    ///
    /// # Errors
    /// When the shadow cannot be read.
    pub fn inspect(&self) -> Result<Inspection, Error> {
        let beneath = Beneath::open(&self.shadow()).map_err(Error::io("opened", self.shadow()))?;
        let mut inspection = Inspection::default();
        let mut open: Option<(&[u8], std::io::Result<std::os::fd::OwnedFd>)> = None;
        for (path, entry) in self.wanted.iter().filter(|(_, entry)| entry.mode != Mode::Gitlink) {
            let (folder, name) = split(path.as_bytes());
            if open.as_ref().is_none_or(|(path, _)| *path != folder) {
                open = Some((folder, beneath.folder(folder)));
            }
            let stamp = match &open {
                Some((_, Ok(folder))) => stamp_at(folder, name).ok(),
                _ => None,
            };
            let untouched = stamp.is_some_and(|stamp| self.shown.get(path).is_some_and(|shown| shown.stamp == stamp));
            if !untouched {
                let same = sync::content(&beneath, path) == Some((entry.mode, entry.blob));
                if same { &mut inspection.rewritten } else { &mut inspection.differing }.push(path.clone());
            }
        }
        Ok(inspection)
    }

    /// Rewrites what anything touched since the projection and removes what does not belong; answers what
    /// [`Slot::verify`] would have said.
    ///
    /// # Errors
    /// When the shadow cannot be written.
    pub fn restore(&mut self, store: &Store) -> Result<Vec<TreePath>, Error> {
        let differing = self.verify()?;
        self.sync(store)?;
        Ok(differing)
    }

    /// Says whose code is about to run with the `proof` folder. Code can leave anything there and among the unpacked
    /// sources, and cargo believes both without looking. So what a tree that nobody vouches for left serves that tree
    /// only: before the code of another one, `proof` is as the trees that are vouched for left it, from a copy that no
    /// code sees, and the sources are unpacked anew. Answers whether that was done.
    ///
    /// # Errors
    /// When they cannot be emptied, or the note about it not be written.
    pub fn admit(&mut self, tree: &TreeId, vouched_for: bool) -> Result<bool, Error> {
        let note = self.folder.join("guest");
        let guest = match fs::read_to_string(&note) {
            Ok(guest) => Some(guest),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => None,
            Err(err) => return Err(Error::io("read", note)(err)),
        };
        let stale = guest.as_deref().is_some_and(|guest| guest != tree.to_string());
        if stale {
            for folder in ["proof", "sources/registry/src", "sources/git/checkouts"].map(|part| self.folder.join(part))
            {
                if folder.is_dir() {
                    self.empty(&folder)?;
                }
            }
        }
        let copy = self.folder.join("vouched");
        if stale {
            keep::bring_back(&copy, &self.proof(), vouched_for);
        } else if guest.is_none() && !vouched_for {
            keep::keep(&self.proof(), &copy, &self.folder.join("trash"));
        }
        if vouched_for && stale {
            fs::remove_file(&note).map_err(Error::io("removed", &note))?;
        } else if !vouched_for && (stale || guest.is_none()) {
            // On disk before the code runs, so a crash cannot lose it.
            durable::write_file(&note, &[tree.to_string().as_bytes()], 0o600).map_err(Error::io("written", &note))?;
        }
        Ok(stale)
    }

    fn sync(&mut self, store: &Store) -> Result<Projection, Error> {
        for build in [self.work(), self.proof()] {
            if self.clock.see(&build) == clock::Seen::Future {
                // Nothing can be later than what it holds, so what it holds cannot be judged: it goes.
                self.empty(&build)?;
            }
        }
        let (clock, folder, shadow) = (&mut self.clock, &self.folder, self.folder.join("shadow"));
        let stamp = &mut || {
            let stamp = clock.next();
            // The mark is on disk before any file bears it, so a crash cannot lead to an older one.
            clock.save(folder).map_err(Error::io("written", folder))?;
            Ok(stamp)
        };
        let result = sync::Sync::new(&shadow, folder, store).run(&self.wanted, &mut self.shown, stamp);
        if matches!(&result, Ok(done) if done.written.is_empty() && done.removed.is_empty()) && self.is_recorded {
            return result;
        }
        let record = self.folder.join("shown");
        self.is_recorded = true;
        stamps::save(&record, &note(), &self.shown).map_err(Error::io("written", record))?;
        result
    }

    /// Empties one of the folders of the slot, whatever hostile code left in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub fn empty(&mut self, folder: &Path) -> Result<(), Error> {
        remove::empty(folder, &self.folder.join("trash")).map_err(Error::io("emptied", folder))?;
        if folder == self.shadow() {
            self.is_recorded = false;
            self.shown.clear();
        }
        Ok(())
    }
}

/// What the shadow showed last. After a power cut names may be there whose bytes are not, so a record of another boot
/// is believed only where the bytes say the same.
///
/// Answers whether the record can stay as it is, too.
fn recorded(slot: &Path) -> (SeenFiles, bool) {
    let path = slot.join("shown");
    if let Some(shown) = stamps::load(&path, &note()) {
        return (shown, true);
    }
    let Some(mut shown) = stamps::load_any(&path) else { return (SeenFiles::new(), false) };
    let Ok(beneath) = Beneath::open(&slot.join("shadow")) else { return (SeenFiles::new(), false) };
    shown.retain(|path, seen| sync::content(&beneath, path) == Some((seen.entry.mode, seen.entry.blob)));
    (shown, false)
}

/// Names the boot.
fn note() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// The blob id and mode of what lies in the shadow, as a tree would have it.
type Content = (Mode, BlobId);
