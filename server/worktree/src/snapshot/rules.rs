//! Ignore rules: `.gitignore` files from the deepest up, then the repository's own and the user's, as git ranks them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use git2::Repository;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::beneath::{Beneath, read_small};

/// The rules that hold in one folder.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    matcher: Arc<Gitignore>,
    /// Length of the path of the folder the rules belong to, its slash included.
    prefix: usize,
    outer: Option<Arc<Rules>>,
}

/// A rules file larger than this is not one.
const LARGEST: u64 = 4 << 20;

impl Rules {
    /// The rules that hold everywhere in a repository or, without one, in a folder.
    pub(super) fn outermost(top: &Path, repository: Option<&Repository>) -> Self {
        let configured = repository
            .and_then(|repository| repository.config().ok()?.snapshot().ok()?.get_path("core.excludesfile").ok())
            .or_else(gitconfig_excludes_path);
        let is_git = top.join(".git").symlink_metadata().is_ok();
        let exclude = match repository {
            Some(repository) => repository.commondir().join("info/exclude"),
            None => top.join(".git/info/exclude"),
        };
        let mut rules = Self { matcher: Arc::new(Gitignore::empty()), prefix: 0, outer: None };
        for path in [configured.filter(|_| is_git), Some(exclude)].into_iter().flatten() {
            if path.is_file()
                && let Ok(text) = fs::read(&path)
            {
                rules = rules.with(&text, 0);
            }
        }
        rules
    }

    /// The rules in a folder (its path with a trailing slash, or empty), its own `.gitignore` added.
    pub(super) fn inside(self: &Arc<Self>, beneath: &Beneath, folder: &[u8]) -> Arc<Self> {
        let path = [folder, b".gitignore"].concat();
        match read_small(beneath, &path, LARGEST) {
            Ok(Some(text)) => Arc::new(Self::clone(self).with(&text, folder.len())),
            _ => self.clone(),
        }
    }

    /// Whether a path that nobody tracks is ignored, itself or by a folder above it; `self` are the outermost rules.
    pub(super) fn ignore_new(self, beneath: &Beneath, path: &[u8]) -> bool {
        let mut rules = Arc::new(self).inside(beneath, b"");
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for slash in slashes {
            if rules.ignore(&path[..slash], true) {
                return true;
            }
            rules = rules.inside(beneath, &path[..=slash]);
        }
        rules.ignore(path, false)
    }

    fn with(self, text: &[u8], prefix: usize) -> Self {
        Self { matcher: Arc::new(matcher(text)), prefix, outer: Some(Arc::new(self)) }
    }

    /// Whether the rules ignore a path, given that they do not ignore its folder.
    pub(super) fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(level) = rules {
            let relative = Path::new(OsStr::from_bytes(&path[level.prefix..]));
            match level.matcher.matched(relative, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = level.outer.as_deref(),
            }
        }
        false
    }
}

/// A matcher of the lines of a rules file. A line that is not UTF-8 or no pattern matches nothing.
pub(super) fn matcher(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|&byte| byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line) {
            let line = line.strip_suffix('\r').unwrap_or(line);
            // The builder keeps what it understood.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
