//! [`Shelf`]: compilers that wait for the next task at their place, which then need not load anything.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use task::TreeId;
use task::port::{Compiler, Generation};

use crate::site::Place;

/// More compilers than this do not wait: each holds the memory of a whole project.
const CAP: usize = 2;

/// Compilers between two tasks. Each is ended when nobody asked for it in time, and all of them with the shelf.
#[derive(Debug)]
pub struct Shelf {
    shared: Arc<Shared>,
    /// How long a compiler waits.
    idle: Duration,
}

/// A compiler without a task.
pub(crate) struct Kept {
    /// Where it was opened.
    pub place: Place,
    pub compiler: Arc<dyn Compiler>,
    /// Of the text that it has.
    pub generation: Generation,
    /// The files that stood beside its base.
    pub provision: Option<TreeId>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The one that waits longest first, each with the end of its waiting.
    kept: Vec<(Instant, Kept)>,
    has_reaper: bool,
    is_closed: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("kept", &self.lock().kept.len()).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    /// An empty shelf on which compilers wait for so long.
    pub fn new(idle: Duration) -> Self {
        Self { shared: Arc::default(), idle }
    }

    /// How many compilers wait.
    pub fn waiting(&self) -> usize {
        self.shared.lock().kept.len()
    }

    /// Takes the compiler that waits at a place. The caller holds the slot there, so no other task works in it.
    pub(crate) fn take(&self, place: &Place) -> Option<Kept> {
        let mut state = self.shared.lock();
        let at = state.kept.iter().position(|(_, kept)| kept.place.is_same(place))?;
        Some(state.kept.remove(at).1)
    }

    /// Puts a compiler away, in place of one that waits in the same folder and of the oldest where there are too many.
    pub(crate) fn keep(&self, kept: Kept) {
        let mut ended = Vec::new();
        let mut state = self.shared.lock();
        if !state.has_reaper {
            let shared = Arc::clone(&self.shared);
            let reaper = std::thread::Builder::new().name("compiler-shelf".into()).spawn(move || reap(&shared));
            if reaper.is_err() {
                // Nobody would ever end it.
                return;
            }
            state.has_reaper = true;
        }
        let (replaced, mut others): (Vec<_>, Vec<_>) =
            state.kept.drain(..).partition(|(_, other)| other.place.shadow == kept.place.shadow);
        ended.extend(replaced);
        while others.len() >= CAP {
            ended.push(others.remove(0));
        }
        others.push((Instant::now() + self.idle, kept));
        state.kept = others;
        drop(state);
        self.shared.changed.notify_one();
        // Their processes end here, with nothing locked.
        drop(ended);
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        let ended = std::mem::take(&mut state.kept);
        drop(state);
        self.shared.changed.notify_one();
        drop(ended);
    }
}

/// Ends compilers whose time is over, until the shelf is gone.
fn reap(shared: &Shared) {
    let mut state = shared.lock();
    while !state.is_closed {
        let next = state.kept.iter().map(|(end, _)| *end).min();
        let wait = next.map(|end| end.saturating_duration_since(Instant::now()));
        state = match wait {
            None => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => {
                let now = Instant::now();
                let ended: Vec<_> = state.kept.extract_if(.., |(end, _)| *end <= now).collect();
                drop(state);
                drop(ended);
                shared.lock()
            }
            Some(wait) => shared
                .changed
                .wait_timeout(state, wait)
                .map_or_else(|poisoned| poisoned.into_inner().0, |woken| woken.0),
        };
    }
}
