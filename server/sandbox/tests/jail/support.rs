//! What the cases share: a jail on a fresh folder, and ways to ask the machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox::{CancelToken, Finished, Jailed, Limits, Mount, Sandbox};

/// The sandbox of this machine; without one every case fails.
pub fn sandbox() -> Sandbox {
    Sandbox::open().expect("these tests need a working bubblewrap")
}

/// A folder on the host with `shadow` (to be mounted) and everything else (to stay hidden).
pub struct Place {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub shadow: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        // Not below /tmp: the jail has a /tmp of its own, where a leak would look like success.
        let folder = tempfile::Builder::new().prefix("jail-").tempdir_in("/var/tmp").expect("a temporary folder");
        let root = folder.path().canonicalize().expect("its real path");
        let shadow = root.join("shadow");
        std::fs::create_dir(&shadow).expect("the shadow");
        Place { _folder: folder, root, shadow }
    }

    /// A shell script that runs in the shadow and may write there.
    pub fn script(&self, script: &str) -> Jailed {
        let mut jailed = Jailed::new("/bin/sh", &self.shadow).args(["-c", script]);
        jailed.mounts.push(Mount::writable(&self.shadow));
        jailed.limits = Limits::within(Duration::from_secs(60));
        jailed
    }

    /// Runs a script and returns everything about it.
    pub fn run(&self, script: &str) -> Finished {
        sandbox().run(self.script(script), &CancelToken::new())
    }

    /// Runs a script that must succeed and returns its trimmed output.
    pub fn says(&self, script: &str) -> String {
        let finished = self.run(script);
        assert!(finished.outcome.success(), "{}: {}", finished.outcome, finished.stderr.lossy());
        finished.stdout.lossy().trim().to_owned()
    }

    /// Asserts that a command is refused inside: `sh -c` of it fails, while the jail itself works.
    pub fn denies(&self, attempt: &str) {
        let said = self.says(&format!("if ( {attempt} ) >/tmp/out 2>&1; then echo ALLOWED; else echo DENIED; fi"));
        assert_eq!(said, "DENIED", "{attempt}");
    }
}

/// Waits until a condition holds; fails after ten seconds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(10), "in vain: {what}");
        std::thread::yield_now();
    }
    begin.elapsed()
}

/// Processes of this machine whose command line contains a text.
pub fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            text.is_empty() || line.windows(text.len()).any(|window| window == text.as_bytes())
        })
        .collect()
}

/// A number of seconds for `sleep` that no other process of this machine uses.
pub fn unique_sleep() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("9{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}

/// How long a file is; 0 if there is none.
pub fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
