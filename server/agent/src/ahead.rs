//! The checks of the base run while a model still reads and writes: whatever it changes, they are what its tree is
//! compared with. They have the slot for themselves; whoever wants it waits until they are done.

use std::thread::JoinHandle;

use checks::{Ran, Wanted};
use sandbox::CancelToken;
use task::{Plan, TreePath};

use crate::lanes::{Common, Job};
use crate::progress::Side;
use crate::proving::{TreeFiles, run_together, run_told};
use crate::site::Site;
use crate::{Error, walk::Walk};

/// Checks that run meanwhile, in the slot that was given to them. Dropping it ends them.
pub(crate) struct Ahead {
    thread: Option<JoinHandle<(Site, Vec<Ran>)>>,
    stop: CancelToken,
}

impl Ahead {
    /// The slot, and what came of the checks. `None` where the thread broke down.
    fn finish(mut self) -> Option<(Site, Vec<Ran>)> {
        self.thread.take()?.join().ok()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.cancel();
            // Whatever came of it, nobody asks any more.
            let _ = thread.join();
        }
    }
}

impl Walk<'_> {
    /// Begins with the checks of the base that a change within the plan will need, once for each process that works on the
    /// task, where no receipts say yet what they say.
    pub(crate) fn begin_ahead(&mut self, plan: &Plan) -> Result<(), Error> {
        let base = self.base()?;
        if self.house.sandbox.is_err() || std::mem::replace(&mut self.desk().begun_ahead, true) {
            return Ok(());
        }
        let store = std::sync::Arc::clone(&self.store);
        let entries = store.entries(&base)?;
        let mut touched: Vec<&TreePath> = Vec::new();
        for step in &plan.steps {
            touched.extend(step.scope.inside(entries.keys())?);
        }
        let found = checks::find(&TreeFiles { store: &store, tree: &base }, Wanted::default()).checks_for(touched);
        let mut jobs = Vec::new();
        for check in found.checks {
            if found.unavailable.contains_key(&check.id) {
                continue;
            }
            // What cannot run says why when its result is wanted.
            if let Ok(environment) = self.environment(&base, &check)?
                && self.known(&base, &check, &environment)?.is_none()
            {
                jobs.push(Job { check, environment, base: None });
            }
        }
        if jobs.is_empty() {
            return Ok(());
        }
        self.second_lane(&jobs, &base)?;
        let stop = self.house.cancel.child();
        let common = Common { cancel: stop.clone(), ..self.common(&base) };
        let Some(site) = self.site.take() else { return Ok(()) };
        self.ran += u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        let thread = std::thread::Builder::new().name("base checks".into());
        // Without a thread, the slot is leased once more when it is needed.
        self.ahead = thread.spawn(move || run(site, &common, &jobs)).ok().map(|it| Ahead { thread: Some(it), stop });
        Ok(())
    }

    /// Waits for the checks that run meanwhile, takes the slot back and writes down what they said.
    pub(crate) fn settle_ahead(&mut self) -> Result<(), Error> {
        let Some(ahead) = self.ahead.take() else { return Ok(()) };
        let Some((site, runs)) = self.set_up(|_| Ok(ahead.finish()))? else { return Ok(()) };
        self.site = Some(site);
        for ran in runs {
            // What was cut short or broke down runs once more when it is needed, and says why then.
            let _ = self.write_down(ran)?;
        }
        Ok(())
    }

    /// Waits until nothing else reads or writes the slot.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        self.settle_ahead()?;
        self.settle_warming();
        Ok(())
    }
}

fn run(mut site: Site, common: &Common, jobs: &[Job]) -> (Site, Vec<Ran>) {
    let mut runs = Vec::new();
    for group in jobs.chunk_by(|one, other| run_together(&one.check, &other.check)) {
        if common.cancel.is_cancelled() {
            break;
        }
        // An error here shows again when the check is needed.
        runs.extend(run_told(&mut site, common, group, Side::Base).into_iter().flatten());
    }
    (site, runs)
}
