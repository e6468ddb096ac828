//! Real fixes, made once more by a model that knows them: what the harness costs around a model that makes no mistake.
//!
//! The walk is the product's own, from the request to the judged diff: real HTTP, ledger, gate, sandbox and checks. Only
//! the model is ours; it reads what it changes, edits hunk by hunk and says that it is done.

mod bill;
mod checkout;
mod clock;
mod fix;
mod narrow;
mod oracle;
mod script;
mod table;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Report, Walk};
use model::{Panel, ProviderSettings, Settings, Wire};
use task::port::Used;
use task::{Engine, Limits, Source};

use crate::corpus::Home;
use crate::mirror::{Mirror, Task};
use crate::{Failure, Given, rooms};
use bill::{Bill, Counter};
use clock::Clock;
use fix::Changed;
use oracle::Oracle;
use script::Script;
use table::Row;
pub use table::Rows;

/// Whose list prices the table is about.
const VENDOR: &str = "anthropic";
pub const MODEL: &str = "claude-sonnet-4-5";
/// Fixes of more files are left out, and so many tasks of a repository are taken where none are named.
const FILES: usize = 8;
const TASKS: usize = 3;
/// A limit that no task comes near: the ledger is to work, not to stop it.
const DOLLARS: u64 = 5_000_000;
const HOUR: u64 = 60 * 60 * 1000;

/// A task with the fix that is replayed.
struct Chosen {
    task: Task,
    fix: Vec<Changed>,
}

pub fn measure(given: &Given) -> Result<Rows, Failure> {
    let (file, repositories) = given.tasks.as_ref().ok_or("say which tasks: --tasks FILE --repos DIR")?;
    let home = Home::new("replay")?;
    let mut rows = Rows::default();
    for (name, tasks) in Task::read(file)? {
        let tasks =
            tasks.into_iter().filter(|task| given.only.is_empty() || given.only.iter().any(|it| it == task.word("id")));
        let tasks: Vec<Task> = tasks.filter(|task| task.word("lang") == "rust").collect();
        if tasks.is_empty() {
            continue;
        }
        let Some(mirror) = Mirror::find(repositories, &name)? else {
            rows.skipped.push(format!("{name}: the repository is not there"));
            continue;
        };
        for chosen in choose(&mirror, tasks, &mut rows.skipped, given.only.is_empty()) {
            let id = chosen.task.word("id").to_owned();
            match replay(given, &mirror, chosen, &home, &name.replace('/', "-")) {
                Ok(row) => {
                    eprintln!("{row}");
                    rows.rows.push(row);
                }
                Err(error) => {
                    eprintln!("{id}: {error}");
                    rows.skipped.push(format!("{id}: {error}"));
                }
            }
        }
    }
    Ok(rows)
}

/// Tasks whose fix can be made with the tools of the model; of each repository the smallest ones.
fn choose(mirror: &Mirror, tasks: Vec<Task>, skipped: &mut Vec<String>, smallest: bool) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for task in tasks {
        let read = || -> Result<Result<Vec<Changed>, String>, Failure> {
            let (from, to) = (mirror.tree(task.word("base_commit"))?, mirror.tree(task.word("fix_commit"))?);
            fix::read(&mirror.store, &from, &to)
        };
        match read() {
            Ok(Ok(fix)) if fix.len() <= FILES => chosen.push(Chosen { task, fix }),
            Ok(Ok(fix)) => skipped.push(format!("{}: the fix changes {} files", task.word("id"), fix.len())),
            Ok(Err(why)) => skipped.push(format!("{}: {why}", task.word("id"))),
            Err(error) => skipped.push(format!("{}: {error}", task.word("id"))),
        }
    }
    if smallest {
        let hunks = |it: &Chosen| it.fix.iter().map(|file| file.hunks.len().max(1)).sum::<usize>();
        chosen.sort_by_key(|it| (it.fix.len(), hunks(it), it.task.word("id").to_owned()));
        chosen.truncate(TASKS);
    }
    chosen
}

