//! What a step, or a whole request, may change.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TreePath;

/// Files (as globs) and symbols that may change. No glob at all means every file of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// Globs over [`TreePath`]s: `*` stays within a folder, `**` crosses folders, `src` alone means everything below it.
    pub paths: Vec<String>,
    pub symbols: Vec<String>,
}

/// A glob that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a path glob")]
pub struct ScopeError {
    glob: String,
    source: globset::Error,
}

impl Scope {
    /// # Errors
    /// Names the first glob that cannot be read.
    pub fn new(paths: Vec<String>) -> Result<Self, ScopeError> {
        compile(&paths)?;
        Ok(Self { paths, symbols: Vec::new() })
    }

    /// Whether the scope lets this file change.
    ///
    /// # Errors
    /// Names the first glob that cannot be read.
    pub fn admits(&self, path: &TreePath) -> Result<bool, ScopeError> {
        Ok(self.outside([path])?.is_empty())
    }

    /// Those of the paths that the scope does not let change.
    ///
    /// # Errors
    /// Names the first glob that cannot be read.
    pub fn outside<'a>(&self, paths: impl IntoIterator<Item = &'a TreePath>) -> Result<Vec<&'a TreePath>, ScopeError> {
        self.chosen(paths, false)
    }

    /// Those of the paths that the scope lets change.
    ///
    /// # Errors
    /// Names the first glob that cannot be read.
    pub fn inside<'a>(&self, paths: impl IntoIterator<Item = &'a TreePath>) -> Result<Vec<&'a TreePath>, ScopeError> {
        self.chosen(paths, true)
    }

    fn chosen<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a TreePath>,
        inside: bool,
    ) -> Result<Vec<&'a TreePath>, ScopeError> {
        let set = compile(&self.paths)?;
        let is_inside = |path: &TreePath| self.paths.is_empty() || set.is_match(bytes_as_path(path.as_bytes()));
        Ok(paths.into_iter().filter(|path| is_inside(path) == inside).collect())
    }
}

fn bytes_as_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt as _;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}

fn compile(globs: &[String]) -> Result<GlobSet, ScopeError> {
    let mut set = GlobSetBuilder::new();
    let failed = |glob: &str| {
        let glob = crate::printable(glob);
        move |source| ScopeError { glob, source }
    };
    for glob in globs {
        let trimmed = glob.trim_start_matches("./").trim_end_matches('/');
        for form in [trimmed.to_owned(), format!("{trimmed}/**")] {
            set.add(GlobBuilder::new(&form).literal_separator(true).build().map_err(failed(glob))?);
        }
    }
    set.build().map_err(failed(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        text.parse().unwrap()
    }

    #[test]
    fn a_folder_admits_what_lies_below_it_and_nothing_else() {
        let scope = Scope::new(vec!["src/".into(), "tests/*.rs".into()]).unwrap();
        for (name, admitted) in [
            ("src/a/b.rs", true),
            ("tests/a.rs", true),
            ("tests/a/b.rs", false),
            ("srcs/a.rs", false),
            ("README.md", false),
        ] {
            let path = path(name);
            assert_eq!(scope.admits(&path).unwrap(), admitted, "{name}");
            assert_eq!(!scope.inside([&path]).unwrap().is_empty(), admitted, "{name}");
        }
    }

    #[test]
    fn no_glob_admits_everything_and_a_bad_one_is_named() {
        assert!(Scope::default().admits(&path("any/where")).unwrap());
        assert_eq!(Scope::default().inside([&path("any/where")]).unwrap().len(), 1);
        assert_eq!(Scope::new(vec!["a[".into()]).unwrap_err().to_string(), "`a[` is not a path glob");
    }
}
