//! The commands, one file each.

mod apply;
mod dialogue;
mod doctor;
mod explain;
mod input;
mod lsp;
mod prove;
mod request;
mod run;
mod sample;
mod sandbox;
mod tasks;

use task::ExitCode;

use crate::args::{Cli, Command};
use crate::compilers::compilers;
use crate::failure::Failure;

/// Does what the command line asks; the number is the exit status.
pub fn dispatch(cli: Cli) -> Result<i32, Failure> {
    let done = |code: ExitCode| code as i32;
    match cli.command {
        Command::Lsp => Ok(lsp::lsp()),
        Command::Run(args) => run::run(&args).map(done),
        Command::Prove(args) => prove::prove(&args).map(done),
        Command::Explain(args) => explain::explain(&args).map(done),
        Command::Try { keep } => sample::try_it(keep).map(done),
        Command::Doctor { repo, json } => doctor::doctor(&repo.repo, json).map(done),
        Command::Tasks(verb) => tasks::tasks(verb).map(done),
        Command::Sandbox { repo, timeout, command } => sandbox::sandbox(&repo.repo, timeout, command),
        Command::Bench { name, tasks, repos, only } => {
            let retrieval = std::sync::Arc::new(semantics::TextRetrieval);
            let given = bench::Given { compilers: compilers(), retrieval, tasks: tasks.zip(repos), only };
            bench::run(name.as_deref(), &given).map_err(Failure::usage)
        }
        Command::Schema => {
            let schema = schemars::schema_for!(agent::Report);
            anstream::println!("{}", serde_json::to_string_pretty(&schema).unwrap_or_default());
            Ok(0)
        }
    }
}
