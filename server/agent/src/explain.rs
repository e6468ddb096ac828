//! `explain`: a question about the code, answered with the lines that show it. Nothing is made: no task, no tree that anyone
//! keeps, no diff. What it costs is reserved before each call like everything else.

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::port::{
    Block, CallId, Ledger, LedgerError, Message, ModelCall, ModelError, Origin, Reservation, Role, Said, Spent, Stage,
};
use task::{Accounts, Limits, TaskId, Tool, TreePath};
use worktree::{FreezeOptions, Store, Workspace};

use crate::model_engine::{
    Explained, Indexed, Looks, Quoter, Watcher, as_sent, look, read_arguments, refusal, system, tool_list,
};
use crate::{Error, House, Progress, plainly};

/// Exchanges for one question at most.
const TURNS: usize = 24;
const OUTPUT: u64 = 8192;
const TOOLS: [Tool; 3] = [Tool::Read, Tool::Search, Tool::Think];
/// Lines of one citation that are handed over.
const CITED: u32 = 60;

/// A question about a workspace.
#[derive(Debug, Clone)]
pub struct ExplainAsk {
    /// Absolute.
    pub folder: String,
    pub question: String,
    /// File and line (from 1) that the question is about, where it is about one.
    pub at: Option<(TreePath, u32)>,
    pub limits: Limits,
}

/// An answer with the lines that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Markdown.
    pub text: String,
    pub citations: Vec<Citation>,
    /// What it cites and is not there, one sentence each.
    pub unfounded: Vec<String>,
    pub model: String,
    pub spent: Spent,
}

/// Lines that an answer points at, as they are in the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    pub path: TreePath,
    pub first_line: u32,
    pub last_line: u32,
    pub text: String,
}

/// Asks a model about a workspace as it is now.
///
/// # Errors
/// When there is no model, it cannot be reached, its limits are used up, or it comes to no answer.
pub fn explain(house: &House, ask: &ExplainAsk) -> Result<Explanation, Error> {
    explain_counted(house, ask, &mut Accounts::default())
}

