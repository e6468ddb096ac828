//! How long to wait before the next attempt, and when to stop waiting at all.

use std::time::{Duration, Instant};

use task::port::Waiting;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);
/// So often a provider's own word is the wait; one that always says "now" is not asked thousands of times.
const TRUSTED: u32 = 3;
const TICK: Duration = Duration::from_millis(50);
/// Attempts that may have been paid for and brought nothing. More of them are no bad luck.
const MOST_CHARGED: u32 = 5;

/// The pauses of one call.
#[derive(Debug)]
pub(crate) struct Pauses {
    patience: Duration,
    /// The first failure.
    since: Option<Instant>,
    failures: u32,
    charged: u32,
}

/// The wait is over because the caller's interest is.
pub(crate) struct Over;

impl Pauses {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, since: None, failures: 0, charged: 0 }
    }

    /// How long to wait after another failure; `None` when it is time to give up. What a provider asks for is waited for
    /// entirely: an earlier attempt would only make it longer.
    pub(crate) fn next(&mut self, asked: Option<Duration>, was_charged: bool, now: Instant) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        let own = (FIRST * 2u32.saturating_pow(self.failures.min(16))).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.charged += u32::from(was_charged);
        // Many clients that failed at the same time must not return at the same time.
        let jitter = 0.5 + fastrand::f64() / 2.0;
        let wait = match asked {
            Some(asked) if self.failures <= TRUSTED => asked + FIRST.mul_f64(jitter - 0.5),
            Some(asked) => asked.max(own.mul_f64(jitter)),
            None => own.mul_f64(jitter),
        };
        (self.charged < MOST_CHARGED && now + wait <= since + self.patience).then_some(wait)
    }
}

/// Waits, asking ten times a second and more whether to go on.
pub(crate) fn sleep(wait: Duration, waiting: &dyn Waiting) -> Result<(), Over> {
    let end = Instant::now() + wait;
    loop {
        if waiting.is_over() {
            return Err(Over);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(TICK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_patience_ends() {
        let mut pauses = Pauses::new(Duration::from_secs(120));
        let (start, mut now, mut last) = (Instant::now(), Instant::now(), Duration::ZERO);
        let mut waits = 0;
        while let Some(wait) = pauses.next(None, false, now) {
            assert!(wait >= last / 3 && wait <= LONGEST, "{wait:?} after {last:?}");
            (now, last, waits) = (now + wait, wait, waits + 1);
        }
        assert!((7..20).contains(&waits), "{waits}");
        assert!(now - start <= Duration::from_secs(120) && now - start > Duration::from_secs(80));
    }

    #[test]
    fn what_a_provider_asks_for_is_waited_for_or_not_at_all() {
        let now = Instant::now();
        let asked = Duration::from_secs(40);
        let wait = Pauses::new(Duration::from_secs(60)).next(Some(asked), false, now).unwrap();
        assert!(wait >= asked && wait < asked + FIRST);
        assert_eq!(Pauses::new(Duration::from_secs(30)).next(Some(asked), false, now), None);
        let mut pauses = Pauses::new(Duration::from_secs(1000));
        let waits: Vec<_> = (0..9).filter_map(|_| pauses.next(Some(Duration::ZERO), false, now)).collect();
        assert!(waits[..3].iter().all(|wait| *wait <= FIRST) && waits[8] >= LONGEST / 2, "{waits:?}");
    }

    #[test]
    fn attempts_that_cost_something_are_few() {
        let mut pauses = Pauses::new(Duration::from_secs(10_000));
        let now = Instant::now();
        let waits = std::iter::from_fn(|| pauses.next(None, true, now)).count();
        assert_eq!(waits, MOST_CHARGED as usize - 1);
    }
}
