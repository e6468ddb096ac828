//! Diagnostics of compiler and linter, with what an engine needs to apply their suggestions.

use std::collections::BTreeSet;
use std::ops::Range;

use task::TreePath;

/// How serious it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Error,
    Warning,
    /// Notes and helps that stand by themselves.
    Note,
}

/// One message of compiler or linter about a file of the tree, the same for all targets and features that show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub package: String,
    /// Kinds and names of the targets that show it, such as `lib` and `test api`.
    pub targets: BTreeSet<String>,
    pub level: Level,
    /// `E0308`, `unused_variables`, `clippy::needless_return`; `None` for messages without one.
    pub code: Option<String>,
    pub message: String,
    /// As the compiler prints it; printable.
    pub rendered: String,
    /// Where it points; `None` where it points outside the tree or nowhere.
    pub path: Option<TreePath>,
    /// Bytes of the primary span in that file.
    pub bytes: Range<u32>,
    /// Line of the primary span, from 1.
    pub line: u32,
    pub suggestions: Vec<Suggestion>,
    /// The compiler's own JSON, unchanged, for `rustfix`. File names in it are relative to `root`.
    pub json: String,
    /// The folder of the Cargo workspace, to which file names in `json` are relative; `None` is the top of the tree.
    pub root: Option<TreePath>,
}

/// One replacement that the compiler proposes; those of one `group` belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub group: u32,
    pub path: TreePath,
    pub bytes: Range<u32>,
    pub replacement: String,
    /// `MachineApplicable` alone may be applied without asking.
    pub machine_applicable: bool,
}
