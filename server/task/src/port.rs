//! The ports: how `agent` reaches rooms that have effects of their own. There are no others; git, bubblewrap, SQLite,
//! files and editor text are real in tests.

mod compiler;
mod journal;
mod ledger;
mod model;
mod publisher;
mod raw;
mod retrieve;

pub use compiler::{
    Absent, Answer, Change, Compiler, Definition, Gate, GateProblem, GateReport, Generation, Impact, Problem, Refactor,
    Refactored, Refactoring, Reference, Symbol, SymbolKind, Symbols,
};
pub use journal::{Journal, JournalError, Lease, Note};
pub use ledger::{CallId, Ledger, LedgerError, Reservation};
pub use model::{
    Arguments, Block, Message, Model, ModelCall, ModelError, Origin, Profile, Reply, Role, Said, Spent, Stage, Stop,
    Told, ToolSpec, Waiting,
};
pub use publisher::{PublishError, Publisher};
pub use raw::{Charge, FaultKind, RawFault, RawModel, RawReply, Used};
pub use retrieve::{Excerpt, Item, Query, Retrieval, Retrieve};
