//! Watches one jail from start to end, on a thread of its own.
//!
//! The barrier: a run is over when the descriptor of process 1 of the jail says that it has ended, because the kernel
//! ends a process only after everything in its process namespace is gone. Waiting for bubblewrap, or for the end of a
//! pipe, is not a barrier: the one returns while processes still write, the other never returns if a daemon holds it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::capture::Collector;
use crate::limits::Limits;
use crate::orders::{LONGEST_REPORT, Report};
use crate::outcome::{Captured, Finished, Outcome, Usage};
use crate::remedy::remedy_for;

/// How long building a jail may take; generous, because a cold disk has to bring in programs.
const SETUP: Duration = Duration::from_secs(60);
/// How long the kernel may take to end a killed jail before we give up waiting.
const DEATH: Duration = Duration::from_secs(30);

pub(crate) struct Watch {
    /// Process id of bubblewrap outside the jail; ours to wait for, so it cannot be reused before.
    pub bwrap: i32,
    pub status: Option<OwnedFd>,
    pub control: Option<OwnedFd>,
    /// Readable when the run is to end.
    pub event: Arc<OwnedFd>,
    pub stdout: Option<Source>,
    pub stderr: Option<Source>,
    pub limits: Limits,
    /// Ends the run by closing the control socket only, as the end of our process would: for the probe.
    pub by_silence: bool,
}

/// One captured stream.
pub(crate) struct Source {
    /// The reading end, which never blocks; `None` after the end of the stream.
    pub reader: Option<OwnedFd>,
    pub collector: Collector,
}

impl Source {
    /// Takes in what is ready; whether there was anything.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        match self.reader.as_ref().map(|reader| rustix::io::read(reader, &mut buffer[..])) {
            Some(Ok(read)) if read > 0 => {
                self.collector.push(&buffer[..read]);
                return true;
            }
            Some(Err(rustix::io::Errno::AGAIN)) => {}
            Some(Err(rustix::io::Errno::INTR)) => return true,
            _ => self.reader = None,
        }
        false
    }
}

/// What is known of a run so far.
#[derive(Default)]
struct Progress {
    /// Process 1 of the jail: certainly it, as its parent was bubblewrap when this was opened.
    launcher: Option<OwnedFd>,
    status_text: Vec<u8>,
    /// The launcher read its orders: bubblewrap's work is done.
    started: bool,
    report: Option<Report>,
    /// Why we killed it.
    killed: Option<Outcome>,
    dead: bool,
    released: Option<Instant>,
}

enum Ready {
    Status,
    Control,
    Launcher,
    Stdout,
    Stderr,
    Event,
}

impl Watch {
    pub(crate) fn finish(mut self) -> Finished {
        let kills_before = out_of_memory_kills();
        let begin = Instant::now();
        let mut progress = Progress::default();
        let mut deadline = begin + SETUP;
        while !progress.dead {
            match self.next(&progress, deadline) {
                Ok(ready) if ready.is_empty() && progress.killed.is_none() => {
                    let outcome = match progress.released {
                        Some(_) => Outcome::Timeout,
                        None => Outcome::Infrastructure { reason: "the jail was not built within a minute".into() },
                    };
                    deadline = self.kill(&mut progress, outcome);
                }
                Ok(ready) if ready.is_empty() => {
                    let reason = "the jail could not be killed: a process hangs in the kernel".to_owned();
                    progress.killed = Some(Outcome::Infrastructure { reason });
                    break;
                }
                Ok(ready) => {
                    for ready in ready {
                        let was_released = progress.released.is_some();
                        if let Some(outcome) = self.handle(&ready, &mut progress) {
                            deadline = self.kill(&mut progress, outcome);
                        } else if !was_released && progress.released.is_some() && progress.killed.is_none() {
                            deadline = self.end_of_time();
                        }
                    }
                }
                Err(error) => {
                    let reason = format!("watching the jail failed: {error}");
                    deadline = self.kill(&mut progress, Outcome::Infrastructure { reason });
                }
            }
        }
        self.drain();
        if progress.report.is_none() {
            self.read_control(&mut progress);
        }
        // Closing the control socket is also the last word to a launcher of which we lost sight.
        self.control = None;
        let duration = progress.released.unwrap_or(begin).elapsed();
        let usage = self.reap(progress.dead);
        let over = self.captured_bytes() > self.limits.output_bytes;
        let [stdout, stderr] =
            [self.stdout.take(), self.stderr.take()].map(|source| source.map(|source| source.collector.finish()));
        let (stdout, stderr) = (stdout.unwrap_or_default(), stderr.unwrap_or_default());
        let outcome = if over && progress.started {
            Outcome::OutputCap
        } else {
            outcome(&progress, &stderr, out_of_memory_kills() > kills_before)
        };
        Finished { outcome, stdout, stderr, duration, usage }
    }

