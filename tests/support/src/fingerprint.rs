//! [`Fingerprint`]: everything about a folder that must not change behind the developer's back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::difference::describe;

/// Every path below a folder, `.git` included, with bytes or link target, mode, and time of change. Links are not
/// followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    pub(crate) entries: BTreeMap<PathBuf, Print>,
}

/// One path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Print {
    /// Type and permissions, as in `stat`.
    pub mode: u32,
    /// Nanoseconds since 1970; `None` where it does not count.
    pub mtime: Option<i128>,
    /// Bytes of a file, target of a link, nothing for anything else.
    pub bytes: Vec<u8>,
}

impl Fingerprint {
    /// # Panics
    /// When something below the folder cannot be read.
    pub fn of(folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref();
        let mut entries = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(relative) = open.pop() {
            let path = folder.join(&relative);
            let metadata = fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let kind = metadata.file_type();
            let bytes = if kind.is_file() {
                fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            } else if kind.is_symlink() {
                OsString::into_vec(fs::read_link(&path).unwrap().into_os_string())
            } else {
                Vec::new()
            };
            if kind.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| relative.join(entry.unwrap().file_name())));
            }
            let mtime = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
            entries.insert(relative, Print { mode: metadata.mode(), mtime: Some(mtime), bytes });
        }
        Self { entries }
    }

    /// The same without one file, or one folder and what is below it.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.entries.retain(|found, _| !found.starts_with(path));
        self
    }

    /// Only one file, or one folder and what is below it.
    #[must_use]
    pub fn only(&self, path: &str) -> Self {
        let inside = self.entries.iter().filter(|(found, _)| found.starts_with(path));
        Self { entries: inside.map(|(path, print)| (path.clone(), print.clone())).collect() }
    }

    /// The same without times, for comparing folders that were written at different moments.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        self.entries.values_mut().for_each(|print| print.mtime = None);
        self
    }

    /// What differs, a line each, in the order of the paths. Empty exactly when nothing does.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let mut paths: Vec<_> = self.entries.keys().chain(later.entries.keys()).collect();
        paths.sort();
        paths.dedup();
        let describe = |path: &PathBuf| describe(path, self.entries.get(path), later.entries.get(path));
        paths.into_iter().filter_map(describe).collect()
    }
}

/// Compares two fingerprints.
///
/// # Panics
/// When they differ, with every difference.
#[track_caller]
pub fn assert_same(before: &Fingerprint, after: &Fingerprint) {
    let differences = before.differences(after);
    assert!(differences.is_empty(), "{} paths differ:\n{}", differences.len(), differences.join("\n"));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), "ref").unwrap();
        fs::write(folder.path().join("a"), "one\ntwo\n").unwrap();
        symlink("a", folder.path().join("link")).unwrap();
        folder
    }

    fn change(act: impl FnOnce(&Path)) -> Vec<String> {
        let folder = folder();
        let before = Fingerprint::of(folder.path());
        assert_same(&before, &Fingerprint::of(folder.path()));
        act(folder.path());
        before.differences(&Fingerprint::of(folder.path()))
    }

    fn set_time(path: &Path, time: SystemTime) {
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_time_that_moves_by_a_nanosecond_shows() {
        let found = change(|folder| {
            let path = folder.join(".git/HEAD");
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            set_time(&path, time + Duration::from_nanos(1));
        });
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("~ .git/HEAD: changed at "), "{found:?}");
    }

    #[test]
    fn bytes_under_the_same_time_show_with_their_line() {
        let found = change(|folder| {
            let path = folder.join("a");
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "one\nTwo\n").unwrap();
            set_time(&path, time);
        });
        assert_eq!(found, [r#"~ a: line 2 was "two\n", is "Two\n""#]);
    }

    #[test]
    fn modes_targets_and_new_files_show() {
        let found = change(|folder| {
            fs::set_permissions(folder.join("a"), fs::Permissions::from_mode(0o600)).unwrap();
            fs::remove_file(folder.join("link")).unwrap();
            fs::write(folder.join(".git/new"), "x").unwrap();
        });
        let found = found.join("\n");
        for part in ["~ a: mode 100644 -> 100600", "- link (mode 120777, 1 bytes)", "+ .git/new (mode 1006", "~ .: "] {
            assert!(found.contains(part), "{part} in {found}");
        }
    }

    #[test]
    fn what_does_not_count_can_be_left_out() {
        let (one, two) = (folder(), folder());
        fs::write(two.path().join(".git/other"), "x").unwrap();
        let print = |folder: &tempfile::TempDir| Fingerprint::of(folder.path()).without(".git").without_times();
        // The folder itself is a temporary one with the same mode.
        assert_same(&print(&one), &print(&two));
    }
}
