//! Finding the files of a base: what git tracks and what it would add, plus what is only provisioned.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ignore::gitignore::Gitignore;
use rustix::fs::FileType;
use task::{Limitation, TreePath};

use super::index::Tracked;
use super::rules::{Rules, matcher};
use crate::beneath::{Beneath, Stamp, names, read_small, stamp_at};

/// A file to be read.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: TreePath,
    pub(super) stamp: Stamp,
}

/// What one walk found, paths relative to where it began.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: Vec<Found>,
    /// Ignored files that checks need nevertheless.
    pub(super) provision: Vec<Found>,
    /// Checked-out submodules.
    pub(super) submodules: Vec<TreePath>,
    pub(super) limitations: Vec<Limitation>,
}

struct Folder {
    /// With a trailing slash; empty at the top.
    path: Vec<u8>,
    rules: Arc<Rules>,
    ignored: bool,
}

struct Walk<'a> {
    beneath: &'a Beneath,
    tracked: &'a Tracked,
    include: Option<Include>,
    folders: Vec<Folder>,
    out: Walked,
}

/// Walks everything below a folder. No link is followed and nothing is written.
pub(super) fn walk(beneath: &Beneath, tracked: &Tracked, outermost: Rules) -> Walked {
    let include = read_small(beneath, b".worktreeinclude", 1 << 20).ok().flatten().map(|text| Include::new(&text));
    let first = Folder { path: Vec::new(), rules: Arc::new(outermost), ignored: false };
    let mut walk = Walk { beneath, tracked, include, folders: vec![first], out: Walked::default() };
    while let Some(folder) = walk.folders.pop() {
        walk.folder(&folder);
    }
    walk.out
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder) {
        let listed = self.beneath.folder(&folder.path).and_then(|open| Ok((names(&open)?, open)));
        let (names, open) = match listed {
            Ok(listed) => listed,
            // It went while we walked.
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return,
            Err(err) => {
                self.leave_out(folder.path.strip_suffix(b"/").unwrap_or_default(), &format!("cannot be read: {err}"));
                return;
            }
        };
        let rules = folder.rules.inside(self.beneath, &folder.path);
        for (name, kind) in names {
            if name != b".git" {
                self.entry(folder, &rules, &open, &name, kind);
            }
        }
    }

    fn entry(&mut self, folder: &Folder, rules: &Arc<Rules>, open: &OwnedFd, name: &[u8], kind: FileType) {
        let path = [&folder.path[..], name].concat();
        let kind = match kind {
            FileType::Unknown => match stamp_at(open, name) {
                Ok(stamp) => stamp.kind(),
                Err(_) => return,
            },
            kind => kind,
        };
        if kind == FileType::Directory {
            self.subfolder(folder, rules, open, name, path);
            return;
        }
        let ignored = || folder.ignored || rules.ignore(&path, false);
        let (wanted, provision) = if self.tracked.files.contains_key(&path) || !ignored() {
            (true, false)
        } else {
            let named = name == b"Cargo.lock" || self.include.as_ref().is_some_and(|include| include.names(&path));
            (named && kind == FileType::RegularFile, true)
        };
        if !wanted {
            return;
        }
        let what = match kind {
            FileType::RegularFile | FileType::Symlink => None,
            FileType::Fifo => Some("a named pipe"),
            FileType::Socket => Some("a socket"),
            _ => Some("a device"),
        };
        if let Some(what) = what {
            self.leave_out(&path, &format!("is {what}"));
            return;
        }
        if let (Ok(stamp), Ok(path)) = (stamp_at(open, name), TreePath::new(path)) {
            let found = Found { path, stamp };
            if provision { self.out.provision.push(found) } else { self.out.files.push(found) }
        }
    }

    fn subfolder(&mut self, folder: &Folder, rules: &Arc<Rules>, open: &OwnedFd, name: &[u8], mut path: Vec<u8>) {
        let has = |file: &str| stamp_at(open, &[name, b"/", file.as_bytes()].concat()).is_ok();
        if self.tracked.gitlinks.contains_key(&path) {
            if has(".git")
                && let Ok(path) = TreePath::new(path)
            {
                self.out.submodules.push(path);
            }
            return;
        }
        let tracked = self.tracked.folders.contains(&path);
        let ignored = folder.ignored || rules.ignore(&path, true);
        if !tracked {
            if ignored && !self.include.as_ref().is_some_and(|include| include.reaches(&path)) {
                return;
            }
            if has(".git") {
                self.leave_out(&path, "is another git repository");
                return;
            }
            if has("CACHEDIR.TAG") {
                if !ignored {
                    self.leave_out(&path, "is a cache (it holds a CACHEDIR.TAG)");
                }
                return;
            }
        }
        path.push(b'/');
        self.folders.push(Folder { path, rules: rules.clone(), ignored });
    }

    fn leave_out(&mut self, path: &[u8], why: &str) {
        let path = TreePath::new(path).ok();
        self.out.limitations.push(Limitation { path, line: None, text: format!("left out of the snapshot: it {why}") });
    }
}

/// The patterns of a `.worktreeinclude`.
struct Include {
    matcher: Gitignore,
    /// What patterns begin with, to find the ignored folders that are worth entering.
    starts: Vec<Vec<u8>>,
}

impl Include {
    fn new(text: &[u8]) -> Self {
        let starts = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let starts = starts.filter(|line| !line.is_empty() && line[0] != b'#' && line[0] != b'!');
        let starts = starts.map(|line| line.strip_prefix(b"/").unwrap_or(line).to_vec()).collect();
        Self { matcher: matcher(text), starts }
    }

    fn names(&self, path: &[u8]) -> bool {
        self.matcher.matched_path_or_any_parents(as_path(path), false).is_ignore()
    }

    /// Whether something below this ignored folder could be named.
    fn reaches(&self, folder: &[u8]) -> bool {
        let below = [folder, b"/"].concat();
        self.matcher.matched_path_or_any_parents(as_path(folder), true).is_ignore()
            || self.starts.iter().any(|start| start.starts_with(&below))
    }
}

fn as_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt as _;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}
