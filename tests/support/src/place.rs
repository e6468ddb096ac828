//! Where this repository is.

use std::path::PathBuf;

/// The top folder of the repository that the tests were built from.
pub fn repository() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap().to_owned()
}
