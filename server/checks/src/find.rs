//! Which checks judge a tree: the Cargo workspaces in it, and those that own what a change touches.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, CheckId, CheckKind, Digest, Features, TreePath};

use crate::files::Files;
use crate::folder::{Folder, file_in, holds, matches, resolve, suffix, upwards, within};
use crate::manifest::Manifest;

/// What the task is about, as far as it decides which checks are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether lints are the task, so that clippy judges too.
    pub lints: bool,
}

/// The Cargo workspaces of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub workspaces: Vec<CargoWorkspace>,
    wanted: Wanted,
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
    depends_on: BTreeSet<Option<TreePath>>,
}

/// A package of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub folder: Option<TreePath>,
}

/// The checks that a change needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needed {
    pub checks: Vec<Check>,
    /// Those among them that cannot run, with the reason.
    pub unavailable: BTreeMap<CheckId, String>,
    /// Names of the packages that own what is touched.
    pub packages: BTreeSet<String>,
    /// Why there is no check, in one sentence, where there is none.
    pub nothing: Option<String>,
}

/// Finds the workspaces of a tree.
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
    Found { workspaces, wanted }
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

impl Found {
    /// The checks of the workspaces that own any of these files, or that depend on a package that does. Files that no
    /// workspace owns are judged by all of them: any could include them.
    pub fn checks_for<'a>(&self, touched: impl IntoIterator<Item = &'a TreePath>) -> Needed {
        let mut chosen: BTreeSet<&Folder> = BTreeSet::new();
        let mut packages = BTreeSet::new();
        for path in touched {
            let mut owners = Vec::new();
            for workspace in &self.workspaces {
                let package = workspace.package_of(path);
                packages.extend(package.filter(|package| self.is_nearest(package, path)).map(|it| it.name.clone()));
                if package.is_some() || holds(&workspace.root, path) {
                    owners.push(&workspace.root);
                }
                let used = workspace.depends_on.iter().any(|folder| folder.is_some() && holds(folder, path));
                if used {
                    chosen.insert(&workspace.root);
                }
            }
            // The innermost one owns it.
            let innermost = owners.iter().max_by_key(|root| root.as_ref().map_or(0, |root| root.as_bytes().len() + 1));
            chosen.extend(innermost);
            if owners.is_empty() {
                chosen.extend(self.workspaces.iter().map(|workspace| &workspace.root));
            }
        }
        let workspaces = self.workspaces.iter().filter(|workspace| chosen.contains(&workspace.root));
        let mut needed = self.needed(workspaces);
        needed.packages = packages;
        needed
    }

    /// The checks of all workspaces.
    pub fn all(&self) -> Needed {
        let mut needed = self.needed(self.workspaces.iter());
        let packages = self.workspaces.iter().flat_map(|workspace| &workspace.packages);
        needed.packages = packages.map(|package| package.name.clone()).collect();
        needed
    }

    fn needed<'a>(&self, workspaces: impl Iterator<Item = &'a CargoWorkspace>) -> Needed {
        let mut needed = Needed::default();
        for workspace in workspaces {
            for check in checks(workspace, self.wanted) {
                if let Some(reason) = &workspace.unavailable {
                    needed.unavailable.insert(check.id.clone(), reason.clone());
                }
                needed.checks.push(check);
            }
        }
        if self.workspaces.is_empty() {
            needed.nothing = Some("there is no Cargo.toml".to_owned());
        } else if needed.checks.is_empty() {
            needed.nothing = Some("nothing that a Cargo workspace owns was touched".to_owned());
        }
        needed
    }

    fn is_nearest(&self, package: &Package, path: &TreePath) -> bool {
        let all = self.workspaces.iter().flat_map(|workspace| &workspace.packages);
        let mut deeper = all.filter(|other| holds(&other.folder, path) && within(&other.folder, &package.folder));
        !deeper.any(|other| other.folder != package.folder)
    }
}

impl CargoWorkspace {
    /// The package in whose folder a file lies, the innermost one.
    fn package_of(&self, path: &TreePath) -> Option<&Package> {
        let packages = self.packages.iter().filter(|package| holds(&package.folder, path));
        packages.max_by_key(|package| package.folder.as_ref().map_or(0, |folder| folder.as_bytes().len() + 1))
    }
}

fn checks(workspace: &CargoWorkspace, wanted: Wanted) -> Vec<Check> {
    let sets: &[Features] =
        if workspace.has_optional_features { &[Features::Default, Features::All] } else { &[Features::Default] };
    let kinds: &[CheckKind] = if wanted.lints {
        &[CheckKind::Build, CheckKind::Lint, CheckKind::Test]
    } else {
        &[CheckKind::Build, CheckKind::Test]
    };
    // Builds first: what fails soonest is known soonest, and nothing that tests leave in the build folder is built upon.
    let pairs = kinds.iter().flat_map(|kind| sets.iter().map(move |features| (*kind, *features)));
    pairs.map(|(kind, features)| check(&workspace.root, kind, features)).collect()
}

/// A check of the workspace in a folder.
pub fn check(root: &Option<TreePath>, kind: CheckKind, features: Features) -> Check {
    let (verb, options): (&str, &[&str]) = match kind {
        CheckKind::Build => ("build", &["--workspace", "--all-targets", "--keep-going"]),
        CheckKind::Test => ("test", &["--workspace", "--no-fail-fast"]),
        CheckKind::Lint => ("clippy", &["--workspace", "--all-targets", "--keep-going"]),
    };
    let (all, note): (&[&str], &str) =
        if features == Features::All { (&["--all-features"], " (all features)") } else { (&[], "") };
    let command = ["cargo", verb].iter().chain(options).chain(all).map(|&word| word.to_owned()).collect();
    let id = CheckId(format!("cargo {verb}{note}{}", suffix(root)));
    Check { id, kind, root: root.clone(), features, command, required: true }
}

/// For a workspace whose tree has no `Cargo.lock`: a digest of everything that decides what a generated one holds. The
/// lock that was generated for one tree serves every tree with the same digest. `None` where the tree has one.
pub fn lock_inputs(files: &dyn Files, root: &Option<TreePath>) -> Option<Digest> {
    if file_in(root, "Cargo.lock").is_some_and(|lock| files.read(&lock).is_some()) {
        return None;
    }
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut manifests: Vec<TreePath> =
        files.list().into_iter().filter(|path| path.file_name() == b"Cargo.toml").collect();
    manifests.sort();
    for path in manifests {
        parts.push(path.as_bytes().to_vec());
        parts.push(files.read(&path).unwrap_or_default());
    }
    Some(Digest::of(parts))
}
