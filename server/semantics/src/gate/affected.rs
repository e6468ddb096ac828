//! Which other files an edit can break: those that can see, and mention, a name whose declaration the edit changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use ra_ap_syntax::{Edition, SourceFile, SyntaxKind};
use task::TreePath;

use super::declarations::{Declarations, Reach, declarations};
use crate::analysis::Analysis;
use crate::text::Text;

/// What an edit means for files that it does not touch.
pub struct Consequences {
    /// Files that mention something whose declaration differs from the base, in order.
    pub dependents: Vec<TreePath>,
    /// Changed files whose declarations are as at the base, with the part of the present text that differs.
    pub bodies: BTreeMap<TreePath, Range<usize>>,
}

impl Analysis {
    /// Compares the declarations of the changed files with those of the base.
    pub(super) fn consequences(&mut self, changed: &BTreeSet<TreePath>) -> Consequences {
        let mut names: BTreeMap<String, Vec<Within>> = BTreeMap::new();
        let mut bodies = BTreeMap::new();
        let mut renames: BTreeSet<Option<(String, String)>> = BTreeSet::new();
        for path in changed {
            let before = self.base().get(path).and_then(|bytes| Text::new(bytes));
            let before = before.as_ref().map_or("", |text| text.lf());
            let after = self.text(path).map(|text| Arc::clone(text.lf())).unwrap_or_default();
            let mut now = Declarations::default();
            declarations(&after, &mut now);
            let known = self.base_findings.declarations.entry(path.clone());
            let base = known.or_insert_with(|| {
                let mut found = Declarations::default();
                declarations(before, &mut found);
                found
            });
            let differences = base.differences(&now);
            if differences.is_empty() && self.base().contains_key(path) == self.files().contains_key(path) {
                bodies.insert(path.clone(), difference(before, &after));
                continue;
            }
            renames.insert(renaming(before, &after));
            for (reach, name) in differences {
                names.entry(name).or_default().push(self.within(path, reach));
            }
            // A file that came or went is known to others by its module's name, which stands in none of its lines.
            if self.base().contains_key(path) != self.files().contains_key(path)
                && let Some(module) = module_name(path)
            {
                names.entry(module).or_default().push(Within(Vec::new()));
            }
        }
        // A renamed type changes the declaration of every function that mentions it, but not for those who call it.
        if let Some(Some((old, new))) = renames.first().filter(|_| renames.len() == 1) {
            names = [old, new].into_iter().map(|name| (name.clone(), vec![Within(Vec::new())])).collect();
        }
        if names.is_empty() {
            return Consequences { dependents: Vec::new(), bodies };
        }
        let candidates = self.rust_files().into_iter().filter(|(path, _)| !changed.contains(path));
        let mentions = |path: &TreePath| self.text(path).is_some_and(|text| mentions(path, text.lf(), &names));
        Consequences { dependents: candidates.map(|(path, _)| path).filter(mentions).collect(), bodies }
    }

    /// The folder in which a declaration of this reach can be seen.
    fn within(&self, path: &TreePath, reach: Reach) -> Within {
        match reach {
            Reach::Everywhere => Within(Vec::new()),
            Reach::Package => {
                let folders = std::iter::successors(path.parent(), TreePath::parent);
                let manifest: Option<TreePath> = "Cargo.toml".parse().ok();
                let has_manifest = |folder: &TreePath| {
                    manifest.as_ref().is_some_and(|manifest| self.files().contains_key(&folder.join(manifest)))
                };
                let package = folders.into_iter().find(has_manifest);
                Within(package.map_or_else(Vec::new, |folder| [folder.as_bytes(), b"/"].concat()))
            }
            Reach::Module => {
                let root = matches!(path.file_name(), b"mod.rs" | b"lib.rs" | b"main.rs");
                let folder = if root {
                    path.parent().map_or_else(Vec::new, |folder| folder.as_bytes().to_vec())
                } else {
                    path.as_bytes().strip_suffix(b".rs").unwrap_or(path.as_bytes()).to_vec()
                };
                Within(if folder.is_empty() { folder } else { [&folder[..], b"/"].concat() })
            }
        }
    }
}

/// The part of the text after an edit outside of which both texts are the same.
fn difference(before: &str, after: &str) -> Range<usize> {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let longest = before.len().min(after.len()) - start;
    let end = before.iter().rev().zip(after.iter().rev()).take(longest).take_while(|(one, other)| one == other).count();
    start..after.len() - end
}

/// The one name that was replaced by one other, when nothing else but layout and comments differs.
fn renaming(before: &str, after: &str) -> Option<(String, String)> {
    let tokens = |text: &str| -> Vec<(SyntaxKind, String)> {
        let file = SourceFile::parse(text, Edition::CURRENT).syntax_node();
        let tokens = file.descendants_with_tokens().filter_map(|element| element.into_token());
        let tokens = tokens.filter(|token| !token.kind().is_trivia());
        tokens.map(|token| (token.kind(), token.text().to_owned())).collect()
    };
    let (before, after) = (tokens(before), tokens(after));
    let mut found: Option<(String, String)> = None;
    for (one, other) in before.iter().zip(&after).filter(|(one, other)| one != other) {
        let names = one.0 == SyntaxKind::IDENT && other.0 == SyntaxKind::IDENT;
        let pair = (one.1.clone(), other.1.clone());
        if !names || found.as_ref().is_some_and(|known| *known != pair) {
            return None;
        }
        found = Some(pair);
    }
    found.filter(|_| before.len() == after.len())
}

/// The name under which a file is declared as a module.
fn module_name(path: &TreePath) -> Option<String> {
    let name = path.to_str()?.strip_suffix(".rs")?;
    let name = name.strip_suffix("/mod").unwrap_or(name);
    name.rsplit('/').next().map(str::to_owned)
}

/// A prefix of paths; empty is the whole tree.
struct Within(Vec<u8>);

/// Whether any identifier of a text is among the names that can be seen there.
fn mentions(path: &TreePath, text: &str, names: &BTreeMap<String, Vec<Within>>) -> bool {
    let seen = |within: &Within| path.as_bytes().starts_with(&within.0);
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| names.get(word).is_some_and(|places| places.iter().any(seen)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_told_from_other_changes() {
        let before = "pub struct S; impl S { pub fn new() -> S { S } }";
        let renamed = Some(("S".to_owned(), "T".to_owned()));
        assert_eq!(renaming(before, "pub struct T;\n/// New.\nimpl T { pub fn new() -> T { T } }"), renamed);
        assert_eq!(renaming(before, "pub struct T; impl T { pub fn make() -> T { T } }"), None);
        assert_eq!(renaming(before, "pub struct T(u8); impl T { pub fn new() -> T { T } }"), None);
        assert_eq!(renaming(before, before), None);
    }

    #[test]
    fn a_file_is_declared_by_its_stem_or_its_folder() {
        let name = |path: &str| module_name(&path.parse().unwrap());
        assert_eq!(name("src/shapes.rs").as_deref(), Some("shapes"));
        assert_eq!(name("src/shapes/mod.rs").as_deref(), Some("shapes"));
        assert_eq!(name("src/shapes.txt"), None);
    }

    #[test]
    fn the_difference_is_what_lies_between_the_common_ends() {
        assert_eq!(difference("abcdef", "abXYef"), 2..4);
        assert_eq!(difference("aaa", "aaaa"), 3..4);
        assert_eq!(difference("same", "same"), 4..4);
        assert_eq!(difference("gone", ""), 0..0);
    }
}
