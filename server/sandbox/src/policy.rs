//! The policy of one run: what is executed, what it sees, what it may consume.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::Limits;
use crate::streams::{Inherited, OnLine, Output, Stdin};

/// The home folder inside: empty memory, gone with the run.
pub const HOME: &str = "/home/agent";

/// The program of a policy that runs our own binary in another role, such as a worker. Process 1 of the jail is that
/// binary, so it needs no mount, and it is the same one even if the file on disk has been replaced meanwhile.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// A command and everything that bounds it. Nothing is inherited from our own process.
#[derive(Debug, Clone)]
pub struct Jailed {
    /// An absolute path inside, or a name that is looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// The arguments after the program.
    pub args: Vec<OsString>,
    /// The whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder to run in, an absolute path inside.
    pub cwd: PathBuf,
    /// What the command sees besides the system, in any order.
    pub mounts: Vec<Mount>,
    /// What it may consume.
    pub limits: Limits,
    /// Its niceness, 0 to 19. Default 10: checks yield to the editor.
    pub nice: i32,
    /// Where its input comes from.
    pub stdin: Stdin,
    /// Where its output goes.
    pub stdout: Output,
    /// Where its error output goes.
    pub stderr: Output,
    /// Pipe ends and sockets that it inherits at fixed numbers.
    pub inherited: Vec<Inherited>,
    /// Called with every complete line of captured output as it arrives.
    pub on_line: Option<OnLine>,
}

impl Jailed {
    /// A command without arguments, with the default environment and limits, no mounts, no input, captured output.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Jailed {
            program: program.into(),
            args: Vec::new(),
            env: Jailed::default_env(),
            cwd: cwd.into(),
            mounts: Vec::new(),
            limits: Limits::default(),
            nice: 10,
            stdin: Stdin::Null,
            stdout: Output::default(),
            stderr: Output::default(),
            inherited: Vec::new(),
            on_line: None,
        }
    }

    /// The variables that every command gets unless its policy says otherwise.
    pub fn default_env() -> BTreeMap<OsString, OsString> {
        [
            ("HOME", HOME),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("TMPDIR", "/tmp"),
            ("TERM", "dumb"),
            ("CI", "1"),
            ("NO_COLOR", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Adds a mount.
    #[must_use]
    pub fn mount(mut self, mount: Mount) -> Self {
        self.mounts.push(mount);
        self
    }
}

/// One thing the command sees. Host paths are absolute and free of symbolic links (the caller canonicalises them: a
/// path that became a link meanwhile is refused); inside paths are absolute and free of `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// A file or folder of the host that can be read.
    ReadOnly {
        /// Where it is.
        host: PathBuf,
        /// Where the command sees it.
        inside: PathBuf,
    },
    /// A folder, or a single file, of the host that can be written. No other mount may lie below it: what the command wrote there in an
    /// earlier run could lead the creation of the mount point out of the jail (CVE-2026-87766).
    Writable {
        /// Where it is.
        host: PathBuf,
        /// Where the command sees it.
        inside: PathBuf,
    },
    /// A file with the given content that can be read and run.
    File {
        /// Where the command sees it.
        inside: PathBuf,
        /// Its content.
        data: Arc<[u8]>,
    },
    /// An empty folder in memory that can be written and is gone with the run.
    Scratch {
        /// Where the command sees it.
        inside: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A symbolic link in a folder in memory, read-only with it. It leads to wherever the command sees that path.
    Link {
        /// Where the link is.
        inside: PathBuf,
        /// The absolute path that it leads to.
        target: PathBuf,
    },
    /// An empty read-only folder over one that the system mounts would show; ignored where the host has none.
    Hidden {
        /// The folder to hide.
        inside: PathBuf,
    },
}

impl Mount {
    /// A file or folder that can be read at the path it has on the host.
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Mount::ReadOnly { host: path.clone(), inside: path }
    }

    /// A folder that can be written at the path it has on the host.
    pub fn writable(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Mount::Writable { host: path.clone(), inside: path }
    }

    /// Where the command sees it.
    pub fn inside(&self) -> &Path {
        match self {
            Mount::ReadOnly { inside, .. }
            | Mount::Writable { inside, .. }
            | Mount::File { inside, .. }
            | Mount::Scratch { inside, .. }
            | Mount::Link { inside, .. }
            | Mount::Hidden { inside } => inside,
        }
    }
}
