//! The folder that a developer would have open: a repository as it was before a fix, with what cargo needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use task::Mode;

use super::narrow::narrow;
use crate::mirror::Mirror;
use crate::{Failure, by_hand, corpus};

/// Files that choose a toolchain which is perhaps not installed here.
const TOOLCHAINS: [&str; 2] = ["rust-toolchain", "rust-toolchain.toml"];

/// Puts a revision into a folder in place of whatever was there, so that the next task of a repository finds warm build
/// folders like a developer's. Answers whether the workspace was cut down to what the fix touches.
pub fn lay(mirror: &Mirror, revision: &str, touched: &BTreeSet<String>, top: &Path) -> Result<bool, Failure> {
    fs::create_dir_all(top)?;
    for entry in fs::read_dir(top)?.flatten().filter(|entry| entry.file_name() != ".git") {
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    let (mut files, mut programs) = (BTreeMap::new(), BTreeSet::new());
    for (path, mode, bytes) in mirror.files(revision)? {
        let Some(path) = path.to_str().filter(|path| !TOOLCHAINS.contains(path)) else { continue };
        files.insert(path.to_owned(), bytes.to_vec());
        if mode == Mode::Executable {
            programs.insert(path.to_owned());
        }
    }
    let narrowed = narrow(&mut files, touched)?;
    for (path, bytes) in &files {
        let place = top.join(path);
        fs::create_dir_all(place.parent().unwrap_or(top))?;
        fs::write(&place, bytes)?;
        if programs.contains(path) {
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
        }
    }
    // Before the commit: where the lock file is tracked and members were left out, cargo writes it anew.
    by_hand::run(top, "cargo", &["fetch", "-q"], &[])?;
    corpus::commit(top)?;
    Ok(narrowed)
}
