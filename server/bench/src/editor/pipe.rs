//! Just enough of an editor to measure with: one server, one question at a time, and polite answers to what it asks.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Failure, by_hand};

/// Longer than any answer takes; a server that hangs must not hang the measurement.
const LONG: Duration = Duration::from_secs(120);

pub struct Server {
    child: Child,
    input: ChildStdin,
    said: Receiver<(Value, Instant)>,
    next: i64,
    state: String,
    /// Answers so far.
    pub answered: u64,
}

impl Server {
    /// Starts a server with a state folder of its own. Answers also how long it took from the start of the process to the
    /// answer of `initialize`.
    pub fn start(folder: &Path, state: &Path) -> Result<(Self, Duration), Failure> {
        std::fs::create_dir_all(state)?;
        let begin = Instant::now();
        let mut child = by_hand::speak(folder, &["lsp"], &[("XDG_STATE_HOME", state)])?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let (send, said) = channel();
        std::thread::spawn(move || read(output, &send));
        let mut server = Self { child, input, said, next: 0, state: state.display().to_string(), answered: 0 };
        let capabilities = json!({
            "workspace": {"workspaceEdit": {"documentChanges": true}},
            "window": {"workDoneProgress": true},
        });
        let folder = json!({"uri": uri(folder), "name": "measured"});
        let params = json!({
            "processId": std::process::id(), "rootUri": null, "workspaceFolders": [folder], "capabilities": capabilities,
        });
        server.ask("initialize", params)?;
        let took = begin.elapsed();
        server.notify("initialized", json!({}))?;
        Ok((server, took))
    }

    /// A question and the time until its answer was read.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<(Value, Duration), Failure> {
        let begin = Instant::now();
        let id = self.send(method, params)?;
        let (answer, at) = self.answer(id)?;
        match answer.get("error") {
            Some(error) => Err(format!("{method} was refused: {error}").into()),
            None => Ok((answer["result"].clone(), at - begin)),
        }
    }

    pub fn command(&mut self, command: &str, argument: Value) -> Result<Value, Failure> {
        let params = json!({"command": command, "arguments": [argument]});
        self.ask("workspace/executeCommand", params).map(|(answer, _)| answer)
    }

    pub fn send(&mut self, method: &str, params: Value) -> Result<i64, Failure> {
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))?;
        Ok(self.next)
    }

    pub fn notify(&mut self, method: &str, params: Value) -> Result<(), Failure> {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Waits for one answer. Others that come before it are dropped.
    pub fn answer(&mut self, id: i64) -> Result<(Value, Instant), Failure> {
        loop {
            let (message, at) = self.next_answer()?;
            if message["id"] == id {
                return Ok((message, at));
            }
        }
    }

    /// Waits for the answers to all of these requests, whatever they are, and notes how long each took.
    pub fn settle(&mut self, asked: &mut Vec<(i64, Instant)>, times: &mut Vec<Duration>) -> Result<(), Failure> {
        while !asked.is_empty() {
            let (message, at) = self.next_answer()?;
            let found = asked.iter().position(|(id, _)| message["id"] == *id);
            let (_, begin) = asked.swap_remove(found.ok_or_else(|| format!("a second answer: {message}"))?);
            times.push(at - begin);
        }
        Ok(())
    }

    /// The next answer; what the server asks is answered on the way.
    fn next_answer(&mut self) -> Result<(Value, Instant), Failure> {
        loop {
            let (message, at) = self.said.recv_timeout(LONG).map_err(|_| "the server does not answer")?;
            if message["method"].is_null() {
                self.answered += 1;
                return Ok((message, at));
            }
            if !message["id"].is_null() {
                self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": null}))?;
            }
        }
    }

    fn write(&mut self, message: &Value) -> Result<(), Failure> {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(self.input.flush()?)
    }

    /// Kilobytes that the server itself holds.
    pub fn memory(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        number.ok_or_else(|| "the server has no memory".into())
    }

    /// Processes beside the server that know its state folder: by their environment, or inside the sandbox, where that is
    /// empty, by what is mounted.
    pub fn others(&self) -> usize {
        let own = [self.child.id(), std::process::id()].map(|id| id.to_string());
        let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let knows = |folder: &Path| {
            ["environ", "mountinfo"].iter().any(|name| {
                let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
                bytes.windows(self.state.len()).any(|part| part == self.state.as_bytes())
            })
        };
        let others = folders.filter(|entry| !own.iter().any(|id| entry.file_name() == id.as_str()));
        others.filter(|entry| knows(&entry.path())).count()
    }

    pub fn kill(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Tells the server to go. Answers how many processes it left behind.
    pub fn end(mut self) -> Result<usize, Failure> {
        self.ask("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begin.elapsed() > LONG {
                return Err("the server does not go".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(self.others())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn uri(path: &Path) -> String {
    // Names of temporary folders and of published crates need no escapes.
    format!("file://{}", path.display())
}

fn read(output: ChildStdout, said: &Sender<(Value, Instant)>) {
    let mut pipe = BufReader::new(output);
    while let Some(message) = next(&mut pipe) {
        if said.send((message, Instant::now())).is_err() {
            return;
        }
    }
}

fn next(pipe: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        pipe.read_line(&mut line).ok().filter(|count| *count > 0)?;
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().ok()?,
            None if line == "\r\n" => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    pipe.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