    /// When the time limit ends the command; in a century where there is none, or none that a clock can show.
    fn end_of_time(&self) -> Instant {
        let now = Instant::now();
        let wall = self.limits.wall.and_then(|wall| now.checked_add(wall));
        wall.unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3600))
    }

    /// What happened next; nothing when the deadline passed.
    fn next(&self, progress: &Progress, deadline: Instant) -> io::Result<Vec<Ready>> {
        // The barrier comes last: what was reported or written before it is taken in first.
        let mut sources = Vec::with_capacity(6);
        if progress.killed.is_none() {
            sources.push((Ready::Event, self.event.as_fd()));
        }
        // A flood that has reached its limit is left unread: whoever writes it waits until it is killed.
        let flooded = progress.killed == Some(Outcome::OutputCap);
        let open = [
            (Ready::Status, self.status.as_ref().map(AsFd::as_fd)),
            (Ready::Control, self.control.as_ref().filter(|_| progress.report.is_none()).map(AsFd::as_fd)),
            (
                Ready::Stdout,
                self.stdout.as_ref().filter(|_| !flooded).and_then(|source| source.reader.as_ref()).map(AsFd::as_fd),
            ),
            (
                Ready::Stderr,
                self.stderr.as_ref().filter(|_| !flooded).and_then(|source| source.reader.as_ref()).map(AsFd::as_fd),
            ),
            (Ready::Launcher, progress.launcher.as_ref().map(AsFd::as_fd)),
        ];
        sources.extend(open.into_iter().filter_map(|(ready, fd)| Some((ready, fd?))));
        let mut fds: Vec<PollFd<'_>> = sources.iter().map(|(_, fd)| PollFd::new(fd, PollFlags::IN)).collect();
        loop {
            // Asked first: a flood of output must not keep the deadline from being seen.
            if Instant::now() >= deadline {
                return Ok(Vec::new());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs().min(1 << 30) as i64, tv_nsec: left.subsec_nanos().into() };
            match rustix::event::poll(&mut fds, Some(&left)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        Ok(sources.into_iter().zip(ready).filter_map(|((source, _), ready)| ready.then_some(source)).collect())
    }

    /// Takes in what happened; an outcome if that is the reason to end the run.
    fn handle(&mut self, ready: &Ready, progress: &mut Progress) -> Option<Outcome> {
        match ready {
            Ready::Event => return Some(Outcome::Cancelled),
            Ready::Status => return self.read_status(progress),
            Ready::Control => self.read_control(progress),
            Ready::Launcher => progress.dead = true,
            Ready::Stdout => drop(self.stdout.as_mut().map(Source::read)),
            Ready::Stderr => drop(self.stderr.as_mut().map(Source::read)),
        }
        let over = progress.killed.is_none() && self.captured_bytes() > self.limits.output_bytes;
        over.then_some(Outcome::OutputCap)
    }

    fn captured_bytes(&self) -> u64 {
        [&self.stdout, &self.stderr].into_iter().flatten().map(|source| source.collector.total()).sum()
    }

    /// Learns the process id of the launcher, gets hold of it, and gives the word to go.
    fn read_status(&mut self, progress: &mut Progress) -> Option<Outcome> {
        let mut buffer = [0; 1024];
        let read = match self.status.as_ref().map(|fd| rustix::io::read(fd, &mut buffer[..])) {
            Some(Ok(read)) => read,
            Some(Err(rustix::io::Errno::INTR)) => return None,
            _ => 0,
        };
        if read == 0 {
            self.status = None;
            return self.bubblewrap_ended(progress);
        }
        progress.status_text.extend_from_slice(&buffer[..read]);
        if progress.launcher.is_some() {
            return None;
        }
        let pid = child_pid(&progress.status_text)?;
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            // Asked after the descriptor was opened: then it is that of the process that we are told about.
            Ok(launcher) if parent_of(pid) == Some(self.bwrap) => progress.launcher = Some(launcher),
            // It is dead already, and so is everything else: the end of the status says so next.
            Ok(_) | Err(rustix::io::Errno::SRCH) => return None,
            Err(error) => return Some(Outcome::Infrastructure { reason: format!("pidfd_open failed: {error}") }),
        }
        if let Some(outcome) = progress.killed.clone() {
            return Some(outcome);
        }
        progress.released = Some(Instant::now());
        if let Some(control) = &self.control {
            // A launcher that is gone shows in its descriptor.
            let _gone = rustix::net::send(control, b"G", rustix::net::SendFlags::NOSIGNAL);
        }
        None
    }

    /// bubblewrap outlives the jail, unless it gave up before there was one, or somebody killed it.
    fn bubblewrap_ended(&self, progress: &mut Progress) -> Option<Outcome> {
        let Some(launcher) = &progress.launcher else {
            progress.dead = true;
            return None;
        };
        let mut fds = [PollFd::new(launcher, PollFlags::IN)];
        let alive = matches!(rustix::event::poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0));
        let reason = "bubblewrap was killed from outside".to_owned();
        (alive && progress.report.is_none()).then_some(Outcome::Infrastructure { reason })
    }

    fn read_control(&mut self, progress: &mut Progress) {
        let Some(control) = &self.control else { return };
        let mut buffer = vec![0; LONGEST_REPORT];
        loop {
            match rustix::net::recv(control, &mut buffer[..], rustix::net::RecvFlags::DONTWAIT) {
                Ok((_, 0)) => {
                    self.control = None;
                    return;
                }
                Ok((_, length)) => match serde_json::from_slice(&buffer[..length]) {
                    Ok(Report::Started) => progress.started = true,
                    Ok(report) => progress.report = Some(report),
                    Err(error) => {
                        progress.report = Some(Report::WrongJail { message: format!("unreadable report: {error}") });
                    }
                },
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Ends everything, and says until when that may take.
    fn kill(&mut self, progress: &mut Progress, outcome: Outcome) -> Instant {
        // What was reported before the kill is how it ended.
        self.read_control(progress);
        progress.killed.get_or_insert(outcome);
        match &progress.launcher {
            Some(_) if self.by_silence => self.control = None,
            Some(launcher) => {
                let _dead_already = rustix::process::pidfd_send_signal(launcher, Signal::KILL);
            }
            // There is nothing to kill yet. bubblewrap itself is not it: killed between making a process and letting
            // it go, it leaves one that waits for ever. So the kill waits until we have that process.
            None => self.control = None,
        }
        Instant::now() + DEATH
    }

    /// Everything that could write is dead: takes what is left in the pipes without ever waiting.
    fn drain(&mut self) {
        for source in [&mut self.stdout, &mut self.stderr].into_iter().flatten() {
            while source.read() {}
        }
    }

    /// Waits for bubblewrap, which has nothing left to wait for, and takes its account.
    fn reap(&self, dead: bool) -> Option<Usage> {
        let ended = || Some(rustix::process::pidfd_open(Pid::from_raw(self.bwrap)?, PidfdFlags::empty()));
        if let Some(Ok(ended)) = ended() {
            let patience = Timespec { tv_sec: if dead { 5 } else { 0 }, tv_nsec: 0 };
            let mut fds = [PollFd::new(&ended, PollFlags::IN)];
            if !matches!(rustix::event::poll(&mut fds, Some(&patience)), Ok(1)) {
                kill_process(self.bwrap);
            }
        }
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        let mut status = 0;
        // SAFETY: both pointers are valid for writes; zeroed is a valid rusage.
        let usage = unsafe {
            if libc::wait4(self.bwrap, &raw mut status, 0, usage.as_mut_ptr()) != self.bwrap {
                return None;
            }
            usage.assume_init()
        };
        let time = |time: libc::timeval| {
            Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_usec).unwrap_or(0) * 1000)
        };
        Some(Usage {
            peak_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
        })
    }
}

