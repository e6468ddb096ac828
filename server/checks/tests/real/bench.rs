//! A place for checks: a tree in memory, its projection, a build folder, a runner.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use checks::{
    Case, EnvironmentError, Equipment, Evidence, FileMap, Files as _, Guard, Order, Ran, Renames, Runner, Tools,
    Unguarded, Wanted, Watch,
};
use sandbox::{CancelToken, CargoHome, Interpreters, RustHome, Sandbox};
use task::{Check, CheckId, CheckKind, Digest, Features, Judgement, Receipt, SandboxLevel, TreeId, TreePath};

/// One slot: whatever tree is projected into it, the build folder stays.
pub struct Bench {
    _folder: tempfile::TempDir,
    shadow: PathBuf,
    build: PathBuf,
    runner: Arc<Runner>,
    /// The developer's folder, where there is one.
    workspace: Option<PathBuf>,
    /// What checks said of trees that others are compared with.
    bases: RefCell<BTreeMap<(String, CheckId), Option<Receipt>>>,
    pub remaining: Duration,
}

/// A tree as a list of files, the manifest made from a few words if there is none.
pub fn tree(files: &[(&str, &str)]) -> FileMap {
    let map = files.iter().map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec()));
    let mut tree = FileMap(map.collect());
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    tree.0.entry("Cargo.toml".parse().unwrap()).or_insert_with(|| manifest.into());
    tree
}

/// The same tree with other texts; an empty text removes the file.
pub fn with(base: &FileMap, files: &[(&str, &str)]) -> FileMap {
    let mut tree = base.clone();
    for (path, text) in files {
        let path: TreePath = path.parse().unwrap();
        if text.is_empty() {
            tree.0.remove(&path)
        } else {
            tree.0.insert(path, text.as_bytes().to_vec())
        };
    }
    tree
}

pub fn id_of(tree: &FileMap) -> TreeId {
    let parts = tree.0.iter().flat_map(|(path, bytes)| [path.as_bytes().to_vec(), bytes.clone()]);
    Digest::of(parts).as_str()[..40].parse().unwrap()
}

/// One runner for everything that is of Cargo alone.
fn cargo_runner() -> Arc<Runner> {
    static RUNNER: OnceLock<Arc<Runner>> = OnceLock::new();
    let make = || runner_in(&tempfile::tempdir().unwrap().keep().canonicalize().unwrap());
    RUNNER.get_or_init(|| Arc::new(make())).clone()
}

/// A runner for what the developer installed in a folder.
fn runner_in(workspace: &Path) -> Runner {
    let private = tempfile::tempdir().unwrap().keep().canonicalize().unwrap();
    let toolchain = sandbox::rust_toolchain(&RustHome::from_env(), Path::new("/"), None).unwrap();
    let cargo = CargoHome::from_env().provision(&private).unwrap();
    let equipment = Equipment {
        rust: Ok(Tools::new(&toolchain, &cargo, SandboxLevel::Bubblewrap)),
        interpreters: Interpreters::from_env(),
        workspace: workspace.to_owned(),
        level: SandboxLevel::Bubblewrap,
    };
    Runner::new(Arc::new(Sandbox::open().unwrap()), equipment)
}

impl Bench {
    pub fn new() -> Self {
        Self::at("slot-0")
    }

    /// In a folder of that name.
    pub fn at(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join(name);
        fs::create_dir(&top).unwrap();
        let (shadow, build) = (top.join("shadow"), top.join("work"));
        fs::create_dir(&shadow).unwrap();
        fs::create_dir(&build).unwrap();
        let remaining = Duration::from_secs(300);
        let bases = RefCell::default();
        Self { _folder: folder, shadow, build, runner: cargo_runner(), workspace: None, bases, remaining }
    }

    /// For what is installed in a folder.
    pub fn in_workspace(workspace: &Path) -> Self {
        let workspace = workspace.canonicalize().unwrap();
        Self { runner: Arc::new(runner_in(&workspace)), workspace: Some(workspace), ..Self::new() }
    }

    /// Writes a tree as the projection does: files that differ get a new mtime, the others keep theirs.
    pub fn project(&self, tree: &FileMap) {
        let mut kept = BTreeSet::new();
        for (path, bytes) in &tree.0 {
            let target = self.shadow.join(path.to_str().unwrap());
            kept.insert(target.clone());
            if fs::read(&target).ok().as_ref() != Some(bytes) {
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::write(&target, bytes).unwrap();
                let later = SystemTime::now() + Duration::from_secs(2);
                fs::File::options().write(true).open(&target).unwrap().set_modified(later).unwrap();
            }
        }
        for (path, target) in self.links(tree) {
            let link = self.shadow.join(path.to_str().unwrap());
            let _there_already = std::os::unix::fs::symlink(target, &link);
            kept.insert(link);
        }
        remove_others(&self.shadow, &kept);
    }

    fn links(&self, tree: &FileMap) -> BTreeMap<TreePath, PathBuf> {
        self.workspace.iter().flat_map(|workspace| checks::links(tree, workspace).unwrap_or_default()).collect()
    }

    pub fn generate_lock(&self, tree: &FileMap) -> Result<Vec<u8>, EnvironmentError> {
        self.project(tree);
        self.runner.generate_lock(&self.shadow, &None, self.remaining, &CancelToken::new())
    }

