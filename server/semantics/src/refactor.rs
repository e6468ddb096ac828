//! Changes that the compiler can work out by itself, as edits of the developer's bytes.

mod assist;
mod capture;
mod docs;
pub(crate) mod doctests;
mod edits;
mod import;
mod links;
mod place;
mod rename;
mod replace;
mod textual;