/// A process that we have not waited for yet.
fn kill_process(process: i32) {
    if let Some(process) = Pid::from_raw(process) {
        let _dead_already = rustix::process::kill_process(process, Signal::KILL);
    }
}

/// The number in `{"child-pid": 123}`, once the line is complete.
fn child_pid(status: &[u8]) -> Option<Pid> {
    let text = std::str::from_utf8(status).ok()?;
    let (_, rest) = text.split_once("\"child-pid\":")?;
    let rest = rest.trim_start();
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    Pid::from_raw(rest[..end].parse().ok()?)
}

fn parent_of(pid: Pid) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// How often the kernel has killed a process for want of memory since it started.
fn out_of_memory_kills() -> u64 {
    let counters = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = counters.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

fn outcome(progress: &Progress, stderr: &Captured, memory_ran_out: bool) -> Outcome {
    match &progress.report {
        Some(Report::Ended { status }) if libc::WIFEXITED(*status) => {
            return Outcome::Exit { code: libc::WEXITSTATUS(*status) };
        }
        Some(Report::Ended { status }) => {
            let signal = libc::WTERMSIG(*status);
            // The counter is the machine's: only together with the kernel's own signal it speaks of us.
            let by_kernel = memory_ran_out && signal == libc::SIGKILL;
            return if by_kernel { Outcome::OutOfMemory } else { Outcome::Signal { signal } };
        }
        Some(Report::Refused { stage, errno, message }) => {
            return Outcome::SpawnError { stage: *stage, errno: *errno, message: message.clone() };
        }
        Some(Report::WrongJail { message }) => return Outcome::Infrastructure { reason: message.clone() },
        Some(Report::Started) | None => {}
    }
    if let Some(killed) = &progress.killed {
        return killed.clone();
    }
    if progress.started {
        return if memory_ran_out {
            Outcome::OutOfMemory
        } else {
            Outcome::Infrastructure { reason: "process 1 of the jail was killed from outside".into() }
        };
    }
    let said = stderr.lossy();
    let said = said.trim();
    let remedy = remedy_for(said).map(|remedy| format!("; {remedy}")).unwrap_or_default();
    Outcome::Infrastructure { reason: format!("the jail could not be built: {said}{remedy}") }
}
