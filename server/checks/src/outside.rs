//! Where checks of npm and python run: one tree, its shadow, and what the developer installed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use sandbox::{CancelToken, Captured, Finished, Inherited, Interpreters, Jailed, Keep, Limits, Mount, Output};
use task::{Item, TreePath, Verdict};

use crate::commands::{Ending, run_within};
use crate::installed::{Installed, imitated, on_disk};
use crate::order::Order;
use crate::report::{Context, Report, result_in};
use crate::tool::Tool;
use crate::tools::Jail;
use crate::watch::{Progress, Watch};

/// The folder of our own files inside.
pub(crate) const OURS: &str = "/run/understudy";
/// Where processes note what they read.
const SEEN: &str = "/run/understudy/seen";
/// The descriptors of the report and of the notes.
const REPORT: i32 = 9;
const NOTES: i32 = 8;
/// A longer report has something else in it.
const LONGEST: u64 = 256 << 20;
/// Starts the words after it and hands over the notes when that has ended. It does not see the pipe of the notes.
const SCRIPT: &str = "\"$@\" 8>&-; code=$?; cat /run/understudy/seen/* >&8 2>/dev/null; exit $code";

/// What a check found, before it is a receipt.
#[derive(Default)]
pub(crate) struct Found {
    pub items: Vec<Item>,
    pub read: Vec<TreePath>,
    pub exit_code: Option<i32>,
    pub output: Vec<(String, Captured)>,
    pub flaky: Vec<String>,
}

/// The place of one check.
pub(crate) struct Outside<'a> {
    pub jail: &'a dyn Jail,
    pub cancel: &'a CancelToken,
    pub deadline: Instant,
    pub order: &'a Order<'a>,
    pub interpreters: &'a Interpreters,
    /// The developer's folder.
    pub workspace: &'a Path,
}

/// One run of tests.
pub(crate) struct Run {
    pub report: Report,
    pub finished: Finished,
    /// Absolute paths.
    pub notes: Vec<String>,
}

impl Outside<'_> {
    /// The folder of the project inside the shadow.
    pub(crate) fn folder(&self) -> PathBuf {
        self.order
            .check
            .root
            .as_ref()
            .map_or_else(|| self.order.shadow.to_owned(), |root| on_disk(self.order.shadow, root))
    }

    /// A program that sees the shadow and the imitation of the developer's folder.
    pub(crate) fn program(&self, program: &Path, installed: &[Installed]) -> Jailed {
        let mut jailed = Jailed::new(program, self.folder());
        jailed.mounts.push(Mount::writable(self.order.shadow));
        jailed.mounts.extend(imitated(self.order.files, self.workspace, self.order.shadow, installed));
        jailed.limits = Limits::within(self.deadline.saturating_duration_since(Instant::now()));
        jailed.stdout = Output::Captured(Keep::all());
        jailed
    }

    pub(crate) fn run(&self, what: &str, jailed: Jailed) -> Result<Finished, Ending> {
        run_within(self.jail, self.cancel, self.deadline, what, jailed)
    }

    /// Runs tests with a reporter of ours in them.
    pub(crate) fn run_reported(&self, tool: Tool, mut jailed: Jailed, watch: &Watch) -> Result<Run, Ending> {
        let failed =
            |error: std::io::Error| Ending::new(Verdict::Infrastructure, format!("making a pipe failed: {error}"));
        let (report, report_inside) = std::io::pipe().map_err(failed)?;
        let (notes, notes_inside) = std::io::pipe().map_err(failed)?;
        jailed.inherited.push(Inherited { fd: Arc::new(report_inside.into()), number: REPORT });
        jailed.inherited.push(Inherited { fd: Arc::new(notes_inside.into()), number: NOTES });
        jailed.mounts.push(Mount::Scratch { inside: SEEN.into(), bytes: 64 << 20 });
        jailed.env.insert("UNDERSTUDY_SEEN".into(), SEEN.into());
        jailed.env.insert("UNDERSTUDY_TOOL".into(), tool.name().into());
        let program = std::mem::replace(&mut jailed.program, "/bin/sh".into());
        let words = ["-c".into(), SCRIPT.into(), "sh".into(), program.into_os_string()];
        jailed.args.splice(0..0, words);
        std::thread::scope(|scope| {
            // The command owns the only writing ends that are ours: they are closed when the run is over.
            let report = scope.spawn(|| follow(report, watch));
            let notes = scope.spawn(|| drain(notes));
            let finished = self.run(tool.name(), jailed);
            let (report, notes) = (report.join().unwrap_or_default(), notes.join().unwrap_or_default());
            let notes = notes.split(|&byte| byte == 0).filter(|path| !path.is_empty());
            Ok(Run {
                report: Report::parse(&report),
                finished: finished?,
                notes: notes.map(|path| String::from_utf8_lossy(path).into_owned()).collect(),
            })
        })
    }

    /// Files of the tree among what processes noted.
    pub(crate) fn read(&self, context: &Context<'_>, notes: &[String]) -> Vec<TreePath> {
        let mut all = self.order.files.list();
        all.sort();
        let found = notes.iter().filter_map(|note| context.path(note));
        let mut read: Vec<TreePath> = found.filter(|path| all.binary_search(path).is_ok()).collect();
        read.sort();
        read.dedup();
        read
    }
}

/// Reads a report to its end, telling each result as it comes.
fn follow(reader: std::io::PipeReader, watch: &Watch) -> Vec<u8> {
    use std::io::{BufRead as _, Read as _};
    let mut report = Vec::new();
    let mut reader = std::io::BufReader::new(reader);
    let mut done = 0;
    loop {
        let before = report.len();
        let mut limited = (&mut reader).take(LONGEST.saturating_sub(before as u64));
        if limited.read_until(b'\n', &mut report).unwrap_or(0) == 0 {
            break;
        }
        if let Some(test) = result_in(&report[before..]) {
            done += 1;
            (watch.progress)(Progress::Tested { done, all: done, test });
        }
    }
    // Whatever is over the limit is drained, so that nothing is stuck on a full pipe.
    let _drained = std::io::copy(&mut reader, &mut std::io::sink());
    report
}

fn drain(mut reader: std::io::PipeReader) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _whole = std::io::Read::read_to_end(&mut reader, &mut bytes);
    bytes
}

/// A file of ours inside.
pub(crate) fn ours(name: &str, text: &'static str) -> Mount {
    Mount::File { inside: Path::new(OURS).join(name), data: text.as_bytes().into() }
}
