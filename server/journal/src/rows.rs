//! Questions to the tables of tasks and events, each within a transaction that its caller holds.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};
use task::port::{JournalError, Lease, Note};
use task::{Epoch, Event, EventVersion, Record, RequestId, Sequence, TaskId, UnixMillis};

use crate::event::{encode, record};
use crate::owner::Owner;
use crate::problem::{Problem, Refusal};
use crate::store::{signed, unsigned};
use crate::sweep;

/// Appends as the last act of a transaction, without asking who may; answers with the position and the digests that
/// the event names.
pub(crate) fn insert(
    connection: &Connection,
    lease: &Lease,
    event: &Event,
) -> Result<(Sequence, Vec<String>), Refusal> {
    let (kind, data) = encode(event)?;
    let sequence = connection.query_row(
        "INSERT INTO event (task, sequence, epoch, at, version, kind, data)
         SELECT ?1, 1 + coalesce(max(sequence), 0), ?2, ?3, ?4, ?5, ?6 FROM event WHERE task = ?1
         RETURNING sequence",
        params![lease.task.as_str(), signed(lease.epoch.0), signed(now().0), EventVersion::CURRENT.0, kind, data],
        |row| row.get(0),
    )?;
    #[cfg(feature = "crash-points")]
    crate::crash::before();
    Ok((Sequence(unsigned(sequence)), sweep::digests(&data).map(str::to_owned).collect()))
}

/// Leaves a note for the owner of a task.
pub(crate) fn post(connection: &Connection, task: &TaskId, note: &Note) -> Result<(), Refusal> {
    let known = connection
        .query_row("SELECT 1 FROM task WHERE id = ?1", [task.as_str()], |row| row.get::<_, i64>(0))
        .optional()?;
    if known.is_none() {
        return Err(JournalError::NoSuchTask(task.clone()).into());
    }
    let data = serde_json::to_string(note).map_err(Problem::from)?;
    connection.execute(
        "INSERT INTO note (task, number, data) SELECT ?1, 1 + coalesce(max(number), 0), ?2 FROM note WHERE task = ?1",
        params![task.as_str(), data],
    )?;
    Ok(())
}

/// The notes after a number. One of a kind that a newer version left is passed over: it is for that version.
pub(crate) fn notes(connection: &Connection, task: &TaskId, after: u64) -> Result<Vec<(u64, Note)>, Refusal> {
    let mut statement =
        connection.prepare("SELECT number, data FROM note WHERE task = ?1 AND number > ?2 ORDER BY number")?;
    let mut rows = statement.query(params![task.as_str(), signed(after)])?;
    let mut notes = Vec::new();
    while let Some(row) = rows.next()? {
        let data: String = row.get(1)?;
        if let Ok(note) = serde_json::from_str(&data) {
            notes.push((unsigned(row.get(0)?), note));
        }
    }
    Ok(notes)
}

/// Records a process as the owner of a task under a later epoch.
pub(crate) fn own(connection: &Connection, task: &TaskId, owner: &Owner) -> Result<Lease, Refusal> {
    let Owner { process, start, boot } = owner;
    let epoch = connection.query_row(
        "UPDATE task SET epoch = epoch + 1, owner_process = ?2, owner_start = ?3, owner_boot = ?4
         WHERE id = ?1 RETURNING epoch",
        params![task.as_str(), process, signed(*start), boot],
        |row| row.get(0),
    )?;
    Ok(Lease { task: task.clone(), epoch: Epoch(unsigned(epoch)) })
}

pub(crate) fn history(connection: &Connection, task: &TaskId) -> Result<Vec<Record>, Refusal> {
    let mut statement = connection
        .prepare("SELECT sequence, epoch, at, version, kind, data FROM event WHERE task = ?1 ORDER BY sequence")?;
    let mut rows = statement.query([task.as_str()])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(task, row)?);
    }
    Ok(records)
}

pub(crate) fn holds(connection: &Connection, lease: &Lease) -> Result<(), Refusal> {
    let epoch: Option<i64> = connection
        .query_row("SELECT epoch FROM task WHERE id = ?1", [lease.task.as_str()], |row| row.get(0))
        .optional()?;
    match epoch {
        None => Err(JournalError::NoSuchTask(lease.task.clone()).into()),
        Some(epoch) if unsigned(epoch) == lease.epoch.0 => Ok(()),
        Some(_) => Err(JournalError::Superseded { task: lease.task.clone() }.into()),
    }
}

pub(crate) fn owner(connection: &Connection, task: &TaskId) -> Result<Option<Owner>, Refusal> {
    let found: Option<(Option<u32>, Option<i64>, Option<String>)> = connection
        .query_row("SELECT owner_process, owner_start, owner_boot FROM task WHERE id = ?1", [task.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    match found {
        None => Err(JournalError::NoSuchTask(task.clone()).into()),
        Some((Some(process), Some(start), Some(boot))) => Ok(Some(Owner { process, start: unsigned(start), boot })),
        Some(_) => Ok(None),
    }
}

pub(crate) fn exists(connection: &Connection, task: &TaskId) -> Result<bool, Refusal> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM task WHERE id = ?1)", [task.as_str()], |row| row.get(0))?)
}

pub(crate) fn task_of(connection: &Connection, id: &RequestId) -> Result<Option<TaskId>, Refusal> {
    let found: Option<String> = connection
        .query_row("SELECT id FROM task WHERE request_id = ?1", [id.as_str()], |row| row.get(0))
        .optional()?;
    found.map(task_id).transpose()
}

pub(crate) fn task_id(text: String) -> Result<TaskId, Refusal> {
    TaskId::try_from(text).map_err(|source| JournalError::Storage { what: "read", source: Box::new(source) }.into())
}

/// What the clock says; a clock before 1970 says 0. Nothing is ordered by it.
fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
