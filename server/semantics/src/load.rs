//! From a folder in the sandbox to a loaded compiler, in two halves.
//!
//! The outer half ([`gather`]) runs cargo and rustc in the sandbox and keeps only what it could validate, as [`Facts`].
//! The inner half ([`Project`]) turns facts and pushed text into the compiler's input and starts no process of the
//! tree: what it reads from disk is the standard library, registry sources and what build scripts wrote.

mod cargo;
mod confine;
mod disk;
mod facts;
mod grounds;
mod macros;
mod project;
mod server;
mod sysroot;
mod toolchain;

pub use cargo::{gather, survey};
pub use confine::{Place, Tools};
pub use facts::{Facts, LoadError, ToolchainFacts, WorkspaceFacts};
pub use grounds::Grounds;
pub use macros::{MacroPipes, MacroServer};
pub use project::{DoctestCrate, Project, absolute, panic_text};
pub use server::MacroProcess;
