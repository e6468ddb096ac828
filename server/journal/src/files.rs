//! Files and folders that only their owner can read, durable when the call returns.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::problem::Problem;

/// Makes a folder and those above it with mode 0700, and takes wider rights from one that was there.
pub(crate) fn private_folder(path: &Path) -> Result<(), Problem> {
    let make = || {
        if !path.is_dir() {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                sync_folder(parent)?;
            }
        }
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
        }
        Ok(())
    };
    make().map_err(|source| Problem::files(path, source))
}

/// Opens a file for reading and writing, made with mode 0600 where there is none.
pub(crate) fn private_file(path: &Path) -> Result<File, Problem> {
    let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    open().map_err(|source| Problem::files(path, source))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
