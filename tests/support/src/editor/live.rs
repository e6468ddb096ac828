//! The desk behind its pipes: a thread that reads and lets the desk answer, and one that writes, so that neither side
//! ever waits for the other to read.

use std::io::{BufReader, BufWriter, ErrorKind};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::Client;
use super::desk::{Desk, From, Out};
use super::{check, wire};
use crate::Running;

/// When a slow editor comes to report a change, as long as Neovim takes.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// How much of what was said stands in the message of a failed test.
const LAST: usize = 25;

pub type Line = (From, Value);

#[derive(Debug)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    desk: Desk,
    /// Where messages to the server go; `None` once the pipe is closed.
    pipe: Option<Sender<Value>>,
    later: Vec<Value>,
    /// The server closed its end, or this editor died.
    over: bool,
    /// The server went in the middle of a message.
    cut: bool,
    /// What was read that is no message.
    noise: Vec<String>,
}

/// Starts a server and the two threads that talk with it.
pub(crate) fn connect(shared: &Arc<Shared>, command: Command) -> Running {
    let (running, stdin, stdout) = Running::speaking(command);
    let (send, receive) = channel();
    shared.lock().pipe = Some(send);
    thread::spawn(move || write(stdin, &receive));
    let reader = Arc::clone(shared);
    thread::spawn(move || reader.read(stdout));
    running
}

fn write(stdin: ChildStdin, messages: &Receiver<Value>) {
    let mut pipe = BufWriter::new(stdin);
    // A server that is gone reads nothing any more; what it left unanswered shows elsewhere.
    while let Ok(message) = messages.recv()
        && wire::write(&mut pipe, &message).is_ok()
    {}
}

impl Shared {
    pub fn new(client: Client) -> Self {
        let (desk, noise) = (Desk::new(client), Vec::new());
        let inner = Inner { desk, pipe: None, later: Vec::new(), over: false, cut: false, noise };
        Self { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// A test that failed with the lock in its hands must not hide why.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(self: &Arc<Self>, stdout: ChildStdout) {
        let mut pipe = BufReader::new(stdout);
        loop {
            let message = wire::read(&mut pipe);
            let mut inner = self.lock();
            match message {
                Ok(Some(message)) if !inner.over => {
                    inner.desk.receive(message);
                    self.deliver(&mut inner);
                }
                Ok(Some(_)) => {}
                Ok(None) => inner.over = true,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => (inner.cut, inner.over) = (true, true),
                Err(error) => {
                    inner.noise.push(error.to_string());
                    inner.over = true;
                }
            }
            self.changed.notify_all();
            if inner.over {
                return;
            }
        }
    }

    pub fn look<T>(&self, look: impl FnOnce(&mut Desk) -> T) -> T {
        look(&mut self.lock().desk)
    }

    /// The same for whatever may speak to the server.
    pub fn act<T>(self: &Arc<Self>, act: impl FnOnce(&mut Desk) -> T) -> T {
        let mut inner = self.lock();
        let done = act(&mut inner.desk);
        self.deliver(&mut inner);
        self.changed.notify_all();
        done
    }

    fn deliver(self: &Arc<Self>, inner: &mut Inner) {
        for out in std::mem::take(&mut inner.desk.out) {
            match out {
                Out::Now(message) => {
                    if message["method"].is_string() {
                        inner.say_late_ones();
                    }
                    inner.send(message);
                }
                Out::Later(message) => {
                    inner.later.push(message);
                    let late = Arc::clone(self);
                    thread::spawn(move || {
                        thread::sleep(DEBOUNCE);
                        late.lock().say_late_ones();
                    });
                }
                Out::Die => {
                    inner.pipe = None;
                    inner.over = true;
                }
            }
        }
    }

    pub fn hang_up(&self) {
        self.lock().pipe = None;
    }

    /// Lets go of the lock until the server says something, or the time is over.
    pub fn pause(&self, time: Duration) {
        let inner = self.lock();
        drop(self.changed.wait_timeout(inner, time).unwrap_or_else(PoisonError::into_inner));
    }

    #[track_caller]
    pub fn wait<T>(&self, what: &str, time: Duration, mut look: impl FnMut(&mut Desk) -> Option<T>) -> T {
        let end = Instant::now() + time;
        let mut inner = self.lock();
        loop {
            if let Some(found) = look(&mut inner.desk) {
                return found;
            }
            let now = Instant::now();
            if now >= end || inner.over {
                let why = if inner.over { "the server is gone" } else { "waited in vain" };
                drop(inner);
                panic!("{why}: {what}\n{}", self.last_lines());
            }
            inner = self.changed.wait_timeout(inner, end - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Broken rules; with `answered` also requests without an answer. Only a server that was killed may leave those, and
    /// half a message.
    pub fn faults(&self, answered: bool) -> Vec<String> {
        let inner = self.lock();
        let mut found = check::faults(&inner.desk.client, inner.desk.transcript());
        found.extend(inner.noise.iter().map(|noise| format!("not a message: {noise}")));
        if answered && inner.cut {
            found.push("the server went in the middle of a message".to_owned());
        }
        if answered && !inner.desk.is_answered() {
            found.push("a request was never answered".to_owned());
        }
        found
    }

    pub fn last_lines(&self) -> String {
        let inner = self.lock();
        let lines = inner.desk.transcript();
        let last = &lines[lines.len().saturating_sub(LAST)..];
        let shown = last.iter().map(|(from, message)| {
            let text: String = message.to_string().chars().take(600).collect();
            format!("{from:?}: {text}")
        });
        format!("--- last said\n{}", shown.collect::<Vec<_>>().join("\n"))
    }
}

impl Inner {
    fn send(&self, message: Value) {
        if let Some(pipe) = &self.pipe {
            // The writer ends with the pipe.
            drop(pipe.send(message));
        }
    }

    fn say_late_ones(&mut self) {
        for message in std::mem::take(&mut self.later) {
            self.send(message);
        }
    }
}
