//! The measurements, as commands that print tables.
//!
//! Each row sets ours against what it is compared with, in one run and with equal caches, because machines are shared and
//! noisy: the ratio is the figure, seconds are only its parts. Nothing here is a test; nothing fails by being slow.

use std::sync::Arc;

use agent::Compilers;

mod by_hand;
mod checking;
mod compiler;
mod corpus;
mod editor;
mod jail;
mod real;
mod rooms;
mod snapshot;
mod table;

/// Anything that kept a measurement from being made.
type Failure = Box<dyn std::error::Error>;

/// Name, what is measured, and how.
type Measurement = (&'static str, &'static str, fn(&Arc<dyn Compilers>) -> Result<String, Failure>);

const ALL: [Measurement; 7] = [
    ("snapshot", "snapshot and shadow of 5,000 files against `git worktree add`", |_| text(snapshot::measure())),
    ("sandbox", "a sandboxed `true` against a plain one", |_| text(jail::measure())),
    ("compiler", "gate against `cargo check`, and rename to gated diff, on ripgrep's crates", |compilers| {
        text(compiler::measure(compilers))
    }),
    ("checks", "the second task's checks against a warm build and test by hand", |compilers| {
        text(checking::measure(compilers))
    }),
    ("editor", "the language server: start, memory, and answers while a task runs", |_| text(editor::measure())),
    ("soak", "ten thousand requests with cancels and restarts", |_| text(editor::soak::measure())),
    ("real", "tasks on published crates: verdict, and what happens to the folder", |compilers| {
        text(real::measure(compilers))
    }),
];

fn text(table: Result<impl std::fmt::Display, Failure>) -> Result<String, Failure> {
    Ok(table?.to_string())
}

/// `compilers` is where compilers come from in the product.
///
/// Runs one measurement, or with `all` every one, and prints its table; without a name it lists them. Answers the exit
/// status.
///
/// # Errors
/// A sentence about what kept the measurement from being made.
pub fn run(name: Option<&str>, compilers: &Arc<dyn Compilers>) -> Result<i32, String> {
    let chosen: Vec<&Measurement> = ALL.iter().filter(|(it, ..)| name == Some(it) || name == Some("all")).collect();
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
                let table = measure(compilers).map_err(|error| format!("{name} could not be measured: {error}"))?;
                print!("{table}");
            }
        }
    }
    Ok(0)
}
