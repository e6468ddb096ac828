//! What libgit2 is told once per process, and opening the developer's repository without touching it.

use std::path::Path;
use std::sync::Once;

use git2::{Repository, RepositoryOpenFlags};

/// Sets the process-wide options of libgit2. Called before every use; does its work once.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Packs of ours are checked by what is read from them: a projection is verified by stamps, a publication read
        // back by hash. Hashing every object again on each read costs more than everything else a projection does.
        git2::opts::strict_hash_verification(false);
        // SAFETY: both setters only write globals of libgit2, and `Once` keeps others out while they run; libgit2 does
        // not synchronise them itself.
        unsafe {
            // Nothing from a repository's configuration is ever executed by us, so its owner does not matter.
            let _ = git2::opts::set_verify_owner_validation(false);
            // A partial clone is like any other for who can do without its absent objects.
            let _ = git2::opts::set_extensions(&["partialclone"]);
        }
    });
}

/// Opens the repository whose working tree is `top`, and no other.
pub(crate) fn open(top: &Path) -> Result<Repository, git2::Error> {
    prepare();
    Repository::open_ext(top, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&Path>())
}
