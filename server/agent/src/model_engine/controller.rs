//! When to go on and when to stop, decided by code from what the checks found: failures and trees, never what a model
//! said or which tools it called. Reading the same file ten times is work; failing the same way three times is not.

use std::collections::BTreeSet;

use task::{Round, Signature, TreeId};

/// What follows from the rounds so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Course {
    GoOn,
    /// The same failures came again: one hint, with evidence.
    Nudge,
    /// They came once more than a hint can help: only the developer knows what now.
    Ask {
        /// One sentence about what repeats.
        what: String,
    },
}

/// `patience` is how often failures may repeat before the developer is asked; the first repetition brings the hint.
pub(crate) fn course(rounds: &[Round], nudged: &[Vec<Signature>], patience: usize) -> Course {
    let Some((last, before)) = rounds.split_last() else { return Course::GoOn };
    if last.failures.is_empty() || is_progress(last, before) {
        return Course::GoOn;
    }
    let same = before.iter().filter(|round| round.step == last.step && round.failures == last.failures).count();
    // The way back to a tree that failed before, with or without another in between.
    let returned = before.iter().any(|round| round.tree == last.tree && !round.failures.is_empty());
    let repeated = same.max(usize::from(returned));
    match repeated {
        0 => Course::GoOn,
        _ if repeated < patience.max(1) && !nudged.contains(&last.failures) => Course::Nudge,
        _ if repeated < patience.max(1) => Course::GoOn,
        _ if nudged.contains(&last.failures) || patience <= 1 => {
            Course::Ask { what: sentence(last, repeated + 1, returned) }
        }
        // Whatever the count, nobody is asked before the hint was given.
        _ => Course::Nudge,
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

/// The best tree that was judged as a whole, with how many failures it has: the fewest, and of equal ones the latest. What
/// was only judged by the checks of a step counts where nothing was judged as a whole.
pub(crate) fn best(rounds: &[Round]) -> Option<(&TreeId, usize)> {
    let whole = rounds.iter().any(|round| round.step.is_none());
    let eligible = rounds.iter().filter(|round| !whole || round.step.is_none());
    eligible
        .min_by(|a, b| a.failures.len().cmp(&b.failures.len()).then(std::cmp::Ordering::Greater))
        .map(|round| (&round.tree, round.failures.len()))
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
        assert_eq!(course(&rounds(&[(1, &["a"])]), &[], 2), Course::GoOn);
        assert_eq!(course(&rounds(&[(1, &["a"]), (2, &["a"])]), &[], 2), Course::Nudge);
        assert_eq!(course(&rounds(&[(1, &["a"]), (2, &["a"])]), &hinted, 2), Course::GoOn);
        let third = course(&rounds(&[(1, &["a"]), (2, &["a"]), (3, &["a"])]), &hinted, 2);
        assert!(matches!(&third, Course::Ask { what } if what.contains("3 times")), "{third:?}");
    }

    #[test]
    fn a_tree_that_was_tried_before_repeats_whatever_failed_between() {
        let circle = rounds(&[(1, &["a"]), (2, &["b"]), (1, &["a"])]);
        assert_eq!(course(&circle, &[], 2), Course::Nudge);
        let more = rounds(&[(1, &["a"]), (2, &["b"]), (1, &["a"]), (2, &["b"]), (1, &["a"])]);
        assert!(matches!(course(&more, &[signatures(&["a"])], 2), Course::Ask { .. }));
    }

    #[test]
    fn fewer_of_the_same_failures_are_progress() {
        let shrinking = rounds(&[(1, &["a", "b", "c"]), (2, &["a", "b"]), (3, &["a"])]);
        assert_eq!(course(&shrinking, &[], 2), Course::GoOn);
        let other = rounds(&[(1, &["a"]), (2, &["b"]), (3, &["c"])]);
        assert_eq!(course(&other, &[], 2), Course::GoOn);
    }

    #[test]
    fn the_best_tree_has_the_fewest_failures_and_is_the_latest_of_those() {
        let all = rounds(&[(1, &["a", "b"]), (2, &["a"]), (3, &["c"]), (4, &["a", "b", "c"])]);
        assert_eq!(best(&all).map(|(tree, failures)| (tree.as_str().ends_with('3'), failures)), Some((true, 1)));
        assert_eq!(best(&[]), None);
    }
}
