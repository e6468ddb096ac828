//! Checks: find the commands that judge a tree, run them, read what they say, compare with the base, judge.
//!
//! * [`find()`] looks at the manifests of a tree, in memory, and names the checks that "verified" needs.
//! * [`Runner::run`] runs one of them in the sandbox on a projected shadow and gives a receipt with its items.
//! * [`compare()`] sets a candidate's receipt against the base's; [`judge()`] says whether the tree is verified.
//!
//! ```ignore
//! let found: Found = checks::find(&files, Wanted { lints: false });
//! let needed: Needed = found.checks_for(&touched); // ask the base too: what a change removes is still owed
//! let rust = Ok(Tools::new(&toolchain, &cargo_view, level));
//! let runner = Runner::new(Arc::new(sandbox), Equipment { rust, interpreters, workspace, level });
//! let links = checks::links(&files, &workspace)?; // to `node_modules`: put into each shadow, counted as provisioned
//! if let Some(inputs) = checks::lock_inputs(&files, &root) {
//!     // No Cargo.lock in the tree: one per `inputs`, put into each shadow, counted as provisioned.
//!     let lock: Vec<u8> = runner.generate_lock(&shadow, &root, remaining, &cancel)?;
//! }
//! let environment: Environment = runner.environment(&files, &check, &provisioned, &shadow, remaining, &cancel)?;
//! let ran: Ran = runner.run(&Order { .. }, &Watch { .. }, &mut guard);
//! let judgement: Judgement = checks::judge(&Evidence { .. });
//! ```
//!
//! Checks of Cargo lie beside this file; those of npm and python in `npm` and `python`, and what the two share in
//! `outside.rs` (how they run), `installed.rs` (what the developer installed) and `report.rs` (what is believed).
//!
//! Nothing here knows git, LSP or models. Whatever a command printed is untrusted: it can make a check fail, never pass
//! by printing (`libtest.rs` says what remains forgeable).

mod acting;
mod cargo_build;
mod cargo_test;
mod commands;
mod compare;
#[cfg(test)]
mod compare_tests;
mod diagnostic;
mod doctest;
mod environment;
mod files;
mod find;
#[cfg(test)]
mod find_tests;
mod folder;
mod installed;
mod judge;
#[cfg(test)]
mod judge_tests;
mod libtest;
#[cfg(test)]
mod libtest_tests;
mod manifest;
mod message;
mod metadata;
mod needed;
mod npm;
mod order;
mod outside;
mod programs;
mod project;
mod python;
mod reading;
mod recorder;
mod report;
mod reported;
mod run;
#[cfg(test)]
mod run_tests;
mod rust_tests;
mod selection;
mod signature;
mod stamps;
mod surroundings;
mod test_run;
mod tests_of;
mod told;
mod tool;
mod tools;
mod units;
mod watch;

pub use acting::Acting;
pub use compare::{Renames, compare};
pub use diagnostic::{Diagnostic, Level, Suggestion};
pub use environment::{Environment, EnvironmentError};
pub use files::{FileMap, Files};
pub use find::{CargoWorkspace, Found, Package, Wanted, find};
pub use installed::links;
pub use judge::{Case, Evidence, UNREAD, judge};
pub use needed::{Needed, check, lock_inputs};
pub use order::{OWN_HARNESS, Order, PROCESS, Ran};
pub use project::Project;
pub use run::Runner;
pub use rust_tests::changed_tests;
pub use tests_of::{used_by_tests_only, with_tests_of};
pub use tool::{Ecosystem, ecosystem};
pub use tools::{Equipment, Jail, Tools};
pub use watch::{Guard, Moment, Progress, Unguarded, Watch};
