//! One import for a whole file, where the compiler's own import would mend a single function.

use std::collections::BTreeMap;

use ra_ap_ide::Assist;
use ra_ap_syntax::ast::{self, AstNode, HasAttrs, HasModuleItem};
use ra_ap_syntax::{SyntaxNode, TextRange, TextSize};
use task::{Edit, EditSet, FileEdit, TreePath};

use crate::analysis::Analysis;
use crate::gate;

impl Analysis {
    /// The import that an assist offers for a name, written at the top of every module of the file in which the name
    /// means nothing. `None` when it is no import, or when the name is missed only once.
    pub(crate) fn import_everywhere(&self, path: &TreePath, at: TextRange, assist: &Assist) -> Option<EditSet> {
        let imported = imported(assist)?;
        let (text, file) = (self.text(path)?, self.file_id(path)?);
        let name = imported.rsplit("::").next()?;
        let (unresolved, source) = self.attached(|| {
            let semantics = ra_ap_hir::Semantics::new(self.database());
            let source = semantics.parse_guess_edition(file).syntax().clone();
            (gate::unresolved(self.database(), file, &[], None), source)
        });
        let uses: Vec<TextRange> =
            unresolved.into_iter().filter(|found| first_name(&found.name) == name).map(|found| found.range).collect();
        if uses.len() < 2 || !uses.iter().any(|found| found.intersect(at).is_some()) {
            return None;
        }
        let mut edits: BTreeMap<TextSize, String> = BTreeMap::new();
        for found in uses {
            let (at, insertion) = insertion(&source, found, &imported)?;
            edits.insert(at, insertion);
        }
        let edit = |(at, insertion): (TextSize, String)| {
            let range = text.range_to_bytes(usize::from(at)..usize::from(at));
            Edit::new(range, text.localise(&insertion))
        };
        let edits = edits.into_iter().map(edit).collect();
        Some(EditSet { files: vec![FileEdit::Replace { path: path.clone(), edits }] })
    }
}

/// The path that an import brings in; what would need another form, such as `as _`, is not ours to write.
fn imported(assist: &Assist) -> Option<String> {
    let label = (assist.id.0 == "auto_import").then(|| assist.label.to_string())?;
    let path = label.strip_prefix("Import `")?.strip_suffix('`')?;
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    path.split("::").all(is_name).then(|| path.to_owned())
}

/// `Vec` of `Vec<u8>::new`.
fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Where the import goes in the module around a use of the name, and its text with layout.
fn insertion(source: &SyntaxNode, used: TextRange, imported: &str) -> Option<(TextSize, String)> {
    let around = source.covering_element(used);
    let around = around.as_node().cloned().or_else(|| around.parent())?;
    let list = around.ancestors().filter_map(ast::Module::cast).find_map(|module| module.item_list());
    let items: Vec<ast::Item> = match &list {
        Some(list) => list.items().collect(),
        None => ast::SourceFile::cast(source.clone())?.items().collect(),
    };
    let indent = list.as_ref().map_or(String::new(), |list| {
        let depth = list.syntax().ancestors().filter(|node| ast::Module::can_cast(node.kind())).count();
        "    ".repeat(depth)
    });
    let line = format!("use {imported};");
    let plain = |item: &&ast::Item| matches!(item, ast::Item::Use(it) if it.attrs().next().is_none());
    let imports: Vec<&ast::Item> = items.iter().filter(plain).collect();
    // Among the imports that are there, in their order; else before everything.
    if let Some(next) = imports.iter().find(|item| item.syntax().text().to_string() > line) {
        return Some((next.syntax().text_range().start(), format!("{line}\n{indent}")));
    }
    if let Some(last) = imports.last() {
        return Some((last.syntax().text_range().end(), format!("\n{indent}{line}")));
    }
    let first = items.first()?;
    Some((first.syntax().text_range().start(), format!("{line}\n\n{indent}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ra_ap_syntax::{Edition, SourceFile};

    fn with_import(text: &str, name: &str, imported: &str) -> String {
        let source = SourceFile::parse(text, Edition::CURRENT).syntax_node();
        let at = TextSize::new(text.rfind(name).unwrap() as u32);
        let (at, insertion) = insertion(&source, TextRange::at(at, TextSize::of(name)), imported).unwrap();
        let mut text = text.to_owned();
        text.insert_str(at.into(), &insertion);
        text
    }

    #[test]
    fn an_import_stands_in_order_among_those_of_its_module() {
        assert_eq!(
            with_import("//! D.\n\nuse b::C;\nuse x::Y;\nfn f(_: Z) {}\n", "Z", "m::Z"),
            "//! D.\n\nuse b::C;\nuse m::Z;\nuse x::Y;\nfn f(_: Z) {}\n"
        );
        assert_eq!(with_import("use b::C;\nfn f(_: Z) {}\n", "Z", "m::Z"), "use b::C;\nuse m::Z;\nfn f(_: Z) {}\n");
        assert_eq!(
            with_import("//! D.\n\n/// F.\nfn f(_: Z) {}\n", "Z", "m::Z"),
            "//! D.\n\nuse m::Z;\n\n/// F.\nfn f(_: Z) {}\n"
        );
        assert_eq!(
            with_import("use b::C;\nmod i {\n    use a::B;\n    fn f(_: Z) {}\n}\n", "Z", "m::Z"),
            "use b::C;\nmod i {\n    use a::B;\n    use m::Z;\n    fn f(_: Z) {}\n}\n"
        );
    }
}
