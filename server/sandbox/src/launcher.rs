//! Process 1 of every jail: our own binary, executed again. It waits for the word, sets the limits, starts the command,
//! reaps, reports the exact wait status, and ends. Its end, for whatever reason, is the end of everything in the jail,
//! because the kernel kills a process namespace that loses its first process.
//!
//! It dies when the control socket closes, so nothing in a jail outlives the process that started it, not even after
//! SIGKILL. bubblewrap's own `--die-with-parent` is not used: it is bound to the thread that started it, and a start
//! that it interrupts leaves a half-built jail behind that waits for ever. Without it a start whose host is gone runs
//! on to the launcher, which finds the socket closed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{DumpableBehavior, Resource, Rlimit};

use crate::orders::{Orders, Report};
use crate::outcome::SpawnStage;
use crate::process::{close_on_exec_from, command};

/// The hidden first argument that makes a binary act as the launcher.
pub const LAUNCHER_ARG: &str = "__sandbox-launcher";

/// Our own descriptors move to this number and above, out of the way of those that the command inherits.
const HIGH: RawFd = 256;

/// Becomes the launcher if the process was started as one; returns otherwise. Call it before anything else in `main`
/// of every binary that uses this crate, test binaries included.
pub fn run_if_launcher() {
    let mut args = std::env::args_os().skip(1);
    if args.next().as_deref() != Some(OsStr::new(LAUNCHER_ARG)) {
        return;
    }
    // The host reads the outcome from the socket; the exit code only helps whoever debugs the launcher.
    let code = match launch(args) {
        Ok(()) => 0,
        Err(error) => {
            // Not `eprintln`, which panics when the host is gone and with it the reader.
            let _nobody_reads = writeln!(io::stderr(), "sandbox launcher: {error}");
            125
        }
    };
    std::process::exit(code);
}

fn launch(mut args: impl Iterator<Item = OsString>) -> io::Result<()> {
    let number = |arg: Option<OsString>| arg.and_then(|arg| arg.to_str()?.parse::<RawFd>().ok());
    let (Some(control), Some(orders)) = (number(args.next()), number(args.next())) else {
        return Err(io::Error::other("it is started by the sandbox only, with two descriptors"));
    };
    if rustix::process::getpid().as_raw_nonzero().get() != 1 {
        return Err(io::Error::other("it runs as process 1 of a sandbox only"));
    }
    // Nothing in the jail may read our memory, environment or descriptors.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    close_on_exec_from(3)?;
    leave_session_keyring()?;
    // SAFETY: the host passed both descriptors for us to own; nothing else in this fresh process knows them.
    let (control, orders) = unsafe { (OwnedFd::from_raw_fd(control), OwnedFd::from_raw_fd(orders)) };
    let control = rustix::io::fcntl_dupfd_cloexec(control, HIGH)?;

    let mut go = [0; 1];
    if read_retrying(&control, &mut go)? == 0 {
        return Err(io::Error::other("the host ended before it gave the word"));
    }
    let mut text = Vec::new();
    File::from(orders).read_to_end(&mut text)?;
    let orders: Orders = serde_json::from_slice(&text)?;
    send(&control, &Report::Started)?;

    // Blocked before the command exists, so that its end cannot be missed. Spawning resets the mask in the child.
    let children = watch_children()?;
    match start(&orders) {
        Ok(main) => supervise(&control, &children, main),
        Err(report) => send(&control, &report),
    }
}

/// Starts the command and returns its process id.
fn start(orders: &Orders) -> Result<i32, Report> {
    for mount in &orders.mounts {
        let inside = Path::new(OsStr::from_bytes(&mount.inside));
        let found = rustix::fs::lstat(inside).map(|stat| (stat.st_dev, stat.st_ino));
        if found != Ok((mount.device, mount.inode)) {
            let message = format!("what is mounted at {} was exchanged while the jail was built", inside.display());
            return Err(Report::WrongJail { message });
        }
    }
    let cwd = Path::new(OsStr::from_bytes(&orders.cwd));
    if let Err(error) = std::env::set_current_dir(cwd) {
        return Err(refused(SpawnStage::Folder, &error, format!("cannot enter the folder {}", cwd.display())));
    }
    // Moved to their numbers before anything else opens a descriptor, which could otherwise take one of them.
    move_inherited(&orders.inherited)
        .map_err(|error| refused(SpawnStage::Limit, &error, "cannot pass on descriptors".into()))?;
    set_limits(orders).map_err(|error| refused(SpawnStage::Limit, &error, "cannot set limits".into()))?;
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);

    let program = OsStr::from_bytes(&orders.program);
    let mut child = command(program);
    child.current_dir(".");
    child.args(orders.args.iter().map(|arg| OsStr::from_bytes(arg)));
    child.envs(orders.env.iter().map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value))));
    let nice = orders.nice;
    // SAFETY: two system calls, both allowed between fork and exec.
    unsafe {
        child.pre_exec(move || {
            rustix::process::setsid()?;
            // A container may forbid it; a command at normal priority is still a correct run.
            let _forbidden = rustix::process::setpriority_process(None, nice);
            Ok(())
        });
    }
    let started = child.spawn();
    for (_, number) in &orders.inherited {
        // SAFETY: we put the descriptor there ourselves, and the command has its own copy.
        drop(unsafe { OwnedFd::from_raw_fd(*number) });
    }
    match started {
        Ok(child) => Ok(i32::try_from(child.id()).unwrap_or(-1)),
        Err(error) => {
            Err(refused(SpawnStage::Program, &error, format!("cannot execute {}", Path::new(program).display())))
        }
    }
}

