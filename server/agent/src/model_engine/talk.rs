//! A conversation: calls to the model and results of its tools, one after the other, each in the journal before anything
//! follows from it. A process that takes the task over reads the messages back and goes on where the last one stands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use task::port::{Arguments, Block, Message, ModelCall, ModelError, Origin, Reply, Role, Said, Stage, Stop, Told};
use task::{Conclusion, Event, StopReason, TreeId, Wait};

use super::arguments::with_strings;
use super::indexed::Indexed;
use super::prompt;
use super::purse::Purse;
use super::quote::Quoter;
use super::tools::{End, Seat};
use super::warming::Warming;
use super::watcher::Watcher;
use crate::{Error, walk::Walk};

/// Exchanges in one conversation at most.
const TURNS: usize = 80;
/// Exchanges without a new tree after which a hint is given, and after which the conversation ends.
const IDLE_HINT: usize = 16;
const IDLE_END: usize = 32;
/// Tokens of one reply at most.
const OUTPUT: u64 = 16_384;
/// Bytes of arguments of one call at most. An answer has fewer by far where a provider keeps to the length that was asked
/// for; what goes on for ever would otherwise be sent back, and paid, with each turn.
const ARGUMENTS: usize = 256 << 10;
/// Answers in a row that call no tool.
const WORDS_ONLY: usize = 3;
/// Plans, questions or diagnoses in a row that cannot be taken for the same reason.
const SAME_REFUSAL: usize = 4;

/// What the model engine holds while it works; all of it follows from journal and store.
pub(crate) struct Desk {
    pub indexed: Indexed,
    pub quoter: Quoter,
    /// What a search for the task finds in the base, with the names of what is in it.
    pub found: Option<(String, Vec<String>)>,
    /// How often `done` was refused in the present conversation.
    pub refused_done: u32,
    /// Whether the compiler was begun to be loaded, and who loads it.
    pub warmed: bool,
    pub warming: Option<Warming>,
    /// Whether the checks of the base were begun beside the conversation.
    pub begun_ahead: bool,
    messages: BTreeMap<u32, Vec<Kept>>,
}

/// A message as it is kept: as it was sent, and for calls whose arguments held a secret, as they came.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    sent: Message,
    #[serde(default)]
    came: Option<Message>,
}

/// What came again and again in a conversation, as far as this process has seen.
#[derive(Debug, Default)]
struct Tally {
    /// Exchanges in a row without a new tree.
    idle: usize,
    /// Answers in a row that called no tool.
    words: usize,
    refused: Option<(String, usize)>,
}

impl Tally {
    /// Counts a refusal; answers it once it was the same too often.
    fn refused(&mut self, why: Option<String>) -> Option<String> {
        let known = self.refused.take();
        let why = why?;
        let times = known.filter(|(last, _)| *last == why).map_or(1, |(_, times)| times + 1);
        self.refused = Some((why.clone(), times));
        (times >= SAME_REFUSAL).then_some(why)
    }
}

/// How a conversation ended.
#[derive(Debug)]
pub(crate) enum Talked {
    End(End),
    /// The model got nowhere; one sentence.
    Stuck(String),
    /// The task ends like this.
    Over(Conclusion),
}

