//! Projects of python: pytest, in the developer's virtual environment.

mod find;
#[cfg(test)]
mod find_tests;
mod start;

pub(crate) use find::{find, is_there, name};
pub(crate) use start::{LOCKS, Python, interpreter, test};
