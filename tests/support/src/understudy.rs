//! The built command, in a home that no other test and no developer shares.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::wait::comes_true;
use crate::{Finished, Running, command, leftovers};

/// What a test may keep of the environment it runs in: programs and toolchains.
const KEPT: [&str; 3] = ["PATH", "RUSTUP_HOME", "CARGO_HOME"];

/// Runs the command; state, settings and temporary files lie in one temporary folder that goes with this value.
#[derive(Debug)]
pub struct Understudy {
    binary: PathBuf,
    home: TempDir,
    variables: Vec<(String, String)>,
}

impl Understudy {
    /// `binary` is `env!("CARGO_BIN_EXE_understudy")`, which only tests of that package know.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let home = tempfile::Builder::new().prefix("understudy-home-").tempdir().unwrap();
        for name in ["state", "config", "cache", "data", "tmp"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        Self { binary: binary.into(), home, variables: Vec::new() }
    }

    /// Sets a variable for every command that is started later.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Where the command keeps its state.
    pub fn state(&self) -> PathBuf {
        self.home.path().join("state/understudy")
    }

    /// Writes the user's settings.
    pub fn configure(&self, toml: &str) {
        let folder = self.home.path().join("config/understudy");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), toml).unwrap();
    }

    /// Starts the command in `folder` and lets it run.
    pub fn start<A: AsRef<OsStr>>(&self, folder: &Path, arguments: impl IntoIterator<Item = A>) -> Running {
        self.start_with(folder, arguments, &[])
    }

    /// The same with further variables, for this command alone.
    pub fn start_with<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
        variables: &[(&str, &str)],
    ) -> Running {
        Running::start(self.command(folder, arguments, variables))
    }

    /// The command as it would be started.
    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
        variables: &[(&str, &str)],
    ) -> Command {
        let home = self.home.path();
        let mut understudy = command(&self.binary);
        understudy
            .current_dir(folder)
            .args(arguments)
            .env_clear()
            .envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .envs(toolchains())
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("TMPDIR", home.join("tmp"))
            .env("LANG", "C.UTF-8")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(variables.iter().copied());
        understudy
    }

    /// Runs the command to its end, without input.
    pub fn run<A: AsRef<OsStr>>(&self, folder: &Path, arguments: impl IntoIterator<Item = A>) -> Finished {
        self.start(folder, arguments).finish()
    }

    /// The name that everything started here carries, for [`leftovers`].
    pub fn marker(&self) -> String {
        self.home.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Waits until nothing that was started here is left.
    ///
    /// # Panics
    /// When something stays, naming it.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let marker = self.marker();
        let mut left = Vec::new();
        let gone = comes_true(Duration::from_secs(30), || {
            left = leftovers(&marker);
            left.is_empty()
        });
        assert!(gone, "still there: {left:#?}");
    }
}

/// Homes of rustup and cargo, which are found below the real HOME unless variables say otherwise.
fn toolchains() -> Vec<(&'static str, PathBuf)> {
    let Some(home) = std::env::home_dir() else { return Vec::new() };
    let homes = [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")];
    let missing = homes.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
    missing.map(|(name, folder)| (name, home.join(folder))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_sees_a_home_of_its_own_and_nothing_else() {
        let understudy = Understudy::new("/usr/bin/env").with("COLOR", "never");
        let folder = tempfile::tempdir().unwrap();
        let printed = understudy.run(folder.path(), ["-u", "LANG"]).ended_with(0).text();
        let mut names: Vec<_> = printed.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        let expected = "CARGO_HOME COLOR HOME PATH RUSTUP_HOME TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME \
                        XDG_STATE_HOME";
        assert_eq!(names.join(" "), expected);
        understudy.assert_nothing_left();
    }
}
