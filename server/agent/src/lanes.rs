//! Lanes: a check with all features runs in a slot of its own, beside the same check with default features.
//!
//! What has to be compiled after an edit is mostly a chain of crates, which keeps one core busy; two chains keep two. The
//! lanes share nothing that is written: shadow, build folder and unpacked sources are each slot's own, so what the tests
//! of one leave behind cannot disturb the other.

use std::sync::Arc;
use std::time::Duration;

use checks::{Order, Ran, Runner, Watch};
use sandbox::CancelToken;
use task::{Check, Digest, Features, Receipt, TreeId};
use worktree::{Slot, Store};

use crate::progress::Audience;
use crate::proving::{Shadow, TreeFiles, progress, void_if_rewritten};
use crate::site::{Site, place, runner};
use crate::{Error, walk::Walk};

/// A second slot of a task, with what runs in it.
pub(crate) struct Lane {
    slot: Slot,
    runner: Arc<Runner>,
    /// Tree and provision that its shadow shows.
    shown: Option<(TreeId, Option<TreeId>)>,
}

impl Lane {
    fn project(&mut self, store: &Store, tree: &TreeId, provision: Option<&TreeId>) -> Result<(), Error> {
        let wanted = Some((tree.clone(), provision.cloned()));
        if self.shown != wanted {
            self.shown = None;
            self.slot.project(store, tree, provision)?;
            self.shown = wanted;
        }
        Ok(())
    }
}

/// A check that has to run.
pub(crate) struct Job {
    pub check: Check,
    pub environment: Digest,
    pub base: Option<Receipt>,
}

/// What the runs of one tree have in common.
pub(crate) struct Common {
    pub store: Arc<Store>,
    pub tree: TreeId,
    pub vouched_for: bool,
    /// The longest that one of them may take.
    pub remaining: Duration,
    pub cancel: CancelToken,
    pub audience: Audience,
}

impl Common {
    fn run(&self, slot: &mut Slot, runner: &Runner, job: &Job) -> Result<Ran, Error> {
        slot.admit(&self.tree, self.vouched_for)?;
        let (shadow, build) = (slot.shadow(), slot.proof());
        let files = TreeFiles { store: &self.store, tree: &self.tree };
        let order = Order {
            check: &job.check,
            tree: &self.tree,
            files: &files,
            shadow: &shadow,
            build: &build,
            proof: true,
            environment: &job.environment,
            base: job.base.as_ref(),
            remaining: self.remaining,
        };
        let watch =
            Watch { cancel: self.cancel.clone(), progress: progress(self.audience.clone(), job.check.id.clone()) };
        let mut guard = Shadow { slot, store: &self.store, rewritten: Vec::new() };
        let mut ran = runner.run(&order, &watch, &mut guard);
        void_if_rewritten(&mut ran, guard.rewritten, job.base.as_ref());
        Ok(ran)
    }
}

impl Site {
    /// Runs the final checks of one kind on a tree, each lane's at the same time. Answers in their order.
    pub(crate) fn run_beside(&mut self, common: &Common, jobs: &[Job]) -> Result<Vec<Ran>, Error> {
        let (store, tree) = (&common.store, &common.tree);
        let main = self.runner.as_ref().map_err(|reason| Error::Sentence(reason.clone()))?.clone();
        if self.lane.is_none() || jobs.iter().any(|job| job.check.features == Features::Default) {
            self.project(store, tree)?;
        }
        let provision = self.provision(tree).cloned();
        let (slot, lane) = (&mut self.slot, &mut self.lane);
        let Some(lane) = lane else {
            // No second slot is free, or needed: one after the other, as good and slower.
            return jobs.iter().map(|job| common.run(slot, &main, job)).collect();
        };
        let (all, default): (Vec<_>, Vec<_>) =
            jobs.iter().enumerate().partition(|(_, job)| job.check.features == Features::All);
        if !all.is_empty() {
            lane.project(store, tree, provision.as_ref())?;
        }
        let (here, beside) = std::thread::scope(|scope| {
            let beside = scope.spawn(move || {
                all.into_iter().map(|(at, job)| (at, common.run(&mut lane.slot, &lane.runner, job))).collect::<Vec<_>>()
            });
            let here: Vec<_> = default.into_iter().map(|(at, job)| (at, common.run(slot, &main, job))).collect();
            (here, beside.join())
        });
        let beside = beside.map_err(|_| Error::Sentence("the second lane of the checks broke down".into()))?;
        let mut ran: Vec<_> = here.into_iter().chain(beside).collect();
        ran.sort_by_key(|(at, _)| *at);
        ran.into_iter().map(|(_, ran)| ran).collect()
    }
}

impl Walk<'_> {
    /// What runs of a tree have in common, as far as the task says.
    pub(crate) fn common(&self, tree: &TreeId) -> Common {
        Common {
            store: Arc::clone(&self.store),
            tree: tree.clone(),
            vouched_for: self.is_vouched_for(tree),
            remaining: self.command_time(),
            cancel: self.house.cancel.clone(),
            audience: self.house.audience.clone(),
        }
    }

    /// Leases the second slot where one of these checks runs there, if there is one to be had.
    pub(crate) fn second_lane(&mut self, jobs: &[Job], tree: &TreeId) -> Result<(), Error> {
        let is_wanted = jobs.iter().any(|job| job.check.features == Features::All);
        if !is_wanted || self.site_for(tree)?.lane.is_some() {
            return Ok(());
        }
        let Ok(slot) = Slot::lease(&self.workspace) else { return Ok(()) };
        let place = place(self.house, &self.store, tree, &slot, &self.workspace, self.remaining());
        let limits = self.state.request.limits.clone();
        let runner = runner(&self.house.sandbox, &place, self.workspace.top(), &limits);
        self.site_for(tree)?.lane = runner.ok().map(|runner| Lane { slot, runner: Arc::new(runner), shown: None });
        Ok(())
    }
}
