//! The compiler as a whole, on real projects that are loaded through the real sandbox.
//!
//! A missing bubblewrap or rust-src is a failure here, not a reason to skip.

#![expect(clippy::unwrap_used, reason = "a panic is how a case fails")]

mod gate;
mod questions;
mod rename;
mod support;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// A named case; a panic is its failure.
pub type Case = (&'static str, fn());

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    semantics::run_if_worker();
    let cases: Vec<Case> = [rename::CASES, gate::CASES, questions::CASES, worker::CASES].concat();
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
    // One after the other: a compiler takes half a gigabyte and a core.
    let mut failed = Vec::new();
    for (name, case) in &chosen {
        let started = Instant::now();
        let verdict = if catch_unwind(AssertUnwindSafe(case)).is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict} ({:.1} s)", started.elapsed().as_secs_f64());
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
