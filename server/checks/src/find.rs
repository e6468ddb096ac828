//! Which checks judge a tree: the Cargo workspaces and other projects in it.

use std::collections::{BTreeMap, BTreeSet};

use task::TreePath;

use crate::files::Files;
use crate::folder::{Folder, matches, resolve, upwards, within};
use crate::manifest::Manifest;
use crate::project::Project;
use crate::{npm, python};

/// What the task is about, as far as it decides which checks are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether lints are the task, so that clippy judges too.
    pub lints: bool,
}

/// What can be checked in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub workspaces: Vec<CargoWorkspace>,
    /// Projects of other ecosystems.
    pub projects: Vec<Project>,
    pub(crate) wanted: Wanted,
    /// Why there is nothing, where there is nothing.
    pub(crate) nothing: &'static str,
}

/// One Cargo workspace; a package outside any is one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoWorkspace {
    /// Its folder; `None` is the top of the tree.
    pub root: Option<TreePath>,
    /// Its packages, by folder.
    pub packages: Vec<Package>,
    /// Why its checks cannot run, in one sentence.
    pub unavailable: Option<String>,
    /// Whether the set of all features differs from the default one.
    pub has_optional_features: bool,
    /// Folders of packages that its own depend on by path, directly or not.
    pub(crate) depends_on: BTreeSet<Option<TreePath>>,
}

/// A package of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub folder: Option<TreePath>,
}

/// Finds the workspaces and projects of a tree.
pub fn find(files: &dyn Files, wanted: Wanted) -> Found {
    let manifests: BTreeMap<Folder, Manifest> = files
        .list()
        .into_iter()
        .filter(|path| path.file_name() == b"Cargo.toml")
        .filter_map(|path| Some((path.parent(), Manifest::parse(&files.read(&path)?))))
        .collect();
    let mut roots: BTreeMap<Folder, BTreeSet<Folder>> = BTreeMap::new();
    for (folder, manifest) in manifests.iter().filter(|(_, manifest)| manifest.workspace.is_some()) {
        roots.insert(folder.clone(), members(folder, manifest, &manifests));
    }
    for (folder, _) in manifests.iter().filter(|(_, manifest)| manifest.workspace.is_none()) {
        match owner(folder, &manifests, &roots) {
            Owner::Root(root) => drop(roots.entry(root).or_default().insert(folder.clone())),
            Owner::Itself => drop(roots.insert(folder.clone(), BTreeSet::from([folder.clone()]))),
            // Cargo refuses to build it where it is: test data, usually.
            Owner::Nobody => {}
        }
    }
    let workspaces = roots.into_iter().map(|(root, members)| workspace(root, &members, &manifests)).collect();
    let projects = npm::find(files).into_iter().chain(python::find(files)).collect();
    let has_manifest = files.list().iter().any(|path| path.file_name() == b"package.json");
    let nothing = if has_manifest {
        "there is no Cargo.toml, and no package.json with tests or TypeScript to check"
    } else {
        "there is no Cargo.toml"
    };
    Found { workspaces, projects, wanted, nothing }
}

/// The folders of a workspace's packages: the root's own, those that `members` names, and what they depend on by path.
fn members(root: &Folder, manifest: &Manifest, manifests: &BTreeMap<Folder, Manifest>) -> BTreeSet<Folder> {
    let Some(workspace) = &manifest.workspace else { return BTreeSet::new() };
    let mut open: Vec<Folder> = Vec::new();
    if manifest.package.is_some() {
        open.push(root.clone());
    }
    for folder in manifests.keys().filter(|folder| *folder != root && within(folder, root)) {
        let below = folder.as_ref().and_then(|folder| match root {
            Some(root) => folder.strip_prefix(root),
            None => Some(folder.clone()),
        });
        let parts: Vec<&[u8]> = below.iter().flat_map(TreePath::components).collect();
        let named = workspace.members.iter().any(|pattern| matches(pattern, &parts));
        let literally = workspace.members.iter().any(|pattern| resolve(root, pattern).as_ref() == Ok(folder));
        if literally || (named && !excluded(root, &workspace.exclude, folder)) {
            open.push(folder.clone());
        }
    }
    // Members may lie outside the root's folder, if they are named literally.
    let elsewhere = workspace.members.iter().filter_map(|written| resolve(root, written).ok());
    open.extend(elsewhere.filter(|folder| !within(folder, root) && manifests.contains_key(folder)));
    let mut members = BTreeSet::new();
    while let Some(folder) = open.pop() {
        if !members.insert(folder.clone()) {
            continue;
        }
        let paths = manifests.get(&folder).into_iter().flat_map(|manifest| &manifest.paths);
        let reached = paths.filter_map(|(_, path)| resolve(&folder, path).ok());
        open.extend(reached.filter(|other| {
            let package = manifests.get(other).is_some_and(|manifest| manifest.workspace.is_none());
            package && within(other, root) && !excluded(root, &workspace.exclude, other)
        }));
    }
    members
}

fn excluded(root: &Folder, exclude: &[String], folder: &Folder) -> bool {
    exclude.iter().filter_map(|written| resolve(root, written).ok()).any(|out| out.is_some() && within(folder, &out))
}

enum Owner {
    Root(Folder),
    Itself,
    Nobody,
}

/// Whose workspace a package without a `[workspace]` of its own belongs to, as cargo looks for it.
fn owner(folder: &Folder, manifests: &BTreeMap<Folder, Manifest>, roots: &BTreeMap<Folder, BTreeSet<Folder>>) -> Owner {
    let pointed = manifests.get(folder).and_then(|manifest| manifest.workspace_of.as_ref());
    if let Some(root) = pointed.and_then(|written| resolve(folder, written).ok()) {
        return if roots.contains_key(&root) { Owner::Root(root) } else { Owner::Itself };
    }
    if let Some((root, _)) = roots.iter().find(|(root, members)| *root != folder && members.contains(folder)) {
        return Owner::Root(root.clone());
    }
    for above in upwards(folder.clone()).skip(1) {
        let Some(workspace) = manifests.get(&above).and_then(|manifest| manifest.workspace.as_ref()) else { continue };
        return if excluded(&above, &workspace.exclude, folder) { Owner::Itself } else { Owner::Nobody };
    }
    Owner::Itself
}

fn workspace(root: Folder, members: &BTreeSet<Folder>, manifests: &BTreeMap<Folder, Manifest>) -> CargoWorkspace {
    let mut unavailable = None;
    let mut depends_on = BTreeSet::new();
    let mut open: Vec<&Folder> = members.iter().chain([&root]).collect();
    let mut seen = BTreeSet::new();
    while let Some(folder) = open.pop() {
        let Some((folder, manifest)) = manifests.get_key_value(folder) else { continue };
        if !seen.insert(folder) {
            continue;
        }
        for (name, written) in &manifest.paths {
            match resolve(folder, written) {
                Ok(other) => {
                    if let Some((other, _)) = manifests.get_key_value(&other) {
                        depends_on.insert(other.clone());
                        open.push(other);
                    }
                }
                Err(()) => {
                    let path = task::printable(written);
                    unavailable.get_or_insert(format!("the path dependency {name} ({path}) is outside the repository"));
                }
            }
        }
    }
    let packages = members.iter().filter_map(|folder| {
        let name = manifests.get(folder)?.package.clone()?;
        Some(Package { name, folder: folder.clone() })
    });
    let has_optional_features =
        members.iter().filter_map(|folder| manifests.get(folder)).any(|manifest| manifest.has_optional_features);
    CargoWorkspace { packages: packages.collect(), root, unavailable, has_optional_features, depends_on }
}
