//! Where the time of a task goes: to commands of checks, or to what is around them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent::{Audience, Progress, Side};
use task::TreeId;

/// Listens to a task and remembers when checks ran.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<Vec<Batch>>>);

/// Checks that ran at the same time.
struct Batch {
    side: Side,
    tree: Option<TreeId>,
    start: Instant,
    open: usize,
    /// Time of the commands, of the checks with default and with all features.
    lanes: [Duration; 2],
    wall: Duration,
}

/// The time of commands and of all that is around them, while checks ran.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    pub base: Duration,
    pub checks: Duration,
    /// Of trees on the way: the change with the tests as they were before it.
    pub others: Duration,
    /// Projecting, guarding and reading results.
    pub around: Duration,
    /// Checks that ran, on both sides.
    pub runs: usize,
}

impl Clock {
    pub fn audience(&self) -> Audience {
        let batches = Arc::clone(&self.0);
        Audience::new(move |news| {
            let mut batches = batches.lock().unwrap_or_else(PoisonError::into_inner);
            match news {
                Progress::CheckStarted { side, .. } => {
                    match batches.last_mut().filter(|batch| batch.open > 0) {
                        Some(batch) => batch.open += 1,
                        None => {
                            let (start, lanes) = (Instant::now(), [Duration::ZERO; 2]);
                            batches.push(Batch { side, tree: None, start, open: 1, lanes, wall: Duration::ZERO });
                        }
                    };
                }
                Progress::CheckEnded { check, tree, cached: false, duration_ms, .. } => {
                    if let Some(batch) = batches.last_mut().filter(|batch| batch.open > 0) {
                        let lane = usize::from(check.0.contains("(all features)"));
                        batch.lanes[lane] += Duration::from_millis(duration_ms);
                        batch.open -= 1;
                        batch.tree = Some(tree);
                        batch.wall = batch.start.elapsed();
                    }
                }
                _ => {}
            }
        })
    }

    /// What was spent, where the task reached this tree.
    pub fn spent(&self, reached: Option<&TreeId>) -> Spent {
        let mut spent = Spent::default();
        for batch in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let [one, two] = batch.lanes;
            // One after the other where there was no second slot, else beside each other.
            let commands = if one + two <= batch.wall { one + two } else { one.max(two).min(batch.wall) };
            match batch.side {
                Side::Base => spent.base += commands,
                Side::Candidate if batch.tree.as_ref() == reached => spent.checks += commands,
                Side::Candidate => spent.others += commands,
            }
            spent.around += batch.wall.saturating_sub(commands);
            spent.runs += usize::from(!one.is_zero()) + usize::from(!two.is_zero());
        }
        spent
    }
}
