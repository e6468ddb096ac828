//! Snapshot and shadow against `git worktree add`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use worktree::{FreezeOptions, Slot, Store, Workspace};

use crate::corpus::{self, Home};
use crate::table::{Table, median};
use crate::{Failure, by_hand};

const FILES: usize = 5000;
const ROUNDS: usize = 3;

pub fn measure() -> Result<Table, Failure> {
    let home = Home::new("snapshot")?;
    let top = home.join("work");
    fs::create_dir_all(&top)?;
    corpus::repository(&top, FILES)?;
    let (mut git, mut first, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let linked = home.join(&format!("linked-{round}"));
        let linked = linked.to_str().ok_or("the temporary folder has no UTF-8 name")?;
        git.push(by_hand::run(&top, "git", &["worktree", "add", "-q", "--detach", linked], &[])?);
        let state = home.join(&format!("state-{round}"));
        first.push(freeze_and_project(&top, &state)?);
        fs::write(top.join("crate0/src/part0/file0.rs"), format!("// round {round}\n"))?;
        warm.push(freeze_and_project(&top, &state)?);
    }
    let git = median(git);
    let mut table = Table::default();
    let name = "git worktree add";
    table.compare(format!("first snapshot and shadow, {FILES} files"), median(first), name, git, "at most 2x");
    table.compare("the next task in a warm slot", median(warm), name, git, "at most 0.3x");
    Ok(table)
}

/// Stations 3 and 4 of a task, as the walk does them.
fn freeze_and_project(top: &Path, state: &Path) -> Result<Duration, Failure> {
    let start = Instant::now();
    let workspace = Workspace::open(top, state)?;
    let store = Store::open(&workspace)?;
    let frozen = worktree::freeze(&workspace, &store, &[], &FreezeOptions::default())?;
    store.keep(&"bench".parse()?, &frozen.base)?;
    let mut slot = Slot::lease(&workspace)?;
    slot.project(&store, &frozen.base, Some(&frozen.provision))?;
    Ok(start.elapsed())
}
