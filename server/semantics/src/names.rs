//! Written names such as `VersionReq::matches`: how they are read and what they may mean.

use ra_ap_hir::{self as hir, Crate, Semantics};
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use task::port::SymbolKind;

/// A name as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenName {
    pub segments: Vec<String>,
    /// Written with `crate::` in front: the path is complete from some crate's root.
    pub rooted: bool,
    /// What rustdoc's disambiguators (`fn@`, `struct@`, `()`, `!`) restrict it to.
    pub kinds: Option<&'static [SymbolKind]>,
}

const FUNCTIONS: &[SymbolKind] = &[SymbolKind::Function, SymbolKind::Method];
const MACROS: &[SymbolKind] = &[SymbolKind::Macro];

/// rustdoc's disambiguators, as people know them from doc links.
const DISAMBIGUATORS: &[(&str, &[SymbolKind])] = &[
    ("fn", FUNCTIONS),
    ("function", FUNCTIONS),
    ("method", FUNCTIONS),
    ("struct", &[SymbolKind::Struct]),
    ("enum", &[SymbolKind::Enum]),
    ("union", &[SymbolKind::Union]),
    ("trait", &[SymbolKind::Trait]),
    ("type", &[SymbolKind::Struct, SymbolKind::Enum, SymbolKind::Union, SymbolKind::Trait, SymbolKind::TypeAlias]),
    ("mod", &[SymbolKind::Module]),
    ("module", &[SymbolKind::Module]),
    ("variant", &[SymbolKind::Variant]),
    ("field", &[SymbolKind::Field]),
    ("const", &[SymbolKind::Constant]),
    ("constant", &[SymbolKind::Constant]),
    ("static", &[SymbolKind::Static]),
    ("value", &[SymbolKind::Function, SymbolKind::Method, SymbolKind::Constant, SymbolKind::Static]),
    ("macro", MACROS),
];

impl WrittenName {
    /// Reads a name. `None` when it is not one.
    pub fn parse(text: &str) -> Option<WrittenName> {
        let mut text = text.trim().trim_matches('`').trim();
        let mut kinds = None;
        if let Some((word, rest)) = text.split_once('@') {
            kinds = Some(DISAMBIGUATORS.iter().find(|(name, _)| *name == word.trim())?.1);
            text = rest.trim();
        } else if let Some(rest) = text.strip_suffix("()") {
            (kinds, text) = (Some(FUNCTIONS), rest);
        } else if let Some(rest) = text.strip_suffix('!') {
            (kinds, text) = (Some(MACROS), rest);
        }
        // `<Type as Trait>::method` is the trait's method.
        let owned;
        if let Some(rest) = text.strip_prefix('<') {
            let (inside, tail) = rest.split_once('>')?;
            let container = inside.split_once(" as ").map_or(inside, |(_, container)| container).trim();
            owned = format!("{container}{tail}");
            text = &owned;
        }
        let text = text.strip_prefix("::").unwrap_or(text);
        let (rooted, text) = text.strip_prefix("crate::").map_or((false, text), |rest| (true, rest));
        let segments: Vec<String> =
            text.split("::").map(|segment| segment.trim().trim_start_matches("r#").to_owned()).collect();
        let is_name = |segment: &String| {
            !segment.is_empty()
                && !segment.starts_with(|c: char| c.is_ascii_digit())
                && segment.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        segments.iter().all(is_name).then_some(WrittenName { segments, rooted, kinds })
    }

    /// How well a path fits: 3 completely, 2 as its end, 1 with parts left out, `None` not at all.
    fn fit(&self, path: &[String]) -> Option<u8> {
        let (last, wanted) = (path.last()?, self.segments.last()?);
        if last != wanted {
            return None;
        }
        let complete = path[1..] == self.segments[..] || (!self.rooted && path == &self.segments[..]);
        if complete && (self.rooted || self.segments.len() > 1) {
            return Some(3);
        }
        if self.rooted {
            return None;
        }
        if path.ends_with(&self.segments) {
            return Some(2);
        }
        let mut rest = path.iter();
        self.segments.iter().all(|segment| rest.any(|part| part == segment)).then_some(1)
    }
}

/// A definition of the tree and its path from the crate's name on.
#[derive(Debug, Clone)]
pub struct Named<'db> {
    pub path: Vec<String>,
    pub kind: SymbolKind,
    pub definition: Definition<'db>,
    /// An item of an `impl Trait for Type`, which has no name of its own to change.
    pub of_trait_impl: bool,
}

