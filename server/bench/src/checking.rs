//! The second task's checks against the same commands by hand in a warm build folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::{Compilers, House, Report, Walk};
use task::{Candidate, Engine};

use crate::corpus::{self, Home};
use crate::table::Table;
use crate::{Failure, by_hand, rooms};

/// One edit of a body deep in the dependency graph of the project.
const FILE: &str = "globset/src/glob.rs";
const LINE: &str = "        self.opts.case_insensitive = yes;";
/// The commands of the required checks, as a person types them.
const COMMANDS: [&[&str]; 4] = [
    &["build", "-q", "--offline", "--workspace", "--all-targets", "--keep-going"],
    &["build", "-q", "--offline", "--workspace", "--all-targets", "--keep-going", "--all-features"],
    &["test", "-q", "--offline", "--workspace", "--no-fail-fast"],
    &["test", "-q", "--offline", "--workspace", "--no-fail-fast", "--all-features"],
];

pub fn measure(compilers: &Arc<dyn Compilers>) -> Result<Table, Failure> {
    let home = Home::new("checks")?;
    let top = home.join("ripgrep");
    std::fs::create_dir_all(&top)?;
    corpus::ripgrep(&top)?;
    let house = rooms::house(&home.join("state"), compilers)?;
    let first = checks_of(&prove(&house, &top, 1)?);
    let second = prove(&house, &top, 2)?;
    let ours = checks_of(&second);

    let by_hand = |folder: &str, incremental: &str| -> Result<(Duration, Duration), Failure> {
        let target = home.join(folder);
        let variables = [("CARGO_TARGET_DIR", target.as_path()), ("CARGO_INCREMENTAL", Path::new(incremental))];
        let run = |number: u32| -> Result<Duration, Failure> {
            edit(&top, number)?;
            let mut sum = Duration::ZERO;
            for command in COMMANDS {
                sum += by_hand::time(&top, "cargo", command, &variables)?;
            }
            restore(&top)?;
            Ok(sum)
        };
        Ok((run(1)?, run(2)?))
    };
    let (cold, warm) = by_hand("by-hand", "1")?;
    let (_, whole) = by_hand("by-hand-whole", "0")?;
    let mut table = Table::default();
    let what = format!("checks of the second task ({})", second.verdict);
    let commands = "`cargo build --workspace --all-targets` and `cargo test --workspace`, each with default and with all \
                    features, one after the other, warm";
    table.compare(&what, ours, commands, warm, "at most 1.2x");
    table.compare(&what, ours, "the same with CARGO_INCREMENTAL=0, as ours build", whole, "");
    table.compare("checks of the first task, base and change", first, "the same by hand, cold, change only", cold, "");
    Ok(table)
}

/// The time in which a task's checks ran, those of the base included where they were not known.
fn checks_of(report: &Report) -> Duration {
    let of = |timing: &&agent::Timing| matches!(timing.station.as_str(), "baseline" | "check");
    Duration::from_millis(report.timings.iter().filter(of).map(|timing| timing.ms).sum())
}

/// Proves the working tree with an edit in it, and takes the edit back.
fn prove(house: &House, top: &Path, number: u32) -> Result<Report, Failure> {
    edit(top, number)?;
    let request = rooms::request(top, &format!("prove edit {number}"), Engine::Patch, Some(Candidate::Worktree))?;
    let mut walk = Walk::begin(house, request)?.map_err(|id| format!("task {id} was there before"))?;
    walk.run()?;
    let report = walk.report(None)?;
    restore(top)?;
    Ok(report)
}

fn edit(top: &Path, number: u32) -> Result<(), Failure> {
    let path = top.join(FILE);
    let text = std::fs::read_to_string(&path)?;
    if !text.contains(LINE) {
        return Err(format!("{FILE} has not the line that is edited").into());
    }
    std::fs::write(path, text.replacen(LINE, &format!("        let _ = {number};\n{LINE}"), 1))?;
    Ok(())
}

fn restore(top: &Path) -> Result<(), Failure> {
    by_hand::run(top, "git", &["checkout", "-q", "--", FILE], &[]).map(drop)
}
