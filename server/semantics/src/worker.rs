//! The compiler in a process of its own: our binary, re-executed inside the sandbox, one for each workspace.
//!
//! It cannot take the server down, its memory ends with it, and it sees only what it may read. Whatever goes wrong with
//! it (crash, hang, a malformed answer, too much memory) is the answer "unknown" with a reason; the next question gets a
//! new worker with the present text.

mod client;
mod process;
mod reuse;
mod serve;
mod wire;

pub use client::{Client, WorkerLimits, Workspace};
pub use serve::{WORKER_ARG, run_if_worker};
