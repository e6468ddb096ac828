//! The editor on one side, tasks on the other: renders the walk of `agent` in the Language Server Protocol.
//!
//! A framework handler only posts to a mailbox; one loop owns every piece of mutable state; whatever takes long runs as an
//! act on a thread of its own and posts back. `protocol.md` beside this folder is the contract with clients.

mod act;
mod again;
mod backend;
mod beside;
mod choices;
mod client;
mod code_actions;
mod command;
mod desk;
mod diagnostics;
mod documents;
mod edits;
mod entry;
mod explaining;
mod folders;
mod guard;
mod hints;
mod leaving;
mod lending;
mod lenses;
mod lent;
mod lent_answer;
#[cfg(test)]
mod lent_tests;
mod limits;
mod line;
#[cfg(test)]
mod loop_tests;
mod mail;
mod main_loop;
mod model_actions;
mod notes;
mod operations;
mod owed;
#[cfg(test)]
mod owed_tests;
mod page;
mod position;
mod progress;
mod publisher;
mod read;
mod rooms;
mod session;
mod show;
mod stale;
mod telling;
mod transport;

pub use lent::Lent;
pub use rooms::{Ask, Rooms};
pub use transport::serve;
