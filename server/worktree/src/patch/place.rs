//! Placing hunks: at the line they name, else where their context fits exactly once. There is no fuzz.

use super::parse::PatchHunk;
use crate::lines;

/// Which hunk does not fit, and why.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) line: usize,
    pub(super) why: &'static str,
}

/// The text after all hunks. `exact` says that the text is the very one the patch was made from.
pub(super) fn place(text: &[u8], hunks: &[PatchHunk], exact: bool) -> Result<Vec<u8>, Misfit> {
    let old = lines::split(text);
    let mut runs = Vec::with_capacity(hunks.len());
    let mut done = 0;
    let mut shift = 0isize;
    for hunk in hunks {
        let misfit = |why| Misfit { line: hunk.line, why };
        // An empty old side is named by the line before it.
        let named = if hunk.old.is_empty() { hunk.start } else { hunk.start.saturating_sub(1) };
        let expected = named.checked_add_signed(shift).unwrap_or(0);
        let at = if fits(&old, hunk, expected, done) {
            if hunk.old.is_empty() && !exact && !old.is_empty() {
                return Err(misfit(
                    "it only inserts, without context, so the place cannot be checked; make it with context",
                ));
            }
            expected
        } else if exact {
            return Err(misfit("it does not match the file that it was made from"));
        } else {
            find(&old, hunk, done).map_err(misfit)?
        };
        shift = at as isize - named as isize;
        done = at + hunk.old.len();
        runs.push((at..done, hunk.new.concat()));
    }
    Ok(lines::replace(&old, runs.iter().map(|(range, bytes)| (range.clone(), &bytes[..]))))
}

fn fits(old: &[&[u8]], hunk: &PatchHunk, at: usize, done: usize) -> bool {
    let end = at + hunk.old.len();
    at >= done && end <= old.len() && old[at..end].iter().zip(&hunk.old).all(|(line, wanted)| *line == &wanted[..])
}

/// The only place where the old side fits. Less context after than before means the end of the file, less before than
/// after its beginning, as whoever made the patch had no more to show.
fn find(old: &[&[u8]], hunk: &PatchHunk, done: usize) -> Result<usize, &'static str> {
    if hunk.leading + hunk.trailing == 0 {
        return Err("the lines it changes are not there, and without context it cannot be looked for elsewhere");
    }
    let at_end = hunk.trailing < hunk.leading;
    let at_start = hunk.leading < hunk.trailing;
    let last = old.len().saturating_sub(hunk.old.len());
    let mut found = None;
    for at in done..=last {
        if !fits(old, hunk, at, done) || (at_start && at != 0) || (at_end && at + hunk.old.len() != old.len()) {
            continue;
        }
        if found.replace(at).is_some() {
            return Err("its context fits in several places, and not where it says");
        }
    }
    found.ok_or("its context is not in the file")
}
