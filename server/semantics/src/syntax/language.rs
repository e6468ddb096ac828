//! Which language a file is written in, by its name, and where that language's grammar is.

use task::TreePath;

/// A language whose items are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    Rust,
    /// With JSX.
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    Python,
    Go,
}

impl Language {
    /// By the ending of the name; a script without one has no language here.
    pub fn of(path: &TreePath) -> Option<Self> {
        let name = path.file_name();
        let dot = name.iter().rposition(|&byte| byte == b'.')?;
        Some(match name[dot + 1..].to_ascii_lowercase().as_slice() {
            b"rs" => Self::Rust,
            b"js" | b"jsx" | b"mjs" | b"cjs" => Self::JavaScript,
            b"ts" | b"mts" | b"cts" => Self::TypeScript,
            b"tsx" => Self::Tsx,
            b"py" | b"pyi" => Self::Python,
            b"go" => Self::Go,
            _ => return None,
        })
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }
}
