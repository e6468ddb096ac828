//! The walk of a task from its request to a diff, station by station.
//!
//! What is done next follows from the folded events alone, so a task whose process died goes on in another one exactly
//! where its journal says. A fact is in the journal before anything that rests on it happens.

use std::sync::Arc;
use std::time::{Duration, Instant};

use task::port::{JournalError, Lease};
use task::{Conclusion, Engine, Event, Plan, Record, Request, State, Station, StopReason, TaskId, Tool, TreeId};
use worktree::{Store, Workspace};

use crate::ahead::Ahead;
use crate::cancel::CancelWatch;
use crate::freeze::Freezing;
use crate::house::House;
use crate::loaded::Loaded;
use crate::model_engine::Desk;
use crate::pulse::Pulse;
use crate::site::Site;
use crate::{Error, Progress, plan};

/// A task that this process owns.
pub struct Walk<'h> {
    pub(crate) house: &'h House,
    pub(crate) lease: Lease,
    pub(crate) state: State,
    pub(crate) workspace: Workspace,
    pub(crate) store: Arc<Store>,
    /// The compiler, loaded when first needed. It works in the slot, so it goes before it.
    pub(crate) compiler: Option<Loaded>,
    /// Checks that run with the slot meanwhile.
    pub(crate) ahead: Option<Ahead>,
    /// The slot with what runs in it, leased when first needed.
    pub(crate) site: Option<Site>,
    /// Sandboxed commands since the last fact that counts them.
    pub(crate) ran: u32,
    /// The tree whose checks run whatever receipts say.
    pub(crate) anew: Option<TreeId>,
    /// What the model engine works with, made when it is first needed.
    pub(crate) desk: Option<Box<Desk>>,
    deadline: Instant,
}

impl<'h> Walk<'h> {
    /// Begins a task; `Err` of the inner result names the task that was begun before under the same request id.
    ///
    /// # Errors
    /// When the journal or the workspace cannot be worked with.
    pub fn begin(house: &'h House, request: Request) -> Result<Result<Self, TaskId>, Error> {
        let workspace = Workspace::open(std::path::Path::new(&request.workspace), &house.state)?;
        let store = Arc::new(Store::open(&workspace)?);
        let (id, lease) = house.journal.begin(&request)?;
        let Some(lease) = lease else { return Ok(Err(id)) };
        Ok(Ok(Self::new(house, lease, State::new(request), workspace, store)))
    }

    fn new(house: &'h House, lease: Lease, state: State, workspace: Workspace, store: Arc<Store>) -> Self {
        let deadline = Instant::now() + Duration::from_millis(state.request.limits.timeout_ms);
        Self {
            house,
            lease,
            state,
            workspace,
            store,
            compiler: None,
            ahead: None,
            site: None,
            ran: 0,
            anew: None,
            desk: None,
            deadline,
        }
    }

    /// Takes over a task whose process ended or is stopped, to walk on.
    ///
    /// # Errors
    /// When there is no such task, another process works on it, or its history cannot be read.
    pub fn resume(house: &'h House, id: &TaskId) -> Result<Self, Error> {
        let mut walk = Self::take(house, id)?;
        if walk.state.conclusion.is_none() {
            let records = house.journal.records(id)?;
            let lost_ms = Pulse::of(&house.state, id).lost_ms(&records);
            let used = active_ms(&records).saturating_add(lost_ms);
            let left = walk.state.request.limits.timeout_ms.saturating_sub(used);
            walk.deadline = Instant::now() + Duration::from_millis(left);
            walk.record(Event::Resumed { process: std::process::id(), lost_ms })?;
        }
        Ok(walk)
    }

    /// Takes a task that nobody works on, for one more act: a selection, a publication, a cancellation. The act has
    /// the whole time limit of the task for itself.
    ///
    /// # Errors
    /// As [`Walk::resume`].
    pub fn take(house: &'h House, id: &TaskId) -> Result<Self, Error> {
        let lease = house.journal.acquire(id)?;
        let records = house.journal.records(id)?;
        let state = fold(id, &records)?;
        let workspace = Workspace::open(std::path::Path::new(&state.request.workspace), &house.state)?;
        let store = Arc::new(Store::open(&workspace)?);
        Ok(Self::new(house, lease, state, workspace, store))
    }

