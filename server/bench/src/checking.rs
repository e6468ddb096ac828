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
    &["test", "-q", "--offline", "--workspace", "--no-fail-fast"],
    &["build", "-q", "--offline", "--workspace", "--all-targets", "--keep-going", "--all-features"],
    &["test", "-q", "--offline", "--workspace", "--no-fail-fast", "--all-features"],
];

pub fn measure(compilers: &Arc<dyn Compilers>) -> Result<Table, Failure> {
    let home = Home::new("checks")?;
    let top = home.join("ripgrep");
    std::fs::create_dir_all(&top)?;
    corpus::ripgrep(&top)?;
    let house = rooms::house(&home.join("state"), compilers)?;
    prove(&house, &top, 1)?;
    let second = prove(&house, &top, 2)?;
    let ours: u64 =
        second.executions.iter().filter(|it| Some(&it.tree) == second.tree.as_ref()).map(|it| it.duration_ms).sum();

    let target = home.join("by-hand");
    let variables = [("CARGO_TARGET_DIR", target.as_path())];
    let by_hand = |number: u32| -> Result<Duration, Failure> {
        edit(&top, number)?;
        let mut sum = Duration::ZERO;
        for command in COMMANDS {
            sum += by_hand::time(&top, "cargo", command, &variables)?;
        }
        restore(&top)?;
        Ok(sum)
    };
    by_hand(1)?;
    let warm = by_hand(2)?;
    let mut table = Table::default();
    let what = format!("checks of the second task ({})", second.verdict);
    table.compare(what, Duration::from_millis(ours), "the same commands by hand, warm", warm, "at most 1.2x");
    Ok(table)
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