impl Named<'_> {
    /// The path as it is written.
    pub fn name(&self) -> String {
        self.path.join("::")
    }
}

/// What a written name may mean: the best fitting definitions only.
pub fn resolve<'a, 'db>(name: &WrittenName, all: &'a [Named<'db>]) -> Vec<&'a Named<'db>> {
    let fitting = all.iter().filter(|named| name.kinds.is_none_or(|kinds| kinds.contains(&named.kind)));
    let fitting: Vec<(u8, &Named<'_>)> = fitting.filter_map(|named| Some((name.fit(&named.path)?, named))).collect();
    let best = fitting.iter().map(|(fit, _)| *fit).max();
    let mut found: Vec<&Named<'_>> =
        fitting.into_iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, named)| named).collect();
    // A trait's own item stands for those of its impls when both fit.
    if found.iter().any(|named| !named.of_trait_impl) {
        found.retain(|named| !named.of_trait_impl);
    }
    found
}

/// The names that are spelled most like one that means nothing.
pub fn nearest(name: &WrittenName, all: &[Named<'_>]) -> Vec<String> {
    let wanted = name.segments.join("::");
    let last = name.segments.last().map(String::as_str).unwrap_or_default();
    let mut scored: Vec<(usize, String)> = all
        .iter()
        .map(|named| {
            let tail = named.path[named.path.len().saturating_sub(name.segments.len())..].join("::");
            let own = named.path.last().map(String::as_str).unwrap_or_default();
            (strsim::osa_distance(&tail, &wanted).min(1 + strsim::osa_distance(own, last)), named.name())
        })
        .filter(|(distance, _)| *distance <= wanted.len().div_ceil(2).max(2))
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().map(|(_, name)| name).take(5).collect()
}

/// Every addressable definition of the crates that `is_ours` accepts.
pub fn all<'db>(database: &'db RootDatabase, is_ours: &dyn Fn(Crate) -> bool) -> Vec<Named<'db>> {
    let mut found = Vec::new();
    for krate in Crate::all(database).into_iter().filter(|krate| krate.origin(database).is_local() && is_ours(*krate)) {
        for module in krate.modules(database) {
            module_items(database, module, &mut found);
        }
    }
    found
}

/// The path of a module, the crate's name first.
fn module_path(database: &RootDatabase, module: hir::Module) -> Vec<String> {
    let root = module.krate(database).display_name(database);
    let root = root.map_or_else(|| "crate".to_owned(), |name| name.crate_name().symbol().as_str().to_owned());
    let inner = module.path_to_root(database);
    let inner = inner.iter().rev().filter_map(|module| module.name(database)).map(|name| name.as_str().to_owned());
    std::iter::once(root).chain(inner).collect()
}

