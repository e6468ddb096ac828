//! How a jailed process ended, and what it left: status, output, time and memory.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How the main process of a jail ended: the full space, no two of which may be confused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The jail stood, but the command could not be started in it (unknown program, missing folder, no permission).
    SpawnError {
        /// What was being done when it failed.
        stage: SpawnStage,
        /// The `errno` of the failure.
        errno: i32,
        /// The sentence to show.
        message: String,
    },
    /// The command ended by itself.
    Exit {
        /// Its exit code, 0 to 255, exactly as the kernel reported it.
        code: i32,
    },
    /// A signal that we did not send ended the command.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// The wall-clock limit of its policy ended the command.
    Timeout,
    /// More output than its policy allows ended the command.
    OutputCap,
    /// The kernel killed the command for want of memory. Known only where the kernel counted a kill meanwhile; a
    /// command that handles a failed allocation ends in `Exit` or `Signal` instead.
    OutOfMemory,
    /// Its cancel token ended the command, or its [`Running`](crate::Running) was dropped.
    Cancelled,
    /// The jail itself failed: says nothing about the command.
    Infrastructure {
        /// What failed, with the remedy where one is known.
        reason: String,
    },
}

impl Outcome {
    /// True only for exit code 0.
    pub fn success(&self) -> bool {
        matches!(self, Outcome::Exit { code: 0 })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::SpawnError { message, .. } => write!(f, "could not start: {message}"),
            Outcome::Exit { code } => write!(f, "exit code {code}"),
            Outcome::Signal { signal } => write!(f, "killed by signal {signal}"),
            Outcome::Timeout => f.write_str("stopped by its time limit"),
            Outcome::OutputCap => f.write_str("stopped by its output limit"),
            Outcome::OutOfMemory => f.write_str("killed for want of memory"),
            Outcome::Cancelled => f.write_str("cancelled"),
            Outcome::Infrastructure { reason } => write!(f, "sandbox failure: {reason}"),
        }
    }
}

/// The step of a start that failed inside the jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnStage {
    /// The folder to run in is missing, or is not a folder.
    Folder,
    /// A limit could not be set.
    Limit,
    /// The program could not be executed.
    Program,
}

/// A process that has ended, with everything it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How the main process ended.
    pub outcome: Outcome,
    /// Standard output; empty where it was piped to the caller.
    pub stdout: Captured,
    /// Standard error; empty where it was piped to the caller.
    pub stderr: Captured,
    /// From the moment the command was let go to the moment everything in the jail was dead.
    pub duration: Duration,
    /// What the jail consumed; `None` where it never stood.
    pub usage: Option<Usage>,
}

/// What all processes of one jail consumed together, our own two small ones included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The largest resident set that any single process reached, in bytes.
    pub peak_bytes: u64,
    /// Time on processors in user mode.
    pub user: Duration,
    /// Time on processors in the kernel.
    pub system: Duration,
}

/// One output stream: its beginning, its end, and how long it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to the limit of the policy.
    pub head: Vec<u8>,
    /// The last bytes after `head`, up to the limit of the policy.
    pub tail: Vec<u8>,
    /// How many bytes were written in all.
    pub total: u64,
}

impl Captured {
    /// How many bytes between `head` and `tail` were dropped.
    pub fn dropped(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// Whether anything was dropped.
    pub fn truncated(&self) -> bool {
        self.dropped() > 0
    }

    /// Everything that was kept, in order, without a mark where something was dropped: for parsers, which ask
    /// [`Captured::truncated`] first.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        if self.tail.is_empty() { Cow::Borrowed(&self.head) } else { Cow::Owned([&*self.head, &*self.tail].concat()) }
    }

    /// Everything that was kept as text for people, with a line that says where and how much was dropped.
    pub fn lossy(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.truncated() {
            text.push_str(&format!("\n[{} bytes left out]\n", self.dropped()));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}
