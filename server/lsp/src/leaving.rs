//! [`Leaving`]: a process that ends leaves no half message behind.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

/// A client that does not read holds nobody up longer than this.
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
struct State {
    /// Something is written and not flushed.
    busy: AtomicBool,
    closed: AtomicBool,
}

/// The end of the output, as the loop sees it.
#[derive(Debug)]
pub struct Leaving {
    state: Arc<State>,
    flushed: Receiver<()>,
}

/// An output that is written in whole messages, each followed by a flush.
#[derive(Debug)]
pub struct Output<W> {
    inner: W,
    state: Arc<State>,
    flushed: Sender<()>,
}

pub fn output<W>(inner: W) -> (Output<W>, Leaving) {
    let (sender, receiver) = channel();
    let state = Arc::<State>::default();
    (Output { inner, state: Arc::clone(&state), flushed: sender }, Leaving { state, flushed: receiver })
}

impl Leaving {
    /// Lets no message begin any more and waits for the one that is being written.
    pub fn leave(&self) {
        self.state.closed.store(true, SeqCst);
        let deadline = Instant::now() + PATIENCE;
        while self.state.busy.load(SeqCst) {
            if self.flushed.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
                return;
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Output<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.state.busy.swap(true, SeqCst) && self.state.closed.load(SeqCst) {
            self.state.busy.store(false, SeqCst);
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        if flushed.is_ready() {
            self.state.busy.store(false, SeqCst);
            if self.state.closed.load(SeqCst) {
                // Whoever leaves may have lost its patience.
                let _ = self.flushed.send(());
            }
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn what_is_being_written_is_written_whole_and_nothing_begins_after_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // A pipe that takes two bytes at a time: the message is half written when the process is to end.
        let (client, server) = tokio::io::duplex(2);
        let (mut output, leaving) = output(server);
        runtime.block_on(async {
            let mut client = client;
            output.write_all(b"wh").await.unwrap();
            let left = std::thread::spawn(move || leaving.leave());
            let read = tokio::spawn(async move {
                let mut read = [0; 5];
                client.read_exact(&mut read).await.unwrap();
                (read, client)
            });
            output.write_all(b"ole").await.unwrap();
            output.flush().await.unwrap();
            left.join().unwrap();
            assert_eq!(&read.await.unwrap().0, b"whole");
            assert_eq!(output.write_all(b"no").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
    }
}
