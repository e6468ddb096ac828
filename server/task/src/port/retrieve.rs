//! Finding code: what retrieval is asked, and what it gives.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::compiler::{Answer, Change, GateProblem, Symbol};
use crate::TreePath;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Words, names, paths, or a whole issue text.
    pub text: String,
    /// Excerpts at most.
    pub most: usize,
    /// Leave files out that are tests, examples or documentation by their path.
    pub source_only: bool,
}

/// One ranked piece of code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Excerpt {
    pub path: TreePath,
    /// Lines, counted from 1, both included.
    pub first_line: u32,
    pub last_line: u32,
    /// The item it is, where it is one: `Outer::inner`.
    pub symbol: Option<String>,
    pub text: String,
    /// Why it is here, in a few words: `defines accepts`, `path`, `words: cursor, page`.
    pub reason: String,
    pub score: f64,
}

/// An item of a file with all of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub symbol: Symbol,
    /// Byte range of the whole item, attributes and doc comments included.
    pub start: usize,
    pub end: usize,
    pub first_line: u32,
    pub last_line: u32,
}

/// Text of a tree, searchable. Knows syntax, not meaning; for that there is the compiler.
pub trait Retrieve: Send + Sync {
    /// Hands over new text; the first change holds the whole of it.
    fn push(&self, change: Change);

    /// The best excerpts, best first. Equal queries on equal text have equal answers.
    fn search(&self, query: &Query) -> Answer<Vec<Excerpt>>;

    /// Items of a file in order, with those nested in them.
    fn outline(&self, path: &TreePath) -> Answer<Vec<Item>>;

    /// Items that have this name, or whose path ends with it (`Outer::inner`, `Outer.inner`), in all files.
    fn definitions(&self, name: &str) -> Answer<Vec<Item>>;

    /// What is wrong with a text as a text of its language. Empty for a text that parses, unknown for a language that is not known.
    fn syntax(&self, path: &TreePath, text: &[u8]) -> Answer<Vec<GateProblem>>;
}

/// Where searchable texts come from: each task has its own.
pub trait Retrieval: Send + Sync {
    fn open(&self) -> Arc<dyn Retrieve>;
}