/// The same with accounts of the caller, who can say what it cost where no answer came.
///
/// # Errors
/// As [`explain`].
pub fn explain_counted(house: &House, ask: &ExplainAsk, accounts: &mut Accounts) -> Result<Explanation, Error> {
    let model = house.model.as_ref().map_err(|reason| Error::Sentence(reason.clone()))?;
    let workspace = Workspace::open(Path::new(&ask.folder), &house.state)?;
    let store = Store::open(&workspace)?;
    house.audience.doing("taking a snapshot");
    let frozen =
        worktree::freeze(&workspace, &store, &house.documents.open(workspace.top()), &FreezeOptions::default())?;
    let mut indexed = Indexed::new(&*house.retrieval);
    let retrieve = indexed.show(&store, &frozen.base)?;
    let task: TaskId = "explain".parse().map_err(|error: task::IdError| Error::Sentence(error.to_string()))?;
    let quoter = Quoter::new(&task, &house.redactor);
    let looks = Looks { store: &store, tree: &frozen.base, retrieve: &*retrieve, quoter: &quoter };
    let mut messages = vec![Message { role: Role::User, blocks: opening(&looks, ask) }];
    let mut ledger = Purse { accounts, limits: ask.limits.clone() };
    let waiting = Watcher::new(house, Duration::from_millis(ask.limits.timeout_ms));
    house.audience.doing("reading");
    for _ in 0..TURNS {
        let max = model.profile(Stage::Explain, false).map_or(OUTPUT, |profile| profile.max_output.min(OUTPUT));
        let call = ModelCall {
            task: task.clone(),
            stage: Stage::Explain,
            escalated: false,
            system: quoter.ours(&system(quoter.word())),
            tools: tool_list(),
            messages: messages.clone(),
            max_output: max,
        };
        let reply = match model.call(&call, &mut ledger, &waiting) {
            Ok(reply) => reply,
            Err(ModelError::Ended) if house.cancel.is_cancelled() => return Err(Error::Cancelled),
            Err(ModelError::Ended) => return Err(Error::Limit("the time for the answer is used up".to_owned())),
            Err(ModelError::Budget(what)) => return Err(Error::Limit(what)),
            Err(ModelError::Unavailable(what)) => return Err(Error::Paused(what)),
            Err(ModelError::Refused(what)) => return Err(Error::Provider(what)),
            Err(error @ ModelError::Overflow(_)) => return Err(Error::Limit(error.to_string())),
            Err(ModelError::Journal(error)) => return Err(error.into()),
        };
        let (blocks, _) = as_sent(&quoter, &reply);
        messages.push(Message { role: Role::Assistant, blocks });
        let mut results = Vec::new();
        let mut answered = None;
        for said in &reply.blocks {
            let Said::ToolCall { id, name, arguments } = said else { continue };
            house.audience.tell(Progress::Tool(crate::model_engine::sketch(name, arguments)));
            let looked = match refusal(name, Stage::Explain, &TOOLS) {
                Some(why) => Err(why),
                None if name == "answer" => read_arguments::<Explained>(arguments).map(|explained| {
                    answered = Some(explained);
                    "taken".to_owned()
                }),
                None => look(&looks, name, arguments).unwrap_or_else(|| Err(format!("`{name}` has no place here"))),
            };
            let failed = looked.is_err();
            let told = quoter.ours(&looked.unwrap_or_else(|why| why));
            results.push(Block::ToolResult { id: id.clone(), told, failed });
        }
        let finish = |explained: Explained| {
            let (citations, unfounded) = cited(&looks, &explained);
            let text = task::printable(explained.text.trim());
            let reported = ledger.accounts.assumed().calls == 0;
            let spent = Spent { reported, ..ledger.accounts.settled };
            Explanation { text, citations, unfounded, model: reply.model.clone(), spent }
        };
        if let Some(explained) = answered {
            return Ok(finish(explained));
        }
        if results.is_empty() {
            // A model that calls no tool has answered all the same, only without showing where it has it from.
            let text: String = reply
                .blocks
                .iter()
                .filter_map(|said| match said {
                    Said::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if !text.trim().is_empty() {
                return Ok(finish(Explained { text, citations: Vec::new() }));
            }
            results.push(Block::Text { told: quoter.ours("Call `answer`."), stable: false });
        }
        messages.push(Message { role: Role::User, blocks: results });
    }
    Err(Error::Limit(format!("the model came to no answer in {TURNS} exchanges")))
}

fn opening(looks: &Looks<'_>, ask: &ExplainAsk) -> Vec<Block> {
    let mut text = String::from(
        "# Stage: explaining\n\nAnswer the question from the code, with the lines that show each statement.\n\n",
    );
    text.push_str(&looks.quoter.block(Origin::Developer, "the question", &ask.question, 16 * 1024));
    if let Some((path, line)) = &ask.at {
        let first = line.saturating_sub(20).max(1);
        if let Ok(shown) = looks.read(&path.to_string(), Some(first), Some(line + 60)) {
            text.push_str(&format!("\nIt is about line {line} of {path}:\n{shown}"));
        }
    }
    if let Ok(found) = looks.search(&ask.question) {
        text.push_str(&format!("\nWhat a search for it found:\n{found}"));
    }
    vec![Block::Text { told: looks.quoter.ours(&text), stable: true }]
}

/// The lines that an answer cites, as they are; and what of it is not there.
fn cited(looks: &Looks<'_>, explained: &Explained) -> (Vec<Citation>, Vec<String>) {
    let (mut citations, mut unfounded) = (Vec::new(), Vec::new());
    for cited in explained.citations.iter().take(40) {
        match looks.file(&cited.path) {
            // What a model is offered in its place is nothing for a person.
            Err(why) => unfounded.push(plainly(why.split("; near it").next().unwrap_or_default())),
            Ok((path, text)) => {
                let total = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
                if cited.first_line == 0 || cited.last_line < cited.first_line || cited.last_line > total {
                    unfounded.push(format!(
                        "{path} has no lines {}-{}: it ends with line {total}",
                        cited.first_line, cited.last_line
                    ));
                    continue;
                }
                let take = (cited.last_line - cited.first_line + 1).min(CITED) as usize;
                let lines: Vec<&str> = text.lines().skip(cited.first_line as usize - 1).take(take).collect();
                let (first_line, last_line) = (cited.first_line, cited.last_line);
                citations.push(Citation { path, first_line, last_line, text: lines.join("\n") });
            }
        }
    }
    if explained.citations.is_empty() {
        unfounded.push("the answer names no lines that show it".to_owned());
    }
    (citations, unfounded)
}

/// A ledger that lives as long as the question.
struct Purse<'a> {
    accounts: &'a mut Accounts,
    limits: Limits,
}

impl Ledger for Purse<'_> {
    fn reserve(&mut self, worst: &Reservation) -> Result<CallId, LedgerError> {
        let call = self.accounts.admit(&self.limits, worst).map_err(LedgerError::Exceeds)?;
        self.accounts.reserve(call, worst);
        Ok(call)
    }

    fn settle(&mut self, call: CallId, spent: &Spent) -> Result<(), LedgerError> {
        self.accounts.settle(call, spent);
        Ok(())
    }

    fn worst_ratio(&self, model: &str) -> Option<f64> {
        self.accounts.worst_ratio(model)
    }
}
