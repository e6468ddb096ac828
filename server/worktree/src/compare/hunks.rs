//! One file that differs, cut into hunks.

use std::sync::Arc;

use task::{Change, FileDiff, Hunk, HunkKind, Lines, Mode, Risk};

use super::{Authors, Pair};
use crate::{Entry, Error, Store, lines};

pub(super) fn file_diff(store: &Store, pair: &Pair, authors: &Authors) -> Result<FileDiff, Error> {
    let Pair { change, old_path, path, old, new } = pair;
    let mut risks = Risk::of_path(path);
    risks.extend(Risk::of_path(old_path));
    let mut file = FileDiff {
        change: *change,
        old_path: old_path.clone(),
        path: path.clone(),
        old_mode: old.map(|entry| entry.mode),
        new_mode: new.map(|entry| entry.mode),
        hunks: Vec::new(),
        risks: Vec::new(),
    };
    let base_blob = old.map(|entry| entry.blob.to_string()).unwrap_or_default();
    let mut hard = false;
    for piece in pieces(store, *change, *old, *new)? {
        let Piece { kind, base, new, old_bytes, new_bytes } = piece;
        hard |= kind == HunkKind::Binary || is_hard_to_read(&new_bytes, new.start == 0);
        let id = file.hunk_id(kind, &base_blob, base, &new_bytes);
        let author = authors.of(path, &id);
        file.hunks.push(Hunk { id, kind, base, new, old_bytes, new_bytes, author });
    }
    if hard {
        risks.push(Risk::HardToRead);
    }
    risks.sort_unstable();
    risks.dedup();
    file.risks = risks;
    Ok(file)
}

/// A hunk without id and author.
struct Piece {
    kind: HunkKind,
    base: Lines,
    new: Lines,
    old_bytes: Vec<u8>,
    new_bytes: Vec<u8>,
}

impl Piece {
    fn whole(kind: HunkKind, old_bytes: &[u8], new_bytes: &[u8]) -> Self {
        let (base, new) = (Lines::default(), Lines::default());
        Self { kind, base, new, old_bytes: old_bytes.to_vec(), new_bytes: new_bytes.to_vec() }
    }
}

fn pieces(store: &Store, change: Change, old: Option<Entry>, new: Option<Entry>) -> Result<Vec<Piece>, Error> {
    let old_bytes = bytes(store, old)?;
    let new_bytes = bytes(store, new)?;
    let count = |bytes: &[u8]| u32::try_from(lines::split(bytes).len()).unwrap_or(u32::MAX);
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (old, _) => {
            let kind = if old.is_some() { HunkKind::Delete } else { HunkKind::Create };
            let mut piece = Piece::whole(kind, &old_bytes, &new_bytes);
            if !lines::is_binary(&old_bytes) && !lines::is_binary(&new_bytes) {
                piece.base.count = count(&old_bytes);
                piece.new.count = count(&new_bytes);
            }
            return Ok(vec![piece]);
        }
    };
    let mut pieces = Vec::new();
    if change == Change::Moved {
        pieces.push(Piece::whole(HunkKind::Move, b"", b""));
    }
    let is_text = |entry: Entry| matches!(entry.mode, Mode::File | Mode::Executable);
    if !is_text(old) || !is_text(new) {
        if old != new {
            let kind = if old.mode == Mode::Gitlink || new.mode == Mode::Gitlink {
                HunkKind::Binary
            } else {
                HunkKind::Symlink
            };
            pieces.push(Piece::whole(kind, &old_bytes, &new_bytes));
        }
        return Ok(pieces);
    }
    if old.mode != new.mode {
        pieces.push(Piece::whole(HunkKind::Mode, b"", b""));
    }
    if old.blob == new.blob {
        return Ok(pieces);
    }
    if lines::is_binary(&old_bytes) || lines::is_binary(&new_bytes) {
        pieces.push(Piece::whole(HunkKind::Binary, &old_bytes, &new_bytes));
        return Ok(pieces);
    }
    let (old_lines, new_lines) = (lines::split(&old_bytes), lines::split(&new_bytes));
    for run in lines::runs(&old_bytes, &new_bytes)? {
        let range = |range: &std::ops::Range<usize>| Lines {
            start: u32::try_from(range.start).unwrap_or(u32::MAX),
            count: u32::try_from(range.len()).unwrap_or(u32::MAX),
        };
        pieces.push(Piece {
            kind: HunkKind::Text,
            base: range(&run.old),
            new: range(&run.new),
            old_bytes: old_lines[run.old].concat(),
            new_bytes: new_lines[run.new].concat(),
        });
    }
    Ok(pieces)
}

fn bytes(store: &Store, entry: Option<Entry>) -> Result<Arc<[u8]>, Error> {
    match entry {
        None => Ok(Arc::from(&b""[..])),
        Some(Entry { mode: Mode::Gitlink, blob }) => Ok(format!("Subproject commit {blob}\n").into_bytes().into()),
        Some(entry) => store.blob(entry.blob),
    }
}

/// Whether text holds what hides or reorders text, or is no UTF-8. A byte order mark at its start is neither.
fn is_hard_to_read(bytes: &[u8], at_start: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Err(_) => true,
        Ok(text) => {
            let text = if at_start { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
            let text = text.replace("\r\n", "\n");
            task::printable(&text) != text
        }
    }
}
