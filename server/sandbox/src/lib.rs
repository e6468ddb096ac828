//! The process jail: a policy becomes bubblewrap arguments, a run of them becomes an outcome.
//!
//! This crate is the only place that starts processes (invariant I6). It knows nothing of tasks, git or Rust code.
//!
//! ```no_run
//! use sandbox::{CancelToken, Jailed, Mount, Outcome, Sandbox};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // First statement of `main` in every binary that uses this crate: inside the jail the same binary is process 1.
//! sandbox::run_if_launcher();
//!
//! let sandbox = Sandbox::open()?; // finds bubblewrap; cheap to clone; an error carries its remedy
//! let shadow = std::path::Path::new("/state/w/1/slot-0/shadow"); // canonical: no symbolic link on the way
//! let mut command = Jailed::new("make", shadow); // name (looked up in the jail's PATH) or path, and folder to run in
//! command.args.push("check".into());
//! command.mounts.push(Mount::writable(shadow)); // same absolute path inside as outside
//! let finished = sandbox.run(command, &CancelToken::new()); // blocks; every ending is data
//! match finished.outcome {
//!     Outcome::Exit { code: 0 } => println!("{}", finished.stdout.lossy()),
//!     other => println!("{other}: {}", finished.stderr.lossy()),
//! }
//! # Ok(()) }
//! ```
//!
//! [`Sandbox::start`] gives a [`Running`] instead: live output lines, pipes to a long-lived process
//! ([`Stdin::Piped`], [`Output::Piped`]), inherited pipe ends ([`Inherited`]), our own binary in another role
//! ([`OWN_PROGRAM`]). The command starts in an otherwise empty
//! world: nothing of the host but `/usr`, a handful of files in `/etc`, and the mounts of its policy; no network but an
//! own loopback; no environment but the policy's; descriptors 0 to 2. It is dead, with everything it started, before
//! [`Running::wait`] returns, and within milliseconds of the end of our own process.
//!
//! [`rust_toolchain`] and [`CargoHome`] turn installed toolchains and cargo's caches into mounts, [`probe`](fn@probe)
//! tells what works on this machine, [`remove_tree`] deletes what hostile commands left.

#![cfg(target_os = "linux")]

mod argv;
mod bwrap;
mod cancel;
mod capture;
mod cargo_home;
mod clean;
mod descriptors;
mod host;
mod interpreter;
mod launcher;
mod limits;
mod orders;
mod outcome;
mod policy;
mod probe;
mod process;
mod remedy;
mod running;
mod sandbox;
mod streams;
mod toolchain;
mod watch;

pub use argv::PolicyError;
pub use bwrap::{Bubblewrap, Unavailable};
pub use cancel::CancelToken;
pub use cargo_home::{CargoHome, CargoHomeError, CargoView};
pub use clean::{CleanError, empty_tree, remove_tree};
pub use interpreter::{Interpreter, InterpreterError, Interpreters, Manager};
pub use launcher::{LAUNCHER_ARG, run_if_launcher};
pub use limits::{Keep, Limits};
pub use outcome::{Captured, Finished, Outcome, SpawnStage, Usage};
pub use policy::{HOME, Jailed, Mount, OWN_PROGRAM};
pub use probe::{Probe, Verdict, probe};
pub use remedy::remedy_for;
pub use running::Running;
pub use sandbox::{Sandbox, StartError};
pub use streams::{Inherited, OnLine, Output, Stdin, Stream};
pub use toolchain::{RustHome, Toolchain, ToolchainError, rust_toolchain};
