//! [`Stale`]: when hints are worked out anew. Two hundred changes in a row cost one working out.

use std::time::{Duration, Instant};

/// Text has to be quiet this long before anything is worked out anew, but nothing waits longer than the second.
const QUIET: Duration = Duration::from_millis(40);
const LATEST: Duration = Duration::from_millis(400);
/// Whether hints have to be worked out anew, and when.
#[derive(Debug, Default)]
pub struct Stale {
    since: Option<Instant>,
    last: Option<Instant>,
    /// They are being worked out.
    pub mapping: bool,
}

impl Stale {
    pub fn touch(&mut self) {
        let now = Instant::now();
        self.since.get_or_insert(now);
        self.last = Some(now);
    }

    /// When the next working out is due; `None` while there is no need or one runs.
    pub fn due(&self) -> Option<Instant> {
        if self.mapping {
            return None;
        }
        Some((self.last? + QUIET).min(self.since? + LATEST))
    }

    pub fn taken(&mut self) {
        *self = Self { since: None, last: None, mapping: true };
    }
}
