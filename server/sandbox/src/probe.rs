//! What `doctor` asks: whether the jail, exactly as commands get it, holds on this machine. It tries, it does not guess.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use crate::bwrap::Unavailable;
use crate::cancel::CancelToken;
use crate::limits::Limits;
use crate::outcome::{Finished, Outcome};
use crate::policy::{Jailed, Mount};
use crate::remedy::remedy_for;
use crate::sandbox::Sandbox;

/// One question about this machine and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The property, as a statement that holds or does not.
    pub what: &'static str,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What to do about it, where something is known.
    pub remedy: Option<String>,
}

/// The answer to a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds: it was tried.
    Holds,
    /// It holds as far as it goes; the text says how far.
    Note(String),
    /// It does not hold, for this reason: nothing may be run.
    Broken(String),
}

impl Probe {
    /// Whether commands may be run as far as this probe is concerned.
    pub fn holds(&self) -> bool {
        !matches!(self.verdict, Verdict::Broken(_))
    }
}

/// (statement, shell test that succeeds exactly when it holds). Nothing here harms the machine if there is no jail.
const CHECKS: [(&str, &str); 9] = [
    ("files of the host are invisible", "! cat \"$SECRET\""),
    ("the environment of the server is unreadable", "! grep -q . /proc/1/environ"),
    ("the only network is an own loopback", "[ \"$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ')\" = lo ]"),
    ("the system cannot be written", "! ( : >>/usr/bin/env )"),
    ("kernel settings cannot be written", "! ( : >>/proc/sys/kernel/core_pattern )"),
    ("no descriptor is inherited", "[ \"$(ls /proc/self/fd | tr '\\n' ' ')\" = '0 1 2 3 ' ]"),
    ("no further namespace can be made", "! unshare -U true"),
    ("no capability is left", "grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status"),
    ("the shadow can be written", ": >\"$SHADOW/written\""),
];
const RUNS: &str = "a command runs in the sandbox";
const DIES: &str = "commands end when the server ends";
const PROCESSES: &str = "the number of processes is bounded";
const FINDS: &str = "bubblewrap can be used";

/// Starts real jails and tries them. The first probe that does not hold says why nothing will be run. Takes well under
/// a second on a machine where all is well.
pub fn probe() -> Vec<Probe> {
    let sandbox = match Sandbox::open() {
        Ok(sandbox) => sandbox,
        Err(error) => return vec![unavailable(&error)],
    };
    let bubblewrap = sandbox.bubblewrap();
    let mut probes = vec![if bubblewrap.bind_fd {
        Probe { what: FINDS, verdict: Verdict::Holds, remedy: None }
    } else {
        let note =
            format!("bubblewrap {} mounts by path only; what was mounted is compared afterwards", bubblewrap.version);
        Probe { what: FINDS, verdict: Verdict::Note(note), remedy: None }
    }];
    let bench = match Bench::new() {
        Ok(bench) => bench,
        Err(error) => {
            let verdict = Verdict::Broken(format!("no folder could be made in {}: {error}", env::temp_dir().display()));
            probes.push(Probe { what: RUNS, verdict, remedy: None });
            return probes;
        }
    };
    let runs = runs(&sandbox, &bench);
    let stands = runs.holds();
    probes.push(runs);
    if stands {
        probes.extend(properties(&sandbox, &bench));
        probes.push(dies(&sandbox, &bench));
        probes.push(processes(&sandbox, &bench));
    }
    probes
}

fn unavailable(error: &Unavailable) -> Probe {
    // The message of this error ends with its remedy.
    let text = error.to_string();
    let (problem, remedy) = text.rsplit_once(": ").unwrap_or((&text, ""));
    let remedy = Some(remedy.to_owned()).filter(|remedy| !remedy.is_empty());
    Probe { what: FINDS, verdict: Verdict::Broken(problem.to_owned()), remedy }
}

/// A folder with a secret beside a shadow, removed in the end.
struct Bench {
    root: PathBuf,
}

