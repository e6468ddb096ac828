//! The declarations of a file as others see them: what they are called and their text without bodies.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_syntax::ast::{self, AstNode, HasModuleItem, HasName, HasVisibility};
use ra_ap_syntax::{Edition, SourceFile, SyntaxKind, SyntaxNode};

/// From where a declaration can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The module of its file and the modules below.
    Module,
    Package,
    Everywhere,
}

/// Declarations by their text, counted: two methods of two types may read the same.
#[derive(Debug, Default)]
pub struct Declarations(BTreeMap<String, Declared>);

#[derive(Debug)]
struct Declared {
    count: usize,
    reach: Reach,
    names: BTreeSet<String>,
}

impl Declarations {
    /// What the declarations that are not in both are called, and from where they can be used.
    pub fn differences(&self, other: &Declarations) -> BTreeSet<(Reach, String)> {
        let mut found = BTreeSet::new();
        for (one, another) in [(self, other), (other, self)] {
            for (text, declared) in &one.0 {
                if another.0.get(text).is_none_or(|same| same.count != declared.count) {
                    found.extend(declared.names.iter().map(|name| (declared.reach, name.clone())));
                }
            }
        }
        found
    }

    fn add(&mut self, text: String, reach: Reach, names: BTreeSet<String>) {
        let entry = self.0.entry(text).or_insert(Declared { count: 0, reach, names: BTreeSet::new() });
        entry.count += 1;
        entry.reach = entry.reach.max(reach);
        entry.names.extend(names);
    }
}

/// Collects the declarations of a source text.
pub fn declarations(text: &str, found: &mut Declarations) {
    let file = SourceFile::parse(text, Edition::CURRENT).tree();
    for item in file.items() {
        declaration(&item, None, found);
    }
}

/// Adds one item and what is inside it. `outer` is the reach of the trait or trait impl it belongs to.
fn declaration(item: &ast::Item, outer: Option<Reach>, found: &mut Declarations) {
    let written = |node: &SyntaxNode| -> BTreeSet<String> {
        node.descendants().filter_map(ast::NameRef::cast).map(|name| name.text().to_string()).collect()
    };
    let declared = |node: &SyntaxNode| -> BTreeSet<String> {
        node.descendants().filter_map(ast::Name::cast).map(|name| name.text().to_string()).collect()
    };
    let mut reach = outer.unwrap_or_else(|| reach(item));
    let mut names: BTreeSet<String> = BTreeSet::new();
    let own = |name: Option<ast::Name>| name.map(|name| name.text().to_string());
    match item {
        ast::Item::Fn(it) => names.extend(own(it.name())),
        ast::Item::Const(it) => names.extend(own(it.name())),
        ast::Item::Static(it) => names.extend(own(it.name())),
        ast::Item::TypeAlias(it) => names.extend(own(it.name())),
        // The names inside matter as much as the outer one: fields, variants.
        ast::Item::Struct(_) | ast::Item::Union(_) | ast::Item::Enum(_) => names = declared(item.syntax()),
        ast::Item::MacroRules(it) => {
            names.extend(own(it.name()));
            reach = Reach::Everywhere;
        }
        ast::Item::Use(it) => {
            // Each name that is brought in counts for itself: one more of them does not change the others.
            if let Some(tree) = it.use_tree() {
                imports(&tree, &format!("{reach:?} use "), reach, found);
            }
            return;
        }
        ast::Item::ExternCrate(_) => {
            names = declared(item.syntax());
            names.extend(written(item.syntax()));
        }
        ast::Item::Module(it) => {
            names.extend(own(it.name()));
            for inner in it.item_list().into_iter().flat_map(|list| list.items()) {
                declaration(&inner, None, found);
            }
        }
        ast::Item::Trait(it) => {
            names.extend(own(it.name()));
            for inner in it.assoc_item_list().into_iter().flat_map(|list| list.assoc_items()) {
                declaration(&ast::Item::from(inner), Some(reach), found);
            }
        }
        ast::Item::Impl(it) => {
            // Who uses what an impl gives a type most likely names the type; the trait is named by too many.
            names.extend(it.self_ty().map(|ty| written(ty.syntax())).unwrap_or_default());
            reach = Reach::Everywhere;
            let of_trait = it.trait_().map(|_| Reach::Everywhere);
            for inner in it.assoc_item_list().into_iter().flat_map(|list| list.assoc_items()) {
                declaration(&ast::Item::from(inner), of_trait, found);
            }
        }
        _ => {}
    }
    found.add(header(item.syntax()), reach, names);
}

