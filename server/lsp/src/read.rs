//! Reading: reports, receipts, documents. One thread reads, in the order in which it is asked; nothing changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{Audience, House, NoDocuments, Report};
use lsp_types::MessageType;
use serde_json::{Value, json};
use task::{Comparison, Event, Receipt, TaskId, TreeId, TreePath};

use crate::act::{Crew, failed};
use crate::mail::{Refusal, Reply};
use crate::page;
use crate::transport::Outgoing;

/// What is read.
#[derive(Debug)]
pub enum Read {
    Report {
        task: TaskId,
        tree: Option<TreeId>,
    },
    Receipt {
        task: TaskId,
        check: String,
    },
    Compare {
        task: TaskId,
        check: String,
    },
    Document {
        uri: String,
    },
    /// Writes the review document and says where.
    Review {
        task: TaskId,
    },
    /// Writes the plan as a document and says where.
    Plan {
        task: TaskId,
    },
    Doctor {
        folder: Option<PathBuf>,
    },
}

impl Crew {
    /// Reads and answers.
    pub fn read(&self, read: Read, reply: Reply<Value>) {
        let slow = matches!(read, Read::Doctor { .. });
        let crew = self.clone();
        let run = move || {
            let answer = crew.answer(read);
            if let Err(refusal) = &answer {
                crew.say_refusal(refusal);
            }
            // The caller may have cancelled; then nobody wants to know.
            let _ = reply.send(answer);
        };
        // Trying everything takes seconds: others do not wait for it.
        if slow {
            self.beside("doctor", run);
        } else {
            self.reader.put(run);
        }
    }

    pub fn house(&self) -> Result<House, Refusal> {
        self.rooms.house(Audience::none(), Arc::new(NoDocuments), self.lent()).map_err(Refusal::Failed)
    }

    fn answer(&self, read: Read) -> Result<Value, Refusal> {
        if let Read::Doctor { folder } = &read {
            let text = self.rooms.doctor(folder.as_deref());
            if !self.facts.rich {
                self.outbox.put(Outgoing::Log(text.clone()));
                self.say(MessageType::INFO, "what works here and what does not is in the log of this language server");
            }
            return Ok(json!({ "text": text }));
        }
        let house = self.house()?;
        match read {
            Read::Report { task, tree } => {
                let report = agent::report(&*house.journal, &house.state, &task, tree.as_ref()).map_err(failed)?;
                value(&report)
            }
            Read::Receipt { task, check } => {
                let text = receipt(&house, &task, &check)?;
                self.show(&house, &task, "receipt", &text)?;
                Ok(json!({ "text": text }))
            }
            Read::Compare { task, check } => {
                let report = agent::report(&*house.journal, &house.state, &task, None).map_err(failed)?;
                let found = report.checks.iter().find(|comparison| comparison.check.0 == check);
                let found = found.ok_or_else(|| no_check(&task, &check, &report.checks))?;
                let text = page::comparison(found);
                self.show(&house, &task, "comparison", &text)?;
                Ok(json!({ "text": text }))
            }
            Read::Document { uri } => document(&house, &uri),
            Read::Review { task } => {
                let report = agent::report(&*house.journal, &house.state, &task, None).map_err(failed)?;
                let path = self.write(&house, &report, &format!("{task}.md"), &page::review(&report))?;
                self.open(&path);
                Ok(json!({ "path": path }))
            }
            Read::Plan { task } => self.open_plan(&house, &task),
            Read::Doctor { .. } => Ok(Value::Null),
        }
    }
}

impl Crew {
    /// Writes a text of a task beside its review and opens it, for a client that shows no texts itself.
    fn show(&self, house: &House, task: &TaskId, what: &str, text: &str) -> Result<(), Refusal> {
        if !self.facts.rich {
            let report = agent::report(&*house.journal, &house.state, task, None).map_err(failed)?;
            self.open(&self.write(house, &report, &format!("{task}.{what}.txt"), text)?);
        }
        Ok(())
    }

