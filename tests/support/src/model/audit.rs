//! What is checked in every request, beyond what its wire demands by itself.

use std::collections::HashMap;

use serde_json::Value;

use super::reply::Part;
use super::seen::{Block, Message, Role};
use super::usage::Piece;
use super::{Rules, Seen, Wire};

#[derive(Debug, Default)]
pub(super) struct Audit {
    conversations: HashMap<(Wire, String, String), Vec<Turn>>,
    /// Text by signature.
    thoughts: HashMap<String, String>,
    /// By id: the tool, its arguments, and the signature of the thinking before it.
    calls: HashMap<String, (String, String, Option<String>)>,
    pub(super) rewrites: usize,
}

/// What is remembered of a request.
#[derive(Debug)]
struct Turn {
    number: usize,
    head: String,
    messages: Vec<Piece>,
    /// Messages of the assistant among them.
    answers: usize,
}

impl Audit {
    /// Remembers what was sent, so that it can be recognised when it comes back.
    pub(super) fn sent(&mut self, parts: &[Part]) {
        let mut thought = None;
        for part in parts {
            match part {
                Part::Text(_) => {}
                Part::Thinking { text, signature } => {
                    thought = Some(signature.clone());
                    self.thoughts.insert(signature.clone(), text.clone());
                }
                Part::Call { id, name, args } => {
                    self.calls.insert(id.clone(), (name.clone(), args.clone(), thought.clone()));
                }
            }
        }
    }

    /// What is wrong with this request, in sentences.
    pub(super) fn faults(&mut self, seen: &Seen, rules: &Rules) -> Vec<String> {
        let mut faults = seen.faults.clone();
        faults.extend(limits(seen, rules));
        faults.extend(tools(seen));
        faults.extend(pairs(&seen.messages));
        if !rules.may_prefill && seen.messages.last().is_some_and(|last| last.role == Role::Assistant) {
            faults.push("the last message is the assistant's".to_owned());
        }
        for message in seen.messages.iter().filter(|message| message.role == Role::Assistant) {
            faults.extend(self.echo(seen.wire, message));
        }
        faults.extend(self.continuity(seen, rules));
        faults
    }

    /// Whether thinking and calls come back as they were sent.
    fn echo(&self, wire: Wire, message: &Message) -> Vec<String> {
        let mut faults = Vec::new();
        let mut thoughts = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Thinking { text, signature } => {
                    if self.thoughts.get(signature) != Some(text) {
                        faults.push(format!("a block of thinking was changed or invented (signature `{signature}`)"));
                    }
                    thoughts.push(signature);
                }
                Block::Call { id, name, args } => {
                    // An unknown id may come from a server that was asked before this one.
                    let Some((tool, sent, thought)) = self.calls.get(id) else { continue };
                    let changed = serde_json::from_str::<Value>(sent).is_ok_and(|sent| sent != *args);
                    if name != tool || changed {
                        faults.push(format!("the call {id} was sent as {tool} {sent} and came back as {name} {args}"));
                    }
                    let thought = thought.as_ref().filter(|_| wire == Wire::Anthropic);
                    if thought.is_some_and(|thought| !thoughts.contains(&thought)) {
                        faults.push(format!("the call {id} came back without the thinking before it"));
                    }
                }
                _ => {}
            }
        }
        faults
    }

    /// A request begins anew, repeats an earlier one, or goes one answer further than an earlier one, whose bytes stay.
    fn continuity(&mut self, seen: &Seen, rules: &Rules) -> Vec<String> {
        let first = seen.messages.first().and_then(|message| message.blocks.first()).and_then(Block::text);
        let task = seen.header("x-understudy-task").or(first).unwrap_or_default();
        let turns = self.conversations.entry((seen.wire, seen.model.clone(), task.to_owned())).or_default();
        let pieces = &seen.pieces;
        let opening = pieces.head.iter().chain(pieces.messages.first());
        let turn = Turn {
            number: seen.number,
            head: opening.map(|piece| piece.text.as_str()).collect(),
            messages: pieces.messages.iter().map(|piece| Piece { marked: false, ..piece.clone() }).collect(),
            answers: seen.messages.iter().filter(|message| message.role == Role::Assistant).count(),
        };
        let mut faults = Vec::new();
        if let Some(begun) = turns.first() {
            faults.extend(difference("tools, system or the first message", begun, &begun.head, &turn.head));
            let (one, two) = (start(begun, rules.stable), start(&turn, rules.stable));
            faults.extend(difference("the stable prefix", begun, &one, &two));
        }
        let follows =
            |earlier: &Turn| turn.messages.starts_with(&earlier.messages) && turn.answers <= earlier.answers + 1;
        if let Some(last) = turns.last()
            && turn.answers > 0
            && !turns.iter().any(follows)
        {
            self.rewrites += 1;
            if !rules.may_compact {
                let same = turn.messages.iter().zip(&last.messages).take_while(|(one, two)| one == two).count();
                let place = if same < last.messages.len() { "differs from" } else { "skips an answer after" };
                faults.push(format!("block {same} of the messages {place} request {}", last.number));
            }
        }
        turns.push(turn);
        faults
    }
}