impl Walk<'_> {
    pub(crate) fn desk(&mut self) -> &mut Desk {
        let (house, task) = (self.house, self.lease.task.clone());
        self.desk.get_or_insert_with(|| {
            Box::new(Desk {
                indexed: Indexed::new(&*house.retrieval),
                quoter: Quoter::new(&task, &house.redactor),
                found: None,
                refused_done: 0,
                warmed: false,
                warming: None,
                begun_ahead: false,
                messages: BTreeMap::new(),
            })
        })
    }

    /// The conversation of a seat; opened with these blocks where there is none.
    pub(crate) fn conversation(
        &mut self,
        seat: &Seat,
        opening: impl FnOnce(&mut Self) -> Result<Vec<Block>, Error>,
    ) -> Result<u32, Error> {
        if let Some(number) = self.opened(seat) {
            return Ok(number);
        }
        let blocks = opening(self)?;
        self.open(seat, blocks)
    }

    /// The newest conversation of a seat.
    pub(crate) fn opened(&self, seat: &Seat) -> Option<u32> {
        let step = seat.step.as_ref().map(|step| &step.id);
        let number = self.state.work.conversations.iter().rposition(|it| {
            it.stage == seat.stage && it.attempt == seat.attempt && it.step.as_ref() == step && !it.messages.is_empty()
        });
        u32::try_from(number?).ok()
    }

    /// Begins a conversation.
    pub(crate) fn open(&mut self, seat: &Seat, blocks: Vec<Block>) -> Result<u32, Error> {
        let number = u32::try_from(self.state.work.conversations.len()).unwrap_or(u32::MAX);
        let (stage, attempt, step) = (seat.stage, seat.attempt, seat.step.as_ref().map(|step| step.id.clone()));
        self.record(Event::ConversationOpened { conversation: number, stage, attempt, step })?;
        self.spoke(number, Kept { sent: Message { role: Role::User, blocks }, came: None }, None)?;
        self.desk().refused_done = 0;
        Ok(number)
    }

    /// Talks until the conversation ends. `tree` is the tree that tools work on.
    pub(crate) fn talk(&mut self, number: u32, seat: &Seat, tree: &mut TreeId) -> Result<Talked, Error> {
        if let Some(reached) = self.state.work.conversations.get(number as usize).and_then(|it| it.tree.clone()) {
            *tree = reached;
        }
        let (mut tally, mut overflowed) = (Tally::default(), false);
        loop {
            if let Some(conclusion) = self.cut_short() {
                return Ok(Talked::Over(conclusion));
            }
            self.take_notes()?;
            let messages = self.messages(number)?;
            let turns = messages.iter().filter(|kept| kept.sent.role == Role::Assistant).count();
            let Some(last) = messages.last().cloned() else {
                return Err(Error::Sentence("a conversation has no beginning".into()));
            };
            if last.sent.role == Role::Assistant {
                if let Some(end) = self.act(number, seat, tree, &last, &mut tally)? {
                    return Ok(end);
                }
                continue;
            }
            if turns >= TURNS || tally.idle >= IDLE_END {
                let what = if turns >= TURNS {
                    format!("after {TURNS} exchanges")
                } else {
                    format!("after {} exchanges without a change", tally.idle)
                };
                return Ok(Talked::Stuck(format!("the model came to no end {what}")));
            }
            let sent: Vec<Message> = messages.iter().map(|kept| kept.sent.clone()).collect();
            match self.exchange(seat, sent)? {
                Ok(reply) => {
                    if reply.stop == Stop::Refusal {
                        let said = words_of(&reply);
                        return Ok(Talked::Stuck(format!("the model refused to answer{}", colon(&said))));
                    }
                    let kept = self.as_kept(&reply);
                    self.spoke(number, kept, None)?;
                }
                Err(Missed::Overflow) if !overflowed => {
                    overflowed = true;
                    self.compact(number)?;
                }
                Err(Missed::Overflow) => {
                    return Ok(Talked::Stuck("the conversation does not fit into the model's window".to_owned()));
                }
                Err(Missed::Over(conclusion)) => return Ok(Talked::Over(conclusion)),
            }
        }
    }

    /// Does what the last message of the model asks for, and writes the results down.
    fn act(
        &mut self,
        number: u32,
        seat: &Seat,
        tree: &mut TreeId,
        last: &Kept,
        tally: &mut Tally,
    ) -> Result<Option<Talked>, Error> {
        let quoter = self.desk().quoter.clone();
        let source = last.came.as_ref().unwrap_or(&last.sent);
        let calls: Vec<(String, String, Arguments)> = source.blocks.iter().filter_map(call_of).collect();
        let mut blocks = Vec::new();
        let (mut end, mut reached, mut refused) = (None, tree.clone(), None);
        for (id, name, arguments) in &calls {
            // What stands after the end of a conversation is answered, so that every call has its result, and not done.
            if end.is_some() {
                blocks.push(result(&quoter, id, "not done: the call before it ended this", true));
                continue;
            }
            let output = self.use_tool(seat, &mut reached, name, arguments)?;
            if let Some(reason) = self.cut_short() {
                return Ok(Some(Talked::Over(reason)));
            }
            blocks.push(result(&quoter, id, &output.text, output.failed));
            if output.failed && matches!(name.as_str(), "propose_plan" | "ask" | "diagnose") {
                refused = Some(output.text);
            }
            end = output.end;
        }
        match end {
            // No result yet: it will hold the answers. What the calls before it did is done again then, from the same tree.
            Some(End::Asked(_)) => return Ok(end.map(Talked::End)),
            // The conversation goes on with the new plan.
            None | Some(End::Revised { .. }) => {}
            // Nothing is sent any more: a process that comes later does again what the last message asks for.
            Some(_) => {
                *tree = reached;
                return Ok(end.map(Talked::End));
            }
        }
        if let Some(why) = tally.refused(refused) {
            return Ok(Some(Talked::Stuck(format!("what the model gave {SAME_REFUSAL} times cannot be taken: {why}"))));
        }
        tally.idle = if reached == *tree { tally.idle + 1 } else { 0 };
        tally.words = if calls.is_empty() { tally.words + 1 } else { 0 };
        if tally.words >= WORDS_ONLY {
            return Ok(Some(Talked::Stuck(format!("the model answered {WORDS_ONLY} times without calling a tool"))));
        }
        if calls.is_empty() {
            let tool = match seat.stage {
                Stage::Plan => "`propose_plan` or `ask`",
                Stage::Diagnose => "`diagnose`",
                Stage::Explain => "`answer`",
                _ => "the tools, and `done` when the step is finished",
            };
            let text = format!("Nothing has happened: text outside of tool calls is read by nobody. Use {tool}.");
            blocks.push(Block::Text { told: quoter.ours(&text), stable: false });
        }
        if end.is_none() {
            blocks.extend(self.words_since(number));
            if seat.stage == Stage::Code && tally.idle == IDLE_HINT {
                let text = "You have looked at much and changed nothing. Make the change with what you know, ask, or call `done` and say what is in the way.";
                blocks.push(Block::Text { told: quoter.ours(text), stable: false });
            }
        }
        if reached != *tree {
            self.store.keep(self.id(), &reached)?;
            *tree = reached;
        }
        let kept = Kept { sent: Message { role: Role::User, blocks }, came: None };
        self.spoke(number, kept, Some(tree.clone()))?;
        Ok(end.map(Talked::End))
    }

    /// Guidance that came meanwhile, which joins the next message.
    fn words_since(&self, number: u32) -> Vec<Block> {
        let heard = self.state.work.conversations.get(number as usize).map_or(usize::MAX, |it| it.steered);
        let guidance = self.state.work.steering.iter().skip(heard).map(|text| {
            let text = format!("The developer says: {text}");
            Block::Text { told: Told::new(Origin::Developer, &text, 16 * 1024, &self.house.redactor), stable: false }
        });
        guidance.collect()
    }

    /// One call with everything that can come of it.
    fn exchange(&mut self, seat: &Seat, messages: Vec<Message>) -> Result<Result<Reply, Missed>, Error> {
        let model = match &self.house.model {
            Ok(model) => std::sync::Arc::clone(model),
            Err(reason) => return Ok(Err(Missed::Over(Conclusion::Infrastructure { reason: reason.clone() }))),
        };
        let quoter = self.desk().quoter.clone();
        let escalated = self.is_escalated(seat);
        let max = model.profile(seat.stage, escalated).map_or(OUTPUT, |profile| profile.max_output.min(OUTPUT));
        let call = ModelCall {
            task: self.id().clone(),
            stage: seat.stage,
            escalated,
            system: quoter.ours(&prompt::system(quoter.word())),
            tools: prompt::tools(),
            messages,
            max_output: max,
        };
        let waiting = Watcher::new(self.house, self.remaining());
        let attempt = seat.attempt;
        let mut called = model.call(&call, &mut Purse { walk: self, attempt }, &waiting);
        if escalated && matches!(called, Err(ModelError::Budget(_))) {
            // Its allowance is used up, not necessarily the task's.
            let call = ModelCall { escalated: false, ..call };
            called = model.call(&call, &mut Purse { walk: self, attempt }, &waiting);
        }
        // A provider that lets us wait does not use up the task's time.
        self.rested(waiting.waited());
        Ok(match called {
            Ok(reply) => Ok(reply),
            Err(ModelError::Overflow(_)) => Err(Missed::Overflow),
            Err(ModelError::Budget(what)) => {
                Err(Missed::Over(Conclusion::Stopped { reason: StopReason::Budget { what } }))
            }
            Err(ModelError::Refused(reason)) => Err(Missed::Over(Conclusion::Infrastructure { reason })),
            Err(ModelError::Ended) => Err(Missed::Over(self.cut_short().unwrap_or(Conclusion::Cancelled))),
            Err(ModelError::Journal(error)) => return Err(error.into()),
            Err(ModelError::Unavailable(sentence)) => {
                self.record(Event::Paused { wait: Wait::Provider { sentence: sentence.clone() } })?;
                return Err(Error::Paused(sentence));
            }
        })
    }

    fn as_kept(&mut self, reply: &Reply) -> Kept {
        let (sent, came) = as_sent(&self.desk().quoter, reply);
        let came = (came != sent).then_some(Message { role: Role::Assistant, blocks: came });
        Kept { sent: Message { role: Role::Assistant, blocks: sent }, came }
    }

    fn spoke(&mut self, number: u32, kept: Kept, tree: Option<TreeId>) -> Result<(), Error> {
        let message = self.put(&kept)?;
        self.record(Event::Spoke { conversation: number, role: kept.sent.role, message, tree })?;
        self.desk().messages.entry(number).or_default().push(kept);
        Ok(())
    }

    fn put(&self, kept: &Kept) -> Result<task::Digest, Error> {
        let bytes = serde_json::to_vec(kept).map_err(|error| Error::Sentence(error.to_string()))?;
        Ok(self.house.journal.put_artifact(&bytes)?)
    }

    /// The messages of a conversation, read back where this process has not said them itself.
    fn messages(&mut self, number: u32) -> Result<Vec<Kept>, Error> {
        let digests =
            self.state.work.conversations.get(number as usize).map(|it| it.messages.clone()).unwrap_or_default();
        let known = self.desk().messages.get(&number).cloned().unwrap_or_default();
        if known.len() == digests.len() {
            return Ok(known);
        }
        let mut messages = Vec::new();
        for (_, digest) in digests {
            let bytes = self.house.journal.artifact(&digest)?;
            let bytes =
                bytes.ok_or_else(|| Error::Sentence("a message of this task is no longer in the journal".into()))?;
            messages.push(serde_json::from_slice(&bytes).map_err(|error| Error::Sentence(error.to_string()))?);
        }
        self.desk().messages.insert(number, messages.clone());
        Ok(messages)
    }

    /// Shortens results of tools to what is still true: that they were there. The last few stay whole.
    fn compact(&mut self, number: u32) -> Result<(), Error> {
        const WHOLE: usize = 6;
        let mut messages = self.messages(number)?;
        let quoter = self.desk().quoter.clone();
        let old = messages.len().saturating_sub(WHOLE);
        for kept in messages.iter_mut().take(old).skip(1) {
            for block in &mut kept.sent.blocks {
                if let Block::ToolResult { told, .. } = block
                    && told.text().len() > 400
                {
                    let first = told.text().lines().next().unwrap_or_default();
                    *told = quoter.ours(&format!("{first}\n[left out to make room; ask again if it is needed]"));
                }
            }
        }
        let digests = messages.iter().map(|kept| self.put(kept)).collect::<Result<Vec<_>, _>>()?;
        self.record(Event::Compacted { conversation: number, messages: digests })?;
        self.desk().messages.insert(number, messages);
        Ok(())
    }
}

