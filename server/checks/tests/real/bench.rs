//! A place for checks: a tree in memory, its projection, a build folder, a runner.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use checks::{
    Case, EnvironmentError, Evidence, FileMap, Files as _, Guard, Order, Ran, Renames, Runner, Tools, Unguarded,
    Wanted, Watch,
};
use sandbox::{CancelToken, CargoHome, RustHome, Sandbox};
use task::{Check, CheckKind, Digest, Features, Judgement, Receipt, SandboxLevel, TreeId, TreePath};

/// One slot: whatever tree is projected into it, the build folder stays.
pub struct Bench {
    _folder: tempfile::TempDir,
    shadow: PathBuf,
    build: PathBuf,
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

fn runner() -> &'static Runner {
    static RUNNER: OnceLock<Runner> = OnceLock::new();
    RUNNER.get_or_init(|| {
        let private = tempfile::tempdir().unwrap().keep().canonicalize().unwrap();
        let toolchain = sandbox::rust_toolchain(&RustHome::from_env(), Path::new("/"), None).unwrap();
        let cargo = CargoHome::from_env().provision(&private).unwrap();
        let tools = Tools::new(&toolchain, &cargo, SandboxLevel::Bubblewrap);
        Runner::new(Arc::new(Sandbox::open().unwrap()), tools)
    })
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
        Self { _folder: folder, shadow, build, remaining: Duration::from_secs(300) }
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
        remove_others(&self.shadow, &kept);
    }

    pub fn generate_lock(&self, tree: &FileMap) -> Result<Vec<u8>, EnvironmentError> {
        self.project(tree);
        runner().generate_lock(&self.shadow, &None, self.remaining, &CancelToken::new())
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
        let runner = runner();
        let environment = runner
            .environment(
                tree,
                &check.root,
                &[],
                &self.shadow,
                self.remaining.max(Duration::from_secs(1)),
                &watch.cancel,
            )
            .unwrap();
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
        runner.run(&order, watch, guard)
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
            let before = self.run(base, &check).receipt;
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

/// The candidate is verified; says why not where it is not.
pub fn verified(base: &FileMap, candidate: &FileMap) -> Judgement {
    let (judgement, _) = Bench::new().prove(base, candidate);
    assert!(judgement.verified, "{:#?}", judgement.reasons);
    judgement
}

/// The candidate is not verified, and one of the reasons has these words.
pub fn refused(base: &FileMap, candidate: &FileMap, words: &str) -> Judgement {
    let (judgement, _) = Bench::new().prove(base, candidate);
    assert!(!judgement.verified, "verified, though {words} was expected");
    assert!(judgement.reasons.iter().any(|reason| reason.contains(words)), "{:#?}", judgement.reasons);
    judgement
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