fn replay(given: &Given, mirror: &Mirror, chosen: Chosen, home: &Home, name: &str) -> Result<Row, Failure> {
    let Chosen { task, fix } = chosen;
    let touched: BTreeSet<String> = fix.iter().map(|file| file.path.clone()).collect();
    let top = home.join(name);
    let narrowed = checkout::lay(mirror, task.word("base_commit"), &touched, &top)?;

    let title = task.text().lines().find(|line| !line.trim().is_empty()).unwrap_or("the fix").trim();
    let mut counter = Counter::new()?;
    let whole = whole(&mut counter, task.text(), &fix);
    let oracle = Oracle::start(Script::new(title, fix.clone()), Bill::new(counter))?;
    let clock = Clock::default();
    let mut house = rooms::house(&home.join("state"), &given.compilers)?;
    house.model = Ok(Arc::new(Panel::new(&settings(&oracle))?));
    house.retrieval = Arc::clone(&given.retrieval);
    house.audience = clock.audience();
    let mut request = rooms::request(&top, task.text(), Engine::Model, None)?;
    request.source = Source::Issue;
    request.limits = Limits {
        max_attempts: 1,
        budget_microdollars: Some(DOLLARS),
        timeout_ms: HOUR,
        check_timeout_ms: HOUR / 2,
        ..Limits::default()
    };

    let start = Instant::now();
    let mut walk = Walk::begin(&house, request)?.map_err(|id| format!("task {id} was there before"))?;
    walk.run()?;
    let total = start.elapsed();
    let report = walk.report(None)?;
    let exact = is_the_fix(&walk, &report, &house.state, &top, &fix)?;
    let play = oracle.play();
    Ok(Row {
        id: task.word("id").to_owned(),
        files: fix.len(),
        hunks: fix.iter().map(|file| file.hunks.len().max(1)).sum(),
        narrowed,
        exact,
        verdict: match report.reasons.first() {
            Some(reason) if report.verdict != "verified" => format!("{}: {reason}", report.verdict),
            _ => report.verdict.clone(),
        },
        total: total.saturating_sub(play.busy),
        spent: clock.spent(report.tree.as_ref()),
        stations: report.timings.iter().map(|it| (it.station.clone(), Duration::from_millis(it.ms))).collect(),
        calls: play.bill.requests.len(),
        used: play.bill.sum(),
        share: play.bill.share(),
        microdollars: report.usage.microdollars.unwrap_or(0),
        whole,
        whole_microdollars: price(&whole)?,
        refused: play.script.refused.clone(),
    })
}

fn settings(oracle: &Oracle) -> Settings {
    let provider = ProviderSettings {
        wire: Some(Wire::Anthropic),
        base_url: Some(oracle.base_url()),
        prices: Some(VENDOR.to_owned()),
        ..ProviderSettings::default()
    };
    Settings {
        common: Some(format!("oracle/{MODEL}")),
        providers: [("oracle".to_owned(), provider)].into(),
        ..Settings::default()
    }
}

/// What one request with the task and the files whole would count, answered by the files whole.
fn whole(counter: &mut Counter, text: &str, fix: &[Changed]) -> Used {
    let input = counter.tokens(text) + fix.iter().map(|file| counter.tokens(&file.before)).sum::<u64>();
    let output = fix.iter().filter_map(|file| file.after.as_deref()).map(|after| counter.tokens(after)).sum();
    Used { input, output, ..Used::default() }
}

fn price(used: &Used) -> Result<u64, Failure> {
    let price = model::list_price(VENDOR, MODEL).ok_or_else(|| format!("no price is listed for {MODEL}"))?;
    Ok(price.of(used))
}

/// Whether the tree that was reached differs from its base in the files of the fix alone, and is the fix there.
fn is_the_fix(walk: &Walk<'_>, report: &Report, state: &Path, top: &Path, fix: &[Changed]) -> Result<bool, Failure> {
    let reached = report.tree.clone().or_else(|| walk.state().attempts.last().map(|attempt| attempt.tree.clone()));
    let (Some(base), Some(tree)) = (&report.base, reached) else { return Ok(false) };
    let workspace = worktree::Workspace::open(top, state)?;
    let store = worktree::Store::open(&workspace)?;
    let changed: BTreeSet<String> =
        worktree::published_files(&store, base, &tree)?.into_iter().map(|file| file.path.to_string()).collect();
    if changed != fix.iter().map(|file| file.path.clone()).collect() {
        return Ok(false);
    }
    for file in fix {
        let bytes = store.read(&tree, &file.path.parse()?)?;
        if bytes.as_deref() != file.after.as_deref().map(str::as_bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}
