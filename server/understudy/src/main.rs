//! The `understudy` command: wires the rooms together and has no logic of its own.

mod args;
mod command;
mod compilers;
mod draft;
mod engine;
mod failure;
mod models;
mod render;
mod settings;
mod wiring;

use clap::Parser as _;

fn main() {
    // Inside the jail the same binary is process 1, or the compiler's worker.
    sandbox::run_if_launcher();
    semantics::run_if_worker();
    quiet_on_closed_pipe();
    let status = match command::dispatch(args::Cli::parse()) {
        Ok(status) => status,
        Err(failure) => {
            render::print_error(&failure.sentence);
            failure.code as i32
        }
    };
    std::process::exit(status);
}

/// A reader that has seen enough (`| head`) is no fault: the process ends without a word.
fn quiet_on_closed_pipe() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.starts_with("failed printing to std") && text.contains("Broken pipe") {
            std::process::exit(task::ExitCode::Infrastructure as i32);
        }
        usual(panic);
    }));
}
