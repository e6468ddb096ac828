//! What the system outside looks like, as far as the jail shows it: read once, so that building arguments stays pure.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and links of the host that every jail shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Folders of programs and libraries, shown read-only.
    pub folders: Vec<PathBuf>,
    /// Links in `/` such as `/bin -> usr/bin`: (target, link).
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Files and folders below `/etc`, shown read-only.
    pub etc: Vec<PathBuf>,
    /// Folders below `folders` that a policy may hide.
    pub hideable: Vec<PathBuf>,
}

/// Links into `/usr` on merged systems, folders elsewhere.
const ROOTS: [&str; 7] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec"];
/// Where systems without a classic `/usr` keep programs.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];
/// Loader cache, alternatives and certificates: nothing that tells the machine or the user. Each costs every start a
/// fraction of a millisecond. Not the time zone: in the jail it is UTC, on every machine.
const ETC: [&str; 5] =
    ["/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];

impl Layout {
    /// Reads the layout of this machine. `hidden` are the folders that the policy wants hidden.
    pub(crate) fn of_this_machine(hidden: impl Iterator<Item = PathBuf>) -> Layout {
        let mut layout = Layout { folders: vec!["/usr".into()], ..Layout::default() };
        for root in ROOTS.map(Path::new) {
            match fs::read_link(root) {
                Ok(target) => layout.links.push((target, root.into())),
                Err(_) if root.is_dir() => layout.folders.push(root.into()),
                Err(_) => {}
            }
        }
        layout.folders.extend(STORES.iter().map(PathBuf::from).filter(|store| store.is_dir()));
        layout.etc.extend(ETC.iter().map(PathBuf::from).filter(|path| path.exists()));
        layout.hideable.extend(hidden.filter(|folder| folder.is_dir()));
        layout
    }
}
