//! Typed structural search and replace over the files of the tree.

use std::str::FromStr;

use ra_ap_hir::Semantics;
use ra_ap_ide_db::source_change::SourceChange;
use ra_ap_ide_db::{FileId, FilePosition};
use ra_ap_ide_ssr::{MatchFinder, SsrRule};
use ra_ap_syntax::{AstNode, TextSize};
use task::port::Refactored;

use super::edits::Gathered;
use super::rename::refused;
use crate::analysis::Analysis;

impl Analysis {
    /// Replaces every match of a pattern. The paths in pattern and template must resolve in the root of some crate.
    pub(crate) fn replace(&self, pattern: &str, template: &str) -> Refactored {
        let rule = format!("{} ==>> {}", pattern.trim(), template.trim());
        if let Err(error) = SsrRule::from_str(&rule) {
            return refused(format!("`{rule}` is not a rule: {}", said(&error)));
        }
        let mut gathered = Gathered::default();
        let mut first_error = None;
        let mut tried = 0;
        for root in self.crate_roots() {
            // A name means something only somewhere: each crate's root is tried, and each answers for the whole tree.
            let Ok(parsed) = SsrRule::from_str(&rule) else { continue };
            let position = FilePosition { file_id: root, offset: self.top_level(root) };
            let found = self.attached(|| {
                let mut finder = MatchFinder::in_context(self.database(), position, Vec::new())?;
                finder.add_rule(parsed)?;
                Ok(finder.edits())
            });
            match found {
                Ok(edits) => {
                    tried += 1;
                    let mut change = SourceChange::default();
                    for (file, edit) in edits {
                        change.insert_source_edit(file, edit);
                    }
                    let before = std::mem::take(&mut gathered.replacements);
                    if let Err(reason) = self.gather(&change, &mut gathered) {
                        return refused(reason);
                    }
                    // Two crates may find the same match and write its path differently; the first wins.
                    for (path, edits) in before {
                        let kept = gathered.replacements.entry(path).or_default();
                        kept.retain(|edit| {
                            !edits.iter().any(|other| {
                                edit.start < other.end && other.start < edit.end || edit.range() == other.range()
                            })
                        });
                        kept.extend(edits);
                    }
                }
                Err(error) => {
                    first_error.get_or_insert_with(|| said(&error));
                }
            }
        }
        match (tried, first_error) {
            (0, Some(error)) => refused(format!("`{rule}` does not resolve in any crate of this project: {error}")),
            (0, None) => refused("there is no crate to search".to_owned()),
            _ => {
                gathered.replacements.retain(|_, edits| !edits.is_empty());
                let limitations = std::mem::take(&mut gathered.limitations);
                Refactored::Edits { edits: gathered.into_set(), limitations }
            }
        }
    }

    /// An offset whose names are those of the file's own module: at the end of layout between two items. The start of
    /// a file may count as inside its first item.
    fn top_level(&self, file: FileId) -> TextSize {
        let source = Semantics::new(self.database()).parse_guess_edition(file);
        let tokens = source.syntax().children_with_tokens().filter_map(|element| element.into_token());
        tokens.map(|token| token.text_range().end()).next().unwrap_or_default()
    }

    /// The root files of the crates of the tree, libraries first.
    fn crate_roots(&self) -> Vec<FileId> {
        let database = self.database();
        let crates = ra_ap_hir::Crate::all(database).into_iter().filter(|krate| self.is_ours(*krate));
        let mut roots: Vec<(bool, FileId)> = crates
            .map(|krate| krate.root_file(database))
            .map(|root| (!self.doctest_crates.iter().any(|doctests| doctests.library == root), root))
            .collect();
        roots.sort();
        roots.dedup();
        roots.into_iter().map(|(_, root)| root).collect()
    }
}

/// The compiler's errors about rules print with a label in front that says nothing.
fn said(error: &ra_ap_ide_ssr::SsrError) -> String {
    let text = error.to_string();
    text.strip_prefix("Parse error: ").map_or(text.clone(), str::to_owned)
}
