//! Removing what no task needs any more: mark what the events name, and what those receipts name, then sweep.
//!
//! Bytes and receipts are written before the event that names them, so sweeping is only safe where nobody is between
//! the two: the journal is open in no other place (the lock file says so), and this one holds no lease. Otherwise the
//! chore stays noted in the database, and whoever opens the journal next does it. That also makes a purge that was cut
//! short go on.

use std::collections::BTreeSet;
use std::fs::TryLockError;

use rusqlite::Connection;
use task::port::JournalError;

use crate::artifacts::Artifacts;
use crate::problem::{Problem, Refusal};
use crate::store::Store;

/// Notes that there is something to sweep, within the transaction that makes it so.
pub(crate) fn note(connection: &Connection) -> Result<(), Refusal> {
    connection.execute("INSERT OR IGNORE INTO chore (name) VALUES ('sweep')", [])?;
    Ok(())
}

pub(crate) fn is_due(store: &Store) -> Result<bool, JournalError> {
    store.read(|connection| {
        Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM chore WHERE name = 'sweep')", [], |row| row.get(0))?)
    })
}

/// Sweeps if the journal is open here only. `pinned` are digests that the next events of this process may name.
pub(crate) fn sweep(store: &mut Store, artifacts: &Artifacts, pinned: &BTreeSet<String>) -> Result<(), JournalError> {
    let lock = store.lock().map_err(Problem::writing)?;
    let path = store.path.clone();
    let shared_again = || lock.lock_shared().map_err(|source| Problem::files(&path, source));
    // The lock changes hands only inside a write transaction. So no two processes try at once, and while the kernel
    // swaps a shared lock for an exclusive one nobody can slip in between and sweep what we are about to name.
    let kept = store.write(|transaction| {
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                shared_again()?;
                return Ok(None);
            }
            Err(TryLockError::Error(source)) => return Err(Problem::files(&path, source).into()),
        }
        let mut kept = pinned.clone();
        mark(transaction, "SELECT data FROM event", &mut kept)?;
        let receipts = keys(transaction)?;
        for key in receipts.difference(&kept) {
            transaction.execute("DELETE FROM receipt WHERE key = ?1", [key])?;
        }
        mark(transaction, "SELECT data FROM receipt", &mut kept)?;
        Ok(Some(kept))
    });
    let swept = match &kept {
        Ok(Some(kept)) => artifacts.retain(kept).map_err(Problem::writing),
        Ok(None) => return Ok(()),
        Err(_) => Ok(()),
    };
    let done = swept.is_ok() && kept.is_ok();
    let freed = store.write(|transaction| {
        shared_again()?;
        if done {
            transaction.execute("DELETE FROM chore WHERE name = 'sweep'", [])?;
        }
        Ok(())
    });
    if freed.is_err() {
        // The disk may be full; others must get in all the same.
        shared_again().map_err(Problem::writing)?;
    }
    kept?;
    swept?;
    freed?;
    store.checkpoint()
}

fn keys(connection: &Connection) -> Result<BTreeSet<String>, Refusal> {
    let mut statement = connection.prepare("SELECT key FROM receipt")?;
    let keys = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(keys)
}

/// Adds every digest that the texts of a query name.
fn mark(connection: &Connection, query: &str, marked: &mut BTreeSet<String>) -> Result<(), Refusal> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        marked.extend(digests(&text).map(str::to_owned));
    }
    Ok(())
}

/// Whatever looks like a digest in a JSON text. One that only looks like it keeps a file too long, which is harmless.
pub(crate) fn digests(json: &str) -> impl Iterator<Item = &str> {
    json.split('"').filter(|part| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
