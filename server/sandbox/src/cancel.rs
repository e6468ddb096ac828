//! The token that ends runs from any thread.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Ends every run that was given it, now and later: once cancelled, always cancelled. Clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    /// Event descriptors of the runs under way; weak, so that a token that outlives thousands of runs keeps none.
    runs: Mutex<Vec<Weak<OwnedFd>>>,
    parent: Option<CancelToken>,
}

impl CancelToken {
    /// A token that has not been cancelled.
    pub fn new() -> Self {
        CancelToken::default()
    }

    /// A token that ends with this one, and can be cancelled alone.
    pub fn child(&self) -> Self {
        CancelToken { shared: Arc::new(Shared { parent: Some(self.clone()), ..Shared::default() }) }
    }

    /// Ends all runs that hold the token. Returns at once; the runs are dead when their `wait` returns.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        for run in self.shared.runs.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(event) = run.upgrade() {
                wake(&event);
            }
        }
    }

    /// Whether it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::SeqCst)
            || self.shared.parent.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Makes `event` readable when the token is cancelled, at once if it already is.
    pub(crate) fn register(&self, event: &Arc<OwnedFd>) {
        {
            let mut runs = self.shared.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.retain(|run| run.strong_count() > 0);
            runs.push(Arc::downgrade(event));
        }
        if let Some(parent) = &self.shared.parent {
            parent.register(event);
        }
        // The flag is set before the list is drained: whoever registers too late for the one sees the other.
        if self.is_cancelled() {
            wake(event);
        }
    }
}

impl CancelToken {
    /// Takes over what ends the runs of `own`, a token of its own for each, from the token that ended them so far.
    pub(crate) fn take_over(&self, own: &CancelToken, from: &CancelToken) {
        let runs = |token: &CancelToken| token.shared.runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let of_own = runs(own);
        let kept = |run: &Weak<OwnedFd>| !of_own.iter().any(|other| other.ptr_eq(run));
        from.shared.runs.lock().unwrap_or_else(PoisonError::into_inner).retain(kept);
        for event in of_own.iter().filter_map(Weak::upgrade) {
            self.register(&event);
        }
    }
}

/// Makes an event descriptor readable; one that is already full is readable as it is.
pub(crate) fn wake(event: &OwnedFd) {
    let _full = rustix::io::write(event, &1u64.to_ne_bytes());
}