    pub fn run(&self, tree: &FileMap, check: &Check) -> Ran {
        self.run_with(tree, check, None, &Watch::default(), &mut Unguarded)
    }

    pub fn run_with(
        &self,
        tree: &FileMap,
        check: &Check,
        base: Option<&Receipt>,
        watch: &Watch,
        guard: &mut dyn Guard,
    ) -> Ran {
        self.project(tree);
        let environment = self.runner.environment(
            tree,
            check,
            &[],
            &self.shadow,
            self.remaining.max(Duration::from_secs(1)),
            &watch.cancel,
        );
        let environment = match environment {
            Ok(environment) => environment,
            Err(EnvironmentError { verdict, reason }) => {
                let reason = Some(reason);
                return Ran { receipt: None, verdict, reason, diagnostics: Vec::new(), output: Vec::new() };
            }
        };
        let order = Order {
            check,
            tree: &id_of(tree),
            files: tree,
            shadow: &self.shadow,
            build: &self.build,
            proof: false,
            environment: &environment.digest,
            base,
            remaining: self.remaining,
        };
        self.runner.run(&order, watch, guard)
    }

    /// The receipt of a base. In a workspace each is run once, as receipts are kept outside of tests; without one what
    /// a run leaves in the build folder matters.
    fn base(&self, tree: &FileMap, check: &Check) -> Option<Receipt> {
        let key = (id_of(tree).to_string(), check.id.clone());
        if let Some(known) = self.bases.borrow().get(&key).filter(|_| self.workspace.is_some()) {
            return known.clone();
        }
        let receipt = self.run(tree, check).receipt;
        self.bases.borrow_mut().insert(key, receipt.clone());
        receipt
    }

    /// Runs all checks that a change needs on both trees and judges the candidate.
    pub fn prove(&self, base: &FileMap, candidate: &FileMap) -> (Judgement, Vec<Case>) {
        let differs = |path: &&TreePath| base.read(path) != candidate.read(path);
        let changed: BTreeSet<TreePath> = candidate.0.keys().filter(differs).cloned().collect();
        let removed: BTreeSet<TreePath> =
            base.0.keys().filter(|path| !candidate.0.contains_key(path)).cloned().collect();
        let plan = checks::find(candidate, Wanted::default()).checks_for(changed.union(&removed));
        let mut cases = Vec::new();
        for check in plan.checks {
            if let Some(reason) = plan.unavailable.get(&check.id) {
                let missing = Some((task::Verdict::Unavailable, reason.clone()));
                cases.push(Case { check, base: None, candidate: None, missing });
                continue;
            }
            let before = self.base(base, &check);
            let after = self.run_with(candidate, &check, before.as_ref(), &Watch::default(), &mut Unguarded);
            let missing = Some((after.verdict, after.reason.unwrap_or_default()));
            cases.push(Case { check, base: before, candidate: after.receipt, missing });
        }
        let judgement = checks::judge(&Evidence {
            tree: &id_of(candidate),
            base: &id_of(base),
            cases: &cases,
            changed: &changed,
            removed: &removed,
            packages: &plan.packages,
            renames: &Renames::new(),
            nothing: plan.nothing.as_deref(),
        });
        (judgement, cases)
    }
}

pub fn build_check() -> Check {
    checks::check(&None, CheckKind::Build, Features::Default)
}

pub fn test_check() -> Check {
    checks::check(&None, CheckKind::Test, Features::Default)
}

/// A tree of exactly these files.
pub fn plain(files: &[(&str, &str)]) -> FileMap {
    FileMap(files.iter().map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec())).collect())
}

/// The candidate is verified; says why not where it is not.
pub fn verified(base: &FileMap, candidate: &FileMap) -> Judgement {
    Bench::new().verified(base, candidate)
}

/// The candidate is not verified, and one of the reasons has these words.
pub fn refused(base: &FileMap, candidate: &FileMap, words: &str) -> Judgement {
    Bench::new().refused(base, candidate, words)
}

impl Bench {
    pub fn verified(&self, base: &FileMap, candidate: &FileMap) -> Judgement {
        let (judgement, cases) = self.prove(base, candidate);
        assert!(judgement.verified, "{:#?}\n{:#?}", judgement.reasons, bad(&cases));
        judgement
    }

    pub fn refused(&self, base: &FileMap, candidate: &FileMap, words: &str) -> Judgement {
        let (judgement, cases) = self.prove(base, candidate);
        assert!(!judgement.verified, "verified, though {words} was expected");
        let told = judgement.reasons.iter().any(|reason| reason.contains(words));
        assert!(told, "{:#?}\n{:#?}", judgement.reasons, bad(&cases));
        judgement
    }
}

/// What went wrong, for a failing test.
fn bad(cases: &[Case]) -> Vec<String> {
    let receipts = cases.iter().flat_map(|case| [&case.base, &case.candidate]).flatten();
    let items = receipts.flat_map(|receipt| &receipt.items).filter(|item| item.signature.is_some());
    items.map(|item| format!("{} {:?}: {}", item.id, item.result, item.excerpt)).collect()
}

fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            remove_others(&path, kept);
            let _not_empty = fs::remove_dir(&path);
        } else if !kept.contains(&path) && path.file_name().is_some_and(|name| name != "Cargo.lock") {
            fs::remove_file(&path).unwrap();
        }
    }
}
