//! The ports: how `agent` reaches rooms that have effects of their own. There are no others; git, bubblewrap, SQLite,
//! files and editor text are real in tests.

mod compiler;
mod journal;
mod ledger;
mod model;
mod publisher;
mod raw;
mod reply;
mod retrieve;
mod told;

pub use compiler::{
    Absent, Answer, Change, Compiler, Definition, Gate, GateProblem, GateReport, Generation, Impact, Problem, Refactor,
    Refactored, Refactoring, Reference, Symbol, SymbolKind, Symbols,
};
pub use journal::{Journal, JournalError, Lease, Note};
pub use ledger::{CallId, Ledger, LedgerError, Reservation};
pub use model::{Arguments, Block, Message, Model, ModelCall, ModelError, Profile, Role, Stage, ToolSpec, Waiting};
pub use publisher::{PublishError, Publisher};
pub use raw::{Charge, FaultKind, RawFault, RawModel, RawReply, Used};
pub use reply::{Reply, Said, Spent, Stop};
pub use retrieve::{Excerpt, Item, Query, Retrieval, Retrieve};
pub use told::{Origin, Told};
