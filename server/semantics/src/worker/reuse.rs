//! What happens to a worker between two tasks: it is freed from the one, bound to the other, and given another base.

use std::time::Instant;

use sandbox::CancelToken;
use task::TreePath;
use task::port::Change;

use super::client::{Client, State, WorkerLimits, send_files};
use super::wire::{Order, Report};
use crate::questions::{Texts, difference};

impl Client {
    /// Frees the worker from its task: nothing of the task ends it any more. Answers whether it can serve another one:
    /// it runs, always had an answer, and its task was not cancelled.
    pub fn release(&self) -> bool {
        let mut state = self.lock();
        let is_fit = !state.has_failed && !state.tools.cancel.is_cancelled();
        if is_fit {
            state.bind(&CancelToken::new());
        }
        is_fit && state.worker.as_ref().is_some_and(|worker| !worker.has_ended())
    }

    /// Binds the worker to another task at the same place: its token ends the worker, and its limits count.
    pub fn renew(&self, cancel: &CancelToken, limits: WorkerLimits) {
        let mut state = self.lock();
        state.bind(cancel);
        state.limits = limits;
        state.last_used = Instant::now();
    }
}

impl State {
    fn bind(&mut self, cancel: &CancelToken) {
        self.tools.cancel = cancel.clone();
        if let Some(worker) = &mut self.worker {
            worker.obey(cancel);
        }
    }

    /// The whole text as it was pushed last.
    pub fn present(&self) -> Texts {
        let mut present = self.base.clone();
        for (path, bytes) in &self.changed {
            match bytes {
                Some(bytes) => present.insert(path.clone(), bytes.clone()),
                None => present.remove(path),
            };
        }
        present
    }
}

/// See [`task::port::Compiler::rebase`]. A worker that does not run has nothing that would be worth keeping.
pub fn rebase(state: &mut State, base: Change) -> bool {
    let new: Texts = base.files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))).collect();
    let change = difference(&state.present(), &new);
    let differing: Vec<TreePath> = difference(&state.base, &new).into_iter().map(|(path, _)| path).collect();
    let until = Instant::now() + state.limits.question;
    let Some(worker) = state.worker.as_mut().filter(|worker| !worker.has_ended()) else { return false };
    let files = change.iter().map(|(path, bytes)| (path, bytes.as_ref()));
    let report = send_files(worker, &mut 0, files)
        .and_then(|()| worker.send(&Order::Rebase { generation: base.generation, differing }))
        .and_then(|()| worker.receive(until));
    state.last_used = Instant::now();
    if !matches!(report, Ok(Report::Rebased { holds: true })) {
        state.worker = None;
        return false;
    }
    state.base = new;
    state.changed.clear();
    state.base_generation = Some(base.generation);
    state.generation = base.generation;
    true
}
