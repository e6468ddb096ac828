//! The commands of one check: what they share, and what their endings mean.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox::{CancelToken, Finished, Jailed, Keep, Limits, Mount, Outcome, Output};
use task::{Features, TreePath, Verdict};

use crate::folder::{Folder, file_in, upwards};
use crate::manifest::Manifest;
use crate::order::Order;
use crate::tools::{Jail, Tools};

/// An ending before the check could say what it has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub verdict: Verdict,
    pub reason: String,
}

impl Ending {
    pub(crate) fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into() }
    }
}

/// Where commands run and what they may use.
pub(crate) struct Commands<'a> {
    pub jail: &'a dyn Jail,
    pub tools: &'a Tools,
    pub cancel: &'a CancelToken,
    pub shadow: &'a Path,
    /// The build folder; `None` where nothing is built.
    pub build: Option<&'a Path>,
    pub proof: bool,
    /// Whether debug information is cut down to lines.
    lines_only: bool,
    pub deadline: Instant,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(
        jail: &'a dyn Jail,
        tools: &'a Tools,
        shadow: &'a Path,
        remaining: Duration,
        cancel: &'a CancelToken,
    ) -> Self {
        let deadline = Instant::now() + remaining;
        Self { jail, tools, cancel, shadow, build: None, proof: false, lines_only: false, deadline }
    }

    pub(crate) fn building(mut self, order: &Order<'a>) -> Self {
        self.build = Some(order.build);
        self.proof = order.proof;
        self.lines_only = order.proof && !chooses_debug(order);
        self
    }

    /// The folder of a workspace inside the shadow.
    pub(crate) fn folder(&self, root: &Folder) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        match root {
            Some(root) => self.shadow.join(std::ffi::OsStr::from_bytes(root.as_bytes())),
            None => self.shadow.to_owned(),
        }
    }

    /// A program with the mounts, limits and variables of this check.
    pub(crate) fn program(&self, program: &Path, folder: &Path) -> Jailed {
        let mut jailed = Jailed::new(program, folder);
        jailed.env.extend(self.tools.env.clone());
        jailed.mounts.clone_from(&self.tools.mounts);
        jailed.mounts.push(Mount::writable(self.shadow));
        jailed.mounts.extend(self.build.map(Mount::writable));
        if self.proof {
            jailed.env.insert("CARGO_INCREMENTAL".into(), "0".into());
        }
        if self.lines_only {
            // A fifth of the time of a build. The code is the same, backtraces have their lines, and build scripts see
            // the same `DEBUG`; only what debuggers need to show variables is left out.
            jailed.env.insert("CARGO_PROFILE_DEV_DEBUG".into(), "line-tables-only".into());
        }
        jailed.env.insert("CARGO_NET_OFFLINE".into(), "true".into());
        jailed.limits = Limits::within(self.deadline.saturating_duration_since(Instant::now()));
        jailed
    }

    /// Cargo with a subcommand in a workspace, its output kept whole for parsing.
    pub(crate) fn cargo(&self, root: &Folder, subcommand: &str, options: &[&str]) -> Jailed {
        let mut jailed = self.program(&self.tools.cargo, &self.folder(root)).arg(subcommand).args(options);
        jailed.args.push("--offline".into());
        if let Some(build) = self.build {
            jailed = jailed.arg("--target-dir").arg(build);
        }
        jailed.stdout = Output::Captured(Keep::all());
        jailed
    }

    /// Runs a command, see [`run_within`].
    pub(crate) fn run(&self, what: &str, jailed: Jailed) -> Result<Finished, Ending> {
        run_within(self.jail, self.cancel, self.deadline, what, jailed)
    }
}

/// Runs a command. Endings that say nothing about the tree are errors; exits and crashes are for the caller.
pub(crate) fn run_within(
    jail: &dyn Jail,
    cancel: &CancelToken,
    deadline: Instant,
    what: &str,
    jailed: Jailed,
) -> Result<Finished, Ending> {
    if cancel.is_cancelled() {
        return Err(Ending::new(Verdict::NotRun, "cancelled"));
    }
    if deadline <= Instant::now() {
        return Err(Ending::new(Verdict::Timeout, format!("no time was left for {what}")));
    }
    let finished = jail.run(jailed, cancel);
    match translate(what, &finished.outcome) {
        Some(ending) => Err(ending),
        None => Ok(finished),
    }
}

/// Whether the project itself says what debug information it wants, in the manifest of the workspace or for cargo.
fn chooses_debug(order: &Order<'_>) -> bool {
    let configurations = upwards(order.check.root.clone())
        .flat_map(|folder| [".cargo/config.toml", ".cargo/config"].map(|name| file_in(&folder, name)));
    let mut files = [file_in(&order.check.root, "Cargo.toml")].into_iter().chain(configurations).flatten();
    files.any(|path| order.files.read(&path).is_some_and(|bytes| Manifest::parse(&bytes).chooses_debug))
}

