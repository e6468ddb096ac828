//! The one place where a process of the operating system is described: everything else goes through a policy.

use std::ffi::OsStr;
use std::process::Command;

/// A command with an empty environment that starts in `/`.
#[expect(clippy::disallowed_methods, reason = "the crate that starts processes has to start them somewhere")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/");
    command
}
