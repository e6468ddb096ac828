//! Renaming a definition everywhere: code, doc links, doctests, module files; what cannot be reached is listed.

use ra_ap_hir::{self as hir, AsAssocItem, AssocItemContainer, Semantics};
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_ide_db::rename::{IdentifierKind, RenameConfig, RenameDefinition};
use ra_ap_syntax::{Edition, SyntaxKind};
use task::Position;
use task::port::Refactored;

use super::edits::Gathered;
use crate::analysis::{Analysis, Site};
use crate::names::{self, Named, WrittenName};

impl Analysis {
    /// Renames what `symbol` means, or where there is a place, what stands there.
    pub(crate) fn rename(&mut self, symbol: &str, at: Option<&Position>, new_name: &str) -> Refactored {
        let new_name = new_name.trim().trim_matches('`').trim();
        let Some(written) = WrittenName::parse(symbol) else {
            return refused(format!("`{symbol}` is not the name of a definition; write it like `VersionReq::matches`"));
        };
        if let Err(reason) = identifier(new_name) {
            return refused(reason);
        }
        let Some(old_name) = written.segments.last().cloned() else { return refused("an empty name".to_owned()) };
        self.show_doctests(&old_name);
        let planned = self.attached(|| self.plan_rename(&written, at, &old_name, new_name));
        self.hide_doctests();
        match planned {
            Ok(plan) => self.prove_rename(plan, &old_name, new_name),
            Err(other) => other,
        }
    }

    /// Works out the edits while the doctests are shown.
    fn plan_rename(
        &self,
        written: &WrittenName,
        at: Option<&Position>,
        old_name: &str,
        new_name: &str,
    ) -> Result<Gathered, Refactored> {
        let database = self.database();
        let semantics = Semantics::new(database);
        let all = self.names();
        let (name, found) = match at {
            Some(at) => (old_name.to_owned(), self.standing_at(&semantics, at, old_name).map_err(refused)?),
            None => match self.distinct(&semantics, names::resolve(written, &all)).as_slice() {
                [] => return Err(Refactored::NotFound { nearest: names::nearest(written, &all) }),
                [only] => (only.name(), only.definition),
                several => {
                    let candidates = several.iter().filter_map(|named| self.symbol(&semantics, named)).collect();
                    return Err(Refactored::Ambiguous { candidates });
                }
            },
        };
        if old_name == new_name {
            return Ok(Gathered::default());
        }
        let definition = in_trait(database, found);
        if let Some(reason) = self.not_renameable(&semantics, &name, definition) {
            return Err(refused(reason));
        }
        if let Some(reason) = taken(database, definition, new_name) {
            return Err(refused(reason));
        }
        let config = RenameConfig { show_conflicts: false };
        let change = definition
            .rename(&semantics, new_name, RenameDefinition::Yes, &config)
            .map_err(|error| refused(format!("`{name}` cannot be renamed: {error}")))?;
        let mut gathered = Gathered::default();
        self.gather(&change, &mut gathered).map_err(refused)?;
        let is_target = |other: Definition<'_>| self.same(&semantics, in_trait(database, other), definition);
        for (path, edit) in self.link_edits(&semantics, &is_target, old_name, new_name) {
            gathered.replacements.entry(path).or_default().insert(edit);
        }
        Ok(gathered)
    }

    /// Applies the edits, looks at whether every changed name still means the same, lists what is left, and undoes.
    fn prove_rename(&mut self, mut plan: Gathered, old_name: &str, new_name: &str) -> Refactored {
        let mut limitations = std::mem::take(&mut plan.limitations);
        let edits = plan.into_set();
        if edits.is_empty() {
            return Refactored::Edits { edits, limitations };
        }
        let new = match edits.apply(|path| self.files().get(path).cloned()) {
            Ok(new) => new,
            Err(error) => return refused(format!("the compiler's edits do not fit the text: {error}")),
        };
        let strangers = self.attached(|| self.strangers(new_name));
        let old = new.keys().map(|path| (path.clone(), self.files().get(path).cloned())).collect();
        self.set_files(new.into_iter().collect());
        let captured = self.attached(|| self.captured(&edits, new_name, &strangers));
        limitations.extend(self.attached(|| self.unresolved_words(old_name)));
        self.set_files(old);
        limitations.sort();
        limitations.dedup();
        match captured {
            Some(reason) => refused(reason),
            None => Refactored::Edits { edits, limitations },
        }
    }

    /// Definitions that differ in place, in order; one file compiled into several crates counts once.
    fn distinct<'a, 'db>(
        &self,
        semantics: &Semantics<'db, RootDatabase>,
        found: Vec<&'a Named<'db>>,
    ) -> Vec<&'a Named<'db>> {
        let mut seen: Vec<Option<Site>> = Vec::new();
        let mut kept = Vec::new();
        for named in found {
            let site = self.definition_site(semantics, named.definition);
            if site.is_some() && seen.contains(&site) {
                continue;
            }
            seen.push(site);
            kept.push(named);
        }
        kept
    }

    /// Where a definition's name is written in the tree.
    pub(crate) fn definition_site(
        &self,
        semantics: &Semantics<'_, RootDatabase>,
        definition: Definition<'_>,
    ) -> Option<Site> {
        let (file, range) = names::name_range(semantics, definition)?;
        self.site(file, range)
    }

    /// Whether two definitions are one, also when the same file is compiled into two crates.
    fn same(&self, semantics: &Semantics<'_, RootDatabase>, one: Definition<'_>, other: Definition<'_>) -> bool {
        let site = self.definition_site(semantics, one);
        site.is_some() && site == self.definition_site(semantics, other)
    }

