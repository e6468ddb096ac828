//! Real cargo on small generated crates, in the real sandbox. A missing bubblewrap or toolchain is a failure here.

#![expect(clippy::unwrap_used, reason = "a panic is the failure of a case")]

mod bench;
mod builds;
mod docs;
mod processes;
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// A named case; a panic is its failure.
pub type Case = (&'static str, fn());

fn main() -> ExitCode {
    sandbox::run_if_launcher();
    let cases: Vec<Case> = [builds::CASES, tests::CASES, docs::CASES, processes::CASES].concat();
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
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", chosen.len());
    let begin = Instant::now();
    let mut failed = 0;
    for (name, case) in &chosen {
        let clock = Instant::now();
        let word = if catch_unwind(AssertUnwindSafe(case)).is_ok() { "ok" } else { "FAILED" };
        failed += usize::from(word != "ok");
        eprintln!("{name}: {:.1} s", clock.elapsed().as_secs_f32());
        println!("test {name} ... {word}");
    }
    println!(
        "\ntest result: {}. {} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        chosen.len() - failed,
        left.len(),
        begin.elapsed().as_secs_f64(),
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
