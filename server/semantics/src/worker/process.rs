//! One running worker with its proc-macro server.

use std::io::BufReader;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use sandbox::{CancelToken, Inherited, Jailed, Keep, Limits, OWN_PROGRAM, Output, Running, Stdin};

use super::serve::{MACROS_FROM, MACROS_TO, WORKER_ARG};
use super::wire::{self, Order, Report};
use crate::load::{MacroProcess, Tools};

/// A worker and the pipes to it. Dropping it ends both processes.
#[derive(Debug)]
pub struct Worker {
    running: Option<Running>,
    to: std::io::PipeWriter,
    reports: Receiver<std::io::Result<Report>>,
    macros: Option<MacroProcess>,
    timed_out: bool,
}

impl Worker {
    /// Starts a worker and, if it is wanted and the toolchain has one, the proc-macro server.
    ///
    /// # Errors
    /// Says what could not be started.
    pub fn start(tools: &Tools, memory_bytes: u64, macros: bool) -> Result<Worker, String> {
        let Tools { sandbox, place, cancel, .. } = tools;
        let macros =
            if macros { MacroProcess::start(sandbox, place, cancel).map_err(|error| chain(&error))? } else { None };
        let mut jailed = Jailed::new(OWN_PROGRAM, "/").arg(WORKER_ARG);
        jailed.mounts = place.readable();
        jailed.limits = Limits { wall: None, data_bytes: memory_bytes, ..Limits::default() };
        // Somebody waits for every answer.
        jailed.nice = 0;
        jailed.stdin = Stdin::Piped;
        jailed.stdout = Output::Piped;
        jailed.stderr = Output::Captured(Keep { head: 0, tail: 4096 });
        let (process, pipes) = macros.unzip();
        if let Some(pipes) = pipes {
            let ends = [(pipes.to, MACROS_TO), (pipes.from, MACROS_FROM)];
            jailed.inherited =
                ends.map(|(file, number)| Inherited { fd: Arc::new(OwnedFd::from(file)), number }).into();
        }
        let mut running = sandbox.start(jailed, cancel).map_err(|error| chain(&error))?;
        let (Some(to), Some(from)) = (running.take_stdin(), running.take_stdout()) else {
            return Err("the worker has no pipes".to_owned());
        };
        let (sender, reports) = mpsc::channel();
        let reader = std::thread::Builder::new().name("compiler-reader".into()).spawn(move || {
            let mut from = BufReader::new(from);
            // Ends when the worker does, or when nobody listens any more.
            while let Some(report) = wire::read(&mut from).transpose() {
                let broken = report.is_err();
                if sender.send(report).is_err() || broken {
                    return;
                }
            }
        });
        reader.map_err(|error| format!("no thread for the worker: {error}"))?;
        Ok(Worker { running: Some(running), to, reports, macros: process, timed_out: false })
    }

    /// Whether there is a proc-macro server.
    pub fn has_macros(&self) -> bool {
        self.macros.is_some()
    }

    /// Whether an answer of it did not come in time.
    pub fn has_timed_out(&self) -> bool {
        self.timed_out
    }

    /// Whether it is gone already.
    pub fn has_ended(&self) -> bool {
        self.running.as_ref().is_none_or(Running::is_finished)
    }

    /// From now on this token ends both processes, and no earlier one.
    pub fn obey(&mut self, cancel: &CancelToken) {
        if let Some(running) = &mut self.running {
            running.obey(cancel);
        }
        if let Some(macros) = &mut self.macros {
            macros.obey(cancel);
        }
    }

    /// Sends an order.
    ///
    /// # Errors
    /// When the worker is gone; says how it ended.
    pub fn send(&mut self, order: &Order) -> Result<(), String> {
        wire::write(&mut self.to, order).map_err(|_| self.ending())
    }

    /// Waits for the next report.
    ///
    /// # Errors
    /// When there is none in time, when it is malformed, and when the worker ended: with the reason.
    pub fn receive(&mut self, until: Instant) -> Result<Report, String> {
        let left = until.saturating_duration_since(Instant::now());
        match self.reports.recv_timeout(left) {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(error)) => Err(format!("the compiler's answer is malformed: {error}")),
            Err(RecvTimeoutError::Timeout) => {
                self.timed_out = true;
                Err("the compiler did not answer in time".to_owned())
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ending()),
        }
    }

    /// How the worker ended, for people.
    fn ending(&mut self) -> String {
        let Some(running) = self.running.take() else { return "the compiler process ended".to_owned() };
        let canceller = running.canceller();
        // It closed its pipes, so it is about to end; if it does not, it is made to.
        let deadline = Instant::now() + Duration::from_secs(2);
        while !running.is_finished() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        canceller.cancel();
        let finished = running.wait();
        let stderr = finished.stderr.lossy();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        format!("the compiler process ended ({}) {last}", finished.outcome).trim_end().to_owned()
    }
}

/// An error with all its causes in one sentence.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
