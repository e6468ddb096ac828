//! [`Site`]: the leased slot of a task with what works in it: checks, and the compiler.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checks::{Equipment, Runner, Tools};
use sandbox::{
    CancelToken, CargoHome, CargoView, Finished, Interpreters, Jailed, RustHome, Sandbox, Toolchain, rust_toolchain,
};
use task::port::{Compiler, Generation};
use task::{Digest, Event, Limits, SandboxLevel, TreeId};
use worktree::{Slot, Store};

use crate::house::House;
use crate::lanes::Lane;
use crate::loaded::Loaded;
use crate::{Error, walk::Walk};

/// Where a compiler works and with what. Paths are the same inside the jail as outside.
#[derive(Debug, Clone)]
pub struct Place {
    pub sandbox: Sandbox,
    pub toolchain: Toolchain,
    /// The private cargo home of the slot, and what a jail has to mount to fill it.
    pub cargo_home: PathBuf,
    pub cargo: CargoView,
    /// The projection of the base.
    pub shadow: PathBuf,
    /// The warm build folder.
    pub work: PathBuf,
    /// Ends whatever runs.
    pub cancel: CancelToken,
    /// No question to the compiler takes longer: what the task has left.
    pub remaining: Duration,
}

impl Place {
    /// Whether a compiler that was opened there can work here, as far as folders and tools go.
    pub(crate) fn is_same(&self, other: &Place) -> bool {
        let folders = |place: &Place| [place.shadow.clone(), place.work.clone(), place.cargo_home.clone()];
        folders(self) == folders(other) && self.toolchain == other.toolchain && self.cargo == other.cargo
    }
}

/// A slot in use.
pub(crate) struct Site {
    pub slot: Slot,
    /// Jail, toolchain and cargo home, or why there are none.
    pub place: Result<Place, String>,
    /// Runs checks, or why nothing can.
    pub runner: Result<Arc<Runner>, String>,
    /// The toolchain file that the place was made for.
    pinned: Option<Arc<[u8]>>,
    /// What every tree of the task gets beside it.
    common: Option<TreeId>,
    /// What some trees get instead: the common files and a generated lock.
    provisions: BTreeMap<TreeId, TreeId>,
    /// Generated lock files, by the manifests they follow from.
    pub locks: BTreeMap<Digest, Vec<u8>>,
    /// Where checks with all features run, leased when first needed.
    pub lane: Option<Lane>,
    shown: Option<TreeId>,
}

impl Site {
    /// Makes the shadow show a tree.
    pub fn project(&mut self, store: &Store, tree: &TreeId) -> Result<(), Error> {
        if self.shown.as_ref() != Some(tree) {
            self.shown = None;
            let provision = self.provision(tree).cloned();
            self.slot.project(store, tree, provision.as_ref())?;
            self.shown = Some(tree.clone());
        }
        Ok(())
    }

    /// The files that stand beside a tree in its projection.
    pub fn provision(&self, tree: &TreeId) -> Option<&TreeId> {
        self.provisions.get(tree).or(self.common.as_ref())
    }

    /// Gives a tree other files beside it; it is projected anew when it is next asked for.
    pub fn provide(&mut self, tree: &TreeId, provision: TreeId) {
        self.provisions.insert(tree.clone(), provision);
        self.shown = None;
    }

    /// Whether the place has the toolchain that a tree asks for.
    pub fn fits(&self, store: &Store, tree: &TreeId) -> bool {
        self.pinned == pinned(store, tree)
    }
}

