//! A task can be ended from another process: the journal says so, and this thread listens. It is also the task's pulse.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sandbox::CancelToken;
use task::port::{Journal, JournalError, Lease};

use crate::pulse::Pulse;

/// How long a cancellation may go unseen. Each look costs one read of an indexed row.
const INTERVAL: Duration = Duration::from_millis(300);

/// Turns a request to cancel into the token, until it is dropped.
pub(crate) struct CancelWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CancelWatch {
    pub fn new(journal: &Arc<dyn Journal>, lease: &Lease, cancel: &CancelToken, pulse: Option<&Pulse>) -> Self {
        let (stop, stopped) = channel::<()>();
        let (journal, lease, cancel, pulse) = (Arc::clone(journal), lease.clone(), cancel.clone(), pulse.cloned());
        pulse.iter().for_each(Pulse::beat);
        let watch = move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // A task that was taken over has to stop here too: whatever it still did would be refused. A journal
                // that cannot be read for a moment ends nothing.
                let taken = matches!(journal.fence(&lease), Err(JournalError::Superseded { .. }));
                if taken || journal.cancel_requested(&lease).unwrap_or(false) {
                    cancel.cancel();
                    return;
                }
                pulse.iter().for_each(Pulse::beat);
            }
        };
        let thread = std::thread::Builder::new().name("cancel-watch".into()).spawn(watch).ok();
        Self { stop: Some(stop), thread }
    }
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to report; a panic in it ends nothing.
            let _ = thread.join();
        }
    }
}
