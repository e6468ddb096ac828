//! Station 3: what the developer has becomes a base, and with the patch engine the change becomes a candidate.

use std::time::Instant;

use task::{Candidate, Event, Limitation, StopReason, TreeId};
use worktree::{FreezeOptions, Interrupt, PatchError, Revision};

use crate::{Error, walk::Walk};

/// How freezing ended.
pub(crate) enum Freezing {
    Frozen,
    Stopped(StopReason),
}

impl Walk<'_> {
    /// What the request allows; a cancellation or the end of the task's time ends the snapshot.
    pub(crate) fn freeze_options(&self) -> FreezeOptions {
        let (cancel, end) = (self.house.cancel.clone(), Instant::now() + self.remaining());
        let interrupt = Interrupt::when(move || cancel.is_cancelled() || Instant::now() >= end);
        FreezeOptions { allow: self.state.request.allowed_files.clone(), interrupt }
    }

    pub(crate) fn freeze(&mut self) -> Result<Freezing, Error> {
        self.house.audience.doing("taking a snapshot");
        let options = self.freeze_options();
        let frozen = self.current()?;
        self.store.keep_provision(self.id(), &frozen.provision)?;
        let mut limitations = frozen.limitations;
        let revision = |name: &str, limitations: &mut Vec<Limitation>| -> Result<TreeId, Error> {
            let Revision { tree, limitations: more, .. } =
                worktree::freeze_revision(&self.workspace, &self.store, name, &options)?;
            limitations.extend(more);
            Ok(tree)
        };
        let (base, candidate) = match &self.state.request.candidate {
            None => match &self.state.request.base_revision {
                None => (frozen.base, None),
                Some(name) => (revision(name, &mut limitations)?, None),
            },
            Some(Candidate::Worktree) => (revision("HEAD", &mut limitations)?, Some(frozen.base)),
            Some(Candidate::Branch { name }) => {
                let fork = worktree::merge_base_with_head(&self.workspace, name)?;
                (revision(&fork, &mut limitations)?, Some(revision(name, &mut limitations)?))
            }
            Some(Candidate::Patch { artifact }) => {
                let patch = self.house.journal.artifact(artifact)?;
                let patch =
                    patch.ok_or_else(|| Error::Sentence("the patch is no longer in the journal; ask again".into()))?;
                match worktree::apply_patch(&self.store, &frozen.base, &patch) {
                    Ok(tree) => (frozen.base, Some(tree)),
                    // Text in which no change is found is no patch: "nothing to do" would be a false success.
                    Err(PatchError::Empty) if patch.trim_ascii().is_empty() => (frozen.base.clone(), Some(frozen.base)),
                    Err(PatchError::Store(error)) => return Err(error.into()),
                    Err(error) => {
                        let what = format!("the patch does not apply: {error}");
                        return Ok(Freezing::Stopped(StopReason::DoesNotApply { what: task::printable(&what) }));
                    }
                }
            }
        };
        // The objects last before anyone can read of them.
        self.store.keep(self.id(), &base)?;
        if let Some(candidate) = &candidate {
            self.store.keep(self.id(), candidate)?;
        }
        limitations.sort();
        limitations.dedup();
        self.record(Event::Snapshotted { base, candidate, limitations })?;
        Ok(Freezing::Frozen)
    }
}
