//! Intra-doc links: which of them name a definition, segment by segment, and where in the comment.

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag};
use ra_ap_hir::{HasAttrs, IsInnerDoc, Namespace, Semantics, resolve_doc_path_on};
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode, SyntaxNode, ast, match_ast};
use task::{Edit, TreePath};

use super::docs::{self, DocBlock};
use super::textual::{has_word, words};
use crate::analysis::Analysis;

impl Analysis {
    /// The edits that rename a definition in the doc links of the tree.
    pub(crate) fn link_edits(
        &self,
        semantics: &Semantics<'_, RootDatabase>,
        is_target: &dyn Fn(Definition<'_>) -> bool,
        old: &str,
        new: &str,
    ) -> Vec<(TreePath, Edit)> {
        let mut found = Vec::new();
        for (path, file) in self.rust_files() {
            let Some(text) = self.text(&path) else { continue };
            let includes_documentation = text.lf().contains("include_str!");
            if !includes_documentation && !has_word(text.lf(), old) {
                continue;
            }
            let source = semantics.parse_guess_edition(file);
            let mut blocks: Vec<(TreePath, DocBlock)> =
                docs::blocks(&source).into_iter().map(|block| (path.clone(), block)).collect();
            for (origin, mut block) in self.included_documentation(&self.host_path(&path), &source) {
                block.owner = Some(source.syntax().clone());
                blocks.extend(self.tree_path(&origin).map(|path| (path, block)));
            }
            for (path, block) in blocks {
                let (markdown, starts) = block.markdown();
                let (Some(owner), true, Some(text)) = (&block.owner, has_word(&markdown, old), self.text(&path)) else {
                    continue;
                };
                let resolves = |link: &str, namespace| {
                    let inner = if block.inner { IsInnerDoc::Yes } else { IsInnerDoc::No };
                    resolve(semantics, owner, link, namespace, inner).is_some_and(is_target)
                };
                for at in segments(&markdown, old, &resolves) {
                    let Some(start) = block.origin(&starts, at) else { continue };
                    let range = text.range_to_bytes(start..start + old.len());
                    found.push((path.clone(), Edit::new(range, new)));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// Where in a Markdown text links name the target by its old name.
fn segments(markdown: &str, old: &str, resolves: &dyn Fn(&str, Option<Namespace>) -> bool) -> Vec<usize> {
    let mut broken = |link: BrokenLink<'_>| {
        let reference = CowStr::from(link.reference.to_string());
        Some((reference, CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(markdown, Options::all(), Some(&mut broken));
    let definitions: Vec<std::ops::Range<usize>> =
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.clone()).collect();
    let mut found = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        let Event::Start(Tag::Link(kind, destination, _)) = event else { continue };
        let (path, namespace) = undecorated(&destination);
        if !has_word(path, old) {
            continue;
        }
        // The definition may be the last segment or one on the way to it.
        for at in words(path, old) {
            let prefix = &path[..at + old.len()];
            let namespace = namespace.filter(|_| prefix.len() == path.len());
            if !resolves(prefix, namespace) {
                continue;
            }
            let spans = std::iter::once(range.clone()).chain(definitions.iter().cloned());
            for span in spans {
                let source = &markdown[span.clone()];
                found.extend(source.match_indices(path).map(|(start, _)| span.start + start + at));
            }
            // The text of `[`name`](path)` follows the path it shows.
            if matches!(kind, LinkType::Inline | LinkType::Reference) && prefix.len() == path.len() {
                let source = &markdown[range.clone()];
                let label = source.trim_start_matches('[').split(']').next().unwrap_or_default();
                let shown = label.trim_matches('`').trim_end_matches("()").trim_end_matches('!');
                if shown.rsplit("::").next() == Some(old) && source[1..].starts_with(label) {
                    found.extend(words(label, old).last().map(|at| range.start + 1 + at));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A link without backticks, disambiguator and anchor.
fn undecorated(link: &str) -> (&str, Option<Namespace>) {
    let link = link.trim_matches('`');
    let link = link.split('#').next().unwrap_or_default();
    if let Some((word, rest)) = link.split_once('@') {
        let namespace = match word.trim_matches('`') {
            "fn" | "function" | "method" | "const" | "constant" | "static" | "value" => Namespace::Values,
            "macro" | "derive" | "attr" => Namespace::Macros,
            _ => Namespace::Types,
        };
        return (rest.trim_matches('`').trim_end_matches("()"), Some(namespace));
    }
    if let Some(path) = link.strip_suffix("()") {
        return (path, Some(Namespace::Values));
    }
    if let Some(path) = link.strip_suffix('!') {
        return (path, Some(Namespace::Macros));
    }
    (link, None)
}

/// What a link in the documentation of a node means.
fn resolve<'db>(
    semantics: &Semantics<'db, RootDatabase>,
    owner: &SyntaxNode,
    link: &str,
    namespace: Option<Namespace>,
    inner: IsInnerDoc,
) -> Option<Definition<'db>> {
    fn on<'db>(
        database: &'db RootDatabase,
        definition: Option<impl HasAttrs + Copy>,
        link: &str,
        namespace: Option<Namespace>,
        inner: IsInnerDoc,
    ) -> Option<Definition<'db>> {
        resolve_doc_path_on(database, definition?, link, namespace, inner).map(Definition::from)
    }
    let database = semantics.db;
    match_ast! {
        match owner {
            ast::SourceFile(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Module(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Fn(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Struct(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Union(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Enum(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Variant(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Trait(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Static(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Const(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::TypeAlias(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Impl(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::RecordField(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::TupleField(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            ast::Macro(it) => on(database, semantics.to_def(&it), link, namespace, inner),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(markdown: &str) -> Vec<&str> {
        let resolves = |link: &str, _| link == "VersionReq::matches" || link == "Self::matches";
        let at = segments(markdown, "matches", &resolves);
        at.into_iter().map(|at| &markdown[at.saturating_sub(4)..at + 7]).collect()
    }

    #[test]
    fn links_are_found_in_every_spelling() {
        assert_eq!(found("See [`VersionReq::matches`]."), ["eq::matches"]);
        assert_eq!(found("See [VersionReq::matches()] twice [`VersionReq::matches`]").len(), 2);
        assert_eq!(found("See [this](VersionReq::matches)."), ["eq::matches"]);
        assert_eq!(found("See [`matches`](Self::matches)."), ["e [`matches", "lf::matches"]);
        assert_eq!(found("See [this].\n\n[this]: VersionReq::matches\n"), ["eq::matches"]);
        assert_eq!(found("See [fn@VersionReq::matches]."), ["eq::matches"]);
    }

    #[test]
    fn links_to_others_and_plain_text_stay() {
        assert_eq!(
            found("`VersionReq::matches` and [`Comparator::matches`] and [matches](https://x/matches)"),
            [""; 0]
        );
    }
}