impl Bench {
    fn new() -> io::Result<Bench> {
        let stamp = env::temp_dir().canonicalize()?.join(format!("sandbox-probe-{}", std::process::id()));
        // Made, not reused: whoever made it before us could have filled it.
        let root =
            (0..100).map(|number| stamp.with_extension(number.to_string())).find_map(|path| {
                match fs::create_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                    other => Some(other.map(|()| path)),
                }
            });
        let root = root.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
        let bench = Bench { root };
        fs::create_dir(bench.shadow())?;
        fs::write(bench.secret(), "secret")?;
        Ok(bench)
    }

    fn shadow(&self) -> PathBuf {
        self.root.join("shadow")
    }

    fn secret(&self) -> PathBuf {
        self.root.join("secret")
    }

    fn script(&self, script: &str) -> Jailed {
        let mut jailed = Jailed::new("/bin/sh", "/").args(["-c", script]).env("SHADOW", self.shadow());
        jailed.env.insert("SECRET".into(), self.secret().into());
        jailed.mounts.push(Mount::writable(self.shadow()));
        jailed.limits = Limits::within(Duration::from_secs(20));
        jailed
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _left_in_the_temporary_folder = crate::clean::remove_tree(&self.root);
    }
}

fn runs(sandbox: &Sandbox, bench: &Bench) -> Probe {
    let Finished { outcome, .. } = sandbox.run(bench.script("exit 42"), &CancelToken::new());
    if outcome == (Outcome::Exit { code: 42 }) {
        return Probe { what: RUNS, verdict: Verdict::Holds, remedy: None };
    }
    let reason = match outcome {
        Outcome::Infrastructure { reason } => reason,
        other => format!("a command that should exit with 42 ended like this: {other}"),
    };
    let remedy = remedy_for(&reason).map(str::to_owned);
    Probe { what: RUNS, verdict: Verdict::Broken(reason), remedy }
}

fn properties(sandbox: &Sandbox, bench: &Bench) -> Vec<Probe> {
    let lines = CHECKS.iter().enumerate().map(|(index, (_, test))| {
        format!("if {{ {test}; }} >/tmp/said 2>&1; then echo holds {index}; else echo broken {index}; fi\n")
    });
    let finished = sandbox.run(bench.script(&lines.collect::<String>()), &CancelToken::new());
    let said = finished.stdout.lossy();
    let verdict = |index: usize| {
        if said.lines().any(|line| line == format!("holds {index}")) {
            Verdict::Holds
        } else if said.lines().any(|line| line == format!("broken {index}")) {
            Verdict::Broken("it was tried, and it does not hold".to_owned())
        } else {
            Verdict::Broken(format!("it could not be tried: {}", finished.outcome))
        }
    };
    let probe = |(index, (what, _)): (usize, &(&'static str, &str))| {
        let verdict = verdict(index);
        let remedy = matches!(verdict, Verdict::Broken(_)).then(|| "report this as a security problem".to_owned());
        Probe { what, verdict, remedy }
    };
    CHECKS.iter().enumerate().map(probe).collect()
}

/// Ends a jail as the end of our own process would: by closing the socket that its first process listens to.
fn dies(sandbox: &Sandbox, bench: &Bench) -> Probe {
    let cancel = CancelToken::new();
    let verdict = match sandbox.start_and_end(bench.script(": >\"$SHADOW/started\"; sleep 15"), &cancel, true) {
        Err(error) => Verdict::Broken(error.to_string()),
        Ok(running) => {
            let started = bench.shadow().join("started");
            if !appears(&started, Duration::from_secs(10)) {
                Verdict::Broken("the command did not start".to_owned())
            } else {
                let begin = Instant::now();
                cancel.cancel();
                let finished = running.wait();
                if finished.outcome == Outcome::Cancelled && begin.elapsed() < Duration::from_secs(5) {
                    Verdict::Holds
                } else {
                    Verdict::Broken(format!("the command went on: {}", finished.outcome))
                }
            }
        }
    };
    Probe { what: DIES, verdict, remedy: None }
}

fn appears(path: &Path, patience: Duration) -> bool {
    let begin = Instant::now();
    while !path.exists() {
        if begin.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn processes(sandbox: &Sandbox, bench: &Bench) -> Probe {
    let mut jailed =
        bench.script("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 15 & done; echo unbounded");
    jailed.limits.processes = 8;
    let finished = sandbox.run(jailed, &CancelToken::new());
    let verdict = if !finished.stdout.lossy().contains("unbounded") && matches!(finished.outcome, Outcome::Exit { .. })
    {
        Verdict::Holds
    } else if rustix::process::getuid().is_root() {
        let note = "no process cap is in force yet: the kernel does not count processes of root; time limits hold";
        Verdict::Note(note.to_owned())
    } else {
        Verdict::Note("no process cap is in force: kernels before 5.14 count differently; time limits hold".to_owned())
    };
    let remedy = matches!(verdict, Verdict::Note(_)).then(|| "run as an ordinary user".to_owned());
    Probe { what: PROCESSES, verdict, remedy }
}
