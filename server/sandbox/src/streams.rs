//! Where the streams of a command come from and go to.

use std::fmt;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;

use crate::limits::Keep;

/// Where standard input comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nowhere: reading finds the end at once.
    #[default]
    Null,
    /// From the caller, through [`Running::take_stdin`](crate::Running::take_stdin).
    Piped,
    /// From these bytes.
    Bytes(Arc<[u8]>),
}

/// Where an output stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Into [`Finished`](crate::Finished), cut to `Keep`; counts against the output limit.
    Captured(Keep),
    /// To the caller, through [`Running::take_stdout`](crate::Running::take_stdout) or `take_stderr`. Nothing is
    /// counted: the caller must read and must set its own bounds.
    Piped,
}

impl Default for Output {
    fn default() -> Self {
        Output::Captured(Keep::default())
    }
}

/// A pipe end or socket that the command finds open at a fixed number. Anything else is refused: one descriptor of a
/// folder is a way out of the jail.
#[derive(Debug, Clone)]
pub struct Inherited {
    /// The pipe end or socket.
    pub fd: Arc<OwnedFd>,
    /// Its number inside, 3 to 255.
    pub number: RawFd,
}

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A callback for lines of captured output, without their line ending; a line over 64 KiB arrives in pieces. It runs
/// on the thread that watches the run and must be quick.
#[derive(Clone)]
pub struct OnLine(Arc<LineCallback>);

type LineCallback = dyn Fn(Stream, &[u8]) + Send + Sync;

impl OnLine {
    /// Wraps a closure.
    pub fn new(callback: impl Fn(Stream, &[u8]) + Send + Sync + 'static) -> Self {
        OnLine(Arc::new(callback))
    }

    pub(crate) fn call(&self, stream: Stream, line: &[u8]) {
        (self.0)(stream, line);
    }
}

impl fmt::Debug for OnLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLine")
    }
}
