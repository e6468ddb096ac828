//! What the compiler knows: symbols, refactorings, gate.
//!
//! rust-analyzer's crates in process, fed with text that the caller pushes; confined here because a binary with them
//! linked in is ten times the size of one without. Beside it what needs no compiler: [`TextRetrieval`], which finds code
//! by words, names and paths, and knows syntax by tree-sitter.

mod analysis;
mod desk;
mod gate;
mod impact;
mod jail;
mod load;
mod names;
mod questions;
mod refactor;
mod rehearsal;
mod retrieve;
mod settings;
mod symbols;
mod syntax;
mod text;
mod worker;

pub use analysis::{Analysis, Site};
pub use desk::InProcess;
pub use load::{
    Facts, LoadError, MacroPipes, MacroProcess, MacroServer, Place, ToolchainFacts, Tools, WorkspaceFacts, gather,
};
pub use questions::{Answers, Ask, Question, Reply};
pub use retrieve::TextRetrieval;
pub use worker::{Client, WORKER_ARG, WorkerLimits, Workspace, run_if_worker};
