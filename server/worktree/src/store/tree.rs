//! Git tree objects, raw: names are bytes and nothing is refused, since what a base holds is carried verbatim.

use git2::Oid;
use task::Mode;

/// One line of a tree object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) id: Oid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    Entry(Mode),
}

impl Kind {
    fn as_git(self) -> u32 {
        match self {
            Self::Folder => 0o40000,
            Self::Entry(mode) => mode.as_git(),
        }
    }

    /// Old repositories hold modes such as 100664; only the executable bit means something.
    pub(crate) fn from_git(mode: u32) -> Option<Self> {
        match mode & 0o170_000 {
            0o040_000 => Some(Self::Folder),
            0o100_000 if mode & 0o100 != 0 => Some(Self::Entry(Mode::Executable)),
            0o100_000 => Some(Self::Entry(Mode::File)),
            0o120_000 => Some(Self::Entry(Mode::Symlink)),
            0o160_000 => Some(Self::Entry(Mode::Gitlink)),
            _ => None,
        }
    }
}

/// Reads a tree object; `None` when it is malformed.
pub(crate) fn parse(mut bytes: &[u8]) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|&byte| byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&bytes[..space]).ok()?, 8).ok()?;
        let rest = &bytes[space + 1..];
        let end = rest.iter().position(|&byte| byte == 0)?;
        let name = rest[..end].to_vec();
        if name.is_empty() || name.contains(&b'/') || name == b"." || name == b".." {
            return None;
        }
        let id = Oid::from_bytes(rest.get(end + 1..end + 21)?).ok()?;
        rows.push(Row { name, kind: Kind::from_git(mode)?, id });
        bytes = &rest[end + 21..];
    }
    Some(rows)
}

/// Writes a tree object; rows may come in any order.
pub(crate) fn format(mut rows: Vec<Row>) -> Vec<u8> {
    // Git sorts a folder as if its name ended in a slash.
    let key = |row: &Row| {
        let mut key = row.name.clone();
        if row.kind == Kind::Folder {
            key.push(b'/');
        }
        key
    };
    rows.sort_by_cached_key(key);
    let mut out = Vec::with_capacity(rows.len() * 40);
    for row in rows {
        out.extend_from_slice(format!("{:o} ", row.kind.as_git()).as_bytes());
        out.extend_from_slice(&row.name);
        out.push(0);
        out.extend_from_slice(row.id.as_bytes());
    }
    out
}
