//! The limits of one run and how much of its output is kept.

use std::time::Duration;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// The limits of one run. Those on memory, files and processes are kernel limits that hold inside the jail only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time; `None` for a long-lived process, which ends when its handle is dropped. Default 10 minutes.
    pub wall: Option<Duration>,
    /// Processor time of any one process; `None` is twice `wall`.
    pub cpu: Option<Duration>,
    /// Bytes of data memory (heap and private mappings) of any one process. Default: 4 GiB, at most half of the
    /// machine's memory. Not a limit on address space, which breaks WebAssembly engines.
    pub data_bytes: u64,
    /// Bytes of any one file written. Default 1 GiB.
    pub file_bytes: u64,
    /// Open descriptors of any one process. Default 4096.
    pub open_files: u64,
    /// Processes and threads in the jail. Default 512. The kernel does not enforce it while we run as root.
    pub processes: u64,
    /// Bytes of captured output, both streams together, after which the run is killed. Default 64 MiB.
    pub output_bytes: u64,
    /// Bytes of `/tmp`, which is memory. Default 2 GiB.
    pub tmp_bytes: u64,
    /// Bytes of the home folder, which is memory. Default 1 GiB.
    pub home_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let half_of_memory = rustix::system::sysinfo();
        let half_of_memory = half_of_memory.totalram.saturating_mul(u64::from(half_of_memory.mem_unit)) / 2;
        Limits {
            wall: Some(Duration::from_secs(600)),
            cpu: None,
            data_bytes: (4 * GIB).min(half_of_memory),
            file_bytes: GIB,
            open_files: 4096,
            processes: 512,
            output_bytes: 64 * MIB,
            tmp_bytes: 2 * GIB,
            home_bytes: GIB,
        }
    }
}

impl Limits {
    /// The default limits with another wall-clock limit.
    pub fn within(wall: Duration) -> Self {
        Limits { wall: Some(wall), ..Limits::default() }
    }

    /// Processor seconds for any one process, rounded up so that no limit becomes zero.
    pub(crate) fn cpu_seconds(&self) -> Option<u64> {
        let cpu = self.cpu.or_else(|| self.wall.map(|wall| wall.saturating_mul(2)))?;
        Some(cpu.as_secs().saturating_add(u64::from(cpu.subsec_nanos() > 0)).max(1))
    }
}

/// How much of an output stream is kept: its first and its last bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end.
    pub tail: usize,
}

impl Keep {
    /// Everything up to the output limit of the policy: for output that a program parses.
    pub fn all() -> Self {
        Keep { head: usize::MAX, tail: 0 }
    }
}

impl Default for Keep {
    /// 256 KiB from the beginning and 768 KiB from the end.
    fn default() -> Self {
        Keep { head: (256 * KIB) as usize, tail: (768 * KIB) as usize }
    }
}
