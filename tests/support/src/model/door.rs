//! A listening place on loopback that can be shut, so that connections are refused, and opened again at the same port.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

/// More connections than this at once are turned away.
const GUESTS: usize = 64;

/// What happens to a connection, or to one that was turned away.
type Serve = Arc<dyn Fn(Option<TcpStream>) + Send + Sync>;

/// Each connection is served on a thread of its own; all of them have ended when `shut` returns.
pub(super) struct Door {
    address: SocketAddr,
    serve: Serve,
    state: Mutex<State>,
}

enum State {
    Open(Arc<TcpListener>, JoinHandle<()>),
    /// Bound but not listening: nobody else can get the port meanwhile.
    Shut(OwnedFd),
    /// Only between the two, and after a failure.
    Gone,
}

impl Door {
    pub(super) fn open(serve: impl Fn(Option<TcpStream>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let door =
            Self { address: listener.local_addr().unwrap(), serve: Arc::new(serve), state: Mutex::new(State::Gone) };
        *door.state.lock().unwrap() = door.accept_on(listener);
        door
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection and refuses new ones.
    pub(super) fn shut(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(..) = *state {
            close(std::mem::replace(&mut *state, State::Gone));
            *state = State::Shut(place(self.address));
        }
    }

    pub(super) fn reopen(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Gone) {
            State::Shut(place) => {
                rustix::net::listen(&place, 64).unwrap();
                *state = self.accept_on(TcpListener::from(place));
            }
            other => *state = other,
        }
    }

    fn accept_on(&self, listener: TcpListener) -> State {
        let listener = Arc::new(listener);
        let (own, serve) = (Arc::clone(&listener), Arc::clone(&self.serve));
        let accepting = std::thread::spawn(move || accept(&own, &serve));
        State::Open(listener, accepting)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        close(std::mem::replace(state, State::Gone));
    }
}

/// A listener that is shut down answers the waiting `accept` with an error, which ends its thread.
fn close(state: State) {
    if let State::Open(listener, accepting) = state {
        let _ = rustix::net::shutdown(&*listener, rustix::net::Shutdown::Both);
        let _ = accepting.join();
    }
}

fn place(address: SocketAddr) -> OwnedFd {
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    // The connections that were just closed would hold the port for a minute otherwise.
    rustix::net::sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    rustix::net::bind(&socket, &address).unwrap();
    socket
}

fn accept(listener: &TcpListener, serve: &Serve) {
    let mut guests: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => continue,
            Err(_) => break,
        };
        guests.retain(|(_, serving)| !serving.is_finished());
        let Some(own) = stream.try_clone().ok().filter(|_| guests.len() < GUESTS) else {
            serve(None);
            continue;
        };
        let serve = Arc::clone(serve);
        let serving = std::thread::spawn(move || {
            let handle = stream.try_clone();
            serve(Some(stream));
            // The list of guests holds the socket too: dropping ours would not end the connection.
            let _ = handle.map(|handle| handle.shutdown(Shutdown::Both));
        });
        guests.push((own, serving));
    }
    for (stream, _) in &guests {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for (_, serving) in guests {
        let _ = serving.join();
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Door").field("address", &self.address).finish_non_exhaustive()
    }
}
