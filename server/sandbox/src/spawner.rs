//! The one thread that starts jails. bubblewrap's `--die-with-parent` is bound to the thread that started it, so this
//! thread lives as long as the process does.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::launcher::close_on_exec_from;

type Request = (Command, Sender<io::Result<i32>>);

/// Starts a command with standard streams 0 to 2 and the descriptors `kept`, under the numbers that they have, and no
/// others. Returns its process id, which stays valid until it is waited for.
pub(crate) fn spawn(mut command: Command, kept: Vec<RawFd>) -> io::Result<i32> {
    // SAFETY: only system calls between fork and exec; the vector is read, not changed.
    unsafe {
        command.pre_exec(move || {
            close_on_exec_from(3)?;
            for fd in &kept {
                if libc::fcntl(*fd, libc::F_SETFD, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    let gone = || io::Error::other("the thread that starts sandboxes has ended");
    let (reply, answer) = channel();
    requests()?.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// The way to the thread, which is started at first use.
fn requests() -> io::Result<Sender<Request>> {
    static REQUESTS: OnceLock<Sender<Request>> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    let _one_starts_it = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = REQUESTS.get() {
        return Ok(sender.clone());
    }
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("sandbox-spawner".into()).spawn(move || serve(&receiver))?;
    Ok(REQUESTS.get_or_init(|| sender).clone())
}

fn serve(requests: &Receiver<Request>) {
    while let Ok((mut command, reply)) = requests.recv() {
        let started = command.spawn().map(|child| i32::try_from(child.id()).unwrap_or(-1));
        // The command holds our ends of its pipes: a reader must see their end when the jail is gone.
        drop(command);
        let _nobody_waits = reply.send(started);
    }
}
