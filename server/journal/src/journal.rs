//! [`Journal`]: the port over the database and the artifacts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::params;
use task::port::{self, JournalError, Lease, Note};
use task::{Digest, Event, Receipt, Record, Request, RequestId, Sequence, TaskId};

use crate::artifacts::Artifacts;
use crate::id::fresh_id;
use crate::owner::{Life, Owner};
use crate::problem::Problem;
use crate::store::{Store, signed};
use crate::{receipt, rows, sweep};

/// How long to wait for another process before saying that it is in the way. A commit takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open journal. Shared between threads; calls that write come one after another.
#[derive(Debug)]
pub struct Journal {
    open: Mutex<Open>,
    artifacts: Artifacts,
    ourselves: Owner,
}

#[derive(Debug)]
struct Open {
    store: Store,
    /// Digests that were kept here and that no event or receipt has named yet.
    pinned: BTreeSet<String>,
    leases: BTreeSet<TaskId>,
}

impl Journal {
    /// Opens the journal in a state folder, or makes both. A journal of a newer schema opens for reading only, see
    /// [`Journal::newer_schema`].
    ///
    /// # Errors
    /// [`JournalError::Storage`] with a [`Problem`]: the disk is full, the folder read-only, the database damaged or
    /// locked.
    pub fn open(state: &Path) -> Result<Self, JournalError> {
        Self::open_with_patience(state, PATIENCE)
    }

    pub(crate) fn open_with_patience(state: &Path, patience: Duration) -> Result<Self, JournalError> {
        let open = || {
            let store = Store::open(state, patience)?;
            Ok((store, Artifacts::open(state)?, Owner::ourselves()?))
        };
        let (mut store, artifacts, ourselves) = open().map_err(Problem::opening)?;
        if store.newer().is_none() && sweep::is_due(&store)? {
            // On a full disk this fails and the journal can still be read; the chore stays noted.
            drop(sweep::sweep(&mut store, &artifacts, &BTreeSet::new()));
        }
        let open = Open { store, pinned: BTreeSet::new(), leases: BTreeSet::new() };
        Ok(Self { open: Mutex::new(open), artifacts, ourselves })
    }

    /// [`JournalError::NewerSchema`] where a newer version of Understudy made this journal: calls that read try to, calls
    /// that write answer with this error.
    pub fn newer_schema(&self) -> Option<JournalError> {
        self.lock().store.newer()
    }

    /// Every call leaves the state consistent before it can panic, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl port::Journal for Journal {
    /// The first event, [`Event::Requested`], is written by this very call. The task gets the id of the request, or a
    /// fresh one where another task has that already; the recorded request carries the id that was given.
    fn begin(&self, request: &Request) -> Result<(TaskId, Option<Lease>), JournalError> {
        let mut open = self.lock();
        let (task, lease, named) = open.store.write(|transaction| {
            if let Some(id) = &request.request_id
                && let Some(task) = rows::task_of(transaction, id)?
            {
                return Ok((task, None, Vec::new()));
            }
            let mut request = request.clone();
            while rows::exists(transaction, &request.id)? {
                request.id = fresh_id()?;
            }
            let task = request.id.clone();
            transaction.execute(
                "INSERT INTO task (id, request_id, epoch) VALUES (?1, ?2, 0)",
                params![task.as_str(), request.request_id.as_ref().map(RequestId::as_str)],
            )?;
            let lease = rows::own(transaction, &task, &self.ourselves)?;
            let (_, named) = rows::insert(transaction, &lease, &Event::Requested { request: Box::new(request) })?;
            Ok((task, Some(lease), named))
        })?;
        #[cfg(feature = "crash-points")]
        crate::crash::after();
        open.named(&named);
        if lease.is_some() {
            open.leases.insert(task.clone());
        }
        Ok((task, lease))
    }

    fn by_request_id(&self, id: &RequestId) -> Result<Option<TaskId>, JournalError> {
        self.lock().store.read(|connection| rows::task_of(connection, id))
    }

    /// The same process may take its own task again; its older lease is refused from then on like any other.
    fn acquire(&self, task: &TaskId) -> Result<Lease, JournalError> {
        let mut open = self.lock();
        let lease = open.store.write(|transaction| {
            match rows::owner(transaction, task)? {
                Some(owner) if owner == self.ourselves => {}
                Some(owner) if owner.life()? == Life::Running => {
                    return Err(JournalError::Owned { task: task.clone(), process: owner.process }.into());
                }
                _ => {}
            }
            if rows::history(transaction, task)?.iter().any(|record| record.event.is_err()) {
                return Err(JournalError::Newer { task: task.clone() }.into());
            }
            rows::own(transaction, task, &self.ourselves)
        })?;
        open.leases.insert(task.clone());
        Ok(lease)
    }

