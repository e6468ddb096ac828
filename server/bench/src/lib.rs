//! The measurements, as commands that print tables.
//!
//! Each row sets ours against what it is compared with, in one run and with equal caches, because machines are shared and
//! noisy: the ratio is the figure, seconds are only its parts. Nothing here is a test; nothing fails by being slow.

use std::path::PathBuf;
use std::sync::Arc;

use agent::Compilers;
use task::port::Retrieval;

mod by_hand;
mod checking;
mod compiler;
mod corpus;
mod editor;
mod jail;
mod mirror;
mod real;
mod replay;
mod retrieval;
mod rooms;
mod score;
mod snapshot;
mod table;

/// Anything that kept a measurement from being made.
type Failure = Box<dyn std::error::Error>;

/// What is measured, as it is in the product, and on what.
pub struct Given {
    pub compilers: Arc<dyn Compilers>,
    pub retrieval: Arc<dyn Retrieval>,
    /// For `retrieval` and `replay`: a file of tasks, and the folder of bare repositories that they are about.
    pub tasks: Option<(PathBuf, PathBuf)>,
    /// For `replay`: the ids of the tasks; with none, some of each repository.
    pub only: Vec<String>,
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("tasks", &self.tasks).finish_non_exhaustive()
    }
}

/// Name, what is measured, and how.
type Measurement = (&'static str, &'static str, fn(&Given) -> Result<String, Failure>);

const ALL: [Measurement; 9] = [
    ("snapshot", "snapshot and shadow of 5,000 files against `git worktree add`", |_| text(snapshot::measure())),
    ("sandbox", "a sandboxed `true` against a plain one", |_| text(jail::measure())),
    ("compiler", "gate against `cargo check`, and rename to gated diff, on ripgrep's crates", |given| {
        text(compiler::measure(&given.compilers))
    }),
    ("checks", "the second task's checks against a warm build and test by hand", |given| {
        text(checking::measure(&given.compilers))
    }),
    ("editor", "the language server: start, memory, and answers while a task runs", |_| text(editor::measure())),
    ("soak", "ten thousand requests with cancels and restarts", |_| text(editor::soak::measure())),
    ("real", "tasks on published crates: verdict, and what happens to the folder", |given| {
        text(real::measure(&given.compilers))
    }),
    (
        "retrieval",
        "share of the files that real fixes changed among the first found, with --tasks and --repos",
        |given| text(retrieval::measure(given)),
    ),
    ("replay", "real fixes made once more by a model that knows them, with --tasks and --repos", |given| {
        text(replay::measure(given))
    }),
];

fn text(table: Result<impl std::fmt::Display, Failure>) -> Result<String, Failure> {
    Ok(table?.to_string())
}

/// Runs one measurement, or with `all` every one, and prints its table; without a name it lists them. Answers the exit
/// status.
///
/// # Errors
/// A sentence about what kept the measurement from being made.
pub fn run(name: Option<&str>, given: &Given) -> Result<i32, String> {
    let has_tasks = |it: &str| !matches!(it, "retrieval" | "replay") || given.tasks.is_some();
    let is_chosen = |it: &str| name == Some(it) || name == Some("all") && has_tasks(it);
    let chosen: Vec<&Measurement> = ALL.iter().filter(|(it, ..)| is_chosen(it)).collect();
    match (name, chosen.is_empty()) {
        (None, _) => {
            for (name, what, _) in ALL {
                println!("{name:10} {what}");
            }
        }
        (Some(name), true) => {
            let names: Vec<&str> = ALL.iter().map(|(name, ..)| *name).collect();
            return Err(format!("there is no measurement `{name}`; there are {} and all", names.join(", ")));
        }
        (Some(_), false) => {
            println!("{}", by_hand::machine());
            for (name, what, measure) in chosen {
                println!("\n{name}: {what}");
                let table = measure(given).map_err(|error| format!("{name} could not be measured: {error}"))?;
                print!("{table}");
            }
        }
    }
    Ok(0)
}
