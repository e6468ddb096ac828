//! Checks: find the commands that judge a tree, run them, read what they say, compare with the base, judge.
//!
//! * [`find()`] looks at the manifests of a tree, in memory, and names the checks that "verified" needs.
//! * [`Runner::run`] runs one of them in the sandbox on a projected shadow and gives a receipt with its items.
//! * [`compare()`] sets a candidate's receipt against the base's; [`judge()`] says whether the tree is verified.
//!
//! ```ignore
//! let found: Found = checks::find(&files, Wanted { lints: false });
//! let plan: Plan = found.checks_for(&touched_paths);            // -> checks, unavailable: BTreeMap<CheckId, String>, packages
//! if let Some(inputs) = checks::lock_inputs(&files, root) { .. } // no Cargo.lock in the tree: same digest, same lock
//! let lock: Vec<u8> = runner.generate_lock(shadow, root, remaining, &cancel)?; // the caller provisions it
//! let runner = Runner::new(Arc::new(sandbox), tools);
//! let environment: Environment = runner.environment(shadow, root, &provisioned, &files, &cancel)?;
//! let ran: Ran = runner.run(&Order { .. }, &Watch { .. }, &mut guard);
//! let judgement: Judgement = checks::judge(&Evidence { .. });
//! ```
//!
//! Nothing here knows git, LSP or models. Whatever a command printed is untrusted: it can make a check fail, never pass
//! by printing (see [`libtest`] for what remains forgeable).

mod cargo_build;
mod cargo_test;
mod commands;
mod compare;
mod diagnostic;
mod doctest;
mod environment;
mod files;
mod find;
mod folder;
mod judge;
mod libtest;
#[cfg(test)]
mod libtest_tests;
mod manifest;
mod message;
mod metadata;
mod order;
mod reading;
mod recorder;
mod run;
mod signature;
mod test_run;
mod told;

pub use compare::{Renames, compare};
pub use diagnostic::{Diagnostic, Level, Suggestion};
pub use environment::{Environment, EnvironmentError};
pub use files::{FileMap, Files};
pub use find::{Found, Package, Plan, Wanted, Workspace, check, find, lock_inputs};
pub use judge::{Case, Evidence, judge};
pub use order::{Guard, Jail, Moment, OWN_HARNESS, Order, PROCESS, Progress, Ran, Tools, Unguarded, Watch};
pub use run::Runner;
