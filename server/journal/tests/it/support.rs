//! What the tests share: requests, and another process that works on the same journal and obeys line by line.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use journal::{Journal, fresh_id};
use rustix::process::{Pid, Signal, kill_process};
use task::port::{Journal as _, Lease};
use task::{Engine, Event, Limits, Request, Scope, Source, TaskId, UnixMillis};

pub fn request(request_id: Option<&str>) -> Request {
    Request {
        id: fresh_id().unwrap(),
        request_id: request_id.map(|id| id.parse().unwrap()),
        source: Source::CommandLine,
        source_url: None,
        workspace: "/home/someone/project".into(),
        description: "fix warnings".into(),
        acceptance_criteria: Vec::new(),
        scope: Scope::default(),
        tools: Vec::new(),
        base_revision: None,
        engine: Engine::Compiler,
        candidate: None,
        trigger: None,
        constraints: Vec::new(),
        plan_policy: task::PlanPolicy::default(),
        allowed_commands: Vec::new(),
        allowed_files: Vec::new(),
        limits: Limits::default(),
        created: UnixMillis(0),
    }
}

pub fn begun(journal: &Journal) -> (TaskId, Lease) {
    let (task, lease) = journal.begin(&request(None)).unwrap();
    (task, lease.unwrap())
}

pub fn note(text: impl ToString) -> Event {
    Event::Admitted { notes: vec![text.to_string()] }
}

/// The texts of all notes of a task, having made sure that its sequence has no gap.
pub fn notes(journal: &Journal, task: &TaskId) -> Vec<String> {
    let records = journal.records(task).unwrap();
    let mut notes = Vec::new();
    for (index, record) in records.into_iter().enumerate() {
        assert_eq!(record.sequence.0, index as u64 + 1);
        match record.event.unwrap() {
            Event::Requested { .. } if index == 0 => {}
            Event::Admitted { notes: mut found } => notes.append(&mut found),
            other => panic!("unexpected {other:?}"),
        }
    }
    notes
}

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[expect(clippy::disallowed_methods, reason = "these tests are about other processes and the file systems they see")]
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Another process with the journal open. It answers each line it is sent with one line.
pub struct Other {
    process: Child,
    orders: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub fn start(state: &Path, variables: &[(&str, &str)]) -> Self {
        let mut process = command(std::env::current_exe().unwrap())
            .args(["--exact", "support::obeys", "--ignored", "--nocapture"])
            .env("JOURNAL_STATE", state)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { orders: process.stdin.take(), process, answers }
    }

    pub fn send(&mut self, order: &str) {
        let orders = self.orders.as_mut().unwrap();
        // A process that is dead by now shows in its answers.
        drop(orders.write_all(format!("{order}\n").as_bytes()));
    }

    /// The next answer; `None` when the process is gone.
    pub fn answer(&mut self) -> Option<String> {
        self.answers.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix("> ").map(str::to_owned))
    }

    pub fn ask(&mut self, order: &str) -> Option<String> {
        self.send(order);
        self.answer()
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.id());
        wait_until("the process has stopped", || std::fs::read_to_string(&stat).unwrap().contains(") T "));
    }

    /// Kills the process, without having waited for its end: it is a zombie until dropped.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.orders.take());
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The other process: `begin [REQUEST ID]`, `acquire TASK`, `append TEXT`, `flood` (appends without end), `fence`, `release`.
#[test]
#[ignore = "runs inside the other tests, as a process of its own"]
fn obeys() {
    let state = std::env::var_os("JOURNAL_STATE").unwrap();
    let journal = Journal::open(state.as_ref()).unwrap();
    let mut lease = None;
    // libtest has left its own words on the line.
    println!();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let held = || lease.as_ref().unwrap();
        let answer = match verb {
            "begin" => journal.begin(&request(Some(rest).filter(|id| !id.is_empty()))).map(|(task, found)| {
                let found_or_begun = if found.is_some() { task.to_string() } else { format!("found {task}") };
                lease = found;
                found_or_begun
            }),
            "acquire" => journal.acquire(&rest.parse().unwrap()).map(|found| {
                let epoch = found.epoch.to_string();
                lease = Some(found);
                epoch
            }),
            "append" => journal.append(held(), &note(rest)).map(|sequence| sequence.to_string()),
            "fence" => journal.fence(held()).map(|()| "holds".into()),
            "release" => journal.release(held()).map(|()| "released".into()),
            "flood" => loop {
                let sequence = journal.append(held(), &note("flood")).unwrap();
                println!("> {sequence}");
            },
            other => panic!("unknown order {other}"),
        };
        println!("> {}", answer.unwrap_or_else(|error| error.to_string()));
    }
}
