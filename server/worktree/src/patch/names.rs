//! The names in a patch: quoting, prefixes, and which file of the tree is meant.

use task::TreePath;

use super::PatchError;
use super::parse::FilePatch;

/// A name from a header line. With `dated`, a tab ends it, as `diff -u` writes.
pub(super) fn header_name(rest: &[u8], dated: bool) -> Option<Vec<u8>> {
    if rest.first() == Some(&b'"') {
        return unquote(rest).map(|(name, _)| name);
    }
    let end = if dated { rest.iter().position(|&byte| byte == b'\t') } else { None };
    let name = &rest[..end.unwrap_or(rest.len())];
    Some(if dated { name.trim_ascii_end() } else { name }.to_vec())
}

/// Reads a C-style quoted name; answers what follows it too.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (&escaped, tail) = rest.split_first()?;
                rest = tail;
                name.push(match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escaped,
                    b'0'..=b'3' => {
                        let digits = [escaped, *rest.first()?, *rest.get(1)?];
                        rest = &rest[2..];
                        u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?
                    }
                    _ => return None,
                });
            }
            byte => name.push(byte),
        }
    }
}

/// Both names of a `diff --git` line. Without quotes and with blanks in names only equal names can be told apart.
pub(super) fn git_line_names(rest: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if rest.first() == Some(&b'"') {
        let (old, rest) = unquote(rest)?;
        let new = header_name(rest.strip_prefix(b" ")?, false)?;
        return Some((old, new));
    }
    if let Some(quote) = rest.iter().position(|&byte| byte == b'"') {
        let old = rest[..quote].strip_suffix(b" ")?.to_vec();
        return Some((old, unquote(&rest[quote..])?.0));
    }
    let mut splits = rest.iter().enumerate().filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
    let equal = splits.clone().find(|&at| {
        let (old, new) = (&rest[..at], &rest[at + 1..]);
        old == new || (tail(old).is_some() && tail(old) == tail(new))
    });
    let at = match equal {
        Some(at) => at,
        None => {
            let only = splits.next()?;
            if splits.next().is_some() {
                return None;
            }
            only
        }
    };
    Some((rest[..at].to_vec(), rest[at + 1..].to_vec()))
}

/// A name without its first component.
fn tail(name: &[u8]) -> Option<&[u8]> {
    let slash = name.iter().position(|&byte| byte == b'/')?;
    Some(&name[slash + 1..]).filter(|tail| !tail.is_empty())
}

/// Old and new path of a file patch. `exists` asks the tree, where the patch alone leaves two readings.
pub(super) fn paths(
    file: &FilePatch,
    exists: &dyn Fn(&TreePath) -> bool,
) -> Result<(Option<TreePath>, Option<TreePath>), PatchError> {
    let path = |name: &[u8]| {
        let refused = |_| PatchError::Refused {
            path: String::from_utf8_lossy(name).escape_debug().to_string(),
            why: "it is no path inside the tree",
        };
        TreePath::new(name).map_err(refused)
    };
    if let (Some(from), Some(to)) = (&file.from, &file.to) {
        return Ok((Some(path(from)?), Some(path(to)?)));
    }
    let (git_old, git_new) = file.git_names.clone().unzip();
    let (mut old, mut new) = (file.old_name.clone(), file.new_name.clone());
    if old.is_none() && new.is_none() {
        (old, new) = (git_old, git_new);
    } else if file.is_git {
        // `/dev/null` on one side: the other name is on the first line too.
        old = old.or(git_old);
        new = new.or(git_new);
    }
    let unnamed = PatchError::Malformed { line: file.line, why: "nothing here says which file it is about" };
    let name = match (old, new) {
        (Some(old), Some(new)) => {
            let stripped = tail(&old).filter(|name| Some(*name) == tail(&new));
            if old == new {
                // Without prefixes, unless the name with a prefix taken off is what exists.
                let bare = stripped.filter(|name| !is_file(&old, exists) && is_file(name, exists));
                bare.map_or(old.clone(), <[u8]>::to_vec)
            } else if let Some(name) = stripped {
                name.to_vec()
            } else {
                // `diff -u x.orig x`: the name that exists is meant, the new one first.
                let candidates = [Some(&new[..]), tail(&new), Some(&old[..]), tail(&old)];
                let found = candidates.into_iter().flatten().find(|name| is_file(name, exists));
                found.ok_or(unnamed)?.to_vec()
            }
        }
        (Some(only), None) | (None, Some(only)) => {
            // A deleted file must exist; a created one is read as git would write it.
            let stripped = tail(&only).filter(|_| only.starts_with(b"a/") || only.starts_with(b"b/"));
            match stripped.or(tail(&only)) {
                Some(name) if file.deleted && !is_file(&only, exists) && is_file(name, exists) => name.to_vec(),
                _ => stripped.filter(|_| !file.deleted || !is_file(&only, exists)).map_or(only.clone(), <[u8]>::to_vec),
            }
        }
        (None, None) => return Err(unnamed),
    };
    let path = path(&name)?;
    Ok((Some(path.clone()).filter(|_| file.created.is_none()), Some(path).filter(|_| !file.deleted)))
}

fn is_file(name: &[u8], exists: &dyn Fn(&TreePath) -> bool) -> bool {
    TreePath::new(name).is_ok_and(|path| exists(&path))
}
