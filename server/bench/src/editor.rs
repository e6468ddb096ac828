//! The language server as an editor feels it: how fast it starts, what it weighs, and how long a code action takes while
//! a task keeps the machine busy.
//!
//! Times are those of the editor: pipes, scheduling and the server's loop together, so the loop's own share is less.

mod pipe;
pub mod soak;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::corpus::{self, Home};
use crate::table::{Table, median, percentile};
use crate::{Failure, by_hand};
use pipe::Server;

const STARTS: usize = 20;
const IDLE: usize = 500;
/// Enough for a p99; the task may end earlier.
const BUSY: usize = 3000;
const KEYSTROKES: i64 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A long file of the project, and one edit in another whose proof keeps both cores busy.
const OPEN: &str = "globset/src/lib.rs";
const EDITED: &str = "globset/src/glob.rs";
const LINE: &str = "        self.opts.case_insensitive = yes;";

pub fn measure() -> Result<Table, Failure> {
    let home = Home::new("editor")?;
    let top = home.join("ripgrep");
    std::fs::create_dir_all(&top)?;
    corpus::ripgrep(&top)?;
    let state = home.join("state");
    let mut table = Table::default();

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let (server, took) = Server::start(&top, &state)?;
        starts.push(took);
        server.end()?;
    }
    table.time(format!("start to the answer of `initialize`, p50 of {STARTS}"), median(starts), "under 50 ms");

    let (mut server, _) = Server::start(&top, &state)?;
    let uri = pipe::uri(&top.join(OPEN));
    let text = std::fs::read_to_string(top.join(OPEN))?;
    let item = json!({"uri": uri, "languageId": "rust", "version": 0, "text": text});
    server.notify("textDocument/didOpen", json!({ "textDocument": item }))?;
    let idle = actions(&mut server, &uri, IDLE, |_, _| Ok(false))?;
    table.time("code action while no task runs, p50", median(idle.clone()), "");
    table.time("the same, p99", percentile(idle, 99), "");
    table.amount("memory while no task ran yet", megabytes(server.memory()?), "under 150 MB");

    edit(&top)?;
    let task = server.command("understudy.task.create", json!({"worktree": true}))?["task"].clone();
    wait_for_checks(&mut server, &task)?;
    let mut asked = 0;
    let busy = actions(&mut server, &uri, BUSY, |server, number| {
        asked = number;
        // Looked at now and then, between two measured answers.
        Ok(number.is_multiple_of(100) && status(server, &task)? != "running")
    })?;
    let count = busy.len();
    table.time(format!("code action while a task runs, p50 of {count}"), median(busy.clone()), "");
    table.time("the same, p99", percentile(busy, 99), "under 50 ms");
    let (_, typing) = keystrokes(&mut server, &uri)?;
    table.time(format!("{KEYSTROKES} keystrokes and an answer behind them"), typing, "");
    table.amount("memory while the task runs", megabytes(server.memory()?), "");
    server.command("understudy.task.cancel", json!({ "task": task }))?;
    table.amount("memory after it was ended", megabytes(server.memory()?), "under 150 MB");
    let left = server.end()?;
    table.amount("processes left", left.to_string(), "0");
    Ok(table)
}

/// The times of code actions, until there are enough or `over` says that it is over.
fn actions(
    server: &mut Server,
    uri: &str,
    most: usize,
    mut over: impl FnMut(&mut Server, usize) -> Result<bool, Failure>,
) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for number in 1..=most {
        let at = json!({"line": number % 500, "character": 0});
        let range = json!({"start": at, "end": at});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
        times.push(server.ask("textDocument/codeAction", params)?.1);
        // As fast as a cursor that is held down, so that the answers meet every part of a task.
        std::thread::sleep(PAUSE);
        if over(server, number)? {
            break;
        }
    }
    Ok(times)
}

fn keystrokes(server: &mut Server, uri: &str) -> Result<(Value, Duration), Failure> {
    let start = std::time::Instant::now();
    let zero = json!({"line": 0, "character": 0});
    for version in 1..=KEYSTROKES {
        let change = json!({"range": {"start": zero, "end": zero}, "text": "/"});
        let named = json!({"uri": uri, "version": version});
        server.notify("textDocument/didChange", json!({"textDocument": named, "contentChanges": [change]}))?;
    }
    let answer = server.command("understudy.task.list", json!({}))?;
    Ok((answer, start.elapsed()))
}

fn status(server: &mut Server, task: &Value) -> Result<String, Failure> {
    let lines = server.command("understudy.task.list", json!({}))?;
    let line = lines.as_array().into_iter().flatten().find(|line| line["id"] == *task);
    Ok(line.and_then(|line| line["status"].as_str()).unwrap_or_default().to_owned())
}

/// Waits until the commands of the project run, which is when the machine is busy.
fn wait_for_checks(server: &mut Server, task: &Value) -> Result<(), Failure> {
    loop {
        let lines = server.command("understudy.task.list", json!({}))?;
        let line = lines.as_array().into_iter().flatten().find(|line| line["id"] == *task).cloned().unwrap_or_default();
        if line["status"] != "running" && line["status"] != "waiting" {
            return Err(format!("the task ended before it was busy: {line}").into());
        }
        if line["doing"].as_str().is_some_and(|doing| doing.starts_with("cargo ")) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn edit(top: &Path) -> Result<(), Failure> {
    let path = top.join(EDITED);
    let text = std::fs::read_to_string(&path)?;
    if !text.contains(LINE) {
        return Err(format!("{EDITED} has not the line that is edited").into());
    }
    std::fs::write(path, text.replacen(LINE, &format!("        let _ = 1;\n{LINE}"), 1))?;
    by_hand::run(top, "git", &["diff", "--stat"], &[]).map(drop)
}

fn megabytes(kilobytes: u64) -> String {
    format!("{:.1} MB", kilobytes as f64 / 1024.0)
}