    /// A lease that no longer holds is left alone: the task is someone else's.
    fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        let mut open = self.lock();
        open.leases.remove(&lease.task);
        open.store.write(|transaction| {
            // The epoch moves on, so that the lease cannot be used after it was given back.
            transaction.execute(
                "UPDATE task SET epoch = epoch + 1, owner_process = NULL, owner_start = NULL, owner_boot = NULL
                 WHERE id = ?1 AND epoch = ?2",
                params![lease.task.as_str(), signed(lease.epoch.0)],
            )?;
            Ok(())
        })
    }

    fn fence(&self, lease: &Lease) -> Result<(), JournalError> {
        self.lock().store.read(|connection| rows::holds(connection, lease))
    }

    fn append(&self, lease: &Lease, event: &Event) -> Result<Sequence, JournalError> {
        let mut open = self.lock();
        let (sequence, named) = open.store.write(|transaction| {
            rows::holds(transaction, lease)?;
            rows::insert(transaction, lease, event)
        })?;
        #[cfg(feature = "crash-points")]
        crate::crash::after();
        open.named(&named);
        Ok(sequence)
    }

    fn records(&self, task: &TaskId) -> Result<Vec<Record>, JournalError> {
        self.lock().store.read(|connection| {
            let records = rows::history(connection, task)?;
            if records.is_empty() && !rows::exists(connection, task)? {
                return Err(JournalError::NoSuchTask(task.clone()).into());
            }
            Ok(records)
        })
    }

    fn tasks(&self) -> Result<Vec<TaskId>, JournalError> {
        self.lock().store.read(|connection| {
            let mut statement = connection.prepare("SELECT id FROM task ORDER BY number DESC")?;
            let mut rows = statement.query([])?;
            let mut tasks = Vec::new();
            while let Some(row) = rows.next()? {
                tasks.push(rows::task_id(row.get(0)?)?);
            }
            Ok(tasks)
        })
    }

    /// A stopped owner is none: the task can be taken from it.
    fn owner(&self, task: &TaskId) -> Result<Option<u32>, JournalError> {
        self.lock().store.read(|connection| match rows::owner(connection, task)? {
            Some(owner) if owner.life()? == Life::Running => Ok(Some(owner.process)),
            _ => Ok(None),
        })
    }

    fn request_cancel(&self, task: &TaskId) -> Result<(), JournalError> {
        self.lock().store.write(|transaction| {
            let changed =
                transaction.execute("UPDATE task SET cancelled_epoch = epoch WHERE id = ?1", [task.as_str()])?;
            if changed == 0 {
                return Err(JournalError::NoSuchTask(task.clone()).into());
            }
            Ok(())
        })
    }

    fn cancel_requested(&self, lease: &Lease) -> Result<bool, JournalError> {
        self.lock().store.read(|connection| {
            let asked = "SELECT EXISTS (SELECT 1 FROM task WHERE id = ?1 AND cancelled_epoch = ?2)";
            Ok(connection.query_row(asked, params![lease.task.as_str(), signed(lease.epoch.0)], |row| row.get(0))?)
        })
    }

    fn post(&self, task: &TaskId, note: &Note) -> Result<(), JournalError> {
        self.lock().store.write(|transaction| rows::post(transaction, task, note))
    }

    fn notes(&self, task: &TaskId, after: u64) -> Result<Vec<(u64, Note)>, JournalError> {
        self.lock().store.read(|connection| rows::notes(connection, task, after))
    }

    fn put_receipt(&self, receipt: &Receipt) -> Result<Digest, JournalError> {
        let mut open = self.lock();
        let key = open.store.write(|transaction| receipt::put(transaction, receipt))?;
        open.named(&receipt.output.iter().map(Digest::to_string).collect::<Vec<_>>());
        open.pinned.insert(key.to_string());
        Ok(key)
    }

    fn receipt(&self, key: &Digest) -> Result<Option<Receipt>, JournalError> {
        self.lock().store.read(|connection| receipt::get(connection, key))
    }

    fn put_artifact(&self, bytes: &[u8]) -> Result<Digest, JournalError> {
        let digest = Artifacts::digest(bytes);
        {
            let mut open = self.lock();
            if let Some(newer) = open.store.newer() {
                return Err(newer);
            }
            // Before the file is there, so that no sweep by another thread comes between.
            open.pinned.insert(digest.to_string());
        }
        self.artifacts.put(&digest, bytes).map_err(Problem::writing)?;
        Ok(digest)
    }

    fn artifact(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        self.artifacts.get(digest).map_err(Problem::reading)
    }

    /// Also refused while this very process has the task: it has to give it back first. Receipts and artifacts that no
    /// other task names go at once if the journal is open nowhere else, otherwise when it is next opened.
    fn purge(&self, task: &TaskId) -> Result<(), JournalError> {
        let mut open = self.lock();
        open.store.write(|transaction| {
            if let Some(owner) = rows::owner(transaction, task)?
                && owner.life()? == Life::Running
            {
                return Err(JournalError::Owned { task: task.clone(), process: owner.process }.into());
            }
            transaction.execute("DELETE FROM task WHERE id = ?1", [task.as_str()])?;
            sweep::note(transaction)
        })?;
        open.leases.remove(task);
        if open.leases.is_empty() {
            let Open { store, pinned, .. } = &mut *open;
            sweep::sweep(store, &self.artifacts, pinned)?;
        }
        Ok(())
    }
}

impl Open {
    /// What an event or a receipt names needs no pin any more.
    fn named(&mut self, digests: &[String]) {
        for digest in digests {
            self.pinned.remove(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_another_process_keeps_locked_is_named_after_the_wait() {
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open_with_patience(state.path(), Duration::from_millis(20)).unwrap();
        let other = rusqlite::Connection::open(state.path().join("journal.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let task = fresh_id().unwrap();
        let error = port::Journal::acquire(&journal, &task).unwrap_err().to_string();
        assert!(error.contains("cannot be written: another process keeps"), "{error}");
        other.execute_batch("ROLLBACK").unwrap();
        assert!(matches!(port::Journal::acquire(&journal, &task), Err(JournalError::NoSuchTask(_))));
    }
}
