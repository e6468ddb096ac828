//! The network between a client and a server, as something that a test can cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::door::Door;

/// A proxy on loopback. Give the client its address instead of the server's.
#[derive(Debug)]
pub struct Cable {
    door: Option<Door>,
    line: Arc<Line>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Plugged,
    Silent,
    Cut,
}

#[derive(Debug)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

impl Cable {
    /// A plugged cable to this server.
    pub fn to(server: SocketAddr) -> Self {
        let line = Arc::new(Line { state: Mutex::new(State::Plugged), changed: Condvar::new() });
        let own = Arc::clone(&line);
        let door = Door::open(move |client| own.forward(client.as_ref(), server));
        Self { door: Some(door), line }
    }

    pub fn address(&self) -> SocketAddr {
        self.door().address()
    }

    /// `http://127.0.0.1:PORT`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Ends every connection; new ones are refused.
    pub fn cut(&self) {
        self.line.set(State::Cut);
        self.door().shut();
    }

    /// Connections stay and new ones are taken, but no byte gets through until the cable is plugged again.
    pub fn silence(&self) {
        self.line.set(State::Silent);
    }

    /// What was held back arrives now; after a cut, new connections are taken.
    pub fn plug(&self) {
        self.line.set(State::Plugged);
        self.door().reopen();
    }

    fn door(&self) -> &Door {
        self.door.as_ref().unwrap()
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.line.set(State::Cut);
        self.door = None;
    }
}

impl Line {
    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Waits while the line is silent; false once it is cut.
    fn is_open(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *self.changed.wait_while(state, |state| *state == State::Silent).unwrap_or_else(PoisonError::into_inner)
            == State::Plugged
    }

    fn forward(&self, client: Option<&TcpStream>, server: SocketAddr) {
        let Some(client) = client.filter(|_| self.is_open()) else { return };
        let Ok(server) = TcpStream::connect(server) else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| self.copy(client, &server));
            self.copy(&server, client);
        });
    }

    /// Ends both connections when one of them has ended: HTTP knows no use for half of one.
    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if !self.is_open() || to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
}
