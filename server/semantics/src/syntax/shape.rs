//! What the nodes of each grammar are to us, and what they are called.

use task::port::SymbolKind;
use tree_sitter::Node;

use super::Language;

/// Longer names are not names.
const LONGEST_NAME: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Shape {
    #[default]
    Other,
    Item(SymbolKind),
    /// Gives its name to the items in it and is none itself.
    Impl,
    /// Takes one item in: `export`, decorators. The item begins and ends where it does.
    Wrapper,
    /// Holds several items without adding to them: `const ( ... )`.
    Group,
    /// Belongs to the item after it.
    Lead,
}

/// `around` is what the node stands in, `is_top` whether no function or type is around it.
pub(super) fn shape(language: Language, node: Node<'_>, around: Shape, is_top: bool) -> Shape {
    let kind = node.kind();
    if !node.is_named() {
        return Shape::Other;
    }
    if matches!(kind, "line_comment" | "block_comment" | "comment" | "attribute_item" | "decorator") {
        return if around == Shape::Wrapper { Shape::Other } else { Shape::Lead };
    }
    match language {
        Language::Rust => rust(kind),
        Language::Python => python(node, kind, is_top),
        Language::Go => go(node, kind, is_top),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(node, kind, around, is_top),
    }
}

fn rust(kind: &str) -> Shape {
    Shape::Item(match kind {
        "function_item" | "function_signature_item" => SymbolKind::Function,
        "struct_item" => SymbolKind::Struct,
        "enum_item" => SymbolKind::Enum,
        "union_item" => SymbolKind::Union,
        "trait_item" => SymbolKind::Trait,
        "mod_item" => SymbolKind::Module,
        "macro_definition" => SymbolKind::Macro,
        "const_item" => SymbolKind::Constant,
        "static_item" => SymbolKind::Static,
        "type_item" => SymbolKind::TypeAlias,
        "impl_item" => return Shape::Impl,
        _ => return Shape::Other,
    })
}

fn python(node: Node<'_>, kind: &str, is_top: bool) -> Shape {
    match kind {
        "function_definition" => Shape::Item(SymbolKind::Function),
        "class_definition" => Shape::Item(SymbolKind::Struct),
        "decorated_definition" => Shape::Wrapper,
        "expression_statement" if is_top => single(node),
        "assignment" if is_top && field_kind(node, "left") == Some("identifier") => Shape::Item(SymbolKind::Constant),
        _ => Shape::Other,
    }
}

fn go(node: Node<'_>, kind: &str, is_top: bool) -> Shape {
    match kind {
        "function_declaration" => Shape::Item(SymbolKind::Function),
        "method_declaration" => Shape::Item(SymbolKind::Method),
        "type_spec" => Shape::Item(match field_kind(node, "type") {
            Some("struct_type") => SymbolKind::Struct,
            Some("interface_type") => SymbolKind::Trait,
            _ => SymbolKind::TypeAlias,
        }),
        "type_alias" => Shape::Item(SymbolKind::TypeAlias),
        "const_spec" if is_top => Shape::Item(SymbolKind::Constant),
        "var_spec" if is_top => Shape::Item(SymbolKind::Static),
        "type_declaration" | "const_declaration" | "var_declaration" => single(node),
        "var_spec_list" => Shape::Group,
        _ => Shape::Other,
    }
}

fn script(node: Node<'_>, kind: &str, around: Shape, is_top: bool) -> Shape {
    let function = |kind| matches!(kind, Some("arrow_function" | "function_expression" | "generator_function"));
    Shape::Item(match kind {
        "function_declaration" | "generator_function_declaration" | "function_signature" => SymbolKind::Function,
        "method_definition" | "abstract_method_signature" => SymbolKind::Method,
        "class_declaration" | "abstract_class_declaration" => SymbolKind::Struct,
        "interface_declaration" => SymbolKind::Trait,
        "type_alias_declaration" => SymbolKind::TypeAlias,
        "enum_declaration" => SymbolKind::Enum,
        "internal_module" | "module" => SymbolKind::Module,
        "variable_declarator" if field_kind(node, "name") == Some("identifier") => match field_kind(node, "value") {
            value if function(value) => SymbolKind::Function,
            Some("class") => SymbolKind::Struct,
            _ if is_top => SymbolKind::Constant,
            _ => return Shape::Other,
        },
        "public_field_definition" | "field_definition" if function(field_kind(node, "value")) => SymbolKind::Method,
        "assignment_expression" if function(field_kind(node, "right")) => SymbolKind::Function,
        "arrow_function" | "function_expression" if around == Shape::Wrapper => SymbolKind::Function,
        "class" if around == Shape::Wrapper => SymbolKind::Struct,
        "export_statement" | "ambient_declaration" => return Shape::Wrapper,
        "lexical_declaration" | "variable_declaration" | "expression_statement" => return single(node),
        _ => return Shape::Other,
    })
}

