//! The database: how it is opened, what is in it, and transactions on it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use task::EventVersion;
use task::port::JournalError;

use crate::files::{private_file, private_folder, sync_folder};
use crate::problem::{Problem, Refusal};

/// Version of the tables that this code knows. A later one is read, never written.
const SCHEMA_VERSION: i64 = 1;

/// `task.number` orders tasks as they were begun, whatever the clock said. `task.cancelled_epoch` is the
/// owner that was asked to end the task. `chore` holds what is to be done once the
/// journal is open in one place only.
const SCHEMA: &str = "
    CREATE TABLE task (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        request_id TEXT UNIQUE,
        epoch INTEGER NOT NULL,
        owner_process INTEGER,
        owner_start INTEGER,
        owner_boot TEXT,
        cancelled_epoch INTEGER
    ) STRICT;
    CREATE TABLE event (
        task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        at INTEGER NOT NULL,
        version INTEGER NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (task, sequence)
    ) STRICT;
    CREATE TABLE receipt (key TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT;
    CREATE TABLE chore (name TEXT PRIMARY KEY) STRICT;
";

/// Tables that came later. They only add, so an earlier version that does not know them loses nothing by writing beside
/// them, and the schema keeps its number.
const ADDITIONS: &str = "
    CREATE TABLE IF NOT EXISTS note (
        task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (task, number)
    ) STRICT;
";

#[derive(Debug)]
pub(crate) struct Store {
    pub path: PathBuf,
    connection: Connection,
    /// Held shared for as long as the store is open.
    lock: File,
    /// The schema version found, where it is later than ours.
    newer: Option<i64>,
}

impl Store {
    /// Opens or makes the database in `state`, waiting up to `patience` wherever another process is in the way.
    pub(crate) fn open(state: &Path, patience: Duration) -> Result<Self, Problem> {
        private_folder(state)?;
        let lock_path = state.join("journal.lock");
        let lock = private_file(&lock_path)?;
        wait_for_lock(&lock, &lock_path, patience)?;
        let path = state.join("journal.db");
        drop(private_file(&path)?);
        sync_folder(state).map_err(|source| Problem::files(state, source))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let prepare = || {
            let mut connection = Connection::open_with_flags(&path, flags)?;
            connection.busy_timeout(patience)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.pragma_update(None, "secure_delete", true)?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let found = schema_version(&connection)?;
            if found > SCHEMA_VERSION {
                connection.pragma_update(None, "query_only", true)?;
                return Ok((connection, Some(found)));
            }
            write_ahead(&connection, patience)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Asked again: another process may have made the tables while this one waited for its turn.
            if schema_version(&transaction)? == 0 {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
            }
            transaction.execute_batch(ADDITIONS)?;
            transaction.commit()?;
            Ok((connection, None))
        };
        let (connection, newer) = prepare().map_err(|source| Problem::database(&path, source))?;
        Ok(Self { path, connection, lock, newer })
    }

    /// The sentence for a schema of a later version.
    pub(crate) fn newer(&self) -> Option<JournalError> {
        let found = self.newer?;
        Some(JournalError::NewerSchema { path: self.path.display().to_string(), found, known: SCHEMA_VERSION })
    }

    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T, Refusal>) -> Result<T, JournalError> {
        f(&self.connection).map_err(|refusal| self.error(refusal, Problem::reading))
    }

    /// Runs `f` alone among all processes and makes what it wrote durable, or undoes all of it.
    pub(crate) fn write<T>(
        &mut self,
        f: impl FnOnce(&Transaction<'_>) -> Result<T, Refusal>,
    ) -> Result<T, JournalError> {
        if let Some(newer) = self.newer() {
            return Err(newer);
        }
        let connection = &mut self.connection;
        let run = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = f(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|refusal| self.error(refusal, Problem::writing))
    }

    /// The lock that tells whether somebody else has the journal open.
    pub(crate) fn lock(&self) -> Result<File, Problem> {
        self.lock.try_clone().map_err(|source| Problem::files(&self.path, source))
    }

    /// Empties the write-ahead log, so that what was deleted is not in there either.
    pub(crate) fn checkpoint(&self) -> Result<(), JournalError> {
        self.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        })
    }

    fn error(&self, refusal: Refusal, storage: fn(Problem) -> JournalError) -> JournalError {
        match refusal {
            Refusal::Journal(error) => error,
            Refusal::Problem(problem) => storage(problem),
            Refusal::Sql(source) => storage(Problem::database(&self.path, source)),
        }
    }
}

fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Two processes that open a new database at once can meet here without SQLite waiting for either.
fn write_ahead(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

fn wait_for_lock(lock: &File, path: &Path, patience: Duration) -> Result<(), Problem> {
    let deadline = Instant::now() + patience;
    loop {
        match lock.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Err(Problem::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(Problem::files(path, source)),
        }
    }
}

/// SQLite has no unsigned numbers; ours stay far below the border.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn version(number: i64) -> EventVersion {
    EventVersion(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_on_disk_before_it_is_acknowledged() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path(), Duration::from_secs(1)).unwrap();
        let number = |name| store.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        // 2 is FULL: the write-ahead log is synced with every commit.
        assert_eq!((number("synchronous"), number("foreign_keys"), number("secure_delete")), (2, 1, 1));
        let mode: String = store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }
}