fn module_items<'db>(database: &'db RootDatabase, module: hir::Module, found: &mut Vec<Named<'db>>) {
    let path = module_path(database, module);
    let add = |found: &mut Vec<Named<'db>>, names: &[&str], kind, definition, of_trait_impl| {
        let path = path.iter().cloned().chain(names.iter().map(|name| (*name).to_owned())).collect();
        found.push(Named { path, kind, definition, of_trait_impl });
    };
    for declared in module.declarations(database) {
        let Some(name) = declared.name(database) else { continue };
        let name = name.as_str();
        let kind = match declared {
            hir::ModuleDef::Module(_) => SymbolKind::Module,
            hir::ModuleDef::Function(_) => SymbolKind::Function,
            hir::ModuleDef::Adt(hir::Adt::Struct(_)) => SymbolKind::Struct,
            hir::ModuleDef::Adt(hir::Adt::Enum(_)) => SymbolKind::Enum,
            hir::ModuleDef::Adt(hir::Adt::Union(_)) => SymbolKind::Union,
            hir::ModuleDef::Const(_) => SymbolKind::Constant,
            hir::ModuleDef::Static(_) => SymbolKind::Static,
            hir::ModuleDef::Trait(_) => SymbolKind::Trait,
            hir::ModuleDef::TypeAlias(_) => SymbolKind::TypeAlias,
            hir::ModuleDef::Macro(_) => SymbolKind::Macro,
            hir::ModuleDef::EnumVariant(_) | hir::ModuleDef::BuiltinType(_) => continue,
        };
        add(found, &[name], kind, Definition::from(declared), false);
        let add_fields = |found: &mut _, owner: &str, fields: Vec<hir::Field>| {
            for field in fields {
                let field_name = field.name(database);
                add(found, &[owner, field_name.as_str()], SymbolKind::Field, Definition::Field(field), false);
            }
        };
        match declared {
            hir::ModuleDef::Adt(hir::Adt::Struct(it)) => add_fields(found, name, it.fields(database)),
            hir::ModuleDef::Adt(hir::Adt::Union(it)) => add_fields(found, name, it.fields(database)),
            hir::ModuleDef::Adt(hir::Adt::Enum(it)) => {
                for variant in it.variants(database) {
                    let variant_name = variant.name(database);
                    add(
                        found,
                        &[name, variant_name.as_str()],
                        SymbolKind::Variant,
                        Definition::EnumVariant(variant),
                        false,
                    );
                    for field in variant.fields(database) {
                        let names = [name, variant_name.as_str(), field.name(database).as_str()].map(str::to_owned);
                        let names = names.each_ref().map(String::as_str);
                        add(found, &names, SymbolKind::Field, Definition::Field(field), false);
                    }
                }
            }
            hir::ModuleDef::Trait(it) => {
                for item in it.items(database) {
                    if let Some((item_name, kind)) = assoc(database, item) {
                        add(found, &[name, &item_name], kind, Definition::from(item), false);
                    }
                }
            }
            _ => {}
        }
    }
    for it in module.legacy_macros(database) {
        let name = it.name(database);
        add(found, &[name.as_str()], SymbolKind::Macro, Definition::Macro(it), false);
    }
    for block in module.impl_defs(database) {
        let of_trait = block.trait_(database).is_some();
        let Some(adt) = block.self_ty(database).as_adt() else { continue };
        let owner = adt.name(database);
        // The type's own path names its items, wherever the impl block stands.
        let owner_path = module_path(database, adt.module(database));
        for item in block.items(database) {
            if let Some((item_name, kind)) = assoc(database, item) {
                let path = owner_path.iter().cloned().chain([owner.as_str().to_owned(), item_name]).collect();
                found.push(Named { path, kind, definition: Definition::from(item), of_trait_impl: of_trait });
            }
        }
    }
}

fn assoc(database: &RootDatabase, item: hir::AssocItem) -> Option<(String, SymbolKind)> {
    let (name, kind) = match item {
        hir::AssocItem::Function(it) => {
            let kind = if it.self_param(database).is_some() { SymbolKind::Method } else { SymbolKind::Function };
            (it.name(database), kind)
        }
        hir::AssocItem::Const(it) => (it.name(database)?, SymbolKind::Constant),
        hir::AssocItem::TypeAlias(it) => (it.name(database), SymbolKind::TypeAlias),
    };
    Some((name.as_str().to_owned(), kind))
}

/// Where a definition's name is written, if it is written anywhere.
pub fn name_range(
    semantics: &Semantics<'_, RootDatabase>,
    definition: Definition<'_>,
) -> Option<(ra_ap_ide_db::FileId, ra_ap_syntax::TextRange)> {
    let range = definition.range_for_rename(semantics)?;
    Some((range.file_id.file_id(semantics.db), range.range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        assert_eq!(WrittenName::parse("`VersionReq::matches`").unwrap().segments, path("VersionReq::matches"));
        assert_eq!(WrittenName::parse("<Foo as fmt::Display>::fmt").unwrap().segments, path("fmt::Display::fmt"));
        assert!(WrittenName::parse("crate::a::b").unwrap().rooted);
        assert_eq!(WrittenName::parse("parse()").unwrap().kinds, Some(FUNCTIONS));
        assert_eq!(WrittenName::parse("r#type").unwrap().segments, path("type"));
        for wrong in ["", "a b", "a::", "9a", "what@x", "a-b"] {
            assert_eq!(WrittenName::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_complete_path_beats_an_ending_and_an_ending_beats_a_gap() {
        let full = path("semver::VersionReq::matches");
        assert_eq!(WrittenName::parse("semver::VersionReq::matches").unwrap().fit(&full), Some(3));
        assert_eq!(WrittenName::parse("crate::VersionReq::matches").unwrap().fit(&full), Some(3));
        assert_eq!(WrittenName::parse("matches").unwrap().fit(&full), Some(2));
        assert_eq!(
            WrittenName::parse("grep_regex::Matcher").unwrap().fit(&path("grep_regex::matcher::Matcher")),
            Some(1)
        );
        assert_eq!(WrittenName::parse("Comparator::matches").unwrap().fit(&full), None);
        assert_eq!(WrittenName::parse("crate::matches").unwrap().fit(&full), None);
    }
}
