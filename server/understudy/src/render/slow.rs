//! Where no line moves, a model that takes long is said to: seldom, so that a log stays a log.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::style::doubtful;

/// The first word about a call comes after this long, the next ones after twice as long each.
const FIRST: Duration = Duration::from_secs(20);

/// A call that is waited for; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    _running: Sender<()>,
}

impl Watch {
    /// Says how long it has taken, after `first` and then more and more seldom.
    fn begin(first: Duration, say: impl Fn(Duration) + Send + 'static) -> Self {
        let (running, ended) = channel::<()>();
        std::thread::spawn(move || {
            let since = Instant::now();
            let mut next = first;
            while ended.recv_timeout(next.saturating_sub(since.elapsed())) == Err(RecvTimeoutError::Timeout) {
                say(next);
                next = next.saturating_mul(2);
            }
        });
        Self { _running: running }
    }
}

/// Says on standard error how long something is waited for.
pub fn waiting_for(what: String) -> Watch {
    Watch::begin(FIRST, move |after| {
        anstream::eprintln!("{} waiting for {what}, {} s so far", doubtful("~"), after.as_secs());
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_call_is_spoken_of_more_and_more_seldom_and_not_after_its_end() {
        let (say, said) = channel();
        let watch = Watch::begin(Duration::from_millis(2), move |after| say.send(after.as_millis()).unwrap());
        assert_eq!(said.iter().take(3).collect::<Vec<_>>(), [2, 4, 8]);
        drop(watch);
        // The thread ends and with it the other end of this channel.
        assert!(said.iter().count() < 30);
    }
}
