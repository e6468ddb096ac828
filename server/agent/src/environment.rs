//! The environment of a check: what its result depends on besides the tree, with the lock file where a tree has none.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use checks::Ecosystem;
use task::{Check, Digest, Mode, PathError, TreeId, TreePath, Verdict};
use worktree::{Provisioned, Store};

use crate::proving::TreeFiles;
use crate::site::level;
use crate::{Error, walk::Walk};

/// Why a check cannot run: which word describes it, and a sentence.
pub(crate) type Missing = (Verdict, String);

impl Walk<'_> {
    /// The digest for a check of a tree. The tree is not projected for it, unless it needs a `Cargo.lock` and has none.
    pub(crate) fn environment(&mut self, tree: &TreeId, check: &Check) -> Result<Result<Digest, Missing>, Error> {
        let store = Arc::clone(&self.store);
        let (cancel, remaining) = (self.house.cancel.clone(), self.command_time());
        let files = TreeFiles { store: &store, tree };
        let is_cargo = checks::ecosystem(check) == Some(Ecosystem::Cargo);
        // For every check, so that what stands beside a tree does not depend on which of them comes first.
        let installed = self.installed(&store, tree)?;
        let provided = if is_cargo { self.lock(&store, tree, &check.root)? } else { installed };
        if let Err(missing) = provided {
            return Ok(Err(missing));
        }
        let site = self.site_for(tree)?;
        let Ok(runner) = site.runner.clone() else { return Ok(Err(unavailable(site.runner.as_ref().err()))) };
        if is_cargo && !site.fits(&store, tree) {
            let reason = "the change asks for another Rust toolchain than its base (rust-toolchain); prove it where that one is used";
            return Ok(Err((Verdict::Unavailable, reason.to_owned())));
        }
        let provisioned = match site.provision(tree) {
            Some(provision) => worktree::provisioned(&store, provision)?,
            None => Vec::new(),
        };
        let provisioned: Vec<(TreePath, Digest)> =
            provisioned.into_iter().map(|Provisioned { path, digest, .. }| (path, digest)).collect();
        let environment = runner.environment(&files, check, &provisioned, &site.slot.shadow(), remaining, &cancel);
        // What confines the commands decides their results as well.
        let confinement = format!("{:?} {:?}", level(), self.state.request.limits.check_memory_bytes);
        let digest = environment.map(|it| Digest::of([it.digest.as_str(), &confinement]));
        Ok(digest.map_err(|error| (error.verdict, error.reason)))
    }

    /// A tree without a lock file gets one, generated in the jail from its manifests and provisioned beside it.
    fn lock(&mut self, store: &Store, tree: &TreeId, root: &Option<TreePath>) -> Result<Result<(), Missing>, Error> {
        let Some(inputs) = checks::lock_inputs(&TreeFiles { store, tree }, root) else { return Ok(Ok(())) };
        let in_root = |name: &str| -> Result<TreePath, Error> {
            let name: TreePath = name.parse().map_err(|error: PathError| Error::Sentence(error.to_string()))?;
            Ok(root.as_ref().map_or(name.clone(), |root| root.join(&name)))
        };
        // A change may add or remove a whole workspace: the side that lacks it has nothing that a lock could follow from.
        if store.entry(tree, &in_root("Cargo.toml")?)?.is_none() {
            return Ok(Ok(()));
        }
        let path = in_root("Cargo.lock")?;
        let cancel = self.house.cancel.clone();
        let remaining = self.command_time();
        let site = self.site_for(tree)?;
        if let Some(provision) = site.provision(tree)
            && store.entry(provision, &path)?.is_some()
        {
            return Ok(Ok(()));
        }
        let key = Digest::of([inputs.as_str().as_bytes(), path.as_bytes()]);
        let bytes = match site.locks.get(&key) {
            Some(bytes) => bytes.clone(),
            None => {
                let Ok(runner) = site.runner.clone() else { return Ok(Err(unavailable(site.runner.as_ref().err()))) };
                site.project(store, tree)?;
                match runner.generate_lock(&site.slot.shadow(), root, remaining, &cancel) {
                    Ok(bytes) => bytes,
                    Err(error) => return Ok(Err((error.verdict, error.reason))),
                }
            }
        };
        site.locks.insert(key, bytes.clone());
        let changes = [(path, Some((bytes.into(), Mode::File)))].into();
        let provision = match site.provision(tree) {
            Some(provision) => store.edit(provision, &changes)?,
            None => store.edit(&store.tree(&BTreeMap::new())?, &changes)?,
        };
        site.provide(tree, provision);
        Ok(Ok(()))
    }

    /// The links to what the developer installed come to stand beside a tree.
    fn installed(&mut self, store: &Store, tree: &TreeId) -> Result<Result<(), Missing>, Error> {
        use std::os::unix::ffi::OsStrExt as _;
        let links = match checks::links(&TreeFiles { store, tree }, self.workspace.top()) {
            Ok(links) => links,
            Err(reason) => return Ok(Err((Verdict::Unavailable, reason))),
        };
        let site = self.site_for(tree)?;
        let mut changes = BTreeMap::new();
        for (path, target) in links {
            let there = match site.provision(tree) {
                Some(provision) => store.entry(provision, &path)?.is_some(),
                None => false,
            };
            if !there {
                changes.insert(path, Some((target.as_os_str().as_bytes().into(), Mode::Symlink)));
            }
        }
        if !changes.is_empty() {
            let provision = match site.provision(tree) {
                Some(provision) => store.edit(provision, &changes)?,
                None => store.edit(&store.tree(&BTreeMap::new())?, &changes)?,
            };
            site.provide(tree, provision);
        }
        Ok(Ok(()))
    }

    /// Gives a tree every lock file that it lacks. A workspace that cannot have one is left alone: whoever needs it says so.
    pub(crate) fn locks(&mut self, tree: &TreeId) -> Result<(), Error> {
        let store = Arc::clone(&self.store);
        let found = checks::find(&TreeFiles { store: &store, tree }, checks::Wanted::default());
        for workspace in found.workspaces.iter().filter(|workspace| workspace.unavailable.is_none()) {
            // Only what the journal or the store say is an error here.
            let _ = self.lock(&store, tree, &workspace.root)?;
        }
        Ok(())
    }

    /// The longest that one command may take now.
    pub(crate) fn command_time(&self) -> Duration {
        self.remaining().min(Duration::from_millis(self.state.request.limits.check_timeout_ms))
    }
}

fn unavailable(reason: Option<&String>) -> Missing {
    (Verdict::Unavailable, reason.cloned().unwrap_or_else(|| "there is nothing to run it with".to_owned()))
}