    fn not_renameable(
        &self,
        semantics: &Semantics<'_, RootDatabase>,
        name: &str,
        definition: Definition<'_>,
    ) -> Option<String> {
        let database = self.database();
        if definition.krate(database).is_some_and(|krate| !krate.origin(database).is_local()) {
            return Some(format!(
                "`{name}` implements an item of a trait that is not part of this project, so its name is not ours to change"
            ));
        }
        if let Definition::Module(module) = definition {
            return module
                .is_crate_root(database)
                .then(|| format!("`{name}` is a crate; its name is set in Cargo.toml"));
        }
        match self.definition_site(semantics, definition) {
            Some(_) => None,
            None => Some(format!(
                "`{name}` is made by a macro, so there is no text of it to rename; rename what the macro makes it from"
            )),
        }
    }
}

/// A refusal.
pub(super) fn refused(reason: String) -> Refactored {
    Refactored::Refused { reason }
}

/// Checks that a text can be the name of a definition.
fn identifier(name: &str) -> Result<(), String> {
    let plain = name.strip_prefix("r#").unwrap_or(name);
    if SyntaxKind::from_keyword(plain, Edition::LATEST).is_some() && plain == name {
        return Err(format!("`{name}` is a keyword and cannot be a name"));
    }
    match IdentifierKind::classify(Edition::LATEST, name) {
        Ok((_, IdentifierKind::Ident)) => Ok(()),
        _ => Err(format!("`{name}` is not an identifier")),
    }
}

/// An item of a trait impl stands for the trait's own item.
pub(super) fn in_trait<'db>(database: &'db RootDatabase, definition: Definition<'db>) -> Definition<'db> {
    let Some(item) = definition.as_assoc_item(database) else { return definition };
    let Some(of_trait) = item.implemented_trait(database) else { return definition };
    let name = item.name(database);
    let same_kind = |other: &hir::AssocItem| std::mem::discriminant(other) == std::mem::discriminant(&item);
    let found = of_trait.items(database).into_iter().find(|other| other.name(database) == name && same_kind(other));
    found.map_or(definition, Definition::from)
}

/// Why the new name is already taken where the definition lives.
fn taken(database: &RootDatabase, definition: Definition<'_>, new_name: &str) -> Option<String> {
    let plain = new_name.trim_start_matches("r#");
    let is_new = |name: &hir::Name| name.as_str() == plain;
    let already = |what: &str| Some(format!("{what} already has `{plain}`"));
    match definition {
        Definition::Field(field) => {
            let siblings = field.parent_def(database).fields(database);
            return siblings.iter().any(|field| is_new(&field.name(database))).then(|| already("the type")).flatten();
        }
        Definition::EnumVariant(variant) => {
            let siblings = variant.parent_enum(database).variants(database);
            return siblings
                .iter()
                .any(|variant| is_new(&variant.name(database)))
                .then(|| already("the enum"))
                .flatten();
        }
        _ => {}
    }
    if let Some(item) = definition.as_assoc_item(database) {
        let items = match item.container(database) {
            AssocItemContainer::Trait(of_trait) => of_trait.items(database),
            AssocItemContainer::Impl(block) => {
                let own = block.self_ty(database);
                let inherent = hir::Impl::all_for_type(database, own);
                inherent
                    .into_iter()
                    .filter(|block| block.trait_(database).is_none())
                    .flat_map(|block| block.items(database))
                    .collect()
            }
        };
        return items
            .iter()
            .any(|item| item.name(database).as_ref().is_some_and(is_new))
            .then(|| already("the type or trait"))
            .flatten();
    }
    let module = definition.module(database)?;
    let of = |namespaces: (bool, bool, bool)| {
        module.scope(database, None).into_iter().any(|(name, scoped)| {
            if !is_new(&name) {
                return false;
            }
            let (types, values, macros) = namespaces;
            match scoped {
                hir::ScopeDef::ModuleDef(
                    hir::ModuleDef::Module(_) | hir::ModuleDef::Trait(_) | hir::ModuleDef::TypeAlias(_),
                ) => types,
                // A struct may be a constructor as well; which is settled by applying the edit.
                hir::ScopeDef::ModuleDef(hir::ModuleDef::Adt(_)) => types,
                hir::ScopeDef::ModuleDef(hir::ModuleDef::Macro(_)) => macros,
                hir::ScopeDef::ModuleDef(hir::ModuleDef::BuiltinType(_)) => false,
                hir::ScopeDef::ModuleDef(_) => values,
                _ => true,
            }
        })
    };
    let namespaces = match definition {
        Definition::Macro(_) => (false, false, true),
        Definition::Function(_) | Definition::Const(_) | Definition::Static(_) => (false, true, false),
        _ => (true, false, false),
    };
    of(namespaces).then(|| already(&format!("module `{}`", module_name(database, module)))).flatten()
}

fn module_name(database: &RootDatabase, module: hir::Module) -> String {
    let path = module.path_to_root(database);
    let names: Vec<String> =
        path.iter().rev().filter_map(|module| module.name(database)).map(|name| name.as_str().to_owned()).collect();
    if names.is_empty() { "crate".to_owned() } else { format!("crate::{}", names.join("::")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_numbers_and_lifetimes_are_no_names() {
        for wrong in ["fn", "self", "crate", "_", "'a", "1x", "a b", "", "a-b", "a::b"] {
            assert!(identifier(wrong).is_err(), "{wrong:?}");
        }
        for right in ["r#fn", "matches2", "Größe", "x"] {
            assert!(identifier(right).is_ok(), "{right:?}");
        }
    }
}
