//! Which other files an edit can break: those that mention a name whose declaration the edit changed.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_syntax::ast::{self, AstNode, HasModuleItem, HasName};
use ra_ap_syntax::{Edition, SourceFile, SyntaxKind, SyntaxNode};
use task::TreePath;

use crate::analysis::Analysis;
use crate::text::Text;

/// Declarations as others see them: what they are called and their text without bodies and documentation.
type Declarations = BTreeMap<String, BTreeSet<String>>;

impl Analysis {
    /// Files outside `changed` that mention something whose declaration differs from the base, in order.
    pub(super) fn dependents(&self, changed: &BTreeSet<TreePath>) -> Vec<TreePath> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut old = Declarations::new();
        let mut new = Declarations::new();
        for path in changed {
            if let Some(text) = self.base().get(path).and_then(|bytes| Text::new(bytes)) {
                declarations(text.lf(), &mut old);
            }
            if let Some(text) = self.text(path) {
                declarations(text.lf(), &mut new);
            }
        }
        for (header, named) in old.iter().filter(|(header, _)| !new.contains_key(*header)) {
            let _ = header;
            names.extend(named.iter().cloned());
        }
        for (_, named) in new.iter().filter(|(header, _)| !old.contains_key(*header)) {
            names.extend(named.iter().cloned());
        }
        if names.is_empty() {
            return Vec::new();
        }
        let candidates = self.rust_files().into_iter().filter(|(path, _)| !changed.contains(path));
        let mentions = |path: &TreePath| self.text(path).is_some_and(|text| mentions(text.lf(), &names));
        candidates.map(|(path, _)| path).filter(mentions).collect()
    }
}

/// Whether any identifier of a text is among the names.
fn mentions(text: &str, names: &BTreeSet<String>) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| names.contains(word))
}

/// Collects the declarations of a source text.
fn declarations(text: &str, found: &mut Declarations) {
    let file = SourceFile::parse(text, Edition::CURRENT).tree();
    for item in file.items() {
        declaration(&item, "", found);
    }
}

fn declaration(item: &ast::Item, context: &str, found: &mut Declarations) {
    let name = |named: &dyn Fn() -> Option<ast::Name>| named().map(|name| name.text().to_string());
    let mut names: BTreeSet<String> = BTreeSet::new();
    match item {
        ast::Item::Fn(it) => names.extend(name(&|| it.name())),
        ast::Item::Struct(_)
        | ast::Item::Union(_)
        | ast::Item::Enum(_)
        | ast::Item::MacroRules(_)
        | ast::Item::Use(_)
        | ast::Item::ExternCrate(_) => {
            // The names inside matter as much as the outer one: fields, variants, what a `use` brings in.
            let inner = item.syntax().descendants().filter_map(ast::Name::cast).map(|name| name.text().to_string());
            names.extend(inner);
            if matches!(item, ast::Item::Use(_)) {
                names.extend(
                    item.syntax().descendants().filter_map(ast::NameRef::cast).map(|name| name.text().to_string()),
                );
            }
        }
        ast::Item::Const(it) => names.extend(name(&|| it.name())),
        ast::Item::Static(it) => names.extend(name(&|| it.name())),
        ast::Item::TypeAlias(it) => names.extend(name(&|| it.name())),
        ast::Item::Module(it) => {
            names.extend(name(&|| it.name()));
            for inner in it.item_list().into_iter().flat_map(|list| list.items()) {
                declaration(&inner, context, found);
            }
        }
        ast::Item::Trait(it) => {
            names.extend(name(&|| it.name()));
            for inner in it.assoc_item_list().into_iter().flat_map(|list| list.assoc_items()) {
                let outer = header(item.syntax());
                declaration(&ast::Item::from(inner), &outer, found);
            }
        }
        ast::Item::Impl(it) => {
            names.extend(it.syntax().children().filter(|node| ast::Type::can_cast(node.kind())).flat_map(|node| {
                node.descendants().filter_map(ast::NameRef::cast).map(|name| name.text().to_string())
            }));
            for inner in it.assoc_item_list().into_iter().flat_map(|list| list.assoc_items()) {
                let outer = header(item.syntax());
                declaration(&ast::Item::from(inner), &outer, found);
            }
        }
        _ => {}
    }
    found.entry(format!("{context} {}", header(item.syntax()))).or_default().extend(names);
}

/// The text of an item without bodies, documentation and layout.
fn header(item: &SyntaxNode) -> String {
    let mut out = String::new();
    let mut events = item.preorder_with_tokens();
    while let Some(event) = events.next() {
        let ra_ap_syntax::WalkEvent::Enter(element) = event else { continue };
        match element.kind() {
            SyntaxKind::BLOCK_EXPR | SyntaxKind::ITEM_LIST | SyntaxKind::ASSOC_ITEM_LIST => events.skip_subtree(),
            SyntaxKind::COMMENT | SyntaxKind::WHITESPACE => {}
            _ => {
                if let Some(token) = element.as_token() {
                    out.push_str(token.text());
                    out.push(' ');
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(old: &str, new: &str) -> Vec<String> {
        let (mut before, mut after) = (Declarations::new(), Declarations::new());
        declarations(old, &mut before);
        declarations(new, &mut after);
        let gone = before.iter().filter(|(header, _)| !after.contains_key(*header));
        let added = after.iter().filter(|(header, _)| !before.contains_key(*header));
        let names: BTreeSet<String> = gone.chain(added).flat_map(|(_, names)| names.clone()).collect();
        names.into_iter().collect()
    }

    #[test]
    fn bodies_comments_and_layout_change_nothing_for_others() {
        let old = "/// a\npub fn f(x: u8) -> u8 { x }\nimpl S { fn m(&self) { 1; } }";
        let new = "/// b\npub fn f(x: u8)\n    -> u8 { x + 1 }\nimpl S { fn m(&self) { 2; } }";
        assert!(changed(old, new).is_empty());
    }

    #[test]
    fn a_changed_declaration_names_what_others_write() {
        assert_eq!(changed("fn f() {}", "fn f(x: u8) {}"), ["f"]);
        assert_eq!(changed("enum E { A }", "enum E { A, B }"), ["A", "B", "E"]);
        assert_eq!(changed("struct S { a: u8 }", "struct S { b: u8 }"), ["S", "a", "b"]);
        assert_eq!(changed("impl S { fn m(&self) {} }", "impl S { }"), ["m"]);
        assert_eq!(changed("impl Clone for S {}", ""), ["Clone", "S"]);
        assert_eq!(changed("pub use a::b as c;", ""), ["a", "b", "c"]);
        assert_eq!(changed("trait T { fn m(&self); }", "trait T { fn m(&self, x: u8); }"), ["m"]);
    }
}
