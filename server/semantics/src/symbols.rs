//! Definitions and references, as owned data in the developer's offsets.

use ra_ap_hir::Semantics;
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::{Definition, IdentClass};
use ra_ap_syntax::{AstNode, SyntaxKind};
use task::TreePath;
use task::port::{Reference, Symbol};

use crate::analysis::Analysis;
use crate::names::{self, Named, WrittenName};

impl Analysis {
    /// Every addressable definition of the tree; the synthetic crates of doctests are not part of it.
    pub(crate) fn names(&self) -> Vec<Named<'_>> {
        names::all(self.database(), &|krate| self.is_ours(krate))
    }

    /// Definitions that a written name may mean.
    pub(crate) fn find(&self, name: &str) -> Vec<Symbol> {
        let Some(written) = WrittenName::parse(name) else { return Vec::new() };
        let semantics = Semantics::new(self.database());
        let all = self.names();
        let mut found: Vec<Symbol> =
            names::resolve(&written, &all).into_iter().filter_map(|named| self.symbol(&semantics, named)).collect();
        found.sort_by(|one, other| one.definition.cmp(&other.definition));
        found.dedup_by(|one, other| one.definition == other.definition);
        found
    }

    /// Definitions of one file, in order.
    pub(crate) fn outline(&self, path: &TreePath) -> Vec<Symbol> {
        let semantics = Semantics::new(self.database());
        let mut found: Vec<Symbol> = self.names().iter().filter_map(|named| self.symbol(&semantics, named)).collect();
        found.retain(|symbol| symbol.definition.path == *path);
        found.sort_by(|one, other| one.definition.cmp(&other.definition));
        found.dedup_by(|one, other| one.definition == other.definition);
        found
    }

    /// Everything that refers to the definition named at a byte offset; `Err` says why there is none.
    pub(crate) fn references(&self, path: &TreePath, offset: usize) -> Result<Vec<Reference>, String> {
        let (Some(text), Some(file)) = (self.text(path), self.file_id(path)) else {
            return Err(format!("{path} is not a file that the compiler analyses"));
        };
        let semantics = Semantics::new(self.database());
        let source = semantics.parse_guess_edition(file);
        let Ok(at) = u32::try_from(text.to_lf(offset)) else { return Ok(Vec::new()) };
        let tokens = source.syntax().token_at_offset(at.into());
        let token = tokens.max_by_key(|token| u8::from(token.kind() == SyntaxKind::IDENT));
        let Some(token) = token else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for token in semantics.descend_into_macros(token) {
            let Some(class) = IdentClass::classify_token(&semantics, &token) else { continue };
            for (definition, _) in class.definitions() {
                found.extend(self.usages(&semantics, definition));
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn usages<'db>(&self, semantics: &Semantics<'db, RootDatabase>, definition: Definition<'db>) -> Vec<Reference> {
        let mut found = Vec::new();
        for (file, references) in definition.usages(semantics).all() {
            for reference in references {
                let site = self.site(file.file_id(semantics.db), reference.range);
                found.extend(site.map(|site| Reference {
                    path: site.path,
                    start: site.start,
                    end: site.end,
                    line: site.line,
                }));
            }
        }
        found
    }

    /// A definition as owned data; `None` when no text of the tree names it.
    pub(crate) fn symbol(&self, semantics: &Semantics<'_, RootDatabase>, named: &Named<'_>) -> Option<Symbol> {
        let definition = self.definition_site(semantics, named.definition)?;
        Some(Symbol { name: named.name(), kind: named.kind, definition })
    }
}
