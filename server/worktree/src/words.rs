//! Which words of a line changed: what a reviewer's eye looks for in a hunk.

use std::ops::Range;

use similar::{ChangeTag, TextDiff};

/// Lines above this length are shown without emphasis; nobody reads them word by word.
const LONGEST: usize = 2000;

/// Byte ranges of the old and of the new line that are not in the other one. Both are empty where the lines share
/// nothing, since emphasis on everything is none.
pub fn changed_words(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    if old.len() > LONGEST || new.len() > LONGEST {
        return (gone, come);
    }
    let (old, new) = (words(old), words(new));
    let diff = TextDiff::from_slices(&old, &new);
    let (mut at_old, mut at_new, mut shared) = (0, 0, false);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                shared |= !change.value().trim().is_empty();
                at_old += length;
                at_new += length;
            }
            ChangeTag::Delete => {
                push(&mut gone, at_old..at_old + length);
                at_old += length;
            }
            ChangeTag::Insert => {
                push(&mut come, at_new..at_new + length);
                at_new += length;
            }
        }
    }
    if shared { (gone, come) } else { Default::default() }
}

/// Identifiers whole, everything else character by character.
fn words(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(end);
        words.push(word);
        rest = tail;
    }
    words
}

/// Neighbouring ranges are one.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
