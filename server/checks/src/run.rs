//! Runs one check on one tree and writes its receipt.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use sandbox::{CancelToken, Captured};
use task::{CheckKind, Digest, Item, ItemResult, Receipt, TreePath, UnixMillis, Verdict};

use crate::cargo_build::{Built, build, lint_items};
use crate::cargo_test::test;
use crate::commands::{Commands, Ending};
use crate::diagnostic::Diagnostic;
use crate::doctest;
use crate::environment::Machine;
use crate::folder::{file_in, suffix};
use crate::order::{Order, Ran};
use crate::outside::Outside;
use crate::reading::read_files;
use crate::tool::Tool;
use crate::tools::{Equipment, Jail, Tools};
use crate::watch::{Guard, Moment, Watch};
use crate::{outside, reported};

/// Runs checks with one set of tools. Shared freely between threads.
pub struct Runner {
    pub(crate) jail: Arc<dyn Jail>,
    pub(crate) equipment: Equipment,
    /// What the toolchain says of itself and of the machine, asked once.
    pub(crate) machine: OnceLock<Machine>,
    /// What other interpreters say of themselves, by their programs, asked once.
    pub(crate) versions: Mutex<BTreeMap<PathBuf, String>>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("equipment", &self.equipment).finish_non_exhaustive()
    }
}

/// What a check that ran left, before it is a receipt.
#[derive(Default)]
struct Findings {
    items: Vec<Item>,
    diagnostics: Vec<Diagnostic>,
    read: Vec<TreePath>,
    exit_code: Option<i32>,
    output: Vec<(String, Captured)>,
    flaky: Vec<String>,
    /// Why it was not finished, if it was not.
    ending: Option<Ending>,
}

impl Runner {
    /// A runner of commands in `jail` with what there is.
    pub fn new(jail: Arc<dyn Jail>, equipment: Equipment) -> Self {
        Self { jail, equipment, machine: OnceLock::new(), versions: Mutex::default() }
    }

    /// Cargo's tools, or the word and the sentence for why there are none.
    pub(crate) fn rust(&self) -> Result<&Tools, Ending> {
        self.equipment.rust.as_ref().map_err(|reason| Ending::new(Verdict::Unavailable, reason.clone()))
    }

    /// Where a check of npm or python runs.
    pub(crate) fn outside<'a>(&'a self, order: &'a Order<'a>, cancel: &'a CancelToken) -> Outside<'a> {
        Outside {
            jail: &*self.jail,
            cancel,
            deadline: Instant::now() + order.remaining,
            order,
            interpreters: &self.equipment.interpreters,
            workspace: &self.equipment.workspace,
        }
    }

