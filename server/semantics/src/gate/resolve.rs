//! Our own pass over a file: every path is resolved, also inside macro calls. Native diagnostics do not report types and
//! paths that resolve to nothing: a dropped import gives none.

use std::ops::Range;

use ra_ap_hir::Semantics;
use ra_ap_ide_db::{FileId, RootDatabase};
use ra_ap_syntax::ast::{self, AstNode};
use ra_ap_syntax::{SyntaxKind, SyntaxNode, TextRange, WalkEvent};

/// Macro calls inside macro calls are followed to this depth.
const DEPTH_CAP: usize = 8;

/// A path that means nothing.
#[derive(Debug)]
pub struct Unresolved {
    /// In the file itself.
    pub range: TextRange,
    /// The shortest prefix that does not resolve, as written.
    pub name: String,
}

/// Every path of a file that does not resolve, or of the items that a part of it touches. `inactive` is code that is
/// switched off: nothing in it is judged.
pub fn unresolved(
    database: &RootDatabase,
    file: FileId,
    inactive: &[TextRange],
    part: Option<&Range<usize>>,
) -> Vec<Unresolved> {
    let semantics = Semantics::new(database);
    let source = semantics.parse_guess_edition(file);
    let mut pass = Pass { semantics: &semantics, file, inactive, found: Vec::new() };
    match part {
        None => pass.walk(source.syntax(), 0),
        Some(part) => pass.walk_part(source.syntax(), part),
    }
    let mut found = pass.found;
    found.sort_by_key(|unresolved| (unresolved.range.start(), unresolved.range.end()));
    found.dedup_by_key(|unresolved| unresolved.range);
    found
}

struct Pass<'a, 'db> {
    semantics: &'a Semantics<'db, RootDatabase>,
    file: FileId,
    inactive: &'a [TextRange],
    found: Vec<Unresolved>,
}

impl Pass<'_, '_> {
    /// Walks the innermost items that a part of the text touches.
    fn walk_part(&mut self, root: &SyntaxNode, part: &Range<usize>) {
        let touches = |node: &SyntaxNode| {
            let range = node.text_range();
            usize::from(range.start()) <= part.end && part.start <= usize::from(range.end())
        };
        let is_list = |node: &SyntaxNode| {
            matches!(node.kind(), SyntaxKind::ITEM_LIST | SyntaxKind::ASSOC_ITEM_LIST | SyntaxKind::SOURCE_FILE)
        };
        for item in root.children().filter(touches) {
            match item.children().find(|inner| is_list(inner) && touches(inner)) {
                // An attribute macro may stand on the outer item, so that one is walked as a whole.
                Some(list) if !item.children().any(|child| child.kind() == SyntaxKind::ATTR) => {
                    self.walk_part(&list, part)
                }
                _ => self.walk(&item, 0),
            }
        }
    }

    fn walk(&mut self, root: &SyntaxNode, depth: usize) {
        let mut events = root.preorder();
        while let Some(event) = events.next() {
            let WalkEvent::Enter(node) = event else { continue };
            if depth == 0 && self.inactive.iter().any(|range| range.contains_range(node.text_range())) {
                events.skip_subtree();
                continue;
            }
            if node.kind() == SyntaxKind::ATTR || node.kind() == SyntaxKind::VISIBILITY {
                events.skip_subtree();
                continue;
            }
            // What an attribute macro was given is not what is compiled; what it returned is.
            if depth < DEPTH_CAP
                && let Some(item) = ast::Item::cast(node.clone())
                && let Some(expanded) = self.semantics.expand_attr_macro(&item)
            {
                self.walk(&expanded.value.value, depth + 1);
                events.skip_subtree();
                continue;
            }
            if let Some(call) = ast::MacroCall::cast(node.clone())
                && depth < DEPTH_CAP
                && let Some(expanded) = self.semantics.expand_macro_call(&call)
            {
                self.walk(&expanded.value, depth + 1);
            }
            if let Some(path) = ast::Path::cast(node)
                && path.parent_path().is_none()
            {
                self.check(&path);
            }
        }
    }

    /// Reports the shortest prefix of a path that means nothing.
    fn check(&mut self, path: &ast::Path) {
        let mut prefixes: Vec<ast::Path> = std::iter::successors(Some(path.clone()), ast::Path::qualifier).collect();
        prefixes.reverse();
        let Some(broken) = prefixes.into_iter().find(|prefix| self.semantics.resolve_path(prefix).is_none()) else {
            return;
        };
        let Some(range) = self.semantics.original_range_opt(broken.syntax()) else { return };
        if range.file_id.file_id(self.semantics.db) == self.file {
            let name = broken.syntax().text().to_string().split_whitespace().collect();
            self.found.push(Unresolved { range: range.range, name });
        }
    }
}
