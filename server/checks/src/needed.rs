//! From the workspaces of a tree to the checks that a change in it needs.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, CheckId, CheckKind, Digest, Features, TreePath};

use crate::files::Files;
use crate::find::{CargoWorkspace, Found, Package, Wanted};
use crate::folder::{Folder, file_in, holds, suffix, within};

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
