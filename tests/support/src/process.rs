//! Processes of tests: started in one place, waited for with a deadline, stopped, continued and killed by their id.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::wait_until;

/// Longer than any command of a test takes on a slow machine; one that hangs fails its test instead of the whole run.
const DEADLINE: Duration = Duration::from_secs(600);

#[expect(clippy::disallowed_methods, reason = "the one place where tests start real programs")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// A command that runs. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    what: String,
}

/// A command that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub status: ExitStatus,
    what: String,
}

impl Running {
    /// # Panics
    /// When the program cannot be started.
    pub fn start(mut command: Command) -> Self {
        let what = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
        let (stdout, stderr) = (child.stdout.take().map(collect), child.stderr.take().map(collect));
        Self { stdin: child.stdin.take(), child, stdout, stderr, what }
    }

    /// The same for a program that is talked with: whoever asks gets both pipes, and nothing of its output is collected.
    pub(crate) fn speaking(mut command: Command) -> (Self, ChildStdin, ChildStdout) {
        let what = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let stderr = child.stderr.take().map(collect);
        (Self { stdin: None, child, stdout: None, stderr, what }, stdin, stdout)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What to write its input to; a second call, or one after [`Running::finish`], has nothing to give.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends SIGKILL. What the process started lives on unless it sees to that itself.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Stops the process and waits until it is stopped.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.id());
        let stopped = || std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") T "));
        wait_until("the process is stopped", DEADLINE, stopped);
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// What Ctrl-C sends.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes the input and waits for the end. Output is complete when the last process that has it open is gone.
    ///
    /// # Panics
    /// When it does not end.
    pub fn finish(mut self) -> Finished {
        drop(self.stdin.take());
        let what = format!("{} ends", self.what);
        wait_until(&what, DEADLINE, || self.child.try_wait().unwrap().is_some());
        let take =
            |handle: Option<JoinHandle<Vec<u8>>>| handle.map(|handle| handle.join().unwrap()).unwrap_or_default();
        let (stdout, stderr) = (take(self.stdout.take()), take(self.stderr.take()));
        Finished {
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            status: self.child.wait().unwrap(),
            what: self.what.clone(),
        }
    }

    /// Writes the input in full, then waits for the end.
    pub fn feed(mut self, input: &[u8]) -> Finished {
        if let Some(mut stdin) = self.stdin.take() {
            // A program that ends without reading its input closes the pipe; its exit code says what it thought.
            drop(stdin.write_all(input));
        }
        self.finish()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Finished {
    /// The exit code; `None` when a signal ended the process.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// # Panics
    /// When the process ended in any other way, with everything that it printed.
    #[track_caller]
    pub fn ended_with(self, code: i32) -> Self {
        let Self { what, status, stderr, .. } = &self;
        let stdout = self.text();
        assert!(self.code() == Some(code), "{what}\nended with {status}, not {code}\n{stdout}\n--- stderr\n{stderr}");
        self
    }

    /// The one JSON value on standard output.
    ///
    /// # Panics
    /// When there is anything else.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("{}\nprinted no JSON ({error}):\n{}\n--- stderr\n{}", self.what, self.text(), self.stderr)
        })
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Running {
        let mut shell = command("sh");
        shell.args(["-c", script]);
        Running::start(shell)
    }

    #[test]
    fn output_code_and_json_are_read() {
        let finished = shell("cat; echo sorry >&2; exit 3").feed(b"{\"a\": [1]}").ended_with(3);
        assert_eq!(finished.json()["a"][0], 1);
        assert_eq!(finished.stderr, "sorry\n");
    }

    #[test]
    fn a_stopped_process_goes_on_and_a_killed_one_does_not() {
        let mut running = shell("read line; echo $line");
        running.stop();
        running.stdin().unwrap().write_all(b"on\n").unwrap();
        assert!(running.is_running());
        running.go_on();
        assert_eq!(running.finish().ended_with(0).text(), "on\n");

        let running = shell("read line");
        running.kill();
        let finished = running.finish();
        assert_eq!((finished.code(), finished.signal()), (None, Some(9)));
    }

    #[test]
    #[should_panic = "ended with exit status: 4, not 0"]
    fn an_unexpected_end_shows_what_was_printed() {
        shell("exit 4").finish().ended_with(0);
    }
}