/// A reply as blocks that can be sent back, which the redactor has seen all of; and as it came.
pub(crate) fn as_sent(quoter: &Quoter, reply: &Reply) -> (Vec<Block>, Vec<Block>) {
    let (mut sent, mut came) = (Vec::new(), Vec::new());
    for said in &reply.blocks {
        match said {
            Said::Text(text) if text.trim().is_empty() => {}
            Said::Text(text) => {
                let block = Block::Text { told: quoter.own(text), stable: false };
                came.push(block.clone());
                sent.push(block);
            }
            Said::Thinking { wire, raw } => {
                let block = Block::Thinking { wire: wire.clone(), raw: raw.clone() };
                came.push(block.clone());
                sent.push(block);
            }
            Said::ToolCall { id, name, arguments } => {
                let arguments = bounded(arguments, reply.stop == Stop::Length);
                let clean = match &arguments {
                    Arguments::Read(value) => Arguments::Read(with_strings(value, &|text| quoter.redact(text))),
                    Arguments::Malformed(text) => Arguments::Malformed(quoter.redact(text)),
                };
                let block = |arguments| Block::ToolCall { id: id.clone(), name: name.clone(), arguments };
                sent.push(block(clean));
                came.push(block(arguments));
            }
        }
    }
    if !sent.iter().any(|block| !matches!(block, Block::Thinking { .. })) {
        let block = Block::Text { told: quoter.own("[no answer]"), stable: false };
        sent.push(block.clone());
        came.push(block);
    }
    (sent, came)
}

