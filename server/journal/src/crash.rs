//! Crash points: `UNDERSTUDY_CRASH_AT=before:N` kills this process right before the N-th event that it appends becomes
//! durable, `after:N` right after. Compiled only with the feature `crash-points`; a release cannot be told to die.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Events that this process has begun to append, over all its journals.
static APPENDED: AtomicU64 = AtomicU64::new(0);

/// Counts one event and dies if this is the one to die before.
pub(crate) fn before() {
    die_at("before", APPENDED.fetch_add(1, Ordering::SeqCst) + 1);
}

/// Dies if the last event counted, durable by now, is the one to die after.
pub(crate) fn after() {
    die_at("after", APPENDED.load(Ordering::SeqCst));
}

fn die_at(side: &str, number: u64) {
    if std::env::var("UNDERSTUDY_CRASH_AT").is_ok_and(|point| point == format!("{side}:{number}")) {
        // The signal is delivered before the call returns; were it refused, the test would see a live process.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
