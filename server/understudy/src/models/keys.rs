//! Where the keys of providers are kept: the environment, a file that only its owner can read, the kernel's keyring.
//!
//! The Secret Service of a desktop is not asked: servers, containers and WSL2 have none. Whoever keeps keys there can put
//! one into the kernel's keyring when they log in.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use linux_keyutils::{KeyError, KeyRing, KeyRingIdentifier};

use crate::settings::{config_folder, variable};

/// A longer file holds something else.
const LONGEST: u64 = 16 << 10;

/// Looks keys up, and remembers why one could not be taken.
#[derive(Debug, Default)]
pub struct Keys {
    problems: BTreeMap<String, String>,
}

impl Keys {
    /// The key of this name and where it was.
    pub fn find(&mut self, name: &str) -> Option<(String, &'static str)> {
        if let Some(key) = variable(name) {
            return Some((key, "the environment"));
        }
        let from_file = key_file(name).map_or(Ok(None), |path| read(&path));
        let found = from_file.and_then(|key| match key {
            Some(key) => Ok(Some((key, "its file"))),
            None => Ok(from_keyring(KeyRingIdentifier::User, name)?.map(|key| (key, "the kernel's keyring"))),
        });
        found.unwrap_or_else(|problem| {
            self.problems.insert(name.to_owned(), problem);
            None
        })
    }

    pub fn problem(&self, name: &str) -> Option<&str> {
        self.problems.get(name).map(String::as_str)
    }
}

/// Where a key of this name can be put.
pub fn places(name: &str) -> String {
    let file = key_file(name).map_or(String::new(), |path| {
        format!(", or put it into {} (chmod 600)", task::printable(&path.display().to_string()))
    });
    format!("set {name} in the environment{file}, or into the kernel's keyring (`keyctl padd user {} @u`)", entry(name))
}

/// `~/.config/understudy/keys/NAME`; none for a name that is not one of a variable.
fn key_file(name: &str) -> Option<PathBuf> {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    config_folder().filter(|_| plain).map(|folder| folder.join("keys").join(name))
}

fn read(path: &Path) -> Result<Option<String>, String> {
    let shown = task::printable(&path.display().to_string());
    let odd = |what: &str| Err(format!("the key file {shown} {what}"));
    // Looked at before it is opened: a pipe would wait for a writer.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return odd(&format!("cannot be read: {error}")),
    };
    if !metadata.is_file() {
        return odd("is not a file");
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return odd(&format!(
            "has mode {mode:o} and must have 600, as others can use it; `chmod 600 {shown}` and, if they may have read it, get a new key"
        ));
    }
    let mut bytes = Vec::new();
    let text = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    match (text, String::from_utf8(bytes)) {
        (Err(error), _) => odd(&format!("cannot be read: {error}")),
        (Ok(length), _) if length as u64 > LONGEST => odd("is too long to hold a key"),
        (Ok(_), Ok(key)) if key.trim().lines().count() == 1 => Ok(Some(key)),
        (Ok(_), Ok(key)) if key.trim().is_empty() => odd("is empty"),
        (Ok(_), _) => odd("does not hold one key in one line"),
    }
}

/// What a key is called in the keyring.
fn entry(name: &str) -> String {
    format!("understudy:{name}")
}

/// A kernel or a container without keyrings has no key of ours; that is no problem to speak of.
fn from_keyring(ring: KeyRingIdentifier, name: &str) -> Result<Option<String>, String> {
    let found = KeyRing::from_special_id(ring, false).and_then(|ring| ring.search(&entry(name)));
    let bytes = match found.and_then(|key| key.read_to_vec()) {
        Ok(bytes) => bytes,
        Err(KeyError::KeyExpired | KeyError::KeyRevoked) => {
            return Err(format!("the key {} in the kernel's keyring has expired; put it there again", entry(name)));
        }
        Err(_) => return Ok(None),
    };
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| format!("the key {} in the kernel's keyring is not text", entry(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn only_a_file_that_nobody_else_can_read_holds_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("A_KEY");
        let with = |text: &str, mode: u32| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            read(&file)
        };
        assert_eq!(read(&file), Ok(None));
        assert_eq!(with("sk-secret\n", 0o600), Ok(Some("sk-secret\n".to_owned())));
        for mode in [0o640, 0o604, 0o620, 0o660, 0o644] {
            let problem = with("sk-secret", mode).unwrap_err();
            assert!(
                problem.contains("chmod 600")
                    && problem.contains(&format!("mode {mode:o}"))
                    && !problem.contains("sk-secret"),
                "{problem}"
            );
        }
        for (text, part) in
            [("", "empty"), (" \n", "empty"), ("one\ntwo\n", "one line"), (&"x".repeat(20_000), "too long")]
        {
            let problem = with(text, 0o600).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
        assert!(read(folder.path()).unwrap_err().contains("is not a file"));
    }

    #[test]
    fn a_key_in_the_keyring_is_found_by_its_name() {
        let ring = KeyRingIdentifier::Process;
        let Ok(mine) = KeyRing::from_special_id(ring, true) else {
            // A container that forbids keyrings: then the product finds none either.
            assert_eq!(from_keyring(ring, "A_KEY"), Ok(None));
            return;
        };
        mine.add_key(&entry("A_KEY"), b"sk-secret").unwrap();
        assert_eq!(from_keyring(ring, "A_KEY"), Ok(Some("sk-secret".to_owned())));
        assert_eq!(from_keyring(ring, "ANOTHER_KEY"), Ok(None));
    }

    #[test]
    fn a_name_that_leaves_the_folder_is_no_file() {
        for name in ["../config.toml", "a/b", "", "A KEY"] {
            assert_eq!(key_file(name), None, "{name}");
        }
    }
}