    /// Gives the task back after an act.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn give_back(mut self) -> Result<(), Error> {
        self.leave();
        Ok(self.house.journal.release(&self.lease)?)
    }

    /// Ends a task that nobody works on.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn cancel(mut self) -> Result<(), Error> {
        if self.state.conclusion.is_none() {
            let conclusion = self.hand_over(Conclusion::Cancelled)?;
            self.record(Event::Concluded { conclusion })?;
        }
        self.give_back()
    }

    /// Time in which the task waited for its turn does not count as active time.
    pub fn rested(&mut self, waited: Duration) {
        self.deadline += waited;
    }

    /// Closes a task that has ended: its diff asks for no review any more.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn close(mut self) -> Result<(), Error> {
        if self.state.station == Station::Concluded {
            self.record(Event::Closed {})?;
        }
        self.give_back()
    }

    pub fn id(&self) -> &TaskId {
        &self.lease.task
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Walks until the task has ended or waits, and gives it back.
    ///
    /// # Errors
    /// [`Error::Paused`] when its provider cannot be reached; else only when nothing can be written down any more: the
    /// journal is gone, or another process took over.
    pub fn run(&mut self) -> Result<Conclusion, Error> {
        let pulse = Pulse::of(&self.house.state, self.id());
        let watch = CancelWatch::new(&self.house.journal, &self.lease, &self.house.cancel, Some(&pulse));
        let ended = self.walk_on();
        self.leave();
        drop(watch);
        // What was worked since the last fact is in no journal that broke.
        if !matches!(ended, Err(Error::Journal(_))) {
            pulse.stop();
        }
        let released = self.house.journal.release(&self.lease);
        let conclusion = ended?;
        released?;
        Ok(conclusion)
    }

    fn walk_on(&mut self) -> Result<Conclusion, Error> {
        loop {
            if let Some(conclusion) = &self.state.conclusion {
                return Ok(conclusion.clone());
            }
            let ended = match self.step() {
                // What a limit cut short failed for no other reason.
                Ok(Some(Conclusion::Infrastructure { .. })) if self.cut_short().is_some() => self.cut_short(),
                Ok(ended) => ended,
                // Whoever resumes a task whose provider cannot be reached tries again.
                Err(error @ (Error::Journal(_) | Error::Paused(_))) => return Err(error),
                Err(error) => self.cut_short().or_else(|| Some(Conclusion::Infrastructure { reason: error.chain() })),
            };
            // Only the developer can go on: the task waits, and has not ended.
            if let Some(waits @ Conclusion::NeedsAnswer { .. }) = &ended
                && self.state.work.wait.is_some()
            {
                return Ok(waits.clone());
            }
            if let Some(conclusion) = ended {
                let conclusion = self.hand_over(conclusion)?;
                self.record(Event::Concluded { conclusion })?;
            }
        }
    }

    /// One station further, or the end.
    fn step(&mut self) -> Result<Option<Conclusion>, Error> {
        // Where the diff is there, nothing is left that could be cut short.
        if self.state.station < Station::DiffReady
            && let Some(conclusion) = self.cut_short()
        {
            return Ok(Some(conclusion));
        }
        match self.state.station {
            Station::Requested => self.admit(),
            Station::Admitted => {
                let frozen = self.set_up(Self::freeze)?;
                Ok(match frozen {
                    Freezing::Frozen => None,
                    Freezing::Stopped(reason) => Some(Conclusion::Stopped { reason }),
                })
            }
            Station::Frozen | Station::Planned | Station::Approved | Station::Attempting
                if self.state.request.engine == Engine::Model =>
            {
                self.model_step()
            }
            Station::Frozen => {
                let plan = plan::plan(&self.state.request)?;
                self.record(Event::PlanProposed { plan })?;
                Ok(None)
            }
            // A deterministic plan holds nothing that the request did not say: asking was the approval.
            Station::Planned => {
                let version = self.state.plan.as_ref().map_or(1, |plan| plan.version);
                self.record(Event::PlanApproved { version, note: 0 })?;
                Ok(None)
            }
            Station::Approved | Station::Attempting => self.attempt(),
            Station::DiffReady | Station::Concluded | Station::Closed => {
                Ok(Some(self.state.conclusion.clone().unwrap_or_else(|| self.judged())))
            }
        }
    }

    /// How the task ends where it was cancelled or its time is used up.
    pub(crate) fn cut_short(&self) -> Option<Conclusion> {
        if self.house.cancel.is_cancelled() {
            return Some(Conclusion::Cancelled);
        }
        let limit_ms = self.state.request.limits.timeout_ms;
        self.remaining().is_zero().then_some(Conclusion::Stopped { reason: StopReason::Time { limit_ms } })
    }

    /// Station 2: whether the request can be taken here at all.
    fn admit(&mut self) -> Result<Option<Conclusion>, Error> {
        let mut notes = Vec::new();
        let request = &self.state.request;
        if request.engine != Engine::Patch && !request.tools.contains(&Tool::Edit) {
            let what = "the request permits no edits (`--tools` leaves `edit` out)".to_owned();
            return Ok(Some(Conclusion::Stopped { reason: StopReason::OutOfScope { what } }));
        }
        if request.engine == Engine::Compiler {
            if let Err(reason) = &self.house.sandbox {
                return Ok(Some(Conclusion::Infrastructure { reason: reason.clone() }));
            }
        } else if request.engine == Engine::Model
            && let Err(reason) = &self.house.model
        {
            return Ok(Some(Conclusion::Infrastructure { reason: reason.clone() }));
        } else if let Err(reason) = &self.house.sandbox {
            notes.push(format!("checks are unavailable: {reason}"));
        }
        self.record(Event::Admitted { notes })?;
        Ok(None)
    }

    /// Whatever ended the task, the tree it reached becomes the diff; a process before this one may have said already how
    /// it ended.
    fn hand_over(&mut self, conclusion: Conclusion) -> Result<Conclusion, Error> {
        if self.state.tree.is_some() {
            return Ok(self.state.ended.clone().unwrap_or(conclusion));
        }
        let start = self.start().map(|start| start.tree).ok();
        let (tree, limitations) = match self.state.attempts.last() {
            // Where nothing else was reached, the comment that asked stays.
            Some(attempt) if Some(&attempt.tree) == start.as_ref() => (self.state.base.clone(), Vec::new()),
            Some(attempt) => (Some(attempt.tree.clone()), attempt.limitations.clone()),
            None => (self.state.candidate.clone(), Vec::new()),
        };
        if let Some(tree) = tree {
            let (ended, ran) = (Some(conclusion.clone()), self.take_ran());
            self.record(Event::DiffReady { tree, limitations, ended, ran })?;
        }
        Ok(conclusion)
    }

    /// What the judgement of the diff's tree means for the task.
    fn judged(&self) -> Conclusion {
        if let Some(ended) = &self.state.ended {
            return ended.clone();
        }
        let judgement = self.state.tree.as_ref().and_then(|tree| self.state.judgement(tree));
        match judgement {
            Some(judgement) if judgement.verified => Conclusion::Verified,
            Some(judgement) => Conclusion::NotVerified { reasons: judgement.reasons.clone() },
            None => Conclusion::NotVerified { reasons: vec!["no check judged this tree".into()] },
        }
    }

    /// Writes a fact down, durably, then lets it count and tells who listens.
    pub(crate) fn record(&mut self, event: Event) -> Result<(), JournalError> {
        self.house.journal.append(&self.lease, &event)?;
        self.state.apply(&event);
        self.house.audience.tell(Progress::Happened(event));
        Ok(())
    }

    /// What has to be there before a model can begin: with it, this has a time of its own, so that a cold build does not use up
    /// the time that the model has. It is bounded like any command and any snapshot all the same.
    pub(crate) fn set_up<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let began = Instant::now();
        let done = f(self);
        if self.state.request.engine == Engine::Model {
            self.rested(began.elapsed());
        }
        done
    }

    /// The tree that everything is compared with, once it was frozen.
    pub(crate) fn base(&self) -> Result<TreeId, Error> {
        self.state.base.clone().ok_or_else(|| Error::Sentence("the task has no base".into()))
    }

    /// The present version of the plan, once there is one.
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        self.state.plan.clone().ok_or_else(|| Error::Sentence("the task has no plan".into()))
    }

    /// More active time.
    pub(crate) fn extend(&mut self, ms: u64) {
        self.deadline += Duration::from_millis(ms);
    }

    /// The commands that ran and are not counted yet, to be counted by the fact that is recorded now.
    pub(crate) fn take_ran(&mut self) -> u32 {
        std::mem::take(&mut self.ran)
    }

    /// What is left of the task's active time.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // A server lives on after a fault in one act: the task is not to be held until it ends.
        if std::thread::panicking() {
            let _ = self.house.journal.release(&self.lease);
        }
    }
}

