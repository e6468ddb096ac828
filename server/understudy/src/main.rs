//! The `understudy` command: wires the rooms together and has no logic of its own.

mod args;
mod command;
mod compilers;
mod failure;
mod render;
mod settings;
mod wiring;

use clap::Parser as _;

fn main() {
    // Inside the jail the same binary is process 1, or the compiler's worker.
    sandbox::run_if_launcher();
    semantics::run_if_worker();
    let status = match command::dispatch(args::Cli::parse()) {
        Ok(status) => status,
        Err(failure) => {
            render::print_error(&failure.sentence);
            failure.code as i32
        }
    };
    std::process::exit(status);
}
