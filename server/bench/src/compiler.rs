//! The compiler's stations on a real project: rename from request to gated diff, and the gate against `cargo check`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Compilers, Place};
use sandbox::{CancelToken, CargoHome, RustHome, Sandbox, rust_toolchain};
use task::port::{Answer, Change, Compiler, GateReport, Generation, Refactored, Refactoring};
use task::{Edit, EditSet, FileEdit, TreeId, TreePath};
use worktree::{FreezeOptions, Slot, Store, Workspace};

use crate::corpus::{self, Home};
use crate::table::{Table, median};
use crate::{Failure, by_hand};

const ROUNDS: usize = 3;
/// A method of a widely used type of ripgrep's core.
const SYMBOL: &str = "HiArgs::matcher";
/// One file that much depends on, and a body in it that is edited.
const FILE: &str = "grep-searcher/src/line_buffer.rs";
const BODY: &str = "self.pos < self.end";

pub fn measure(compilers: &Arc<dyn Compilers>) -> Result<Table, Failure> {
    let home = Home::new("compiler")?;
    let top = home.join("ripgrep");
    std::fs::create_dir_all(&top)?;
    corpus::ripgrep(&top)?;
    let sandbox = Sandbox::open()?;
    let mut table = Table::default();

    // Cold: no slot, no build folder, no compiler.
    let start = Instant::now();
    let mut project = Project::open(&top, &home.join("state"), &sandbox, compilers)?;
    project.rename("matcher_of_arguments")?;
    table.time("rename to gated diff, cold (snapshot, build scripts, load)", start.elapsed(), "under 10 s");

    let mut warm = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        project.rename(&format!("matcher_{round}"))?;
        warm.push(start.elapsed());
    }
    table.time("rename to gated diff, warm", median(warm), "under 3 s");

    let path = top.join(FILE);
    let text = std::fs::read_to_string(&path)?;
    let mut next = Vec::new();
    for round in 0..ROUNDS {
        std::fs::write(&path, text.replace(BODY, &format!("{round} + self.pos < {round} + self.end")))?;
        let start = Instant::now();
        project.rebase()?;
        project.rename(&format!("next_{round}"))?;
        next.push(start.elapsed());
    }
    std::fs::write(&path, text)?;
    project.rebase()?;
    table.time("rename to gated diff, next task of a server (snapshot, other base)", median(next), "under 3 s");

    let target = home.join("by-hand");
    let variables = [("CARGO_TARGET_DIR", target.as_path())];
    let check = ["check", "-q", "--offline", "--workspace", "--lib", "--bins", "--tests"];
    by_hand::run(&top, "cargo", &check, &variables)?;
    let (mut gates, mut checks) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        gates.push(project.gate_an_edit(round)?);
        let path = top.join(FILE);
        let text = std::fs::read_to_string(&path)?;
        std::fs::write(&path, text.replace(BODY, &format!("{round} + self.pos < {round} + self.end")))?;
        checks.push(by_hand::run(&top, "cargo", &check, &variables)?);
        std::fs::write(&path, text)?;
        by_hand::run(&top, "cargo", &check, &variables)?;
    }
    let name = "cargo check after the same edit";
    table.compare("gate on one edited file", median(gates), name, median(checks), "at most 0.067x (15 times faster)");
    Ok(table)
}

type Texts = Vec<(TreePath, Option<Arc<[u8]>>)>;

fn text_of(store: &Store, tree: &TreeId) -> Result<Texts, Failure> {
    store.entries(tree)?.iter().map(|(path, entry)| Ok((path.clone(), Some(store.blob(entry.blob)?)))).collect()
}

struct Project {
    workspace: Workspace,
    store: Store,
    base: TreeId,
    compiler: Arc<dyn Compiler>,
    generation: u64,
    slot: Slot,
}

impl Project {
    fn open(top: &Path, state: &Path, sandbox: &Sandbox, compilers: &Arc<dyn Compilers>) -> Result<Self, Failure> {
        let workspace = Workspace::open(top, state)?;
        let store = Store::open(&workspace)?;
        let frozen = worktree::freeze(&workspace, &store, &[], &FreezeOptions::default())?;
        let mut slot = Slot::lease(&workspace)?;
        slot.project(&store, &frozen.base, Some(&frozen.provision))?;
        let toolchain = rust_toolchain(&RustHome::from_env(), top, None)?;
        let cargo_home = slot.sources();
        let cargo = CargoHome::from_env().provision(&cargo_home)?;
        let sandbox = sandbox.clone();
        let (cancel, remaining) = (CancelToken::new(), Duration::from_secs(600));
        let (shadow, work) = (slot.shadow(), slot.work());
        let place = Place { sandbox, toolchain, cargo_home, cargo, shadow, work, cancel, remaining };
        let compiler = compilers.open(&place);
        compiler.push(Change { generation: Generation(1), files: text_of(&store, &frozen.base)? });
        Ok(Self { workspace, store, base: frozen.base, compiler, generation: 1, slot })
    }

    /// What the next task of a server does before its first question.
    fn rebase(&mut self) -> Result<(), Failure> {
        let frozen = worktree::freeze(&self.workspace, &self.store, &[], &FreezeOptions::default())?;
        self.slot.project(&self.store, &frozen.base, Some(&frozen.provision))?;
        self.generation += 1;
        let (generation, files) = (Generation(self.generation), text_of(&self.store, &frozen.base)?);
        if !self.compiler.rebase(Change { generation, files }) {
            return Err("the compiler did not take another base".into());
        }
        self.base = frozen.base;
        Ok(())
    }

    /// Proposes, applies, gates, and goes back to the base.
    fn rename(&mut self, new_name: &str) -> Result<(), Failure> {
        let refactoring = Refactoring::Rename { symbol: SYMBOL.to_owned(), new_name: new_name.to_owned(), at: None };
        let edits = match self.compiler.refactor(Generation(self.generation), &refactoring) {
            Answer::Known { value: Refactored::Edits { edits, .. }, .. } => edits,
            other => return Err(format!("no edits: {other:?}").into()),
        };
        self.gate(&edits).map(drop)
    }

    fn gate_an_edit(&mut self, round: usize) -> Result<Duration, Failure> {
        let path: TreePath = FILE.parse()?;
        let text = self.store.read(&self.base, &path)?.ok_or("the measured file is not there")?;
        let text = String::from_utf8(text.to_vec())?;
        let start = text.find(BODY).ok_or("the measured line is not there")?;
        let edit = Edit::new(start..start + BODY.len(), format!("{round} + self.pos < {round} + self.end"));
        self.gate(&EditSet { files: vec![FileEdit::Replace { path, edits: vec![edit] }] })
    }

    fn gate(&mut self, edits: &EditSet) -> Result<Duration, Failure> {
        let new = edits.apply(|path| self.store.read(&self.base, path).ok().flatten())?;
        let paths: Vec<TreePath> = new.keys().cloned().collect();
        let mut old: Texts = Vec::new();
        for path in &paths {
            old.push((path.clone(), self.store.read(&self.base, path)?));
        }
        let start = Instant::now();
        self.push(new.into_iter().collect());
        let report = self.compiler.gate(Generation(self.generation), &paths);
        let time = start.elapsed();
        self.push(old);
        match report {
            GateReport::Clean { .. } => Ok(time),
            other => Err(format!("the gate is not clean: {other:?}").into()),
        }
    }

    fn push(&mut self, files: Texts) {
        self.generation += 1;
        self.compiler.push(Change { generation: Generation(self.generation), files });
    }
}
