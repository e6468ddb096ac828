//! When to go on and when to stop, decided by code from what the checks found: failures and trees, never what a model
//! said or which tools it called. Reading the same file ten times is work; failing the same way three times is not.

use std::collections::BTreeSet;

use task::{Round, Signature, TreeId};

/// What follows from the rounds so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Course {
    GoOn,
    /// The same failures came again: one hint, with evidence.
    Nudge {
        failures: Vec<Signature>,
    },
    /// They came once more than a hint can help: only the developer knows what now.
    Ask {
        /// One sentence about what repeats.
        what: String,
    },
}

/// The first repetition brings the hint, the second the question; whatever the count, nobody is asked before the hint was
/// given.
pub(crate) fn course(rounds: &[Round], nudged: &[Vec<Signature>]) -> Course {
    let Some((last, before)) = rounds.split_last() else { return Course::GoOn };
    if last.failures.is_empty() || is_progress(last, before) {
        return Course::GoOn;
    }
    let same = before.iter().filter(|round| round.step == last.step && round.failures == last.failures).count();
    // The way back to a tree that failed before, with or without another in between.
    let returned = before.iter().any(|round| round.tree == last.tree && !round.failures.is_empty());
    let repeated = same.max(usize::from(returned));
    match (repeated, nudged.contains(&last.failures)) {
        (0, _) | (1, true) => Course::GoOn,
        (_, false) => Course::Nudge { failures: last.failures.clone() },
        (_, true) => Course::Ask { what: sentence(last, repeated + 1, returned) },
    }
}

/// Fewer failures than ever before, none of them new: something is being solved.
fn is_progress(last: &Round, before: &[Round]) -> bool {
    let mut earlier = before.iter().filter(|round| round.step == last.step).peekable();
    if earlier.peek().is_none() {
        return false;
    }
    let now: BTreeSet<&Signature> = last.failures.iter().collect();
    earlier.all(|round| {
        last.failures.len() < round.failures.len() && now.iter().all(|failure| round.failures.contains(failure))
    })
}

fn sentence(last: &Round, times: usize, returned: bool) -> String {
    let what = match last.failures.as_slice() {
        [only] => format!("the same failure came {times} times: {}", only.0),
        many => format!("the same {} failures came {times} times, the first of them: {}", many.len(), many[0].0),
    };
    if returned { format!("{what}; the attempts go in circles, this tree was tried before") } else { what }
}

/// The best tree that was judged as a whole: with the fewest failures, and of equal ones the latest. What was only judged
/// by the checks of a step counts where nothing was judged as a whole.
pub(crate) fn best(rounds: &[Round]) -> Option<&TreeId> {
    let whole = rounds.iter().any(|round| round.step.is_none());
    let eligible = rounds.iter().filter(|round| !whole || round.step.is_none());
    // Of equal ones `min_by_key` takes the first.
    eligible.rev().min_by_key(|round| round.failures.len()).map(|round| &round.tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(all: &[(u8, &[&str])]) -> Vec<Round> {
        let round = |(tree, failures): &(u8, &[&str])| Round {
            step: None,
            tree: format!("{tree:040x}").parse().unwrap(),
            failures: failures.iter().map(|text| Signature((*text).to_owned())).collect(),
        };
        all.iter().map(round).collect()
    }

    fn signatures(all: &[&str]) -> Vec<Signature> {
        all.iter().map(|text| Signature((*text).to_owned())).collect()
    }

    #[test]
    fn the_first_repetition_brings_one_hint_and_the_second_a_question() {
        let hinted = [signatures(&["a"])];
        let nudge = Course::Nudge { failures: signatures(&["a"]) };
        assert_eq!(course(&rounds(&[(1, &["a"])]), &[]), Course::GoOn);
        assert_eq!(course(&rounds(&[(1, &["a"]), (2, &["a"])]), &[]), nudge);
        assert_eq!(course(&rounds(&[(1, &["a"]), (2, &["a"])]), &hinted), Course::GoOn);
        let third = course(&rounds(&[(1, &["a"]), (2, &["a"]), (3, &["a"])]), &hinted);
        assert!(matches!(&third, Course::Ask { what } if what.contains("3 times")), "{third:?}");
    }

    #[test]
    fn a_tree_that_was_tried_before_repeats_whatever_failed_between() {
        let circle = rounds(&[(1, &["a"]), (2, &["b"]), (1, &["a"])]);
        assert_eq!(course(&circle, &[]), Course::Nudge { failures: signatures(&["a"]) });
        let more = rounds(&[(1, &["a"]), (2, &["b"]), (1, &["a"]), (2, &["b"]), (1, &["a"])]);
        assert!(matches!(course(&more, &[signatures(&["a"])]), Course::Ask { .. }));
    }

    #[test]
    fn fewer_of_the_same_failures_are_progress() {
        let shrinking = rounds(&[(1, &["a", "b", "c"]), (2, &["a", "b"]), (3, &["a"])]);
        assert_eq!(course(&shrinking, &[]), Course::GoOn);
        let other = rounds(&[(1, &["a"]), (2, &["b"]), (3, &["c"])]);
        assert_eq!(course(&other, &[]), Course::GoOn);
    }

    #[test]
    fn the_best_tree_has_the_fewest_failures_and_is_the_latest_of_those() {
        let all = rounds(&[(1, &["a", "b"]), (2, &["a"]), (3, &["c"]), (4, &["a", "b", "c"])]);
        assert_eq!(best(&all), Some(&all[2].tree));
        assert_eq!(best(&[]), None);
    }
}