    fn write(&self, house: &House, report: &Report, name: &str, text: &str) -> Result<PathBuf, Refusal> {
        let folder = agent::documents_folder(Path::new(&report.task.workspace), &house.state).map_err(failed)?;
        let path = folder.join(name);
        let written = std::fs::write(&path, text);
        written.map_err(|error| Refusal::Failed(format!("{} cannot be written: {error}", path.display())))?;
        Ok(path)
    }
}

fn value(of: &impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(of).map_err(|error| Refusal::Failed(error.to_string()))
}

fn no_check(task: &TaskId, check: &str, checks: &[Comparison]) -> Refusal {
    let names: Vec<&str> = checks.iter().map(|comparison| comparison.check.0.as_str()).collect();
    let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    Refusal::BadParams(format!("task {task} has no check `{}`; it has {names}", task::printable(check)))
}

/// The newest receipt of a check, with all that it printed.
fn receipt(house: &House, task: &TaskId, check: &str) -> Result<String, Refusal> {
    let storage = |error: task::port::JournalError| Refusal::Failed(error.to_string());
    let records = house.journal.records(task).map_err(storage)?;
    let keys = records.iter().rev().filter_map(|record| record.event.as_ref().ok()).flat_map(|event| match event {
        Event::Checked { receipts, .. }
        | Event::Rechecked { receipts, .. }
        | Event::Rebased { receipts, .. }
        | Event::Baselined { receipts, .. } => receipts.clone(),
        _ => Vec::new(),
    });
    let mut names = std::collections::BTreeSet::new();
    for key in keys {
        let Some(receipt) = house.journal.receipt(&key).map_err(storage)? else { continue };
        if receipt.check.id.0 == check {
            return output(house, &receipt).map_err(storage);
        }
        names.insert(receipt.check.id.0.clone());
    }
    let names: Vec<String> = names.into_iter().collect();
    let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    Err(Refusal::BadParams(format!("task {task} has no receipt of `{}`; it has {names}", task::printable(check))))
}

fn output(house: &House, receipt: &Receipt) -> Result<String, task::port::JournalError> {
    let mut text = page::receipt(receipt);
    for digest in &receipt.output {
        if let Some(bytes) = house.journal.artifact(digest)? {
            text.push_str(&String::from_utf8_lossy(&bytes));
            text.push('\n');
        }
    }
    Ok(text)
}

/// `understudy:/TASK/TREE/PATH`.
fn document(house: &House, uri: &str) -> Result<Value, Refusal> {
    let malformed = || {
        Refusal::BadParams(format!(
            "`{}` is not a document of Understudy: `understudy:/TASK/TREE/PATH`",
            task::printable(uri)
        ))
    };
    let url = lsp_types::Url::parse(uri).map_err(|_| malformed())?;
    let parts: Vec<String> = url.path_segments().ok_or_else(malformed)?.map(decoded).collect();
    let [id, tree, path @ ..] = parts.as_slice() else { return Err(malformed()) };
    let id: TaskId = id.parse().map_err(|_| malformed())?;
    let tree: TreeId = tree.parse().map_err(|_| malformed())?;
    let path = TreePath::new(path.join("/").into_bytes()).map_err(|_| malformed())?;
    if url.scheme() != "understudy" {
        return Err(malformed());
    }
    let bytes = agent::file_of(&*house.journal, &house.state, &id, &tree, &path).map_err(failed)?;
    Ok(match bytes.map(String::from_utf8) {
        None => json!({ "text": null, "binary": false }),
        Some(Ok(text)) => json!({ "text": text, "binary": false }),
        Some(Err(_)) => json!({ "text": null, "binary": true }),
    })
}

/// Percent-decoded; what is no UTF-8 then is no path that an editor can ask for.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = (*first == b'%').then(|| tail.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
