//! Where the hunks of a review lie in the developer's files as they are now.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use agent::LineChange;
use task::{HunkId, TaskId};

/// One hunk of a review in a document, by lines counted from 0. A hunk that only adds has an empty range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    pub task: TaskId,
    pub hunk: HunkId,
    pub lines: Range<u32>,
    /// The developer typed into the lines that the hunk changes.
    pub touched: bool,
}

/// What is to be worked out for one document.
#[derive(Debug)]
pub struct Wanted {
    pub path: PathBuf,
    /// The open text; a file that is not open is as the review saw it.
    pub text: Option<Arc<str>>,
    pub reviews: Vec<Reviewed>,
}

/// The hunks of one review in one file, with the text they speak of.
#[derive(Debug)]
pub struct Reviewed {
    pub task: TaskId,
    pub shown: Option<Arc<[u8]>>,
    pub hunks: Vec<(HunkId, Range<u32>)>,
}

/// The answer, for all documents that were asked about.
#[derive(Debug)]
pub struct Mapped {
    pub files: Vec<(PathBuf, Vec<Hint>)>,
}

/// Works everything out. Runs beside the loop: comparing large texts takes longer than an answer may.
pub fn map(wanted: Vec<Wanted>) -> Mapped {
    let files = wanted.into_iter().map(|file| {
        let hints = file.reviews.into_iter().flat_map(|review| {
            let changes = match (&file.text, &review.shown) {
                (Some(text), Some(shown)) if text.as_bytes() != &**shown => changes(shown, text),
                _ => Vec::new(),
            };
            let task = review.task;
            review.hunks.into_iter().map(move |(hunk, lines)| {
                let (lines, touched) = moved(lines, &changes);
                Hint { task: task.clone(), hunk, lines, touched }
            })
        });
        (file.path, hints.collect())
    });
    Mapped { files: files.collect() }
}

/// The document against the file it stands for, whatever line ends its editor gives it.
fn changes(shown: &[u8], text: &str) -> Vec<LineChange> {
    let plain = |text: &str| text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let shown = plain(&String::from_utf8_lossy(shown));
    agent::line_changes(shown.as_bytes(), plain(text).as_bytes()).unwrap_or_default()
}

/// Where lines went, and whether somebody typed into them.
fn moved(lines: Range<u32>, changes: &[LineChange]) -> (Range<u32>, bool) {
    let size = |range: &Range<u32>| i64::from(range.end) - i64::from(range.start);
    let before = changes.iter().filter(|change| change.before.end <= lines.start);
    let shift: i64 = before.map(|change| size(&change.after) - size(&change.before)).sum();
    let within = |change: &LineChange| change.before.end > lines.start && change.before.start < lines.end;
    let start = u32::try_from(i64::from(lines.start) + shift).unwrap_or_default();
    (start..start + (lines.end - lines.start), changes.iter().any(within))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Range<u32>, after: Range<u32>) -> LineChange {
        LineChange { before, after }
    }

    #[test]
    fn hunks_follow_their_lines() {
        // Two lines typed at the top, one taken out further down.
        let changes = [change(0..0, 0..2), change(10..11, 12..12)];
        assert_eq!(moved(4..6, &changes), (6..8, false));
        assert_eq!(moved(20..20, &changes), (21..21, false));
        assert_eq!(moved(10..12, &changes), (12..14, true));
        assert_eq!(moved(0..1, &[]), (0..1, false));
    }

    #[test]
    fn a_document_of_other_line_ends_has_not_moved() {
        let wanted = |text: &str| Wanted {
            path: "/a".into(),
            text: Some(text.into()),
            reviews: vec![Reviewed {
                task: "t".parse().unwrap(),
                shown: Some(b"a\r\nb\r\n".as_slice().into()),
                hunks: vec![("0123456789abcdef".parse().unwrap(), 1..2)],
            }],
        };
        for (text, lines) in [("a\nb\n", 1..2), ("a\r\nb\r\n", 1..2), ("x\na\nb\n", 2..3)] {
            assert_eq!(map(vec![wanted(text)]).files[0].1[0].lines, lines, "{text:?}");
        }
    }
}
