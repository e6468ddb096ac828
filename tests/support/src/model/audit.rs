//! What is checked in every request, beyond what its wire demands by itself.

use std::collections::HashMap;

use serde_json::Value;

use super::conversation::Conversations;
use super::reply::Part;
use super::seen::{Block, Message, Role};
use super::{Rules, Seen, Wire};

/// Bytes of arguments that have to come back as they were sent.
const LONGEST: usize = 256 << 10;

#[derive(Debug, Default)]
pub(super) struct Audit {
    pub(super) conversations: Conversations,
    /// Text by signature.
    thoughts: HashMap<String, String>,
    /// By id, which a script may use more than once.
    calls: HashMap<String, Vec<Sent>>,
}

/// A call that was sent.
#[derive(Debug)]
struct Sent {
    name: String,
    args: String,
    /// The signature of the thinking before it, on the wire that wants it back.
    thought: Option<String>,
}

impl Audit {
    /// Remembers what was sent, so that it can be recognised when it comes back.
    pub(super) fn sent(&mut self, wire: Wire, parts: &[Part]) {
        let mut thought = None;
        for part in parts {
            match part {
                Part::Text(_) => {}
                Part::Thinking { text, signature } => {
                    thought = Some(signature.clone()).filter(|_| wire == Wire::Anthropic);
                    self.thoughts.insert(signature.clone(), text.clone());
                }
                Part::Call { id, name, args } => {
                    let sent = Sent { name: name.clone(), args: args.clone(), thought: thought.clone() };
                    self.calls.entry(id.clone()).or_default().push(sent);
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
        faults.extend(self.conversations.faults(seen, rules));
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
                    let Some(sent) = self.calls.get(id) else { continue };
                    let Some(same) = sent.iter().rev().find(|sent| sent.is(name, args)) else {
                        let Sent { name: tool, args: sent, .. } = &sent[sent.len() - 1];
                        faults.push(format!("the call {id} was sent as {tool} {sent} and came back as {name} {args}"));
                        continue;
                    };
                    let thought = same.thought.as_ref().filter(|_| wire == Wire::Anthropic);
                    if thought.is_some_and(|thought| !thoughts.contains(&thought)) {
                        faults.push(format!("the call {id} came back without the thinking before it"));
                    }
                }
                _ => {}
            }
        }
        faults
    }
}

impl Sent {
    /// Names and arguments that no wire takes have to come back as something else.
    fn is(&self, name: &str, args: &Value) -> bool {
        // What no model says in earnest may come back shortened.
        let sent = Some(&self.args).filter(|args| args.len() <= LONGEST);
        let sent = sent.and_then(|args| serde_json::from_str::<Value>(args).ok()).filter(Value::is_object);
        (self.name == name || !is_name(&self.name)) && sent.is_none_or(|sent| sent == *args)
    }
}

fn is_name(tool: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    (1..=64).contains(&tool.len()) && tool.chars().all(plain)
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
        if !is_name(tool) {
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
