//! What kind of command a check is: read off its words, so that a check means the same wherever its receipt is read.

use task::Check;

/// The programs whose results are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    Cargo,
    Node,
    Vitest,
    Jest,
    Mocha,
    Tsc,
    Pytest,
}

/// What projects are of: whose files, dependencies and tools belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    Cargo,
    Npm,
    Python,
}

impl Tool {
    pub(crate) fn of(check: &Check) -> Option<Self> {
        let words = check.command.iter().map(String::as_str).skip_while(|word| is_assignment(word));
        match words.take(3).collect::<Vec<_>>().as_slice() {
            ["cargo", ..] => Some(Self::Cargo),
            ["node", ..] => Some(Self::Node),
            ["npx", "vitest", ..] => Some(Self::Vitest),
            ["npx", "jest", ..] => Some(Self::Jest),
            ["npx", "mocha", ..] => Some(Self::Mocha),
            ["npx", "tsc", ..] => Some(Self::Tsc),
            ["python", "-m", "pytest"] => Some(Self::Pytest),
            _ => None,
        }
    }

    /// As it stands in ids of checks and items.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Node => "node --test",
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Tsc => "tsc",
            Self::Pytest => "pytest",
        }
    }

    pub(crate) fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Cargo => Ecosystem::Cargo,
            Self::Node | Self::Vitest | Self::Jest | Self::Mocha | Self::Tsc => Ecosystem::Npm,
            Self::Pytest => Ecosystem::Python,
        }
    }

    /// The words that a command begins with, after its variables.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["cargo"],
            Self::Node => &["node", "--test"],
            Self::Vitest => &["npx", "vitest", "run"],
            Self::Jest => &["npx", "jest"],
            Self::Mocha => &["npx", "mocha"],
            Self::Tsc => &["npx", "tsc", "--noEmit"],
            Self::Pytest => &["python", "-m", "pytest"],
        }
    }
}

/// What a check is of; `None` for one whose results cannot be read.
pub fn ecosystem(check: &Check) -> Option<Ecosystem> {
    Tool::of(check).map(Tool::ecosystem)
}

/// The variables that a command sets, and its arguments after the words of its tool.
pub(crate) fn arguments(check: &Check, tool: Tool) -> (Vec<(String, String)>, Vec<String>) {
    let assigned = check.command.iter().take_while(|word| is_assignment(word));
    let env: Vec<(String, String)> =
        assigned.filter_map(|word| word.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect();
    let args = check.command.iter().skip(env.len() + tool.words().len()).cloned().collect();
    (env, args)
}

/// `NAME=value`
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

impl Ecosystem {
    /// Whether a file is written in its languages, or is one of its manifests.
    pub(crate) fn speaks(self, path: &task::TreePath) -> bool {
        let name = String::from_utf8_lossy(path.file_name()).into_owned();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match self {
            Self::Cargo => ending == "rs" || matches!(name.as_str(), "Cargo.toml" | "Cargo.lock"),
            Self::Npm => {
                const ENDINGS: [&str; 10] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte"];
                ENDINGS.contains(&ending) || matches!(name.as_str(), "package.json" | "tsconfig.json")
            }
            Self::Python => matches!(ending, "py" | "pyi" | "pyx") || name == "pyproject.toml",
        }
    }
}
