//! From the workspaces and projects of a tree to the checks that a change in it needs.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, CheckId, CheckKind, Digest, Features, TreePath};

use crate::files::Files;
use crate::find::{CargoWorkspace, Found, Package, Wanted};
use crate::folder::{Folder, file_in, holds, is_fixture, suffix, within};
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
            for workspace in &self.workspaces {
                let package = workspace.package_of(path).filter(|package| self.is_nearest(package, path));
                packages.extend(package.map(|package| package.name.clone()));
            }
            let owners = self.owners(path);
            if owners.is_empty() {
                chosen.extend(self.everyone());
            }
            chosen.extend(self.asked(path, owners));
            chosen.extend(self.users(path));
        }
        let mut needed = self.needed(|owner| chosen.contains(&owner));
        needed.packages = packages;
        needed
    }

    fn everyone(&self) -> impl Iterator<Item = Owner<'_>> {
        let workspaces = self.workspaces.iter().map(|workspace| Owner::Workspace(&workspace.root));
        workspaces.chain((0..self.projects.len()).map(Owner::Project))
    }

    /// Of each ecosystem the innermost that holds a file.
    fn owners(&self, path: &TreePath) -> Vec<Owning<'_>> {
        let holding = |it: &&CargoWorkspace| it.package_of(path).is_some() || holds(&it.root, path);
        let workspace = self.workspaces.iter().filter(holding).max_by_key(|workspace| depth(&workspace.root));
        let workspace = workspace.map(|it| Owning {
            owner: Owner::Workspace(&it.root),
            ecosystem: Ecosystem::Cargo,
            depth: depth(&it.root).max(it.package_of(path).map_or(0, |package| depth(&package.folder))),
        });
        let projects = [Ecosystem::Npm, Ecosystem::Python].into_iter().filter_map(|ecosystem| {
            let all = self.projects.iter().enumerate().filter(|(_, it)| it.ecosystem == ecosystem);
            let own = all.filter(|(_, project)| holds(&project.folder, path));
            let (at, project) = own.max_by_key(|(_, project)| depth(&project.folder))?;
            Some(Owning { owner: Owner::Project(at), ecosystem, depth: depth(&project.folder) })
        });
        workspace.into_iter().chain(projects).collect()
    }

    /// Which of several ecosystems are asked about a file: the one whose language it is written in, whoever lies further
    /// in, and Cargo also where it lies as far in, for any file may be compiled into a program. About other files the
    /// innermost is asked.
    fn asked<'a>(&self, path: &TreePath, mut owners: Vec<Owning<'a>>) -> Vec<Owner<'a>> {
        let speaks = |it: &Owning<'_>| it.ecosystem.speaks(path) && !is_fixture(path);
        if owners.iter().any(|it| self.has_manifest(it.owner)) {
            owners.retain(|it| self.has_manifest(it.owner) || speaks(it));
        }
        let spoken = owners.iter().filter(|it| speaks(it) && self.has_manifest(it.owner)).map(|it| it.depth).max();
        let deepest = owners.iter().map(|it| it.depth).max().unwrap_or_default();
        let is_asked = |it: &Owning<'_>| match spoken {
            Some(depth) => it.depth > depth || it.depth == depth && it.ecosystem == Ecosystem::Cargo,
            None => it.depth == deepest,
        };
        owners.iter().filter(|it| speaks(it) || is_asked(it)).map(|it| it.owner).collect()
    }

    /// Those that depend on the package which holds a file.
    fn users(&self, path: &TreePath) -> impl Iterator<Item = Owner<'_>> {
        let used = move |folders: &BTreeSet<Folder>| folders.iter().any(|it| it.is_some() && holds(it, path));
        let workspaces = self.workspaces.iter().filter(move |workspace| used(&workspace.depends_on));
        let projects = self.projects.iter().enumerate().filter(move |(_, project)| used(&project.uses));
        workspaces.map(|workspace| Owner::Workspace(&workspace.root)).chain(projects.map(|it| Owner::Project(it.0)))
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

/// An owner of a file.
struct Owning<'a> {
    owner: Owner<'a>,
    ecosystem: Ecosystem,
    depth: usize,
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
