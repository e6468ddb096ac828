//! [`Watcher`]: who waits for a model, in a task as well as in an explanation.

use std::cell::Cell;
use std::time::{Duration, Instant};

use sandbox::CancelToken;
use task::port::Waiting;

use crate::{Audience, House, Progress};

/// Ends a call when it was cancelled or its time is used up. Time in which the provider lets us wait is no time of ours.
pub(crate) struct Watcher {
    cancel: CancelToken,
    audience: Audience,
    deadline: Instant,
    paused: Cell<Duration>,
}

impl Watcher {
    pub fn new(house: &House, limit: Duration) -> Self {
        let (cancel, audience) = (house.cancel.clone(), house.audience.clone());
        Self { cancel, audience, deadline: Instant::now() + limit, paused: Cell::new(Duration::ZERO) }
    }

    /// How long the provider let us wait so far.
    pub fn waited(&self) -> Duration {
        self.paused.get()
    }
}

impl Waiting for Watcher {
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.deadline + self.paused.get()
    }

    fn heard(&self, text: &str) {
        self.audience.tell(Progress::Heard(text.to_owned()));
    }

    fn paused(&self, why: &str, wait: Duration) {
        self.paused.set(self.paused.get() + wait);
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.audience.tell(Progress::Waiting { why: why.to_owned(), ms });
    }
}