fn refused(stage: SpawnStage, error: &io::Error, what: String) -> Report {
    let mut message = format!("{what}: {error}");
    message.truncate(message.floor_char_boundary(2000));
    Report::Refused { stage, errno: error.raw_os_error().unwrap_or(0), message }
}

/// Reaps until the main process ends or the host does.
fn supervise(control: &OwnedFd, children: &OwnedFd, main: i32) -> io::Result<()> {
    // Our copies of the command's streams would keep a pipe open after every process that writes to it is gone.
    for stream in 0..3 {
        // SAFETY: nothing in this process uses its standard streams from here on, not even to report an error.
        drop(unsafe { OwnedFd::from_raw_fd(stream) });
    }
    loop {
        let mut events = [PollFd::new(control, PollFlags::IN), PollFd::new(children, PollFlags::IN)];
        match rustix::event::poll(&mut events, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // The host never writes after the word to go: readable means closed.
        if !events[0].revents().is_empty() {
            return Ok(());
        }
        if !events[1].revents().is_empty() {
            let mut drained = [0; 1024];
            let _nothing_left = rustix::io::read(children, &mut drained[..]);
            while let Some((child, status)) = reap()? {
                if child == main {
                    return send(control, &Report::Ended { status });
                }
            }
        }
    }
}

/// One child that has ended, with its wait status.
fn reap() -> io::Result<Option<(i32, i32)>> {
    match rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
        Ok(Some((child, status))) => Ok(Some((child.as_raw_nonzero().get(), status.as_raw()))),
        Ok(None) | Err(rustix::io::Errno::CHILD) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn move_inherited(inherited: &[(RawFd, RawFd)]) -> io::Result<()> {
    let mut moved = Vec::new();
    for (from, number) in inherited {
        // SAFETY: the host left this descriptor open for us to pass on; we take it over here, once.
        let owned = unsafe { OwnedFd::from_raw_fd(*from) };
        moved.push((rustix::io::fcntl_dupfd_cloexec(owned, HIGH)?, *number));
    }
    for (fd, number) in moved {
        // SAFETY: plain dup2; every descriptor that we still need is above the numbers that policies may ask for.
        if unsafe { libc::dup2(fd.as_raw_fd(), number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn set_limits(orders: &Orders) -> io::Result<()> {
    let limits = [
        (Resource::Cpu, orders.cpu_seconds),
        (Resource::Data, Some(orders.data_bytes)),
        (Resource::Fsize, Some(orders.file_bytes)),
        (Resource::Nofile, Some(orders.open_files)),
        // Set here, inside the user namespace, it counts the processes of this jail; outside it counted all of ours.
        (Resource::Nproc, Some(orders.processes)),
        (Resource::Core, Some(0)),
        (Resource::Memlock, Some(64 * 1024)),
        (Resource::Msgqueue, Some(0)),
    ];
    for (resource, wanted) in limits {
        let Some(wanted) = wanted else { continue };
        let hard = rustix::process::getrlimit(resource).maximum;
        let value = Some(hard.map_or(wanted, |hard| hard.min(wanted)));
        rustix::process::setrlimit(resource, Rlimit { current: value, maximum: value })?;
    }
    Ok(())
}

/// A descriptor that becomes readable when a child ends.
fn watch_children() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is initialised by the first call and only used by the following ones; the descriptor is new.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(rustix::io::fcntl_dupfd_cloexec(OwnedFd::from_raw_fd(fd), HIGH)?)
    }
}

/// Gives the jail a session keyring of its own. The kernel's session keyring is inherited like a descriptor and is in no
/// namespace: the developer's would be read in the jail (Kerberos tickets, keys of encrypted folders), and what is put
/// there would outlive the run.
fn leave_session_keyring() -> io::Result<()> {
    const KEYCTL_JOIN_SESSION_KEYRING: libc::c_long = 1;
    // SAFETY: a plain system call; no name means a new keyring without one.
    let joined = unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) };
    match io::Error::last_os_error() {
        _ if joined >= 0 => Ok(()),
        // A kernel without keys, or a container whose filter denies them all: there is nothing to be read either.
        error if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => Ok(()),
        error => Err(error),
    }
}

fn read_retrying(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(fd, &mut *buffer) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

fn send(control: &OwnedFd, report: &Report) -> io::Result<()> {
    let text = serde_json::to_vec(report)?;
    rustix::net::send(control, &text, rustix::net::SendFlags::NOSIGNAL)?;
    Ok(())
}
