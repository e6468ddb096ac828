//! Descriptors that the jail is built from. All are close-on-exec; the spawner clears that for those that bubblewrap
//! needs and for no others.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, MemfdFlags, Mode, OFlags, ResolveFlags, SealFlags};

/// A file in memory with the given content, at its beginning, that nobody can change any more.
pub(crate) fn sealed(name: &str, content: &[u8]) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = content;
    while !rest.is_empty() {
        let written = rustix::io::write(&fd, rest)?;
        rest = &rest[written..];
    }
    rustix::fs::seek(&fd, rustix::fs::SeekFrom::Start(0))?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(fd)
}

/// A handle on a mount source. A symbolic link anywhere on the way is an error: whoever can write a folder on the way
/// could otherwise choose what is mounted (CVE-2024-42472).
pub(crate) fn mount_source(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve)?)
}

/// Whether a descriptor may be handed into the jail: a pipe or a socket, through which nothing can be opened.
pub(crate) fn may_be_inherited(fd: impl AsFd) -> io::Result<bool> {
    let stat = rustix::fs::fstat(fd)?;
    Ok(matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::Socket))
}

/// Lets reads from a descriptor return at once when there is nothing to read.
pub(crate) fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let fd = fd.as_fd();
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_anywhere_on_the_way_to_a_mount_source_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/folder")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        assert!(mount_source(&root.join("real/folder")).is_ok());
        assert!(mount_source(&root.join("link/folder")).is_err());
        assert!(mount_source(&root.join("link")).is_err());
        std::fs::write(root.join("file"), "").unwrap();
        assert!(mount_source(&root.join("file")).is_ok());
    }

    #[test]
    fn folders_and_files_are_not_inheritable() {
        let folder = tempfile::tempdir().unwrap();
        let opened = std::fs::File::open(folder.path()).unwrap();
        assert!(!may_be_inherited(&opened).unwrap());
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(may_be_inherited(&reader).unwrap());
    }

    #[test]
    fn sealed_content_cannot_be_changed() {
        let fd = sealed("test", b"content").unwrap();
        assert!(rustix::io::write(&fd, b"x").is_err());
        let mut buffer = [0; 16];
        assert_eq!(rustix::io::read(&fd, &mut buffer[..]).unwrap(), 7);
    }
}