/// Adds every name that a `use` brings in, with its whole path.
fn imports(tree: &ast::UseTree, prefix: &str, reach: Reach, found: &mut Declarations) {
    let path = tree.path().map(|path| path.syntax().text().to_string()).unwrap_or_default();
    let last = tree.path().and_then(|path| path.segment()?.name_ref()).map(|name| name.text().to_string());
    let whole = format!("{prefix}{path}");
    if let Some(list) = tree.use_tree_list() {
        for inner in list.use_trees() {
            imports(&inner, &format!("{whole}::"), reach, found);
        }
        return;
    }
    let renamed = tree.rename();
    let known_as = match &renamed {
        Some(rename) => rename.name().map(|name| name.text().to_string()),
        None => last,
    };
    let suffix = renamed.map(|rename| rename.syntax().text().to_string()).unwrap_or_default();
    let star = if tree.star_token().is_some() { "::*" } else { "" };
    found.add(format!("{whole}{star} {suffix}"), reach, known_as.into_iter().collect());
}

fn reach(item: &ast::Item) -> Reach {
    let visibility = match item {
        ast::Item::Fn(it) => it.visibility(),
        ast::Item::Const(it) => it.visibility(),
        ast::Item::Static(it) => it.visibility(),
        ast::Item::TypeAlias(it) => it.visibility(),
        ast::Item::Struct(it) => it.visibility(),
        ast::Item::Union(it) => it.visibility(),
        ast::Item::Enum(it) => it.visibility(),
        ast::Item::Use(it) => it.visibility(),
        ast::Item::ExternCrate(it) => it.visibility(),
        ast::Item::Module(it) => it.visibility(),
        ast::Item::Trait(it) => it.visibility(),
        _ => return Reach::Everywhere,
    };
    match visibility.map(|visibility| visibility.syntax().text().to_string()) {
        None => Reach::Module,
        Some(text) if text == "pub" => Reach::Everywhere,
        Some(_) => Reach::Package,
    }
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
        let (mut before, mut after) = (Declarations::default(), Declarations::default());
        declarations(old, &mut before);
        declarations(new, &mut after);
        before.differences(&after).into_iter().map(|(_, name)| name).collect()
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
        assert_eq!(
            changed("impl S { fn m(&self) {} } impl T { fn m(&self) {} }", "impl S { } impl T { fn m(&self) {} }"),
            ["m"]
        );
        assert_eq!(changed("impl Clone for S {}", ""), ["S"]);
        assert_eq!(changed("use a::b as c;", ""), ["c"]);
        assert_eq!(changed("pub use a::{b, c::{d, e}};", "pub use a::{b, c::d};"), ["e"]);
        assert_eq!(changed("trait T { fn m(&self); }", "trait T { fn m(&self, x: u8); }"), ["m"]);
    }

    #[test]
    fn a_renamed_type_does_not_change_its_methods() {
        let old = "pub struct S; impl S { pub fn new() -> Self { S } }";
        assert_eq!(changed(old, &old.replace('S', "T").replace("Telf", "Self")), ["S", "T"]);
    }

    #[test]
    fn visibility_says_from_where_a_name_is_used() {
        let reach = |text: &str| {
            let mut found = Declarations::default();
            declarations(text, &mut found);
            let first = found.0.into_values().next();
            first.map(|declared| declared.reach)
        };
        assert_eq!(reach("fn f() {}"), Some(Reach::Module));
        assert_eq!(reach("pub(crate) fn f() {}"), Some(Reach::Package));
        assert_eq!(reach("pub fn f() {}"), Some(Reach::Everywhere));
    }
}
