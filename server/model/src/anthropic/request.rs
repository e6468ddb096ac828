//! A call as a request of the Messages API. Equal calls give equal bytes, and a longer conversation begins with the bytes
//! of the shorter one, but for the marks that say up to where to cache.

use serde_json::{Map, Value, json};
use task::port::{Block, Message, ModelCall, Role};

use super::WIRE;
use crate::choice::Choice;
use crate::settings::Thinking;
use crate::wire::{fit, object};

/// Below that the wire takes no thinking.
const LEAST_THINKING: u64 = 1024;

/// One block, and whether what comes up to here stays.
struct Piece {
    json: Value,
    stable: bool,
}

struct Turn {
    role: Role,
    pieces: Vec<Piece>,
}

/// The body of a request that streams.
pub(crate) fn body(choice: &Choice, call: &ModelCall, max_output: u64) -> Vec<u8> {
    let mut body = shared(choice, call);
    body.insert("max_tokens".into(), max_output.into());
    if let Some(thinking) = thinking(choice, call, max_output) {
        body.insert("thinking".into(), thinking);
    }
    body.insert("stream".into(), true.into());
    Value::Object(body).to_string().into_bytes()
}

/// The body of the question how many tokens that is.
pub(crate) fn count_body(choice: &Choice, call: &ModelCall) -> Vec<u8> {
    let mut body = shared(choice, call);
    if let Some(thinking) = thinking(choice, call, call.max_output.min(choice.max_output)) {
        body.insert("thinking".into(), thinking);
    }
    Value::Object(body).to_string().into_bytes()
}

fn shared(choice: &Choice, call: &ModelCall) -> Map<String, Value> {
    let mut tools: Vec<Value> = call
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
        .collect();
    let mut system = Vec::new();
    if !call.system.text().trim().is_empty() {
        system.push(json!({"type": "text", "text": call.system.text()}));
    }
    // The cache goes from tools over system to messages: one mark at the end of the first two covers both.
    if let Some(last) = system.last_mut().or(tools.last_mut()) {
        mark(last);
    }
    let mut turns = turns(&call.messages);
    mark_turns(&mut turns);
    let messages = turns.into_iter().map(|turn| {
        let role = if turn.role == Role::User { "user" } else { "assistant" };
        let content: Vec<Value> = turn.pieces.into_iter().map(|piece| piece.json).collect();
        json!({"role": role, "content": content})
    });
    let messages: Vec<Value> = messages.collect();
    let mut body = Map::new();
    body.insert("model".into(), choice.id.clone().into());
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
    }
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into());
    body
}

/// Roles alternate on this wire, results stand first, and a block of text has text.
fn turns(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        let mut pieces: Vec<(bool, Piece)> = message.blocks.iter().filter_map(piece).collect();
        pieces.sort_by_key(|(is_result, _)| !is_result);
        let pieces = pieces.into_iter().map(|(_, piece)| piece);
        match turns.last_mut().filter(|last| last.role == message.role) {
            Some(last) => last.pieces.extend(pieces),
            None => turns.push(Turn { role: message.role, pieces: pieces.collect() }),
        }
        if turns.last().is_some_and(|turn| turn.pieces.is_empty()) {
            turns.pop();
        }
    }
    turns
}

/// Whether it is a result, and the block.
fn piece(block: &Block) -> Option<(bool, Piece)> {
    let (is_result, stable, json) = match block {
        Block::Text { told, .. } if told.text().trim().is_empty() => return None,
        Block::Text { told, stable } => (false, *stable, json!({"type": "text", "text": told.text()})),
        Block::ToolCall { id, name, arguments } => {
            let input = object(arguments);
            (false, false, json!({"type": "tool_use", "id": fit(id), "name": fit(name), "input": input}))
        }
        Block::ToolResult { id, told, failed } => {
            let mut result = json!({"type": "tool_result", "tool_use_id": fit(id), "content": told.text()});
            if *failed {
                result["is_error"] = true.into();
            }
            (true, false, result)
        }
        Block::Thinking { wire, raw } if wire == WIRE => (false, false, raw.clone()),
        Block::Thinking { .. } => return None,
    };
    Some((is_result, Piece { json, stable }))
}

/// Three marks beside the one of the system: what stays, the end, and the end of the message of the user before it,
/// because the cache is looked up no more than twenty blocks before a mark.
fn mark_turns(turns: &mut [Turn]) {
    let mut marked = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        marked.extend(turn.pieces.iter().rposition(|piece| piece.stable).map(|piece| (at, piece)));
    }
    let mut marks: Vec<_> = marked.pop().into_iter().collect();
    let users = turns.iter().enumerate().rev().filter(|(_, turn)| turn.role == Role::User);
    let ends = users.filter_map(|(at, turn)| Some((at, turn.pieces.iter().rposition(is_markable)?)));
    marks.extend(ends.take(2));
    for (turn, piece) in marks {
        mark(&mut turns[turn].pieces[piece].json);
    }
}

/// Thinking cannot carry a mark.
fn is_markable(piece: &Piece) -> bool {
    matches!(piece.json["type"].as_str(), Some("text" | "tool_use" | "tool_result"))
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// None where a turn with open calls began without thinking, which the wire does not take: another model began it.
fn thinking(choice: &Choice, call: &ModelCall, max_output: u64) -> Option<Value> {
    match choice.thinking? {
        Thinking::Named(_) => Some(json!({"type": "adaptive"})),
        Thinking::Budget(budget) => {
            // What is said must find room beside what is thought.
            let budget = budget.min(max_output / 2);
            let answered = call.messages.iter().rev().find(|message| message.role == Role::Assistant);
            let began_without = answered.is_some_and(|message| {
                let calls = message.blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
                let thought = matches!(message.blocks.first(), Some(Block::Thinking { wire, .. }) if wire == WIRE);
                calls && !thought
            });
            (budget >= LEAST_THINKING && !began_without).then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
    }
}
