//! The ports: how `agent` reaches rooms that have effects of their own. There are no others; git, bubblewrap, SQLite,
//! files and editor text are real in tests.

mod compiler;
mod journal;
mod publisher;

pub use compiler::{
    Absent, Answer, Change, Compiler, Definition, Gate, GateProblem, GateReport, Generation, Impact, Problem, Refactor,
    Refactored, Refactoring, Reference, Symbol, SymbolKind, Symbols,
};
pub use journal::{Journal, JournalError, Lease};
pub use publisher::{PublishError, Publisher};
