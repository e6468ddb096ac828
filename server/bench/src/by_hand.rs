//! What a person would do by hand, for comparison: the only processes outside the sandbox that this project starts.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

/// Runs a program on the host to its end, which must be a success.
pub fn run(folder: &Path, program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Result<Duration, Failure> {
    let (time, output) = finish(folder, program, arguments, variables)?;
    if output.status.success() {
        return Ok(time);
    }
    Err(format!("{program} {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into())
}

/// The same, whatever its end is: some targets of real projects do not build here.
pub fn time(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
) -> Result<Duration, Failure> {
    Ok(finish(folder, program, arguments, variables)?.0)
}

fn finish(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
) -> Result<(Duration, Output), Failure> {
    #[expect(clippy::disallowed_methods, reason = "a measurement compares with what a person starts without a sandbox")]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.envs(variables.iter().copied());
    let start = Instant::now();
    let output = command.output()?;
    Ok((start.elapsed(), output))
}

/// Starts our own command as an editor does, to be talked with. Whoever asked ends it.
pub fn speak(folder: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> Result<Child, Failure> {
    #[expect(clippy::disallowed_methods, reason = "an editor starts the server without a sandbox")]
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs(variables.iter().copied());
    Ok(command.spawn()?)
}

/// The machine, for the head of a table.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory =
        read("/proc/meminfo").lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    let load = read("/proc/loadavg").split_whitespace().next().unwrap_or("?").to_owned();
    let profile = if cfg!(debug_assertions) { "development build" } else { "release build" };
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{cores} cores, {} GiB, Linux {}, load {load} at the start, {profile}",
        memory.unwrap_or(0) >> 20,
        kernel.trim()
    )
}
