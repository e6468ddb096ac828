//! Tasks whose process dies, stops, is ended or shares its state with others: no event is lost, no effect comes twice,
//! nothing stays behind, and nothing of the developer's is touched.

mod developer;
mod ended;
mod events;
mod publication;
mod state_folder;
mod takeover;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use support::{Finished, Project, Running, Understudy, command, wait_until};

/// Longer than a build of a scenario's project takes on a busy machine.
const LONG: Duration = Duration::from_secs(180);

/// What SIGKILL leaves as the way a process ended.
const KILLED: Option<i32> = Some(9);

pub fn understudy() -> Understudy {
    Understudy::new(env!("CARGO_BIN_EXE_understudy"))
}

/// A project of `tests/data` with a patch for it, beside it.
pub fn with_patch(name: &str, change: impl FnOnce(&Project)) -> (Project, String) {
    let project = Project::data(name).committed();
    let changed = Project::data(name).committed();
    change(&changed);
    changed.git(["add", "--all"]);
    let patch = project.beside("change.patch");
    let patch = patch.to_str().unwrap().to_owned();
    // Not by way of standard output, which is taken for text.
    changed.git(["diff", "--cached", "--binary", "--find-renames", &format!("--output={patch}")]);
    (project, patch)
}

/// The project whose test waits, with a change to prove.
fn waiting_project() -> (Project, String) {
    with_patch("waits", |project| project.replace("src/lib.rs", "6 * 7", "7 * 6"))
}

pub fn tasks(understudy: &Understudy, project: &Project) -> Vec<Value> {
    let list = understudy.run(&project.path(), ["tasks", "list", "--json"]).ended_with(0).json();
    list.as_array().unwrap().clone()
}

/// The id of the newest task.
pub fn newest(understudy: &Understudy, project: &Project) -> String {
    text(&tasks(understudy, project)[0]["id"])
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text")).to_owned()
}

/// Resumes a task and lets it come to its end.
fn resume(understudy: &Understudy, project: &Project, id: &str) -> Finished {
    understudy.run(&project.path(), ["tasks", "resume", id, "--json"])
}

/// A prove that is in the middle of a check: in the folders where its test waits.
struct Middle {
    running: Running,
    id: String,
    folder: PathBuf,
}

impl Middle {
    fn of_a_prove(understudy: &Understudy, project: &Project, patch: &str) -> Self {
        let known = waiting_in(&understudy.state());
        let running = understudy.start(&project.path(), ["prove", "--patch", patch, "--json"]);
        let folder = newly_waiting(understudy, &known);
        Self { running, id: newest(understudy, project), folder }
    }

    /// Lets the test that waits end, and every later one in the same build folder.
    fn go(&self) {
        go(&self.folder);
    }
}

pub fn go(folder: &Path) {
    fs::write(folder.join("go"), "").unwrap();
}

/// Waits for a test that waits in a folder that was not known.
fn newly_waiting(understudy: &Understudy, known: &[PathBuf]) -> PathBuf {
    let mut found = None;
    wait_until("a test waits", LONG, || {
        found = waiting_in(&understudy.state()).into_iter().find(|folder| !known.contains(folder));
        found.is_some()
    });
    found.unwrap()
}

/// The folders below the state folder in which a test waits.
pub fn waiting_in(state: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![state.to_owned()];
    while let Some(folder) = open.pop() {
        // Folders come and go while a task runs.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            } else if entry.file_name() == "waiting" {
                found.push(folder.clone());
            }
        }
    }
    found
}

pub fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Runs the command in a mount namespace of its own, after a shell script that mounts what it needs; `None` where this
/// user may not mount.
pub fn mounted(understudy: &Understudy, folder: &Path, script: &str, arguments: &[&str]) -> Option<Finished> {
    if !is_root() {
        eprintln!("not tested: only root may mount a file system of its own");
        return None;
    }
    let state = understudy.state();
    let mut unshare = command("unshare");
    unshare.args(["--mount", "--propagation=private", "sh", "-ec"]);
    unshare.arg(format!("{script}\nexec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_understudy")).args(arguments);
    unshare.current_dir(folder).env("STATE", &state).env("UNDERSTUDY_STATE_DIR", &state);
    unshare.env("XDG_CONFIG_HOME", state.join("../../config"));
    Some(Running::start(unshare).finish())
}