impl std::fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk").field("task", self.id()).field("station", &self.state.station).finish_non_exhaustive()
    }
}

/// The state of a task from its journal.
pub(crate) fn fold(id: &TaskId, records: &[Record]) -> Result<State, Error> {
    let events = records.iter().filter_map(|record| record.event.as_ref().ok());
    State::fold(events)
        .ok_or_else(|| Error::Sentence(format!("the history of task {id} does not begin with its request")))
}

/// The time in which some process worked on the task: gaps between events of one owner, and what owners that died had
/// worked after their last one. A clock that jumped back counts as no time.
pub(crate) fn active_ms(records: &[Record]) -> u64 {
    let by_model = records
        .iter()
        .any(|record| matches!(&record.event, Ok(Event::Requested { request }) if request.engine == Engine::Model));
    // As `Walk::set_up` counts.
    let set_up = |record: &Record| {
        by_model
            && matches!(
                record.event,
                Ok(Event::Snapshotted { .. } | Event::ShadowReady { .. } | Event::Baselined { .. })
            )
    };
    let gaps = records
        .windows(2)
        .filter(|pair| pair[0].epoch == pair[1].epoch && !set_up(&pair[1]))
        .map(|pair| pair[1].at.0.saturating_sub(pair[0].at.0));
    let lost = records.iter().map(|record| match record.event {
        Ok(Event::Resumed { lost_ms, .. }) => lost_ms,
        _ => 0,
    });
    gaps.chain(lost).fold(0, u64::saturating_add)
}