/// The first bytes of a request, on a boundary of characters.
fn start(turn: &Turn, bytes: usize) -> String {
    let rest = turn.messages.iter().skip(1).map(|piece| piece.text.as_str());
    let mut text: String = std::iter::once(turn.head.as_str()).chain(rest).collect();
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn difference(what: &str, before: &Turn, one: &str, two: &str) -> Option<String> {
    (one != two).then(|| {
        let at = one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count();
        format!("{what} changed since request {}, at byte {at}", before.number)
    })
}

fn limits(seen: &Seen, rules: &Rules) -> Vec<String> {
    let mut faults = Vec::new();
    match seen.max_tokens {
        None | Some(0) => faults.push("max_tokens is missing".to_owned()),
        Some(tokens) if tokens > rules.max_tokens => {
            faults.push(format!("max_tokens is {tokens}, the model has at most {}", rules.max_tokens));
        }
        Some(_) => {}
    }
    let warmest = if seen.wire == Wire::Anthropic { 1.0 } else { 2.0 };
    for (name, most) in [("temperature", warmest), ("top_p", 1.0)] {
        let value = seen.json.get(name).filter(|value| !value.is_null());
        if value.is_some_and(|value| !value.as_f64().is_some_and(|value| (0.0..=most).contains(&value))) {
            faults.push(format!("{name} is {}, not between 0 and {most}", seen.json[name]));
        }
    }
    if seen.model.is_empty() {
        faults.push("no model is named".to_owned());
    }
    if seen.messages.is_empty() {
        faults.push("there are no messages".to_owned());
    }
    faults
}

fn tools(seen: &Seen) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, tool) in seen.tools.iter().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if tool.is_empty() || tool.len() > 64 || !tool.chars().all(plain) {
            faults.push(format!("`{tool}` is no name for a tool"));
        }
        if seen.tools[..index].contains(tool) {
            faults.push(format!("the tool {tool} is offered twice"));
        }
    }
    faults
}

/// Each call has exactly one result, in the next message, and each result a call in the message before.
fn pairs(messages: &[Message]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let mut calls = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Call { id, .. } if message.role == Role::Assistant => calls.push(id.as_str()),
                Block::Call { id, .. } => faults.push(format!("the call {id} is in a message of the user")),
                Block::Result { id, .. } => match open.iter().position(|call| call == id) {
                    Some(index) if message.role == Role::User => drop(open.remove(index)),
                    _ => faults.push(format!("the result {id} answers no call of the message before it")),
                },
                _ => {}
            }
        }
        faults.extend(open.drain(..).map(|id| format!("the call {id} has no result")));
        open = calls;
    }
    faults.extend(open.into_iter().map(|id| format!("the call {id} has no result")));
    faults
}

/// Whether a text stands somewhere in a request, escaped or not.
pub(super) fn carries(text: &str, headers: &[(String, String)], body: &[u8], json: &Value) -> bool {
    let in_headers = headers.iter().any(|(name, value)| name.contains(text) || value.contains(text));
    !text.is_empty() && (in_headers || String::from_utf8_lossy(body).contains(text) || says(json, text))
}

fn says(json: &Value, text: &str) -> bool {
    match json {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| says(value, text)),
        Value::Object(values) => values.iter().any(|(key, value)| key.contains(text) || says(value, text)),
        _ => false,
    }
}
