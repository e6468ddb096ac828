//! The caller's handle on a run.

use std::io;
use std::io::{PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::outcome::{Captured, Finished, Outcome};
use crate::watch::Watch;

/// A run under way. Dropping it ends the run and waits until everything in the jail is dead, which takes milliseconds.
#[derive(Debug)]
pub struct Running {
    own: CancelToken,
    /// The caller's.
    cancel: CancelToken,
    watcher: Option<JoinHandle<Finished>>,
    pipes: Pipes,
}

/// The caller's ends of piped streams.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub stdin: Option<OwnedFd>,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
}

impl Running {
    pub(crate) fn watch(watch: Watch, own: CancelToken, cancel: CancelToken, pipes: Pipes) -> io::Result<Running> {
        let watcher = std::thread::Builder::new().name("sandbox-watcher".into()).spawn(move || watch.finish())?;
        Ok(Running { own, cancel, watcher: Some(watcher), pipes })
    }

    /// The writing end of the command's input, once, if the policy piped it. Dropping it is the end of the input.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        self.pipes.stdin.take().map(PipeWriter::from)
    }

    /// The reading end of the command's output, once, if the policy piped it.
    pub fn take_stdout(&mut self) -> Option<PipeReader> {
        self.pipes.stdout.take().map(PipeReader::from)
    }

    /// The reading end of the command's error output, once, if the policy piped it.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        self.pipes.stderr.take().map(PipeReader::from)
    }

    /// A token that ends this run only, from any thread.
    pub fn canceller(&self) -> CancelToken {
        self.own.clone()
    }

    /// From now on this token ends the run, and the one that it was started with does not any more: for a run that
    /// outlives what it was started for.
    pub fn obey(&mut self, cancel: &CancelToken) {
        cancel.take_over(&self.own, &self.cancel);
        self.cancel = cancel.clone();
    }

    /// Whether the run is over, so that [`Running::wait`] returns at once.
    pub fn is_finished(&self) -> bool {
        self.watcher.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the run: of the command, and of everything that it started.
    pub fn wait(mut self) -> Finished {
        let finished = self.watcher.take().and_then(|watcher| watcher.join().ok());
        finished.unwrap_or_else(|| Finished {
            // A callback for lines that panics ends its watcher, and with it the control socket and the jail.
            outcome: Outcome::Infrastructure { reason: "the thread that watched the run panicked".into() },
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration: Duration::ZERO,
            usage: None,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            self.own.cancel();
            let _its_outcome_is_unwanted = watcher.join();
        }
    }
}
