//! Finds bubblewrap and refuses one that could be turned against us: the jail is only as good as the program that
//! builds it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::process::command;

const OLDEST: (u32, u32) = (0, 8);
/// What the profile cannot do without; `--help` is asked because distributions backport options.
const NEEDED: [&str; 6] = ["--as-pid-1", "--disable-userns", "--json-status-fd", "--perms", "--size", "--ro-bind-data"];

/// A bubblewrap that may build the jail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bubblewrap {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its version as it says itself, such as `0.8.0`.
    pub version: String,
    /// Whether mounts can be named by descriptor, which closes the gap between check and mount.
    pub bind_fd: bool,
}

/// Why no jail can be built. The message ends with what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// There is none.
    #[error("bubblewrap was not found at /usr/bin/bwrap or on PATH: install the package `bubblewrap`")]
    Missing,
    /// It is older than we can use.
    #[error("{path} is bubblewrap {version}, at least 0.8 is needed: update the package `bubblewrap`")]
    TooOld {
        /// Where it is.
        path: PathBuf,
        /// What it says its version is.
        version: String,
    },
    /// It runs with root's rights, which turns any fault in it into root's.
    #[error("{path} is setuid: remove the bit with `sudo chmod u-s {path}`; unprivileged user namespaces replace it")]
    Setuid {
        /// Where it is.
        path: PathBuf,
    },
    /// Somebody other than root could have put it there.
    #[error("{path} is not a file that root owns and only root may write: install it from your distribution")]
    NotTrusted {
        /// Where it is.
        path: PathBuf,
    },
    /// It lacks an option.
    #[error("{path} (bubblewrap {version}) has no {option}: update the package `bubblewrap`")]
    OptionMissing {
        /// Where it is.
        path: PathBuf,
        /// What it says its version is.
        version: String,
        /// The option.
        option: &'static str,
    },
    /// It does not run, or our own program file cannot be opened.
    #[error("{what} failed: check that the file can be read and executed")]
    Io {
        /// What was tried.
        what: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl Bubblewrap {
    /// The one to use: `/usr/bin/bwrap` first (distributions bind their AppArmor exception to that path), then the
    /// absolute entries of `PATH` whose folder belongs to root. A relative entry would let a repository choose.
    pub fn find() -> Result<Bubblewrap, Unavailable> {
        let path_entries = env::var_os("PATH").unwrap_or_default();
        let others = env::split_paths(&path_entries).filter(|folder| folder.is_absolute() && only_root_writes(folder));
        let mut refusal = Unavailable::Missing;
        for candidate in [PathBuf::from("/usr/bin")].into_iter().chain(others).map(|folder| folder.join("bwrap")) {
            match Bubblewrap::examine(&candidate) {
                Ok(found) => return Ok(found),
                Err(Unavailable::Missing) => {}
                // The first refusal is about the likeliest candidate, which is the one to tell about.
                Err(error) if matches!(refusal, Unavailable::Missing) => refusal = error,
                Err(_) => {}
            }
        }
        Err(refusal)
    }

    /// Looks at one candidate; `Missing` if there is no file.
    pub fn examine(path: &Path) -> Result<Bubblewrap, Unavailable> {
        let Ok(metadata) = fs::metadata(path) else { return Err(Unavailable::Missing) };
        let path = path.to_path_buf();
        if metadata.mode() & 0o6000 != 0 {
            return Err(Unavailable::Setuid { path });
        }
        if !metadata.is_file() || !only_root_writes(&path) {
            return Err(Unavailable::NotTrusted { path });
        }
        let version = says(&path, "--version")?.trim().trim_start_matches("bubblewrap").trim().to_owned();
        if parse(&version).is_none_or(|version| version < OLDEST) {
            return Err(Unavailable::TooOld { path, version });
        }
        let help = says(&path, "--help")?;
        if let Some(option) = NEEDED.into_iter().find(|option| !help.contains(option)) {
            return Err(Unavailable::OptionMissing { path, version, option });
        }
        let bind_fd = help.contains("--bind-fd") && help.contains("--ro-bind-fd");
        Ok(Bubblewrap { path, version, bind_fd })
    }
}

fn only_root_writes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.uid() == 0 && metadata.mode() & 0o022 == 0)
}

fn says(path: &Path, option: &str) -> Result<String, Unavailable> {
    let output = command(path)
        .arg(option)
        .output()
        .map_err(|source| Unavailable::Io { what: format!("running `{} {option}`", path.display()), source })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fake(version: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bwrap");
        fs::write(&path, format!("#!/bin/sh\necho bubblewrap {version}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn the_installed_one_is_accepted() {
        let found = Bubblewrap::find().unwrap();
        assert!(found.path.is_absolute());
        assert!(parse(&found.version).unwrap() >= OLDEST);
    }

    #[test]
    fn a_setuid_one_is_refused() {
        let (_folder, path) = fake("0.9.0", 0o4755);
        assert!(matches!(Bubblewrap::examine(&path), Err(Unavailable::Setuid { .. })));
    }

    #[test]
    fn one_that_others_may_write_is_refused() {
        let (_folder, path) = fake("0.9.0", 0o777);
        assert!(matches!(Bubblewrap::examine(&path), Err(Unavailable::NotTrusted { .. })));
    }

    #[test]
    fn one_that_is_too_old_is_refused() {
        let (_folder, path) = fake("0.7.0", 0o755);
        if rustix::process::getuid().is_root() {
            assert!(matches!(Bubblewrap::examine(&path), Err(Unavailable::TooOld { .. })));
        } else {
            assert!(matches!(Bubblewrap::examine(&path), Err(Unavailable::NotTrusted { .. })));
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(parse("0.12.0").unwrap() > OLDEST);
        assert!(parse("0.8.0").unwrap() >= OLDEST);
        assert!(parse("0.7.9").unwrap() < OLDEST);
        assert_eq!(parse("unknown"), None);
    }
}
