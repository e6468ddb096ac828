//! Whether a renamed name still means the same: the edits are applied and every changed name is resolved again.

use std::collections::BTreeSet;

use ra_ap_hir::Semantics;
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::{Definition, IdentClass};
use ra_ap_syntax::{AstNode, SyntaxKind, SyntaxToken};
use task::{EditSet, FileEdit, TreePath};

use super::textual::{has_word, words};
use crate::analysis::{Analysis, Site};

/// What a name that was there before meant.
type Strangers = Vec<(TreePath, usize, BTreeSet<Option<Site>>)>;

impl Analysis {
    /// Every use of the new name that exists before the rename, with what it means.
    pub(crate) fn strangers(&self, new_name: &str) -> Strangers {
        let semantics = Semantics::new(self.database());
        let mut found = Vec::new();
        for (path, file) in self.rust_files() {
            let Some(text) = self.text(&path).filter(|text| has_word(text.lf(), new_name)) else { continue };
            let source = semantics.parse_guess_edition(file);
            for at in words(text.lf(), new_name) {
                if let Some(token) = identifier_at(&source, at)
                    && token.parent().is_some_and(|parent| parent.kind() == SyntaxKind::NAME_REF)
                {
                    found.push((path.clone(), text.to_bytes(at), self.meanings(&semantics, &token)));
                }
            }
        }
        found
    }

    /// Why the applied rename changes the meaning of something; `None` when it does not.
    ///
    /// `edits` speaks of the text before, the analysis has the text after.
    pub(crate) fn captured(&self, edits: &EditSet, new_name: &str, strangers: &Strangers) -> Option<String> {
        let semantics = Semantics::new(self.database());
        let moved = |path: &TreePath| {
            let target = edits.files.iter().find_map(|file| match file {
                FileEdit::Move { from, to } if from == path => Some(to.clone()),
                _ => None,
            });
            target.unwrap_or_else(|| path.clone())
        };
        let mut names: BTreeSet<Option<Site>> = BTreeSet::new();
        let mut uses: Vec<(Site, BTreeSet<Option<Site>>)> = Vec::new();
        for file in &edits.files {
            let FileEdit::Replace { path, edits } = file else { continue };
            let new_path = moved(path);
            let (Some(text), Some(id)) = (self.text(&new_path), self.file_id(&new_path)) else { continue };
            let source = semantics.parse_guess_edition(id);
            let mut shift: isize = 0;
            for edit in edits {
                let start = edit.start.wrapping_add_signed(shift);
                shift += edit.replacement.len() as isize - (edit.end - edit.start) as isize;
                if edit.replacement != new_name {
                    continue;
                }
                let Some(token) = identifier_at(&source, text.to_lf(start)) else { continue };
                let Some(site) = self.site(id, token.text_range()) else { continue };
                match token.parent().map(|parent| parent.kind()) {
                    Some(SyntaxKind::NAME) => drop(names.insert(Some(site))),
                    Some(SyntaxKind::NAME_REF) => uses.push((site, self.meanings(&semantics, &token))),
                    _ => {}
                }
            }
        }
        for (site, meanings) in &uses {
            // Nothing known is not something else: the gate compares what resolves and what does not.
            if !meanings.is_empty() && meanings.is_disjoint(&names) {
                return Some(format!(
                    "at {}:{} the new name `{new_name}` would mean something else",
                    site.path, site.line
                ));
            }
        }
        for (path, offset, before) in strangers {
            let new_path = moved(path);
            let offset = shifted(edits, path, *offset);
            let (Some(text), Some(id)) = (self.text(&new_path), self.file_id(&new_path)) else { continue };
            let source = semantics.parse_guess_edition(id);
            let Some(token) = identifier_at(&source, text.to_lf(offset)) else { continue };
            let after = self.meanings(&semantics, &token);
            if !after.is_disjoint(&names) && before.is_disjoint(&names) {
                let line = text.line(text.to_lf(offset));
                return Some(format!(
                    "at {new_path}:{line} `{new_name}` means something else today and would mean the renamed definition"
                ));
            }
        }
        None
    }

    /// The places of the definitions that a token may mean; `None` inside stands for one outside the tree.
    fn meanings(&self, semantics: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> BTreeSet<Option<Site>> {
        let mut found = BTreeSet::new();
        let mut add = |token: &SyntaxToken| {
            if let Some(class) = IdentClass::classify_token(semantics, token) {
                for (definition, _) in class.definitions() {
                    if !matches!(definition, Definition::Local(_)) || !definition_is_shorthand(token) {
                        found.insert(self.definition_site(semantics, definition));
                    }
                }
            }
        };
        for token in semantics.descend_into_macros(token.clone()) {
            add(&token);
        }
        found
    }
}

/// In `Foo { x }` the name is a field and a variable at once; only the field is what a rename is about.
fn definition_is_shorthand(token: &SyntaxToken) -> bool {
    token.parent_ancestors().nth(1).is_some_and(|node| node.kind() == SyntaxKind::RECORD_EXPR_FIELD)
}

fn identifier_at(source: &ra_ap_syntax::ast::SourceFile, offset: usize) -> Option<SyntaxToken> {
    let offset = u32::try_from(offset).ok()?;
    if offset > u32::from(source.syntax().text_range().end()) {
        return None;
    }
    source.syntax().token_at_offset(offset.into()).right_biased().filter(|token| token.kind() == SyntaxKind::IDENT)
}

/// Where an offset lies after the edits before it.
fn shifted(edits: &EditSet, path: &TreePath, offset: usize) -> usize {
    let own = edits.files.iter().filter_map(|file| match file {
        FileEdit::Replace { path: edited, edits } if edited == path => Some(edits),
        _ => None,
    });
    let shift: isize = own
        .flatten()
        .filter(|edit| edit.end <= offset)
        .map(|edit| edit.replacement.len() as isize - (edit.end - edit.start) as isize)
        .sum();
    offset.wrapping_add_signed(shift)
}
