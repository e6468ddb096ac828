//! Who is affected by a change: the packages of the changed files and all that depend on them.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_hir::{Crate, Semantics};
use task::TreePath;

use crate::analysis::Analysis;

impl Analysis {
    /// Package names, most directly affected first: distance 0 are the packages that the changed files belong to.
    pub(crate) fn affected(&self, changed: &[TreePath]) -> Vec<String> {
        let database = self.database();
        let semantics = Semantics::new(database);
        let crates: Vec<Crate> = Crate::all(database).into_iter().filter(|krate| self.is_ours(*krate)).collect();
        let mut packages: BTreeMap<String, Vec<Crate>> = BTreeMap::new();
        for krate in &crates {
            if let Some(name) = self.package(*krate) {
                packages.entry(name).or_default().push(*krate);
            }
        }
        let mut frontier: BTreeSet<String> = BTreeSet::new();
        for path in changed {
            let of_modules: Vec<Crate> = match self.file_id(path) {
                Some(file) => semantics.file_to_module_defs(file).map(|module| module.krate(database)).collect(),
                None => Vec::new(),
            };
            // A file that is no module (a manifest, data of a test) belongs to the package in whose folder it lies.
            let owners = if of_modules.is_empty() { self.nearest(path, &crates) } else { of_modules };
            frontier.extend(owners.into_iter().filter_map(|krate| self.package(krate)));
        }
        let mut ordered: Vec<String> = Vec::new();
        while !frontier.is_empty() {
            ordered.extend(frontier.iter().cloned());
            let of_frontier = frontier.iter().filter_map(|name| packages.get(name)).flatten();
            let dependents = of_frontier.flat_map(|krate| krate.reverse_dependencies(database));
            let dependents = dependents.filter(|krate| self.is_ours(*krate)).filter_map(|krate| self.package(krate));
            frontier = dependents.filter(|name| !ordered.contains(name)).collect();
        }
        ordered
    }

    /// The crates whose root lies nearest above a path.
    fn nearest(&self, path: &TreePath, crates: &[Crate]) -> Vec<Crate> {
        let folder = self.host_path(path);
        let package = folder.ancestors().skip(1).find(|folder| {
            self.relative(&folder.join("Cargo.toml")).is_some_and(|manifest| self.files().contains_key(&manifest))
        });
        let Some(package) = package else { return Vec::new() };
        let root = |krate: &Crate| self.file_path(krate.root_file(self.database()));
        crates.iter().filter(|krate| root(krate).is_some_and(|root| root.starts_with(package))).copied().collect()
    }

    /// A crate of the tree, the synthetic ones of doctests excepted.
    pub(crate) fn is_ours(&self, krate: Crate) -> bool {
        let path = self.file_path(krate.root_file(self.database()));
        path.is_some_and(|path| self.tree_path(&path).is_some())
    }

    /// The name of the package that a crate belongs to.
    fn package(&self, krate: Crate) -> Option<String> {
        let database = self.database();
        match krate.origin(database) {
            ra_ap_ide_db::base_db::CrateOrigin::Local { name: Some(name), .. } => Some(name.as_str().to_owned()),
            _ => krate.display_name(database).map(|name| name.canonical_name().as_str().to_owned()),
        }
    }
}