/// Why there is no reply.
enum Missed {
    Overflow,
    Over(Conclusion),
}

fn call_of(block: &Block) -> Option<(String, String, Arguments)> {
    match block {
        Block::ToolCall { id, name, arguments } => Some((id.clone(), name.clone(), arguments.clone())),
        _ => None,
    }
}

fn result(quoter: &Quoter, id: &str, text: &str, failed: bool) -> Block {
    Block::ToolResult { id: id.to_owned(), told: quoter.ours(text), failed }
}

/// Arguments that are too long or cannot be read, in a few words; where the reply was cut off, that is why.
fn bounded(arguments: &Arguments, cut_off: bool) -> Arguments {
    match arguments {
        Arguments::Read(value) if value.to_string().len() > ARGUMENTS => {
            Arguments::Malformed(format!("[more than {ARGUMENTS} bytes]"))
        }
        Arguments::Malformed(text) if cut_off => {
            let shown: String = text.chars().take(120).collect();
            Arguments::Malformed(format!("[cut off by the limit of one answer; use smaller pieces] {shown}"))
        }
        Arguments::Malformed(text) => Arguments::Malformed(text.chars().take(400).collect()),
        other => other.clone(),
    }
}

fn words_of(reply: &Reply) -> String {
    let text: Vec<&str> = reply
        .blocks
        .iter()
        .filter_map(|said| match said {
            Said::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let line = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    task::printable(&line).chars().take(300).collect()
}

fn colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
