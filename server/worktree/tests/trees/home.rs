//! A temporary developer: a workspace, a state folder outside it, and git.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use task::{Author, Mode, TreeId, TreePath};
use tempfile::TempDir;
use worktree::{Authors, FreezeOptions, Frozen, NewEntries, Store, Workspace, freeze};

pub struct Home {
    folder: TempDir,
}

impl Home {
    /// A workspace without git.
    pub fn plain() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.top()).unwrap();
        home
    }

    /// A workspace with an empty repository.
    pub fn git() -> Self {
        let home = Self::plain();
        home.run(&["init", "-q", "-b", "main"]);
        home
    }

    /// A workspace with one commit of these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let home = Self::git();
        files.iter().for_each(|(path, text)| home.write(path, text));
        home.commit();
        home
    }

    pub fn top(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.top().join(path)).unwrap()
    }

    pub fn commit(&self) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        git(&self.top(), arguments)
    }

    pub fn workspace(&self) -> Workspace {
        Workspace::open(&self.top(), &self.folder.path().join("state")).unwrap()
    }

    pub fn store(&self) -> Arc<Store> {
        Arc::new(Store::open(&self.workspace()).unwrap())
    }

    pub fn freeze(&self, store: &Store) -> Frozen {
        freeze(&self.workspace(), store, &[], &FreezeOptions::default()).unwrap()
    }
}

/// Runs git and answers what it printed; it must succeed.
#[expect(clippy::disallowed_methods, reason = "tests compare with a real git")]
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn path(text: &str) -> TreePath {
    text.parse().unwrap()
}

pub fn external() -> Authors {
    Authors::all(Author::External)
}

/// A tree of text files, made in the store.
pub fn tree(store: &Store, files: &[(&str, &[u8])]) -> TreeId {
    tree_with_modes(store, &files.iter().map(|(path, text)| (*path, *text, Mode::File)).collect::<Vec<_>>())
}

pub fn tree_with_modes(store: &Store, files: &[(&str, &[u8], Mode)]) -> TreeId {
    let empty = store.tree(&worktree::Entries::new()).unwrap();
    let changes: NewEntries =
        files.iter().map(|(name, text, mode)| (path(name), Some((Arc::from(*text), *mode)))).collect();
    store.edit(&empty, &changes).unwrap()
}

/// Everything below a folder: kind, permissions, mtime, and bytes or target. Two equal pictures mean nothing changed.
pub fn picture(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut picture = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(path) = todo.pop() {
        let data = fs::symlink_metadata(&path).unwrap();
        let bytes = if data.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if data.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else if data.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        picture.insert(path, (data.mode(), data.mtime(), data.mtime_nsec(), bytes));
    }
    picture
}

/// Paths and bytes only, without git's folder.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let all = picture(folder).into_iter().filter(|(path, _)| !path.starts_with(folder.join(".git")));
    let files = all.filter(|(path, _)| !path.symlink_metadata().unwrap().is_dir());
    files.map(|(path, (mode, _, _, bytes))| (path.strip_prefix(folder).unwrap().to_owned(), (mode, bytes))).collect()
}
