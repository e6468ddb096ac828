//! A test program without a harness of its own: its binary has to act as process 1 of the jail, so `main` is ours. It
//! speaks the harness's language all the same: filters, `--exact`, `--list` and the closing summary.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// A named case; a panic is its failure.
pub type Case = (&'static str, fn());

/// What the standard harness exits with when a test failed.
const FAILED: u8 = 101;

/// Runs the cases that the command line names, one after the other: several of them measure time or look at all
/// processes of the machine.
pub fn run(cases: Vec<Case>) -> ExitCode {
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
    let mut failed = Vec::new();
    for (name, case) in &chosen {
        let passed = catch_unwind(AssertUnwindSafe(case)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        if !passed {
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
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}
