//! Syntax without a compiler: which items a text has, and what is wrong with it, by tree-sitter's grammars.
//!
//! Works on broken text, and on text that was made to hurt: sizes and steps are capped, and nothing here recurses.

mod items;
mod language;
mod parse;
mod problems;
mod shape;

pub use items::{Found, items};
pub use language::Language;
pub use parse::Cap;
pub use problems::problems;
