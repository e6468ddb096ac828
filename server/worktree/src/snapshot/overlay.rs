//! Overlays: unsaved editor text takes the place of disk text.
//!
//! Editors hold text without its byte order mark and sometimes with other line endings than the file. A document that
//! differs from disk in nothing else is no overlay, and one that does keeps the form of the file it stands for.

use task::{Limitation, Mode, TreePath};

use super::secret::{Allowed, Suspicion, has_secret, suspicion};
use crate::{Entries, Entry, Error, Store};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Puts one document into the entries of a base.
pub(super) fn lay(
    store: &Store,
    base: &mut Entries,
    path: &TreePath,
    text: &[u8],
    allowed: &Allowed,
    ignored: impl Fn(&TreePath) -> bool,
    limitations: &mut Vec<Limitation>,
) -> Result<(), Error> {
    let suspicion = if allowed.admits(path) { Suspicion::None } else { suspicion(path) };
    let secret = suspicion == Suspicion::Secret || (suspicion == Suspicion::Content && has_secret(path, text));
    if secret {
        limitations.push(Limitation::at(
            path.clone(),
            None,
            "its unsaved text is withheld because it looks like a secret",
        ));
        return Ok(());
    }
    let Some(entry) = base.get(path).copied() else {
        // A new document that was never saved; one of a file that is ignored or left out stays out too.
        if !ignored(path) && crate::names::refused(path).is_none() {
            base.insert(path.clone(), Entry { mode: Mode::File, blob: store.put(text)? });
        }
        return Ok(());
    };
    if !matches!(entry.mode, Mode::File | Mode::Executable) {
        return Ok(());
    }
    let disk = store.blob(entry.blob)?;
    if std::str::from_utf8(&disk).is_err() {
        let text =
            "its unsaved text was not taken: the file on disk is not UTF-8, so what saving it would write is unknown";
        limitations.push(Limitation::at(path.clone(), None, text));
        return Ok(());
    }
    if plain(&disk) != plain(text) {
        let blob = store.put(&in_the_form_of(&disk, text))?;
        base.insert(path.clone(), Entry { mode: entry.mode, blob });
    }
    Ok(())
}

/// Whether a document has a path that no tree can hold beside this one: its folder is a link or a submodule.
pub(super) fn lies_in_an_entry(base: &Entries, path: &TreePath) -> bool {
    std::iter::successors(path.parent(), TreePath::parent).any(|folder| base.contains_key(&folder))
}

/// What is said of such a document, where it holds something that its file does not.
pub(super) fn not_taken(path: &TreePath, text: &[u8], disk: &[u8]) -> Option<Limitation> {
    let why = "its unsaved text was not taken: it was opened through a link, or lies in a submodule";
    (plain(text) != plain(disk)).then(|| Limitation::at(path.clone(), None, why))
}

/// Text without byte order mark, carriage returns before newlines and final newline.
fn plain(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let plain = lines.flat_map(|line| line.strip_suffix(b"\r\n").map_or([line, &[]], |line| [line, b"\n"]));
    let mut plain = plain.collect::<Vec<_>>().concat();
    if plain.last() == Some(&b'\n') {
        plain.pop();
    }
    plain
}

/// The text as saving it over this file would write it: with its mark, and with its line endings where they are all
/// alike and the document knows only newlines.
fn in_the_form_of(disk: &[u8], text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 3);
    if disk.starts_with(BOM) && !text.starts_with(BOM) {
        out.extend_from_slice(BOM);
    }
    let newlines = disk.iter().filter(|&&byte| byte == b'\n').count();
    let returns = disk.windows(2).filter(|pair| pair == b"\r\n").count();
    if newlines > 0 && newlines == returns && !text.contains(&b'\r') {
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            out.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            if line.ends_with(b"\n") {
                out.extend_from_slice(b"\r\n");
            }
        }
    } else {
        out.extend_from_slice(text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_the_mark_and_the_line_endings_of_its_file() {
        assert_eq!(in_the_form_of("\u{feff}a\r\nb\r\n".as_bytes(), b"a\nc\n"), "\u{feff}a\r\nc\r\n".as_bytes());
        assert_eq!(in_the_form_of(b"a\r\nb\n", b"a\nc"), b"a\nc");
        assert_eq!(plain("\u{feff}a\r\nb\r\n".as_bytes()), plain(b"a\nb"));
    }
}
