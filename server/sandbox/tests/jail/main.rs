//! The jail as a whole: attempts to get out of it, each with a positive control, and its life from start to end.
//!
//! A missing bubblewrap is a failure here, not a reason to skip: a green run must mean that the jail holds.

#![expect(clippy::unwrap_used, reason = "the whole binary is a test, which clippy cannot see without the harness")]

mod bounds;
mod escape;
mod lifecycle;
mod machine;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// A named case; a panic is its failure.
pub type Case = (&'static str, fn());

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    if std::env::var_os(lifecycle::WORKER).is_some() {
        lifecycle::worker();
    }
    if let Ok(sleep) = std::env::var(lifecycle::VICTIM) {
        lifecycle::victim(&sleep);
    }
    let cases: Vec<Case> = [escape::CASES, bounds::CASES, lifecycle::CASES, machine::CASES].concat();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let exact = words.iter().any(|word| word == "--exact");
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| {
        filters.is_empty()
            || filters.iter().any(|filter| if exact { name == *filter } else { name.contains(filter.as_str()) })
    };
    let (chosen, left): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(|(name, _)| chosen(name));
    if words.iter().any(|word| word == "--list") {
        for (name, _) in &chosen {
            println!("{name}: test");
        }
        println!("\n{} tests, 0 benchmarks", chosen.len());
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", chosen.len());
    let begin = Instant::now();
    // One after the other: several cases measure time or look at all processes of the machine.
    let mut failed = Vec::new();
    for (name, case) in &chosen {
        let verdict = if catch_unwind(AssertUnwindSafe(case)).is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict}");
        if verdict != "ok" {
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        println!("\nfailures:\n    {}", failed.join("\n    "));
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failed.is_empty() { "ok" } else { "FAILED" },
        chosen.len() - failed.len(),
        failed.len(),
        left.len(),
        begin.elapsed().as_secs_f64()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) }
}
