//! From the workspaces and projects of a tree to the checks that a change in it needs.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, CheckId, CheckKind, Digest, Features, TreePath};

use crate::files::Files;
use crate::find::{CargoWorkspace, Found, Package, Wanted};
use crate::folder::{Folder, file_in, holds, is_fixture, suffix, within};
use crate::project::Project;
use crate::tool::Ecosystem;

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

impl Found {
    /// The checks of the projects that own any of these files, or that depend on a package that does. Files that nobody
    /// owns are judged by all: any could include them.
    pub fn checks_for<'a>(&self, touched: impl IntoIterator<Item = &'a TreePath>) -> Needed {
        let mut chosen: BTreeSet<Owner<'_>> = BTreeSet::new();
        let mut packages = BTreeSet::new();
        for path in touched {
            let mut owners: Vec<(usize, Ecosystem, Owner<'_>)> = Vec::new();
            for workspace in &self.workspaces {
                let package = workspace.package_of(path);
                packages.extend(package.filter(|package| self.is_nearest(package, path)).map(|it| it.name.clone()));
                if package.is_some() || holds(&workspace.root, path) {
                    owners.push((depth(&workspace.root), Ecosystem::Cargo, Owner::Workspace(&workspace.root)));
                }
                let used = workspace.depends_on.iter().any(|folder| folder.is_some() && holds(folder, path));
                if used {
                    chosen.insert(Owner::Workspace(&workspace.root));
                }
            }
            // The innermost one owns it.
            let mut innermost: Vec<_> = owners.into_iter().max_by_key(|owner| owner.0).into_iter().collect();
            for owner in &mut innermost {
                let Owner::Workspace(root) = owner.2 else { continue };
                let package = self.workspaces.iter().find(|it| it.root == *root).and_then(|it| it.package_of(path));
                owner.0 = package.map_or(owner.0, |package| owner.0.max(depth(&package.folder)));
            }
            for ecosystem in [Ecosystem::Npm, Ecosystem::Python] {
                let all = || self.projects.iter().enumerate().filter(move |(_, it)| it.ecosystem == ecosystem);
                let own = all().filter(|(_, project)| holds(&project.folder, path));
                let own = own.max_by_key(|(_, project)| depth(&project.folder));
                innermost.extend(own.map(|(at, project)| (depth(&project.folder), ecosystem, Owner::Project(at))));
                let uses =
                    |project: &Project| project.uses.iter().any(|folder| folder.is_some() && holds(folder, path));
                chosen.extend(all().filter(|(_, project)| uses(project)).map(|(at, _)| Owner::Project(at)));
            }
            if innermost.is_empty() {
                chosen.extend(self.workspaces.iter().map(|workspace| Owner::Workspace(&workspace.root)));
                chosen.extend((0..self.projects.len()).map(Owner::Project));
            }
            if innermost.iter().any(|owner| self.has_manifest(owner.2)) {
                innermost.retain(|owner| self.has_manifest(owner.2) || owner.1.speaks(path));
            }
            // Of several ecosystems the one whose language the file is written in, and whoever lies further in.
            let speaks = |owner: &(usize, Ecosystem, Owner<'_>)| owner.1.speaks(path) && !is_fixture(path);
            let sure = innermost.iter().filter(|owner| speaks(owner) && self.has_manifest(owner.2));
            let spoken = sure.map(|owner| owner.0).max();
            let deepest = innermost.iter().map(|owner| owner.0).max().unwrap_or_default();
            let owns = |owner: &&(usize, Ecosystem, Owner<'_>)| match spoken {
                Some(depth) => speaks(owner) || owner.0 > depth,
                None => speaks(owner) || owner.0 == deepest,
            };
            chosen.extend(innermost.iter().filter(owns).map(|owner| owner.2));
        }
        let mut needed = self.needed(|owner| chosen.contains(&owner));
        needed.packages = packages;
        needed
    }

    /// The checks of everything.
    pub fn all(&self) -> Needed {
        let mut needed = self.needed(|_| true);
        let packages = self.workspaces.iter().flat_map(|workspace| &workspace.packages);
        needed.packages = packages.map(|package| package.name.clone()).collect();
        needed
    }

    /// The checks of all Cargo workspaces, and of nothing else: what the compiler has to say.
    pub fn cargo(&self) -> Needed {
        let mut needed = self.needed(|owner| matches!(owner, Owner::Workspace(_)));
        if self.workspaces.is_empty() {
            needed.nothing = Some("there is no Cargo.toml".to_owned());
        }
        needed
    }

    fn needed(&self, is_chosen: impl Fn(Owner<'_>) -> bool) -> Needed {
        let mut needed = Needed::default();
        for workspace in self.workspaces.iter().filter(|workspace| is_chosen(Owner::Workspace(&workspace.root))) {
            for check in checks(workspace, self.wanted) {
                if let Some(reason) = &workspace.unavailable {
                    needed.unavailable.insert(check.id.clone(), reason.clone());
                }
                needed.checks.push(check);
            }
        }
        for (_, project) in self.projects.iter().enumerate().filter(|(at, _)| is_chosen(Owner::Project(*at))) {
            needed.checks.extend(project.checks.iter().cloned());
            needed.unavailable.extend(project.unavailable.clone());
        }
        if self.workspaces.is_empty() && self.projects.is_empty() {
            needed.nothing = Some(self.nothing.to_owned());
        } else if needed.checks.is_empty() {
            needed.nothing = Some(if self.projects.is_empty() {
                "nothing that a Cargo workspace owns was touched".to_owned()
            } else {
                "nothing that a project with checks owns was touched".to_owned()
            });
        }
        needed
    }

    fn has_manifest(&self, owner: Owner<'_>) -> bool {
        match owner {
            Owner::Workspace(_) => true,
            Owner::Project(at) => self.projects.get(at).is_some_and(|project| project.has_manifest),
        }
    }

    fn is_nearest(&self, package: &Package, path: &TreePath) -> bool {
        let all = self.workspaces.iter().flat_map(|workspace| &workspace.packages);
        let mut deeper = all.filter(|other| holds(&other.folder, path) && within(&other.folder, &package.folder));
        !deeper.any(|other| other.folder != package.folder)
    }
}

/// Whoever may own a file: a Cargo workspace by its root, another project by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'a> {
    Workspace(&'a Folder),
    Project(usize),
}

/// How deep a folder lies: the longer of two that hold a file lies deeper.
fn depth(folder: &Folder) -> usize {
    folder.as_ref().map_or(0, |folder| folder.as_bytes().len() + 1)
}

impl CargoWorkspace {
    /// The package in whose folder a file lies, the innermost one.
    fn package_of(&self, path: &TreePath) -> Option<&Package> {
        let packages = self.packages.iter().filter(|package| holds(&package.folder, path));
        packages.max_by_key(|package| depth(&package.folder))
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
