//! One unified diff of two trees, as `git apply` takes it.
//!
//! Written from the blobs themselves: no attribute and no filter of the repository can hide or change a line.

use task::{Change, Mode, TreeId, TreePath};

use crate::compare::{Pair, pairs};
use crate::patch::base85;
use crate::{Entry, Error, Store, lines};

/// Lines of context around a change.
const CONTEXT: u32 = 3;

/// The unified diff from base to tree, binary files included. Attributes of the repository hide nothing.
///
/// # Errors
/// When an object is missing or damaged.
pub fn unified(store: &Store, base: &TreeId, tree: &TreeId) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    for pair in pairs(store, base, tree)? {
        let is_file = |entry: Entry| matches!(entry.mode, Mode::File | Mode::Executable);
        match (pair.old, pair.new) {
            // Git has no line for a change of kind: the old one goes, the new one comes.
            (Some(old), Some(new)) if old.mode != new.mode && !(is_file(old) && is_file(new)) => {
                let gone = Pair { change: Change::Deleted, path: pair.old_path.clone(), new: None, ..pair.clone() };
                let come = Pair { change: Change::Created, old_path: pair.path.clone(), old: None, ..pair };
                write(store, &mut out, &gone)?;
                write(store, &mut out, &come)?;
            }
            _ => write(store, &mut out, &pair)?,
        }
    }
    Ok(out)
}

fn write(store: &Store, out: &mut Vec<u8>, pair: &Pair) -> Result<(), Error> {
    let (from, to) = (name("a/", &pair.old_path), name("b/", &pair.path));
    let mut line = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.push(b'\n');
    };
    let mode = |entry: Entry| format!("{:o}", entry.mode.as_git()).into_bytes();
    line(&[b"diff --git ", &from, b" ", &to]);
    match (pair.old, pair.new) {
        (Some(old), Some(new)) => {
            if old.mode != new.mode {
                line(&[b"old mode ", &mode(old)]);
                line(&[b"new mode ", &mode(new)]);
            }
            if pair.change == Change::Moved {
                line(&[b"rename from ", &name("", &pair.old_path)]);
                line(&[b"rename to ", &name("", &pair.path)]);
            }
        }
        (None, Some(new)) => line(&[b"new file mode ", &mode(new)]),
        (Some(old), None) => line(&[b"deleted file mode ", &mode(old)]),
        (None, None) => {}
    }
    let id = |entry: Option<Entry>| entry.map_or_else(|| "0".repeat(40), |entry| entry.blob.to_string());
    if pair.old.map(|entry| entry.blob) == pair.new.map(|entry| entry.blob) {
        return Ok(());
    }
    let same_mode = pair.old.zip(pair.new).filter(|(old, new)| old.mode == new.mode).map(|(old, _)| mode(old));
    let same_mode = same_mode.map(|mode| [b" ", &mode[..]].concat()).unwrap_or_default();
    line(&[b"index ", id(pair.old).as_bytes(), b"..", id(pair.new).as_bytes(), &same_mode]);
    let (old, new) = (bytes(store, pair.old)?, bytes(store, pair.new)?);
    // The diff travels as a string: text in another encoding would not survive that.
    let as_bytes = |bytes: &[u8]| lines::is_binary(bytes) || std::str::from_utf8(bytes).is_err();
    if as_bytes(&old) || as_bytes(&new) {
        out.extend_from_slice(b"GIT binary patch\n");
        base85::write_literal(out, &new);
        base85::write_literal(out, &old);
        return Ok(());
    }
    if old == new {
        return Ok(());
    }
    // A tab ends a name that holds a space, so that readers do not take what follows for a date.
    let tail = |name: &[u8]| if name.contains(&b' ') { &b"\t"[..] } else { b"" };
    let (from, to) = match (pair.old, pair.new) {
        (None, _) => (b"/dev/null".to_vec(), to),
        (_, None) => (from, b"/dev/null".to_vec()),
        _ => (from, to),
    };
    line(&[b"--- ", &from, tail(&from)]);
    line(&[b"+++ ", &to, tail(&to)]);
    hunks(out, &old, &new)
}

fn hunks(out: &mut Vec<u8>, old: &[u8], new: &[u8]) -> Result<(), Error> {
    let failed = || Error::git("comparing two texts");
    let patch = lines::patch(old, new, CONTEXT)?;
    for number in 0..patch.num_hunks() {
        let (hunk, count) = patch.hunk(number).map_err(failed())?;
        let range = |start: u32, count: u32| if count == 1 { start.to_string() } else { format!("{start},{count}") };
        let (from, to) = (range(hunk.old_start(), hunk.old_lines()), range(hunk.new_start(), hunk.new_lines()));
        out.extend_from_slice(format!("@@ -{from} +{to} @@\n").as_bytes());
        for at in 0..count {
            let line = patch.line_in_hunk(number, at).map_err(failed())?;
            let origin = line.origin();
            if matches!(origin, ' ' | '+' | '-') {
                out.push(origin as u8);
                out.extend_from_slice(line.content());
                // A last line without an end is followed by a line of its own that says so.
            } else {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
    Ok(())
}

fn bytes(store: &Store, entry: Option<Entry>) -> Result<std::sync::Arc<[u8]>, Error> {
    match entry {
        None => Ok((&b""[..]).into()),
        Some(Entry { mode: Mode::Gitlink, blob }) => Ok(format!("Subproject commit {blob}\n").into_bytes().into()),
        Some(entry) => store.blob(entry.blob),
    }
}

/// A name as git writes it: in quotes and escaped where it holds anything but plain characters.
fn name(prefix: &str, path: &TreePath) -> Vec<u8> {
    let bytes = path.as_bytes();
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'"' && *byte != b'\\';
    if bytes.iter().all(plain) {
        return [prefix.as_bytes(), bytes].concat();
    }
    let mut out = vec![b'"'];
    out.extend_from_slice(prefix.as_bytes());
    for byte in bytes {
        if plain(byte) {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
    out.push(b'"');
    out
}
