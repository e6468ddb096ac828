//! What can be wrong with the journal's disk, each as one sentence that says where and what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use task::port::JournalError;

/// The cause inside a [`JournalError::Storage`].
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("the disk that holds {} is full; nothing was changed, free some space and ask again", .0.display())]
    Full(PathBuf),
    #[error(
        "{} is read-only or not ours to write; make it writable, or let XDG_STATE_HOME name a folder that is",
        .0.display()
    )]
    ReadOnly(PathBuf),
    #[error("{} is damaged; nothing was changed, move it aside to begin a new journal", .0.display())]
    Damaged(PathBuf),
    #[error("another process keeps {} locked; ask again when it is done", .0.display())]
    Locked(PathBuf),
    #[error("the bytes at {} are not those that were kept there; move that file aside", .0.display())]
    ArtifactDamaged(PathBuf),
    #[error("{} cannot be used: {source}", .path.display())]
    Files { path: PathBuf, source: io::Error },
    #[error("SQLite cannot use {}: {source}", .path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
    #[error("a value has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
}

impl Problem {
    /// Sorts an error of the file system.
    pub(crate) fn files(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly(path),
            _ => Self::Files { path, source },
        }
    }

    /// Sorts an error of SQLite.
    pub(crate) fn database(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
        let path = path.to_owned();
        if let Utf8Error(..) | FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) =
            source
        {
            // SQLite found its own structures whole, but what is in them is nothing that we write.
            return Self::Damaged(path);
        }
        if source.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) {
            // The index of the log could not be given its size; SQLite has no word for why, but there is only one reason.
            return Self::Full(path);
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly(path),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(path),
            _ => Self::Database { path, source },
        }
    }

    pub(crate) fn opening(self) -> JournalError {
        JournalError::Storage { what: "opened", source: Box::new(self) }
    }

    pub(crate) fn reading(self) -> JournalError {
        JournalError::Storage { what: "read", source: Box::new(self) }
    }

    pub(crate) fn writing(self) -> JournalError {
        JournalError::Storage { what: "written", source: Box::new(self) }
    }
}

/// Why a transaction ends without a commit.
#[derive(Debug)]
pub(crate) enum Refusal {
    Journal(JournalError),
    Problem(Problem),
    Sql(rusqlite::Error),
}

impl From<JournalError> for Refusal {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::Problem(error.into())
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}
