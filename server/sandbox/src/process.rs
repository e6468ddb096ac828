//! The one place where a process of the operating system is described and started: everything else goes through a
//! policy.

use std::ffi::OsStr;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A command with an empty environment that starts in `/`.
#[expect(clippy::disallowed_methods, reason = "the crate that starts processes has to start them somewhere")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/");
    command
}

/// Starts a command with standard streams 0 to 2 and the descriptors `kept`, under the numbers that they have, and no
/// others. Returns its process id, which stays valid until it is waited for.
pub(crate) fn spawn(mut command: Command, kept: Vec<RawFd>) -> io::Result<i32> {
    // Ctrl-C at the terminal is for us: we end the jail in order, and what it was doing is then known.
    command.process_group(0);
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
    // Dropped on return with our ends of its pipes: a reader must see their end when the jail is gone.
    let child = command.spawn()?;
    i32::try_from(child.id()).map_err(io::Error::other)
}

/// Marks every descriptor from `first` on close-on-exec. Async-signal-safe.
pub(crate) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: a plain system call without pointers. The libc wrapper is missing on old systems, the call is not.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