impl Walk<'_> {
    /// The site, its shadow showing this tree.
    pub(crate) fn site_on(&mut self, tree: &TreeId) -> Result<&mut Site, Error> {
        let store = Arc::clone(&self.store);
        let site = self.site_for(tree)?;
        site.project(&store, tree)?;
        Ok(site)
    }

    /// The compiler of a base, seeing a tree, and the generation to ask about.
    pub(crate) fn compiler_on(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
    ) -> Result<(Arc<dyn Compiler>, Generation), Error> {
        let store = Arc::clone(&self.store);
        if self.compiler.as_ref().is_none_or(|loaded| loaded.base != *base) {
            self.locks(base)?;
            let compilers = Arc::clone(&self.house.compilers);
            // One with another base is as good as one that another task had.
            self.compiler = None;
            let site = self.site_on(base)?;
            // Nothing that other trees left among the unpacked sources is read, nor goes while it is.
            site.slot.admit(base, true)?;
            self.compiler = Some(Loaded::load(&compilers, &store, &site.place, base, site.provision(base))?);
        }
        let loaded = self.compiler.as_mut();
        loaded.ok_or_else(|| Error::Sentence("no compiler is loaded".into()))?.show(&store, tree)
    }

    /// Gives the slot back, with what still runs in it ended.
    pub(crate) fn leave(&mut self) {
        // First, so that it waits already when another task leases the slot.
        self.compiler = None;
        self.ahead = None;
        self.site = None;
    }

    /// The site, whatever its shadow shows. A slot is leased when the task has none, with the toolchain that this tree
    /// asks for.
    pub(crate) fn site_for(&mut self, tree: &TreeId) -> Result<&mut Site, Error> {
        self.settle_ahead()?;
        if self.site.is_none() {
            let slot = Slot::lease(&self.workspace)?;
            let place = place(self.house, &self.store, tree, &slot, &self.workspace, self.remaining());
            let common = self.store.kept_provision(self.id())?;
            let number = slot.number();
            let top = self.workspace.top();
            let runner = runner(&self.house.sandbox, &place, top, &self.state.request.limits).map(Arc::new);
            self.site = Some(Site {
                slot,
                place,
                runner,
                pinned: pinned(&self.store, tree),
                common,
                provisions: BTreeMap::new(),
                locks: BTreeMap::new(),
                lane: None,
                shown: None,
            });
            self.record(Event::ShadowReady { slot: number })?;
        }
        self.site.as_mut().ok_or_else(|| Error::Sentence("no slot could be leased".into()))
    }
}

/// The toolchain file of a tree. rustup looks for the old name first.
fn pinned(store: &Store, tree: &TreeId) -> Option<Arc<[u8]>> {
    let read = |name: &str| store.read(tree, &name.parse().ok()?).ok().flatten();
    read("rust-toolchain").or_else(|| read("rust-toolchain.toml"))
}

/// What runs in a slot, for the toolchain that the tree asks for.
pub(crate) fn place(
    house: &House,
    store: &Store,
    tree: &TreeId,
    slot: &Slot,
    workspace: &worktree::Workspace,
    remaining: Duration,
) -> Result<Place, String> {
    let sandbox = house.sandbox.clone()?;
    let pinned = pinned(store, tree);
    let toolchain =
        rust_toolchain(&RustHome::from_env(), workspace.top(), pinned.as_deref()).map_err(|error| error.to_string())?;
    let cargo_home = slot.sources();
    let cargo = CargoHome::from_env().provision(&cargo_home).map_err(|error| error.to_string())?;
    let cancel = house.cancel.clone();
    Ok(Place { sandbox, toolchain, cargo_home, cargo, shadow: slot.shadow(), work: slot.work(), cancel, remaining })
}

/// The sandbox with the request's limits on each process.
struct Capped {
    sandbox: Sandbox,
    data_bytes: Option<u64>,
}

impl checks::Jail for Capped {
    fn run(&self, mut command: Jailed, cancel: &CancelToken) -> Finished {
        if let Some(bytes) = self.data_bytes {
            command.limits.data_bytes = command.limits.data_bytes.min(bytes);
        }
        self.sandbox.run(command, cancel)
    }
}

/// Whatever can run checks here: without a Rust toolchain those of other ecosystems still do.
pub(crate) fn runner(
    sandbox: &Result<Sandbox, String>,
    place: &Result<Place, String>,
    workspace: &Path,
    limits: &Limits,
) -> Result<Runner, String> {
    let jail = Capped { sandbox: sandbox.clone()?, data_bytes: limits.check_memory_bytes };
    let rust = place.as_ref().map(|place| Tools::new(&place.toolchain, &place.cargo, level())).map_err(Clone::clone);
    let equipment =
        Equipment { rust, interpreters: Interpreters::from_env(), workspace: workspace.to_owned(), level: level() };
    Ok(Runner::new(Arc::new(jail), equipment))
}

/// What confines commands here: the kernel does not count the processes of root.
pub(crate) fn level() -> SandboxLevel {
    use std::os::unix::fs::MetadataExt as _;
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|ourselves| ourselves.uid() == 0);
    if is_root { SandboxLevel::BubblewrapWithoutProcessCap } else { SandboxLevel::Bubblewrap }
}
