//! Projects of npm, whatever installs their packages: `node --test`, vitest, jest, mocha and tsc.

mod find;
#[cfg(test)]
mod find_tests;
mod manifest;
mod options;
mod script;
mod start;
mod tsc;

pub(crate) use find::{find, is_installed, name, uses};
pub(crate) use start::{LOCKS, installed, node, test};
pub(crate) use tsc::compile;
