//! The journal: what happened to every task, on disk before anyone acts on it.
//!
//! One folder holds everything: `journal.db` (SQLite, write-ahead log, `synchronous = FULL`) with tasks, events and
//! receipts; `artifacts/ab/<digest>` with bytes kept under their own digest; `journal.lock`, which every open journal
//! holds shared so that only a journal that nobody else has open removes artifacts. The folder is readable by its owner
//! alone.
//!
//! A task has one owner: the process whose id, start time and boot are recorded with it. Whoever takes the task over
//! gets a later [`task::Epoch`], and every append compares the epoch in the transaction that inserts, so a process that
//! was stopped and continued can no longer change what another one has gone on with.

mod artifacts;
#[cfg(feature = "crash-points")]
mod crash;
mod event;
mod files;
mod id;
mod journal;
mod owner;
mod problem;
mod receipt;
mod rows;
mod store;
mod sweep;

pub use id::fresh_id;
pub use journal::Journal;
pub use problem::Problem;