/// The word for an outcome that ends the check; `None` for a process that ended by itself.
fn translate(what: &str, outcome: &Outcome) -> Option<Ending> {
    let (verdict, reason) = match outcome {
        Outcome::Exit { .. } | Outcome::Signal { .. } => return None,
        Outcome::Timeout => (Verdict::Timeout, format!("{what} did not end within the time that was left")),
        Outcome::OutputCap => (Verdict::Killed, format!("{what} printed more than the limit and was ended")),
        Outcome::OutOfMemory => (Verdict::Killed, format!("{what} needed more memory than the limit and was ended")),
        Outcome::Cancelled => (Verdict::NotRun, "cancelled".to_owned()),
        Outcome::SpawnError { message, .. } => {
            (Verdict::Unavailable, format!("{what} could not be started: {message}"))
        }
        Outcome::Infrastructure { reason } => (Verdict::Infrastructure, reason.clone()),
    };
    Some(Ending::new(verdict, reason))
}

/// The options that a check's feature set and lock file ask for.
pub(crate) fn set_options(order: &Order<'_>) -> Vec<&'static str> {
    let mut options = Vec::new();
    if order.check.features == Features::All {
        options.push("--all-features");
    }
    // A lock that is in the tree must hold; one that was generated for it is provisioned and cargo may find it wanting.
    if file_in(&order.check.root, "Cargo.lock").is_some_and(|lock| order.files.read(&lock).is_some()) {
        options.push("--locked");
    }
    options
}

/// Why cargo could not even begin, where its error output tells a reason that is not the tree's fault.
pub(crate) fn unavailable(stderr: &str) -> Option<String> {
    const MARKS: [&str; 8] = [
        "attempting to make an HTTP request, but --offline was specified",
        "can't checkout from",
        "failed to download",
        "unable to update registry",
        "no matching package named",
        "you may be able to reach it without the --offline flag",
        "you may want to run without the --offline flag",
        "is not installed for the toolchain",
    ];
    let missing = MARKS.iter().any(|mark| stderr.contains(mark)) || stderr.contains("no such command: `clippy`");
    missing.then(|| first_error(stderr))
}

/// A sentence, where what a failed command printed says that it could not write. Its failure says nothing about the tree.
pub(crate) fn out_of_space(printed: &str) -> Option<String> {
    // The linker maps what it writes into memory, where a full disk is a bus error.
    const MARKS: [&str; 4] =
        ["No space left on device", "os error 28", "Disk quota exceeded", "ld terminated with signal 7"];
    let mark = MARKS.iter().find(|mark| printed.contains(**mark))?;
    Some(format!("the disk that holds the build folder is full (`{mark}`); free some space and ask again"))
}

/// The first error line and what it was caused by, in one line.
pub(crate) fn first_error(stderr: &str) -> String {
    let mut lines = stderr.lines().skip_while(|line| !line.starts_with("error")).filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or("it said nothing").trim_start_matches("error: ").to_owned();
    let causes = lines.skip_while(|line| !line.starts_with("Caused by")).filter(|line| !line.starts_with("Caused by"));
    let whole = std::iter::once(first).chain(causes.take(3).map(|line| line.trim().to_owned())).collect::<Vec<_>>();
    let mut text = task::printable(&whole.join("; "));
    text.truncate(text.floor_char_boundary(500));
    text
}

/// The path in the tree of a file that a command named, absolute or relative to the workspace's folder.
pub(crate) fn tree_path(shadow: &Path, root: &Folder, named: &str) -> Option<TreePath> {
    let relative = match named.strip_prefix('/') {
        None => return crate::folder::resolve(root, named).ok()?,
        Some(_) => named.strip_prefix(shadow.to_str()?)?.strip_prefix('/')?,
    };
    crate::folder::resolve(&None, relative).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_an_error_in_the_code() {
        let linker = r#"{"reason":"compiler-message","message":{"message":"linking with `cc` failed: exit status: 1",
            "children":[{"message":"collect2: fatal error: ld terminated with signal 7 [Bus error]"}]}}"#;
        assert!(out_of_space(linker).is_some());
        let rustc = "error: failed to write /b/libx.rmeta: No space left on device (os error 28)";
        assert!(out_of_space(rustc).unwrap().starts_with("the disk that holds the build folder is full"));
        assert_eq!(out_of_space("error[E0425]: cannot find value `device` in this scope"), None);
    }
}
