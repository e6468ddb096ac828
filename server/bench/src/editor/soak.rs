//! Ten thousand requests of every kind, a third of them cancelled, with servers that are killed in between: every request
//! is answered, and memory and processes stay what they were.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::megabytes;
use super::pipe::{self, Server};
use crate::Failure;
use crate::corpus::{self, Home};
use crate::table::{Table, percentile};

const SERVERS: u64 = 4;
const EACH: u64 = 2500;
/// Requests that are under way at one time.
const AT_ONCE: usize = 8;

const FILE: &str = "src/lib.rs";
const TEXT: &str = "//! Measured.\n\npub fn one() -> u32 {\n    let mut one = 1;\n    one\n}\n";

pub fn measure() -> Result<Table, Failure> {
    let home = Home::new("soak")?;
    let (top, state) = (home.join("project"), home.join("state"));
    project(&top)?;
    let task = task(&top, &state)?;
    let mut coin = Coin(0x2545_F491_4F6C_DD1D);
    let (mut times, mut answered, mut memory, mut others) = (Vec::new(), 0, Vec::new(), 0);
    let begin = Instant::now();
    for number in 0..SERVERS {
        let (mut server, _) = Server::start(&top, &state)?;
        open(&mut server, &top)?;
        let half = round(&mut server, &top, &task, &mut coin, &mut times)?;
        memory.push((half, server.memory()?));
        answered += server.answered;
        others = others.max(server.others());
        if number + 1 < SERVERS { server.kill()? } else { server.end().map(drop)? }
    }
    let took = begin.elapsed();
    let mut table = Table::default();
    let requests = SERVERS * EACH;
    table.amount("requests sent", requests.to_string(), "");
    // Each server also answered `initialize`, and the last one `shutdown`, after the counting.
    table.amount("answers", (answered - SERVERS).to_string(), &requests.to_string());
    table.amount("requests a second", format!("{:.0}", requests as f64 / took.as_secs_f64()), "");
    table.time("answer, p99", percentile(times, 99), "");
    for (number, (half, whole)) in memory.iter().enumerate() {
        let what = format!("memory of server {}, half-way and at its end", number + 1);
        table.amount(what, format!("{}, {}", megabytes(*half), megabytes(*whole)), "no growth, under 150 MB");
    }
    table.amount("processes beside the server", others.to_string(), "0");
    Ok(table)
}

fn project(top: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(top.join("src"))?;
    std::fs::write(top.join(FILE), TEXT)?;
    let manifest = "[package]\nname = \"measured\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(top.join("Cargo.toml"), manifest)?;
    std::fs::write(top.join(".gitignore"), "target\n")?;
    corpus::commit(top)
}

/// A task with a diff that waits for its review.
fn task(top: &Path, state: &Path) -> Result<Value, Failure> {
    let (mut server, _) = Server::start(top, state)?;
    let task = server.command("understudy.task.create", json!("fix warnings"))?["task"].clone();
    while super::status(&mut server, &task)? != "review" {
        std::thread::sleep(Duration::from_millis(50));
    }
    server.end()?;
    Ok(task)
}

fn open(server: &mut Server, top: &Path) -> Result<(), Failure> {
    let item = json!({"uri": pipe::uri(&top.join(FILE)), "languageId": "rust", "version": 0, "text": TEXT});
    server.notify("textDocument/didOpen", json!({ "textDocument": item }))
}

/// Answers with the memory half-way.
fn round(
    server: &mut Server,
    top: &Path,
    task: &Value,
    coin: &mut Coin,
    times: &mut Vec<Duration>,
) -> Result<u64, Failure> {
    let uri = pipe::uri(&top.join(FILE));
    let mut under_way = Vec::new();
    let mut half = 0;
    for number in 1..=EACH {
        let (method, params) = request(coin.below(6), &uri, task);
        let begin = Instant::now();
        let id = server.send(method, params)?;
        if coin.below(3) == 0 {
            server.notify("$/cancelRequest", json!({ "id": id }))?;
        }
        if coin.below(4) == 0 {
            let zero = json!({"line": 0, "character": 0});
            let change = json!({"range": {"start": zero, "end": {"line": 0, "character": 1}}, "text": "/"});
            let named = json!({"uri": uri, "version": number});
            server.notify("textDocument/didChange", json!({"textDocument": named, "contentChanges": [change]}))?;
        }
        under_way.push((id, begin));
        if under_way.len() == AT_ONCE || number == EACH {
            // Every answer comes once, in whatever order; those that came while another was waited for count too.
            server.settle(&mut under_way, times)?;
        }
        if number == EACH / 2 {
            half = server.memory()?;
        }
    }
    Ok(half)
}

fn request(kind: u64, uri: &str, task: &Value) -> (&'static str, Value) {
    let at = json!({"line": 3, "character": 4});
    let command = |name: &str, argument: Value| {
        ("workspace/executeCommand", json!({"command": format!("understudy.{name}"), "arguments": [argument]}))
    };
    match kind {
        0 => {
            let range = json!({"start": at, "end": at});
            let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
            ("textDocument/codeAction", params)
        }
        1 => ("textDocument/codeLens", json!({"textDocument": {"uri": uri}})),
        2 => command("task.list", json!({})),
        3 => command("task.get", json!({ "task": task })),
        4 => command("review.open", json!({ "task": task })),
        _ => command("check.receipt", json!({"task": task, "check": "none"})),
    }
}

/// Falls the same way in every run.
struct Coin(u64);

impl Coin {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % count
    }
}
