//! One run of one test program, in a jail of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sandbox::{Captured, Inherited, Jailed, Keep, OnLine, Outcome, Output, Stream};
use task::Verdict;

use crate::commands::{Commands, Ending};
use crate::libtest::{Report, Said, irregular, parse_line, parse_list, parse_log, parse_stdout};
use crate::recorder::Start;
use crate::watch::{Progress, Watch};

/// The descriptor at which a test program finds the pipe for its log.
const LOG: i32 = 9;
/// A log longer than this has forged lines in it: honest ones are a short line per test.
const LONGEST_LOG: u64 = 32 << 20;

/// How tests are counted over all programs of a check.
#[derive(Default)]
pub(crate) struct Counter {
    pub done: AtomicU32,
    pub all: AtomicU32,
}

impl Counter {
    fn tell(&self, watch: &Watch, test: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let all = self.all.load(Ordering::Relaxed).max(done);
        (watch.progress)(Progress::Tested { done, all, test: test.to_owned() });
    }
}

/// What a program did.
pub(crate) struct Run {
    pub report: Report,
    /// What is wrong with the run as a whole.
    pub irregular: Option<String>,
    pub outcome: Outcome,
    pub stdout: Captured,
    pub stderr: Captured,
}

pub(crate) fn jailed(commands: &Commands<'_>, start: &Start) -> Jailed {
    let mut jailed = commands.program(&start.program, &start.folder).args(start.args.iter().cloned());
    jailed.env.clone_from(&start.env);
    jailed.stdout = Output::Captured(Keep::all());
    jailed
}

/// The ids that a program lists; `None` if it does not speak the protocol.
pub(crate) fn list(commands: &Commands<'_>, what: &str, start: &Start) -> Result<Option<Vec<String>>, Ending> {
    let listing = jailed(commands, start).args(["--list", "--format", "terse"]);
    let finished = commands.run(&format!("listing the tests of {what}"), listing)?;
    let whole = finished.outcome.success() && !finished.stdout.truncated();
    Ok(if whole { parse_list(&finished.stdout.bytes()) } else { None })
}

/// Runs a program that listed these ids. `log` asks for results on the second channel.
pub(crate) fn run(
    commands: &Commands<'_>,
    watch: &Watch,
    counter: &Arc<Counter>,
    what: &str,
    start: &Start,
    listed: &BTreeSet<String>,
    log: bool,
) -> Result<Run, Ending> {
    let mut command = jailed(commands, start);
    if !log {
        let (watch, counter, known) = (watch.clone(), counter.clone(), listed.clone());
        command.on_line = Some(OnLine::new(move |stream, line| {
            let line = String::from_utf8_lossy(line);
            if let (Stream::Stdout, Some((test, _))) = (stream, parse_line(&line, &known)) {
                counter.tell(&watch, &test);
            }
        }));
        let finished = commands.run(what, command)?;
        let report = parse_stdout(&finished.stdout.bytes(), listed, false);
        return Ok(judged(report, finished, listed));
    }
    let failed = |error: std::io::Error| Ending::new(Verdict::Infrastructure, format!("making a pipe failed: {error}"));
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    command.inherited.push(Inherited { fd: Arc::new(writer.into()), number: LOG });
    command.args.extend([OsString::from("--logfile"), OsString::from(format!("/proc/self/fd/{LOG}"))]);
    let (finished, log) = std::thread::scope(|scope| {
        // The command owns the only writing end that is ours: it is closed when the run is over, and so is the log.
        let log = scope.spawn(|| follow(reader, listed, watch, counter));
        let finished = commands.run(what, command);
        (finished, log.join().unwrap_or_default())
    });
    let finished = finished?;
    let stderr = finished.stderr.lossy();
    if log.is_empty() && !finished.outcome.success() && stderr.contains("Unrecognized option: 'logfile'") {
        return run(commands, watch, counter, what, start, listed, false);
    }
    let stdout = parse_stdout(&finished.stdout.bytes(), listed, false);
    let report = Report { results: parse_log(&log, listed), ..stdout };
    Ok(judged(report, finished, listed))
}

fn judged(report: Report, finished: sandbox::Finished, listed: &BTreeSet<String>) -> Run {
    Run {
        irregular: irregular(listed, &report, &finished.outcome),
        report,
        outcome: finished.outcome,
        stdout: finished.stdout,
        stderr: finished.stderr,
    }
}

/// Reads a log to its end, telling each result as it comes.
fn follow(reader: std::io::PipeReader, listed: &BTreeSet<String>, watch: &Watch, counter: &Counter) -> Vec<u8> {
    let mut log = Vec::new();
    let mut reader = BufReader::new(reader);
    loop {
        let before = log.len();
        let mut limited = (&mut reader).take(LONGEST_LOG.saturating_sub(before as u64));
        if limited.read_until(b'\n', &mut log).unwrap_or(0) == 0 {
            break;
        }
        if let [(test, _)] = parse_log(&log[before..], listed).as_slice() {
            counter.tell(watch, test);
        }
    }
    // Whatever is over the limit is drained, so that the program is not stuck on a full pipe.
    let _drained = std::io::copy(&mut reader, &mut std::io::sink());
    log
}

/// Each listed id with what was said of it, at most once.
pub(crate) fn by_id(report: &Report) -> BTreeMap<&str, Option<Said>> {
    let mut map: BTreeMap<&str, Option<Said>> = BTreeMap::new();
    for (id, said) in &report.results {
        // Two results for one id are none.
        map.entry(id).and_modify(|known| *known = None).or_insert(Some(*said));
    }
    map
}
