//! [`Lock`]: a lock file that is held until it is dropped.
//!
//! Closing the file alone would not let go of it: a program that some thread is just starting holds a copy of every
//! descriptor until it is loaded, and with it the lock.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::Error;

#[derive(Debug)]
pub(crate) struct Lock {
    file: fs::File,
    path: PathBuf,
}

impl Lock {
    /// Waits until nobody holds it alone, and holds it with others.
    pub fn shared(path: &Path) -> Result<Self, Error> {
        let lock = Self::open(path)?;
        lock.share()?;
        Ok(lock)
    }

    /// Waits until nobody holds it, and holds it alone.
    pub fn alone(path: &Path) -> Result<Self, Error> {
        let lock = Self::open(path)?;
        flock(&lock.file, FlockOperation::LockExclusive).map_err(|err| lock.error(err))?;
        Ok(lock)
    }

    /// Holds it alone, if nobody holds it now.
    pub fn try_alone(path: &Path) -> Result<Option<Self>, Error> {
        let lock = Self::open(path)?;
        Ok(lock.try_become_alone()?.then_some(lock))
    }

    /// From shared to alone, if nobody else holds it now. Whether or not, [`Lock::share`] is to follow in the end.
    pub fn try_become_alone(&self) -> Result<bool, Error> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(err) => Err(self.error(err)),
        }
    }

    /// From alone, or from a refused upgrade, which may have cost the shared lock, to shared.
    pub fn share(&self) -> Result<(), Error> {
        flock(&self.file, FlockOperation::LockShared).map_err(|err| self.error(err))
    }

    fn open(path: &Path) -> Result<Self, Error> {
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
        Ok(Self { file: file.map_err(Error::io("opened", path))?, path: path.to_owned() })
    }

    fn error(&self, err: Errno) -> Error {
        Error::io("locked", &self.path)(err.into())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // There is nothing to do about an error: the copies do end.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}
