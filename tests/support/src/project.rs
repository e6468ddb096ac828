//! [`Project`]: a folder as a developer has it, made from an archive, with or without git.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Archive, Fingerprint, command, repository};

/// A folder named `project` inside a temporary one; both go when this is dropped.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
    /// What the archive says it is for.
    pub description: String,
}

impl Project {
    /// A plain folder with the entries of an [`Archive`].
    pub fn new(archive: &str) -> Self {
        Self::of(&Archive::parse(archive))
    }

    /// The same from an archive that was read, perhaps without a script that was taken out.
    pub fn of(archive: &Archive) -> Self {
        let folder = tempfile::Builder::new().prefix("understudy-test-").tempdir().unwrap();
        let project = Self { folder, description: archive.description.clone() };
        fs::create_dir(project.path()).unwrap();
        archive.unpack(&project.path());
        project
    }

    /// The same from `tests/data/NAME.txt`.
    pub fn data(name: &str) -> Self {
        let path = repository().join("tests/data").join(name).with_extension("txt");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::new(&text)
    }

    /// Makes it a git repository with everything in one commit.
    #[must_use]
    pub fn committed(self) -> Self {
        self.git(["init", "--quiet", "--initial-branch=main"]);
        self.commit("Begin");
        self
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A path beside the project, for whatever must not lie in it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path().join(path);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// # Panics
    /// Also when the file is not UTF-8.
    pub fn text(&self, path: impl AsRef<Path>) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Replaces text that occurs exactly once in a file.
    pub fn replace(&self, path: impl AsRef<Path>, from: &str, to: &str) {
        let text = self.text(&path);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {}:\n{text}", path.as_ref().display());
        self.write(path, text.replace(from, to));
    }

    pub fn remove(&self, path: impl AsRef<Path>) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.path())
    }

    /// Commits everything and answers with the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Runs git in the project and answers with what it prints.
    ///
    /// # Panics
    /// When git fails.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        git(&self.path(), arguments)
    }
}

/// Git as nobody has configured it: no file of the user or the machine, no hooks, fixed names and times, so that equal
/// folders get equal commit ids.
fn git<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> String {
    let settings = ["core.autocrlf=false", "core.hooksPath=/dev/null", "gc.auto=0", "protocol.file.allow=always"];
    let mut git = command("git");
    git.current_dir(folder)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("HOME", "/nonexistent")])
        // Asking must not change: `git status` would refresh the index.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .envs([("GIT_AUTHOR_NAME", "Dev"), ("GIT_AUTHOR_EMAIL", "dev@example.org")])
        .envs([("GIT_COMMITTER_NAME", "Dev"), ("GIT_COMMITTER_EMAIL", "dev@example.org")])
        .envs([("GIT_AUTHOR_DATE", "@1700000000 +0000"), ("GIT_COMMITTER_DATE", "@1700000000 +0000")])
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments);
    let output = git.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{git:?} failed: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_same;

    #[test]
    fn equal_archives_give_equal_commits() {
        let text = "-- a --\none\n-- b [exec] --\ntwo\n";
        let head = |project: &Project| project.git(["rev-parse", "HEAD"]);
        let (one, two) = (Project::new(text).committed(), Project::new(text).committed());
        assert_eq!(head(&one), head(&two));
        assert_eq!(one.git(["status", "--porcelain"]), "");
        let print = |project: &Project| project.fingerprint().without(".git").without_times();
        assert_same(&print(&one), &print(&two));
    }

    #[test]
    fn a_project_changes_as_a_developer_changes_it() {
        let project = Project::data("hello").committed();
        assert!(project.description.contains("smallest"));
        project.replace("src/lib.rs", "hello, {name}", "good day, {name}");
        project.write("notes/new.txt", "x");
        project.remove("tests/greets.rs");
        let status = project.git(["status", "--porcelain"]);
        assert_eq!(status, " M src/lib.rs\n D tests/greets.rs\n?? notes/\n");
    }
}
