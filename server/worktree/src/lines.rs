//! Text as lines of bytes, and which runs of them differ.

use std::ops::Range;

use git2::{DiffOptions, Patch};

use crate::Error;

/// A maximal run of changed lines, without context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Lines with their ends; the last one may have none. A carriage return is part of its line.
pub(crate) fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Git's own rule, but over the whole file: text holds no NUL.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

/// Lines of one text that stand in place of lines of another. Counted from 0, the end not included; either may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    pub before: Range<u32>,
    pub after: Range<u32>,
}

/// Where two texts differ, line by line, as hunks are cut.
///
/// # Errors
/// When libgit2 cannot compare them, which it does only without memory.
pub fn line_changes(before: &[u8], after: &[u8]) -> Result<Vec<LineChange>, Error> {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let narrow = |range: Range<usize>| number(range.start)..number(range.end);
    let runs = runs(before, after)?.into_iter();
    Ok(runs.map(|run| LineChange { before: narrow(run.old), after: narrow(run.new) }).collect())
}

/// The runs that differ, in order. The same two texts always give the same runs, however large they are: hunk ids
/// hang on it.
pub(crate) fn runs(old: &[u8], new: &[u8]) -> Result<Vec<Run>, Error> {
    let patch = patch(old, new, 0)?;
    let mut runs = Vec::with_capacity(patch.num_hunks());
    for number in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(number).map_err(Error::git("comparing two texts"))?;
        // An empty range is named by the line before it.
        let range = |start: u32, count: u32| {
            let start = if count == 0 { start as usize } else { start as usize - 1 };
            start..start + count as usize
        };
        let (old, new) = (range(hunk.old_start(), hunk.old_lines()), range(hunk.new_start(), hunk.new_lines()));
        runs.push(Run { old, new });
    }
    Ok(runs)
}

/// Compares two texts as they are: no attribute, no filter, no look at whether they are text.
pub(crate) fn patch<'b>(old: &'b [u8], new: &'b [u8], context: u32) -> Result<Patch<'b>, Error> {
    crate::git::prepare();
    let mut options = DiffOptions::new();
    options.context_lines(context).interhunk_lines(0).force_text(true).indent_heuristic(true);
    Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(Error::git("comparing two texts"))
}

/// The old lines with some runs replaced by new bytes; the runs are in order and do not overlap.
pub(crate) fn replace<'a>(old: &[&[u8]], runs: impl IntoIterator<Item = (Range<usize>, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut done = 0;
    for (range, bytes) in runs {
        old[done..range.start].iter().for_each(|line| out.extend_from_slice(line));
        out.extend_from_slice(bytes);
        done = range.end;
    }
    old[done..].iter().for_each(|line| out.extend_from_slice(line));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_missing_final_newline_and_a_carriage_return_are_differences() {
        let run = |old: Range<usize>, new: Range<usize>| Run { old, new };
        assert_eq!(runs(b"a\nb", b"a\nb\n").unwrap(), [run(1..2, 1..2)]);
        assert_eq!(runs(b"a\r\nb\n", b"a\nb\n").unwrap(), [run(0..1, 0..1)]);
        assert_eq!(runs(b"a\n", b"x\na\ny\n").unwrap(), [run(0..0, 0..1), run(1..1, 2..3)]);
        assert_eq!(runs(b"", b"x").unwrap(), [run(0..0, 0..1)]);
        assert_eq!(runs(b"a\n", b"a\n").unwrap(), []);
    }

    proptest! {
        #[test]
        fn replacing_every_run_gives_the_new_text(old in "[abc\r\n]{0,60}", new in "[abc\r\n]{0,60}") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            let lines = split(new);
            let runs = runs(old, new).unwrap();
            let texts: Vec<_> = runs.iter().map(|run| (run.old.clone(), lines[run.new.clone()].concat())).collect();
            let result = replace(&split(old), texts.iter().map(|(range, text)| (range.clone(), &text[..])));
            prop_assert_eq!(result, new);
            for pair in runs.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start);
            }
        }
    }
}
