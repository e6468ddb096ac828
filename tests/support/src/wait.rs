//! Waiting for something to become true, without guessing how long it takes.

use std::time::{Duration, Instant};

/// Asks again and again until the condition holds.
///
/// # Panics
/// When it does not hold within `deadline`; `what` completes the sentence "waited in vain until ...".
#[track_caller]
pub fn wait_until(what: &str, deadline: Duration, condition: impl FnMut() -> bool) {
    assert!(comes_true(deadline, condition), "waited in vain for {deadline:?} until {what}");
}

/// Whether the condition holds before the deadline.
pub(crate) fn comes_true(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + deadline;
    while !condition() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_the_condition() {
        let mut asked = 0;
        wait_until("it was asked three times", Duration::from_secs(5), || {
            asked += 1;
            asked == 3
        });
    }

    #[test]
    #[should_panic = "waited in vain for 5ms until pigs fly"]
    fn waiting_in_vain_says_for_what() {
        wait_until("pigs fly", Duration::from_millis(5), || false);
    }
}
