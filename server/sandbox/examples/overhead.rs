//! What a jail costs: `true` in one beside `true` without, in turns, so that the load of the machine meets both.
//! `cargo run --release -p sandbox --example overhead [runs]`

use std::time::{Duration, Instant};

use sandbox::{CancelToken, Jailed, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sandbox::run_if_launcher();
    let runs: usize = std::env::args().nth(1).map_or(Ok(200), |runs| runs.parse())?;
    let sandbox = Sandbox::open()?;
    let (mut plain, mut jailed) = (Vec::new(), Vec::new());
    for round in 0..runs + 5 {
        let outside = plain_true()?;
        let begin = Instant::now();
        let mut inner = Jailed::new("/usr/bin/true", "/");
        // As the other one: commands of the product yield to the machine, which is no cost of the jail.
        inner.nice = 0;
        let finished = sandbox.run(inner, &CancelToken::new());
        let inside = begin.elapsed();
        if !finished.outcome.success() {
            return Err(finished.outcome.to_string().into());
        }
        // The first ones bring programs into memory.
        if round >= 5 {
            plain.push(outside);
            jailed.push(inside);
        }
    }
    print("plain", &mut plain);
    print("sandboxed", &mut jailed);
    println!(
        "difference of p50: {:.2} ms over {runs} runs",
        millis(percentile(&jailed, 50)) - millis(percentile(&plain, 50))
    );
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the measure needs a process outside of any jail")]
fn plain_true() -> std::io::Result<Duration> {
    let begin = Instant::now();
    std::process::Command::new("/usr/bin/true").status()?;
    Ok(begin.elapsed())
}

fn print(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let [least, p50, p95] = [0, 50, 95].map(|percent| millis(percentile(times, percent)));
    println!("{name:>10}: least {least:.2} ms, p50 {p50:.2} ms, p95 {p95:.2} ms");
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
