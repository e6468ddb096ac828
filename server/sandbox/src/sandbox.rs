//! Starts jails: opens what a policy names, builds the arguments, and hands the rest to a watcher.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::EventfdFlags;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use crate::argv::{self, Handle, PolicyError, Step};
use crate::bwrap::{Bubblewrap, Unavailable};
use crate::cancel::CancelToken;
use crate::capture::Collector;
use crate::descriptors::{mount_source, sealed, set_nonblocking};
use crate::host::Layout;
use crate::orders::{ExpectedMount, Orders};
use crate::outcome::{Captured, Finished, Outcome};
use crate::policy::{Jailed, Mount};
use crate::process::{command, spawn};
use crate::running::{Pipes, Running};
use crate::streams::{Output, Stdin, Stream};
use crate::watch::{Source, Watch};

/// A machine on which jails can be built. Cheap to clone; usable from any thread.
#[derive(Debug, Clone)]
pub struct Sandbox {
    bubblewrap: Arc<Bubblewrap>,
    /// Our own program file, which is process 1 of every jail.
    launcher: Arc<OwnedFd>,
}

/// Why a run could not be started. Says nothing about the command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The policy breaks a rule of the jail.
    #[error("the sandbox policy is refused")]
    Policy(#[from] PolicyError),
    /// A mount source is missing, or a symbolic link leads to it.
    #[error("{path:?} cannot be mounted in the sandbox: it is missing or a symbolic link leads to it")]
    MountSource {
        /// The host path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A resource of our own process gave out.
    #[error("the sandbox could not be started: {what} failed")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl StartError {
    /// The same as an outcome, with all causes in one sentence.
    fn into_outcome(self) -> Outcome {
        let mut reason = self.to_string();
        let mut cause = std::error::Error::source(&self);
        while let Some(error) = cause {
            reason.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Outcome::Infrastructure { reason }
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::Io { what, source }
}

impl Sandbox {
    /// Finds bubblewrap and opens our own program file. Does not start a jail: [`probe`](fn@crate::probe) does.
    pub fn open() -> Result<Sandbox, Unavailable> {
        Sandbox::with(Bubblewrap::find()?)
    }

    /// Uses a certain bubblewrap.
    pub fn with(bubblewrap: Bubblewrap) -> Result<Sandbox, Unavailable> {
        let launcher = rustix::fs::openat(CWD, "/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| Unavailable::Io { what: "opening /proc/self/exe".into(), source: errno.into() })?;
        Ok(Sandbox { bubblewrap: Arc::new(bubblewrap), launcher: Arc::new(launcher) })
    }

    /// The bubblewrap in use.
    pub fn bubblewrap(&self) -> &Bubblewrap {
        &self.bubblewrap
    }

    /// Runs a command to its end. Every ending is an outcome, the failure to build a jail included. Piped streams have
    /// no reader or writer here: [`Sandbox::start`] is for them.
    pub fn run(&self, jailed: Jailed, cancel: &CancelToken) -> Finished {
        match self.build(jailed, cancel, false) {
            // On this thread: a hand-over to another and back would cost more than the rest of our share.
            Ok(Built { watch, own, pipes }) => {
                drop((own, pipes));
                watch.finish()
            }
            Err(error) => Finished {
                outcome: error.into_outcome(),
                stdout: Captured::default(),
                stderr: Captured::default(),
                duration: Duration::ZERO,
                usage: None,
            },
        }
    }

    /// Starts a command and returns at once; that the jail stands, and that the program exists, shows in the outcome.
    pub fn start(&self, jailed: Jailed, cancel: &CancelToken) -> Result<Running, StartError> {
        self.start_and_end(jailed, cancel, false)
    }

    /// The same, with the choice to end the run as the end of our process would: by silence.
    pub(crate) fn start_and_end(
        &self,
        jailed: Jailed,
        cancel: &CancelToken,
        by_silence: bool,
    ) -> Result<Running, StartError> {
        let Built { watch, own, pipes } = self.build(jailed, cancel, by_silence)?;
        Running::watch(watch, own, cancel.clone(), pipes).map_err(failed("starting a thread"))
    }

    fn build(&self, jailed: Jailed, cancel: &CancelToken, by_silence: bool) -> Result<Built, StartError> {
        let hidden = jailed.mounts.iter().filter_map(|mount| match mount {
            Mount::Hidden { inside } => Some(inside.clone()),
            _ => None,
        });
        let steps = argv::plan(&jailed, &Layout::of_this_machine(hidden))?;
        let Opened { handles, mut kept, mounts } = open_sources(&steps, self.bubblewrap.bind_fd)?;

        let seqpacket = SocketType::SEQPACKET;
        let (control, control_inside) =
            rustix::net::socketpair(AddressFamily::UNIX, seqpacket, SocketFlags::CLOEXEC, None)
                .map_err(|errno| failed("making the control socket")(errno.into()))?;
        let (status, status_inside) = pipe()?;
        // Copies, so that each has a number of its own and stays open until the jail has it.
        let mut inherited = Vec::new();
        for asked in &jailed.inherited {
            let copy = rustix::io::fcntl_dupfd_cloexec(&*asked.fd, 3)
                .map_err(|errno| failed("copying a descriptor")(errno.into()))?;
            inherited.push((copy.as_raw_fd(), asked.number));
            kept.push(copy);
        }
        let orders = orders(&jailed, inherited, mounts);
        let orders = serde_json::to_vec(&orders).map_err(|error| failed("writing orders")(error.into()))?;
        let orders = sealed("orders", &orders).map_err(failed("writing orders"))?;
        let options = argv::options(&steps, &handles, status_inside.as_raw_fd());
        let options: Vec<u8> = options.iter().flat_map(|option| option.as_bytes().iter().copied().chain([0])).collect();
        let options = sealed("options", &options).map_err(failed("writing options"))?;

        let mut bwrap = command(&self.bubblewrap.path);
        bwrap.args(argv::command_line(
            options.as_raw_fd(),
            self.launcher.as_raw_fd(),
            control_inside.as_raw_fd(),
            orders.as_raw_fd(),
        ));
        let stdin = stdin(&jailed.stdin, &mut bwrap)?;
        let (stdout, captured_out) = output(&jailed, Stream::Stdout, jailed.stdout)?;
        let (stderr, captured_err) = output(&jailed, Stream::Stderr, jailed.stderr)?;
        bwrap.stdout(stdout.inside).stderr(stderr.inside);

        // With a reader of its own, bubblewrap is not ended by a write to a pipe whose host is gone: it would leave a
        // half-built jail that waits for ever.
        let status_reader =
            rustix::io::fcntl_dupfd_cloexec(&status, 3).map_err(|errno| failed("copying a pipe")(errno.into()))?;
        kept.extend([status_reader, control_inside, status_inside, orders, options]);
        let mut numbers: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
        numbers.push(self.launcher.as_raw_fd());

        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| failed("making an event descriptor")(errno.into()))?;
        let (event, own) = (Arc::new(event), CancelToken::new());
        own.register(&event);
        cancel.register(&event);

        let bwrap = spawn(bwrap, numbers).map_err(failed("starting bubblewrap"))?;
        drop(kept);
        let watch = Watch {
            bwrap,
            status: Some(status),
            control: Some(control),
            event,
            stdout: captured_out,
            stderr: captured_err,
            limits: jailed.limits,
            by_silence,
        };
        let pipes = Pipes { stdin, stdout: stdout.outside, stderr: stderr.outside };
        Ok(Built { watch, own, pipes })
    }
}

/// A jail under way.
struct Built {
    watch: Watch,
    own: CancelToken,
    pipes: Pipes,
}

struct Opened {
    /// One for each step that needs one.
    handles: Vec<Handle>,
    kept: Vec<OwnedFd>,
    mounts: Vec<ExpectedMount>,
}

fn open_sources(steps: &[Step], bind_fd: bool) -> Result<Opened, StartError> {
    let mut opened = Opened { handles: Vec::new(), kept: Vec::new(), mounts: Vec::new() };
    for step in steps {
        match step {
            Step::Bind { host, inside, .. } => {
                let error = |source| StartError::MountSource { path: host.clone(), source };
                let fd = mount_source(host).map_err(error)?;
                let stat = rustix::fs::fstat(&fd).map_err(|errno| error(errno.into()))?;
                let inside = inside.as_os_str().as_bytes().to_vec();
                opened.mounts.push(ExpectedMount { inside, device: stat.st_dev, inode: stat.st_ino });
                opened.handles.push(if bind_fd { Handle::Fd(fd.as_raw_fd()) } else { Handle::Path });
                opened.kept.push(fd);
            }
            Step::Data { data, .. } | Step::Copy { data, .. } => {
                let fd = sealed("file", data).map_err(failed("writing a file for the sandbox"))?;
                opened.handles.push(Handle::Fd(fd.as_raw_fd()));
                opened.kept.push(fd);
            }
            _ => {}
        }
    }
    Ok(opened)
}

fn orders(jailed: &Jailed, inherited: Vec<(RawFd, RawFd)>, mounts: Vec<ExpectedMount>) -> Orders {
    let bytes = |text: &std::ffi::OsStr| text.as_bytes().to_vec();
    Orders {
        program: bytes(jailed.program.as_os_str()),
        args: jailed.args.iter().map(|arg| bytes(arg)).collect(),
        env: jailed.env.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
        cwd: bytes(jailed.cwd.as_os_str()),
        nice: jailed.nice,
        cpu_seconds: jailed.limits.cpu_seconds(),
        data_bytes: jailed.limits.data_bytes,
        file_bytes: jailed.limits.file_bytes,
        open_files: jailed.limits.open_files,
        processes: jailed.limits.processes,
        inherited,
        mounts,
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), StartError> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed("making a pipe")(errno.into()))
}

/// Sets the command's input; returns the caller's end if there is one.
fn stdin(stdin: &Stdin, bwrap: &mut std::process::Command) -> Result<Option<OwnedFd>, StartError> {
    match stdin {
        Stdin::Null => bwrap.stdin(Stdio::null()),
        Stdin::Bytes(bytes) => bwrap.stdin(sealed("stdin", bytes).map_err(failed("writing the input"))?),
        Stdin::Piped => {
            let (reader, writer) = pipe()?;
            bwrap.stdin(reader);
            return Ok(Some(writer));
        }
    };
    Ok(None)
}

struct Ends {
    inside: OwnedFd,
    /// The caller's end of a piped stream.
    outside: Option<OwnedFd>,
}

fn output(jailed: &Jailed, stream: Stream, output: Output) -> Result<(Ends, Option<Source>), StartError> {
    let (reader, inside) = pipe()?;
    match output {
        Output::Piped => Ok((Ends { inside, outside: Some(reader) }, None)),
        Output::Captured(keep) => {
            set_nonblocking(&reader).map_err(failed("making a pipe"))?;
            let collector = Collector::new(stream, keep, jailed.on_line.clone());
            Ok((Ends { inside, outside: None }, Some(Source { reader: Some(reader), collector })))
        }
    }
}
