//! What the compiler can be asked. Synchronous, owned text in and out: no analysis is held across anything that waits.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{EditSet, Limitation, Position, TreePath};

/// Which text an answer speaks of. The caller counts; answers of an older generation are dropped, never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u64);

/// New text for some files; `None` means the file is gone. The first change pushed after a load is the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub generation: Generation,
    pub files: Vec<(TreePath, Option<Arc<[u8]>>)>,
}

/// An answer, or the honest statement that there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    Known {
        value: T,
        /// What analysis could not see; empty means complete.
        missing: Vec<String>,
    },
    Unknown {
        reason: String,
    },
}

impl<T> Answer<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Known { value, missing } => Answer::Known { value: f(value), missing },
            Self::Unknown { reason } => Answer::Unknown { reason },
        }
    }
}

/// The compiler as a whole.
pub trait Compiler: Symbols + Refactor + Gate + Impact + Any + Send + Sync {
    /// Hands over new text. Answers asked for this generation or later see it.
    fn push(&self, change: Change);

    /// Makes another text the base, as if it were the first that is pushed: the change holds the whole of it. Answers
    /// whether what was worked out for the base so far holds for it; if not, the compiler is to be given up.
    fn rebase(&self, _base: Change) -> bool {
        false
    }
}

/// Names and where they are.
pub trait Symbols {
    /// Definitions that a written name may mean: `matches`, `VersionReq::matches`, `semver::VersionReq`.
    fn find(&self, at: Generation, name: &str) -> Answer<Vec<Symbol>>;
    /// Definitions of one file, in order.
    fn outline(&self, at: Generation, path: &TreePath) -> Answer<Vec<Symbol>>;
    /// Everything that refers to the definition at this byte offset, the definition itself not included.
    fn references(&self, at: Generation, path: &TreePath, offset: usize) -> Answer<Vec<Reference>>;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// With its path: `semver::VersionReq::matches`.
    pub name: String,
    pub kind: SymbolKind,
    pub definition: Definition,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Definition {
    pub path: TreePath,
    /// Byte range of the name.
    pub start: usize,
    pub end: usize,
    /// Counted from 1.
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    Module,
    Function,
    Method,
    Struct,
    Enum,
    Union,
    Variant,
    Field,
    Trait,
    TypeAlias,
    Constant,
    Static,
    Macro,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reference {
    pub path: TreePath,
    pub start: usize,
    pub end: usize,
    pub line: u32,
}

/// Changes that the compiler can work out by itself.
pub trait Refactor {
    fn refactor(&self, at: Generation, refactoring: &Refactoring) -> Answer<Refactored>;
    /// Ways to mend a compile error, best first. Edits with placeholders are not among them.
    fn quick_fixes(&self, at: Generation, problem: &Problem) -> Answer<Vec<EditSet>>;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refactoring {
    /// With a place, the definition is the one of what stands there, and must have the written name.
    Rename {
        symbol: String,
        new_name: String,
        #[serde(default)]
        at: Option<Position>,
    },
    /// Typed structural search and replace.
    Replace { pattern: String, template: String },
    /// Line and column count from 1, columns in characters.
    Assist { id: String, path: TreePath, line: u32, column: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refactored {
    /// The change, with what it could not reach.
    Edits { edits: EditSet, limitations: Vec<Limitation> },
    /// The name means several things.
    Ambiguous { candidates: Vec<Symbol> },
    /// The name means nothing here; what is spelled most like it.
    NotFound { nearest: Vec<String> },
    /// The compiler will not do this, and why.
    Refused { reason: String },
}

/// A compile error as the build reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub path: TreePath,
    pub start: usize,
    pub end: usize,
    /// `E0432` and the like, where there is one.
    pub code: Option<String>,
    pub message: String,
}

/// The in-process check of an edit, before any command runs.
pub trait Gate {
    /// Judges the text at this generation against the base text, where these files were edited.
    fn gate(&self, at: Generation, edited: &[TreePath]) -> GateReport;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReport {
    /// No problem that the base does not have; `missing` is what the gate could not see.
    Clean {
        missing: Vec<String>,
    },
    Errors {
        problems: Vec<GateProblem>,
        missing: Vec<String>,
    },
    Unknown {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateProblem {
    pub path: TreePath,
    pub line: u32,
    pub code: String,
    pub message: String,
}

/// Who is affected by a change.
pub trait Impact {
    /// Packages whose checks may judge differently after these files changed, most directly affected first.
    fn affected(&self, at: Generation, changed: &[TreePath]) -> Answer<Vec<String>>;
}

/// Stands in where there is no compiler: every answer is "unknown", with the reason.
#[derive(Debug, Clone)]
pub struct Absent {
    pub reason: String,
}

impl Absent {
    fn unknown<T>(&self) -> Answer<T> {
        Answer::Unknown { reason: self.reason.clone() }
    }
}

impl Compiler for Absent {
    fn push(&self, _: Change) {}
}

impl Symbols for Absent {
    fn find(&self, _: Generation, _: &str) -> Answer<Vec<Symbol>> {
        self.unknown()
    }

    fn outline(&self, _: Generation, _: &TreePath) -> Answer<Vec<Symbol>> {
        self.unknown()
    }

    fn references(&self, _: Generation, _: &TreePath, _: usize) -> Answer<Vec<Reference>> {
        self.unknown()
    }
}

impl Refactor for Absent {
    fn refactor(&self, _: Generation, _: &Refactoring) -> Answer<Refactored> {
        self.unknown()
    }

    fn quick_fixes(&self, _: Generation, _: &Problem) -> Answer<Vec<EditSet>> {
        self.unknown()
    }
}

impl Gate for Absent {
    fn gate(&self, _: Generation, _: &[TreePath]) -> GateReport {
        GateReport::Unknown { reason: self.reason.clone() }
    }
}

impl Impact for Absent {
    fn affected(&self, _: Generation, _: &[TreePath]) -> Answer<Vec<String>> {
        self.unknown()
    }
}
