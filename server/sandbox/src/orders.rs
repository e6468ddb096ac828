//! What the host tells the launcher, and what the launcher tells the host.

use std::os::fd::RawFd;

use serde::{Deserialize, Serialize};

use crate::outcome::SpawnStage;

/// Everything that the launcher needs to start the command. It travels in a sealed file in memory, so that neither
/// arguments nor environment show in `/proc/1`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub program: Vec<u8>,
    pub args: Vec<Vec<u8>>,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub cwd: Vec<u8>,
    pub nice: i32,
    pub cpu_seconds: Option<u64>,
    pub data_bytes: u64,
    pub file_bytes: u64,
    pub open_files: u64,
    pub processes: u64,
    /// Descriptors to pass on: (number in the launcher, number in the command).
    pub inherited: Vec<(RawFd, RawFd)>,
    /// What must be found at the mounts before anything is started.
    pub mounts: Vec<ExpectedMount>,
}

/// Identity of a mounted file or folder: the last line of defence where bubblewrap can only mount by path.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExpectedMount {
    pub inside: Vec<u8>,
    pub device: u64,
    pub inode: u64,
}

/// A message of the launcher, one packet each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// It was let go and read its orders.
    Started,
    /// The command could not be started.
    Refused { stage: SpawnStage, errno: i32, message: String },
    /// The jail is not the one that was ordered.
    WrongJail { message: String },
    /// The main process ended with this wait status.
    Ended { status: i32 },
}

/// The longest packet that is ever sent.
pub(crate) const LONGEST_REPORT: usize = 8192;
