//! By how much a model's count of input may differ from ours, as far as this process has seen.
//!
//! One ratio for all text is not enough: how much larger a count is depends on what is counted, and a conversation that
//! began with prose may go on with tables. So what was counted before is known, and only what is new can surprise.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use task::TaskId;
use task::port::{ModelCall, Stage};

/// Before a model reported anything, it may count half as much again as we do.
const UNKNOWN: f64 = 1.5;
/// A twentieth more than ever.
const MARGIN: f64 = 1.05;
/// Conversations that are remembered; a process that goes on for long enough begins anew.
const MOST: usize = 256;

/// A conversation: what one stage of a task says to one model.
type Key = (TaskId, Stage, String);

/// The last call of each conversation: our count, and what was reported.
#[derive(Debug, Default)]
pub(crate) struct Experience(Mutex<BTreeMap<Key, (u64, u64)>>);

impl Experience {
    /// The most that a call can count. `ratio` is the worst of this task so far.
    pub(crate) fn worst(&self, call: &ModelCall, model: &str, counted: u64, ratio: Option<f64>) -> u64 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key(call, model)).copied();
        let ratio = ratio.unwrap_or(UNKNOWN).max(1.0);
        let new = match known {
            Some((before, reported)) if before <= counted => {
                reported.saturating_add(times(counted - before, UNKNOWN.max(ratio)))
            }
            // Another conversation, or one that was shortened: nothing in it is known.
            _ => times(counted, UNKNOWN),
        };
        times(times(counted, ratio).max(new), MARGIN)
    }

    pub(crate) fn learn(&self, call: &ModelCall, model: &str, counted: u64, reported: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key(call, model), (counted, reported));
    }
}

fn key(call: &ModelCall, model: &str) -> Key {
    (call.task.clone(), call.stage, model.to_owned())
}

/// Rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "tokens are far below the 53 bits that a float holds, and a cast saturates"
)]
pub(crate) fn times(tokens: u64, factor: f64) -> u64 {
    (tokens as f64 * factor).ceil() as u64
}

#[cfg(test)]
mod tests {
    use task::port::{Origin, Told};

    use super::*;

    #[test]
    fn what_is_new_may_count_half_as_much_again() {
        let (experience, model) = (Experience::default(), "here/some");
        let system = Told::new(Origin::Product, "", 0, &task::Redactor::default());
        let (task, stage, messages, tools) = ("t1".parse().unwrap(), Stage::Code, Vec::new(), Vec::new());
        let mut call = ModelCall { task, stage, escalated: false, system, tools, messages, max_output: 1 };
        assert_eq!(experience.worst(&call, model, 1000, None), 1575);
        experience.learn(&call, model, 1000, 800);
        // The same again; more of it; less of it, which may be anything.
        assert_eq!(experience.worst(&call, model, 1000, Some(0.8)), 1050);
        assert_eq!(experience.worst(&call, model, 3000, Some(0.8)), 3990);
        assert_eq!(experience.worst(&call, model, 900, Some(0.8)), 1418);
        assert_eq!(experience.worst(&call, model, 3000, Some(2.0)), 6300);
        call.stage = Stage::Plan;
        assert_eq!(experience.worst(&call, model, 1000, Some(0.8)), 1575);
    }
}
