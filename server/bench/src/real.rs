//! The main job on code that nobody here wrote: crates as their authors published them, fetched by cargo.
//!
//! Each task runs the whole walk; the folder is compared in bytes, modes and mtimes before approval, then the tree is
//! applied and the folder compared with base plus the diff.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Applied, Approval, Compilers, House, Walk};
use task::{Candidate, Engine, PublicationEnd};
use worktree::{FilePublisher, Store, Workspace};

use crate::corpus::{self, Home};
use crate::{Failure, rooms};

/// A published crate (or several, put together by path), what is broken in it first, and the task.
struct Case {
    crates: &'static [(&'static str, &'static str)],
    /// File, text, replacement.
    breakage: Option<(&'static str, &'static str, &'static str)>,
    task: &'static str,
}

const fn case(crates: &'static [(&'static str, &'static str)], task: &'static str) -> Case {
    Case { crates, breakage: None, task }
}

const SEMVER: &[(&str, &str)] = &[("semver", "1.0.28")];
const HUMANTIME: &[(&str, &str)] = &[("humantime", "2.1.0")];
const STRSIM: &[(&str, &str)] = &[("strsim", "0.10.0")];
const ITOA: &[(&str, &str)] = &[("itoa", "1.0.15")];
const EITHER: &[(&str, &str)] = &[("either", "1.13.0")];
const FNV: &[(&str, &str)] = &[("fnv", "1.0.7")];
/// Build script and procedural macros, two published crates in one workspace.
const THISERROR: &[(&str, &str)] = &[("thiserror", "2.0.12"), ("thiserror-impl", "2.0.12")];

const CASES: &[Case] = &[
    case(SEMVER, "rename `VersionReq::matches` to `accepts`"),
    case(SEMVER, "rename `Comparator` to `Bound`"),
    case(SEMVER, "rename `eval` to `evaluation`"),
    case(HUMANTIME, "fix warnings"),
    case(HUMANTIME, "fix clippy"),
    case(STRSIM, "fix clippy"),
    case(ITOA, "rename `Buffer::format` to `print`"),
    Case { crates: ITOA, breakage: Some(("src/lib.rs", "use core::mem::MaybeUninit;\n", "")), task: "fix errors" },
    case(EITHER, "rename `Either::flip` to `swap`"),
    case(FNV, "replace FnvHasher($x) ==>> FnvHasher { 0: $x }"),
    case(THISERROR, "rename `attr::Attrs` to `Attributes`"),
];

/// What came of one task.
struct Line {
    name: String,
    task: &'static str,
    verdict: String,
    hunks: usize,
    untouched: bool,
    exact: &'static str,
    time: Duration,
}

/// All of them, one line each.
pub struct Lines(Vec<Line>);

pub fn measure(compilers: &Arc<dyn Compilers>) -> Result<Lines, Failure> {
    let home = Home::new("real")?;
    let house = rooms::house(&home.join("state"), compilers)?;
    let mut lines = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let top = home.join(&format!("{number}"));
        fs::create_dir_all(&top)?;
        corpus::published(&top, case.crates)?;
        if let Some((path, from, to)) = case.breakage {
            let path = top.join(path);
            let text = fs::read_to_string(&path)?;
            if !text.contains(from) {
                return Err(format!("{} has not the text that is to be broken", path.display()).into());
            }
            fs::write(&path, text.replacen(from, to, 1))?;
        }
        let line = carry_out(&house, &top, case)?;
        eprintln!("{line}");
        lines.push(line);
    }
    Ok(Lines(lines))
}

fn carry_out(house: &House, top: &Path, case: &Case) -> Result<Line, Failure> {
    let before = Picture::of(top)?;
    let start = Instant::now();
    let request = rooms::request(top, case.task, Engine::Compiler, None::<Candidate>)?;
    let mut walk = Walk::begin(house, request)?.map_err(|id| format!("task {id} was there before"))?;
    walk.run()?;
    let time = start.elapsed();
    let report = walk.report(None)?;
    let id = walk.id().clone();
    drop(walk);
    let untouched = Picture::of(top)? == before;
    let mut exact = "-";
    if let (Some(tree), "verified") = (&report.tree, report.verdict.as_str()) {
        let workspace = Workspace::open(top, &house.state)?;
        let store = Arc::new(Store::open(&workspace)?);
        let publisher = FilePublisher::new(workspace, Arc::clone(&store));
        let mut walk = Walk::take(house, &id)?;
        let approval = Approval { tree: tree.clone(), unverified: false, consent: vec!["**".into()] };
        let applied = walk.apply(&approval, &publisher)?;
        walk.give_back()?;
        let written = applied == Applied::Ended(PublicationEnd::Applied)
            && before.plus(&store, tree, report.base.as_ref(), top)?;
        exact = if written { "yes" } else { "NO" };
    }
    let name = case.crates.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(" + ");
    let verdict = match report.reasons.first() {
        Some(reason) if report.verdict != "verified" => format!("{}: {reason}", report.verdict),
        _ => report.verdict,
    };
    Ok(Line { name, task: case.task, verdict, hunks: report.hunks.len(), untouched, exact, time })
}

/// Every file of a folder with bytes, mode and mtime; git's own folder included.
#[derive(PartialEq, Eq)]
struct Picture(BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)>);

impl Picture {
    fn of(top: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        let mut open = vec![top.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let meta = fs::symlink_metadata(&path)?;
                let bytes = if meta.is_file() { fs::read(&path)? } else { Vec::new() };
                if meta.is_dir() {
                    open.push(path.clone());
                }
                files.insert(path, (bytes, meta.mode(), meta.mtime(), meta.mtime_nsec()));
            }
        }
        Ok(Self(files))
    }

    /// Whether the folder now is this picture with the files of the tree where it differs from the base.
    fn plus(
        &self,
        store: &Store,
        tree: &task::TreeId,
        base: Option<&task::TreeId>,
        top: &Path,
    ) -> Result<bool, Failure> {
        let Some(base) = base else { return Ok(false) };
        let mut expected: BTreeMap<PathBuf, Vec<u8>> = self
            .0
            .iter()
            .filter(|(_, it)| it.1 & 0o170_000 == 0o100_000)
            .map(|(path, it)| (path.clone(), it.0.clone()))
            .collect();
        for file in worktree::published_files(store, base, tree)? {
            let path = top.join(file.path.to_str().ok_or("a name is not UTF-8")?);
            match store.read(tree, &file.path)? {
                Some(bytes) => expected.insert(path, bytes.to_vec()),
                None => expected.remove(&path),
            };
        }
        let now: BTreeMap<PathBuf, Vec<u8>> = Self::of(top)?
            .0
            .into_iter()
            .filter(|(_, it)| it.1 & 0o170_000 == 0o100_000)
            .map(|(path, it)| (path, it.0))
            .collect();
        Ok(now == expected)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, task, verdict, hunks, untouched, exact, time } = self;
        let untouched = if *untouched { "yes" } else { "NO" };
        write!(f, "| {name} | {task} | {verdict} | {hunks} | {untouched} | {exact} | {:.0} s |", time.as_secs_f64())
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| crate | task | verdict | hunks | untouched before approval | base + diff after | time |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