fn single(node: Node<'_>) -> Shape {
    if node.named_child_count() == 1 { Shape::Wrapper } else { Shape::Group }
}

fn field_kind<'t>(node: Node<'t>, field: &str) -> Option<&'t str> {
    node.child_by_field_name(field).map(|child| child.kind())
}

/// What an item is called, with `Type::` before it where the text says so, and the node of its name.
pub(super) fn name<'t>(language: Language, node: Node<'t>, text: &[u8]) -> Option<(String, Node<'t>)> {
    let written = |node: Node<'_>| node.utf8_text(text).ok().filter(|name| name.len() <= LONGEST_NAME);
    match node.kind() {
        "impl_item" => {
            let of = node.child_by_field_name("type")?;
            Some((bare_type(written(of)?).to_owned(), of))
        }
        "method_declaration" => {
            let at = node.child_by_field_name("name")?;
            let receiver = node.child_by_field_name("receiver").and_then(&written);
            let receiver = receiver.map(bare_receiver).filter(|of| !of.is_empty());
            let own = written(at)?;
            Some((receiver.map_or_else(|| own.to_owned(), |of| format!("{of}::{own}")), at))
        }
        "assignment" => {
            let at = node.child_by_field_name("left")?;
            Some((written(at)?.to_owned(), at))
        }
        "assignment_expression" => assigned(node, &written),
        _ => match node.child_by_field_name("name").or_else(|| node.child_by_field_name("property")) {
            Some(at) => written(at).filter(|name| !name.is_empty()).map(|name| (name.to_owned(), at)),
            // `export default` of something without a name.
            None if language != Language::Rust => Some(("default".to_owned(), node)),
            None => None,
        },
    }
}

/// `exports.show = `, `Page.prototype.show = `, `show = `: the last name, with the type's before it.
fn assigned<'t, 's>(node: Node<'t>, written: &impl Fn(Node<'_>) -> Option<&'s str>) -> Option<(String, Node<'t>)> {
    let left = node.child_by_field_name("left")?;
    if left.kind() == "identifier" {
        return Some((written(left)?.to_owned(), left));
    }
    let at = left.child_by_field_name("property")?;
    let own = written(at)?;
    let object = left.child_by_field_name("object").and_then(written)?;
    match object.strip_suffix(".prototype") {
        Some(of) if !of.contains(['.', '(', ' ']) => Some((format!("{of}::{own}"), at)),
        _ if own == "exports" => None,
        _ => Some((own.to_owned(), at)),
    }
}

/// `&mut a::b::Type<T>` is `Type`.
fn bare_type(written: &str) -> &str {
    let written = written.trim_start_matches('&').trim_start_matches("'static ").trim_start_matches("mut ");
    let written = written.trim_start_matches("dyn ");
    let end = written.find(['<', ' ', '\n', '+']).unwrap_or(written.len());
    written[..end].rsplit("::").next().unwrap_or(written)
}

/// `(p *Page[T])` is `Page`.
fn bare_receiver(written: &str) -> &str {
    let inside = written.trim_matches(['(', ')']);
    let inside = inside.split('[').next().unwrap_or(inside).trim();
    inside.rsplit([' ', '*']).next().unwrap_or(inside)
}

/// A comment that is about what it stands in.
pub(super) fn is_inner_comment(text: &[u8]) -> bool {
    text.starts_with(b"//!") || text.starts_with(b"/*!") || text.starts_with(b"#!")
}

/// Whether an attribute makes tests of what follows it.
pub(super) fn marks_test(kind: &str, text: &[u8]) -> bool {
    if kind != "attribute_item" {
        return false;
    }
    let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    text.starts_with(b"#[cfg(test") && !has(b"not(test")
        || text.starts_with(b"#[cfg(all(test,")
        || text.starts_with(b"#[test")
        || text.starts_with(b"#[bench")
        || text.starts_with(b"#[rstest")
        || has(b"::test]")
        || has(b"::test(")
}