    /// Runs a check to its end, whatever that is. Blocks for as long as the check takes.
    pub fn run(&self, order: &Order<'_>, watch: &Watch, guard: &mut dyn Guard) -> Ran {
        let started = UnixMillis(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| millis(age.as_millis())));
        let clock = Instant::now();
        if let Err(reason) = guard.verify(Moment::Before) {
            return without_receipt(Ending::new(Verdict::Infrastructure, reason));
        }
        let findings = match self.find_out(order, watch) {
            Ok(findings) => findings,
            Err(ending) => Findings { ending: Some(ending), ..Findings::default() },
        };
        // Where the shadow changed, nothing was learned: what ran was not this tree.
        if let Err(reason) = guard.verify(Moment::After) {
            return without_receipt(Ending::new(Verdict::Infrastructure, reason));
        }
        let (verdict, reason) = verdict(&findings);
        let output: Vec<(Digest, Vec<u8>)> =
            findings.output.iter().map(|(name, captured)| artifact(name, captured)).collect();
        let receipt = Receipt {
            tree: order.tree.clone(),
            check: order.check.clone(),
            environment: order.environment.clone(),
            sandbox: self.equipment.level,
            verdict,
            reason: reason.clone(),
            items: findings.items,
            read: findings.read,
            exit_code: findings.exit_code,
            output: output.iter().map(|(digest, _)| digest.clone()).collect(),
            started,
            rewritten: Vec::new(),
            duration_ms: millis(clock.elapsed().as_millis()),
            configuration: None,
        };
        let kept = !matches!(verdict, Verdict::Infrastructure | Verdict::NotRun);
        Ran { receipt: kept.then_some(receipt), verdict, reason, diagnostics: findings.diagnostics, output }
    }

    fn find_out(&self, order: &Order<'_>, watch: &Watch) -> Result<Findings, Ending> {
        match Tool::of(order.check) {
            Some(Tool::Cargo) => self.find_out_by_cargo(order, watch),
            Some(tool) => {
                let found = reported::check(&self.outside(order, &watch.cancel), tool, watch)?;
                let outside::Found { items, read, exit_code, output, flaky } = found;
                Ok(Findings { items, read, exit_code, output, flaky, ..Findings::default() })
            }
            None => Err(Ending::new(Verdict::Unavailable, "its results cannot be read")),
        }
    }

    fn find_out_by_cargo(&self, order: &Order<'_>, watch: &Watch) -> Result<Findings, Ending> {
        let root = &order.check.root;
        if file_in(root, "Cargo.toml").is_none_or(|manifest| order.files.read(&manifest).is_none()) {
            // A change may add or remove a whole workspace; the other side then has nothing that could run.
            return Err(Ending::new(Verdict::Failed, format!("there is no Cargo.toml{} in this tree", suffix(root))));
        }
        let commands = Commands::new(&*self.jail, self.rust()?, order.shadow, order.remaining, &watch.cancel);
        let machine = self.machine(&commands)?;
        let commands = commands.building(order);
        match order.check.kind {
            CheckKind::Build | CheckKind::Lint => {
                let built = build(&commands, order, watch)?;
                let read = read_files(&commands, order, &built)?;
                let lint = order.check.kind == CheckKind::Lint;
                let items = if lint { lint_items(&built.diagnostics, order.shadow) } else { built.items.clone() };
                Ok(Findings { items, read, ..Findings::of(built) })
            }
            CheckKind::Test => {
                let tested = test(&commands, order, watch, &machine.host)?;
                let mut read = tested.read;
                let all = order.files.list();
                read.extend(doctest::files(&tested.items).filter(|path| all.contains(path)));
                read.sort();
                read.dedup();
                let mut findings = Findings::of(tested.built);
                findings.output.extend(tested.output);
                let flaky = tested.flaky.iter().map(ToString::to_string).collect();
                Ok(Findings { items: tested.items, read, flaky, ending: tested.ending, ..findings })
            }
        }
    }
}

impl Findings {
    fn of(built: Built) -> Findings {
        Findings {
            diagnostics: built.diagnostics,
            exit_code: built.exit,
            output: vec![("cargo".to_owned(), built.stdout), ("cargo (errors)".to_owned(), built.stderr)],
            ..Findings::default()
        }
    }
}

/// The check's own verdict, without a base.
fn verdict(findings: &Findings) -> (Verdict, Option<String>) {
    if let Some(ending) = &findings.ending {
        return (ending.verdict, Some(ending.reason.clone()));
    }
    let bad: Vec<String> = findings
        .items
        .iter()
        .filter(|item| matches!(item.result, ItemResult::Failed | ItemResult::NoResult))
        .map(|item| item.id.to_string())
        .collect();
    if bad.is_empty() {
        return (Verdict::Passed, None);
    }
    // A process whose test failed only once failed only once too.
    let process = |name: &String| name.ends_with(crate::order::PROCESS);
    let flaky = |name: &String| findings.flaky.contains(name) || process(name);
    if !findings.flaky.is_empty() && bad.iter().all(flaky) {
        return (Verdict::Flaky, Some(format!("different results on the same tree: {}", findings.flaky.join(", "))));
    }
    (Verdict::Failed, None)
}

fn without_receipt(ending: Ending) -> Ran {
    Ran {
        receipt: None,
        verdict: ending.verdict,
        reason: Some(ending.reason),
        diagnostics: Vec::new(),
        output: Vec::new(),
    }
}

/// Complete output under a heading, and its digest.
fn artifact(name: &str, captured: &Captured) -> (Digest, Vec<u8>) {
    let mut bytes = format!("# {name}\n").into_bytes();
    bytes.extend_from_slice(&captured.head);
    if captured.truncated() {
        bytes.extend(format!("\n[{} bytes left out]\n", captured.dropped()).into_bytes());
    }
    bytes.extend_from_slice(&captured.tail);
    (Digest::of([&bytes]), bytes)
}

fn millis(millis: u128) -> u64 {
    u64::try_from(millis).unwrap_or(u64::MAX)
}
