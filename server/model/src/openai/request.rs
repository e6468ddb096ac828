//! A call as a chat completion. Equal calls give equal bytes, and a longer conversation begins with the bytes of the
//! shorter one: what differs between turns stands behind the messages.

use serde_json::{Map, Value, json};
use task::port::{Block, Message, ModelCall, Role};

use super::{Dialect, THOUGHTS, WIRE};
use crate::choice::Choice;
use crate::wire::{fit, object};

/// The body of a request that streams.
pub(crate) fn body(choice: &Choice, dialect: &Dialect, call: &ModelCall, max_output: u64) -> Vec<u8> {
    let mut body = Map::new();
    body.insert("model".into(), choice.id.clone().into());
    if !call.tools.is_empty() {
        let tools = call.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".into(), tools.collect());
    }
    let mut messages = Vec::new();
    if !call.system.text().trim().is_empty() {
        messages.push(json!({"role": "system", "content": call.system.text()}));
    }
    for (role, blocks) in merged(&call.messages) {
        match role {
            Role::User => from_user(&blocks, &mut messages),
            Role::Assistant => messages.extend(from_assistant(&blocks, dialect.has_thoughts())),
        }
    }
    body.insert("messages".into(), messages.into());
    body.insert(dialect.max_output().into(), max_output.into());
    if let Some(effort) = choice.effort.as_ref().filter(|_| dialect.has_effort()) {
        body.insert("reasoning_effort".into(), effort.clone().into());
    }
    if dialect.cache_key {
        body.insert("prompt_cache_key".into(), call.task.to_string().into());
    }
    body.insert("stream".into(), true.into());
    if dialect.has_stream_options() {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    Value::Object(body).to_string().into_bytes()
}

/// Roles alternate: templates of local models insist on it.
fn merged(messages: &[Message]) -> Vec<(Role, Vec<&Block>)> {
    let mut merged: Vec<(Role, Vec<&Block>)> = Vec::new();
    for message in messages {
        match merged.last_mut().filter(|(role, _)| *role == message.role) {
            Some((_, blocks)) => blocks.extend(&message.blocks),
            None => merged.push((message.role, message.blocks.iter().collect())),
        }
    }
    merged
}

fn texts(blocks: &[&Block]) -> Option<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text { told, .. } => Some(told.text()).filter(|text| !text.trim().is_empty()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn from_user(blocks: &[&Block], messages: &mut Vec<Value>) {
    for block in blocks {
        if let Block::ToolResult { id, told, failed } = block {
            // This wire has no field for it.
            let content = if *failed { format!("[failed]\n{}", told.text()) } else { told.text().to_owned() };
            messages.push(json!({"role": "tool", "tool_call_id": fit(id), "content": content}));
        }
    }
    messages.extend(texts(blocks).map(|text| json!({"role": "user", "content": text})));
}

fn from_assistant(blocks: &[&Block], has_thoughts: bool) -> Option<Value> {
    let (mut calls, mut thoughts, mut extra) = (Vec::new(), Map::new(), None);
    for block in blocks {
        match block {
            Block::ToolCall { id, name, arguments } => {
                let function = json!({"name": fit(name), "arguments": object(arguments).to_string()});
                let mut call = json!({"id": fit(id), "type": "function", "function": function});
                if let Some(extra) = extra.take() {
                    call["extra_content"] = extra;
                }
                calls.push(call);
            }
            Block::Thinking { wire, raw } if wire == WIRE && has_thoughts => {
                extra = raw.get("extra_content").cloned();
                let fields = THOUGHTS.iter().filter_map(|field| Some(((*field).to_owned(), raw.get(field)?.clone())));
                thoughts.extend(fields);
            }
            _ => {}
        }
    }
    let text = texts(blocks);
    if calls.is_empty() && text.is_none() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), text.into());
    // Reasoning belongs to calls that wait for results; behind an answer nobody wants it back.
    if !calls.is_empty() {
        message.extend(thoughts);
        message.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(message))
}
