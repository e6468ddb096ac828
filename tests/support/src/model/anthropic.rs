//! The Messages API of Anthropic: how a request is read and an answer written.

use serde_json::{Value, json};

use super::reply::{Frame, Part, Reply, Stop, pieces_of};
use super::seen::{Block, Message, Parsed, Role, list, string};
use super::usage::{Piece, Pieces, Usage};

/// Marks that one request may carry.
const MARKS: usize = 4;

pub(super) fn parse(json: &Value) -> Parsed {
    let mut parsed = Parsed { max_tokens: json["max_tokens"].as_u64(), ..Parsed::default() };
    let mut pieces = Pieces::default();
    for tool in list(&json["tools"]) {
        parsed.tools.push(string(&tool["name"]));
        pieces.head.push(piece("tool", tool));
        if tool["input_schema"]["type"] != "object" {
            parsed.faults.push(format!("the tool {} has no input_schema of type object", tool["name"]));
        }
    }
    for block in blocks(&json["system"]) {
        parsed.system += &string(&block["text"]);
        pieces.head.push(piece("system", &block));
    }
    for (index, message) in list(&json["messages"]).iter().enumerate() {
        let role = match message["role"].as_str() {
            Some("assistant") => Role::Assistant,
            Some("user") => Role::User,
            _ => {
                parsed.faults.push(format!("message {index} has the role {}", message["role"]));
                continue;
            }
        };
        let content = blocks(&message["content"]);
        pieces.messages.extend(content.iter().map(|block| piece(role_name(role), block)));
        let blocks: Vec<_> = content.iter().map(block).collect();
        parsed.faults.extend(message_faults(index, role, &blocks, parsed.messages.last()));
        parsed.messages.push(Message { role, blocks });
    }
    let marks = pieces.all().filter(|piece| piece.marked).count();
    if marks > MARKS {
        parsed.faults.push(format!("{marks} blocks carry cache_control, at most {MARKS} may"));
    }
    pieces.settings = format!("{}{}", json["tool_choice"], json["thinking"]);
    parsed.faults.extend(thinking_fault(json));
    parsed.pieces = pieces;
    parsed
}

fn message_faults(index: usize, role: Role, blocks: &[Block], before: Option<&Message>) -> Vec<String> {
    let mut faults = Vec::new();
    if before.map_or(role == Role::Assistant, |before| before.role == role) {
        faults.push(format!("message {index} is of the {}: roles must alternate, the user begins", role_name(role)));
    }
    if blocks.is_empty() {
        faults.push(format!("message {index} is empty"));
    }
    if blocks.iter().any(|block| matches!(block, Block::Text(text) if text.trim().is_empty())) {
        faults.push(format!("message {index} has a block of text without text"));
    }
    let first_other = blocks.iter().position(|block| !matches!(block, Block::Result { .. }));
    let last_result = blocks.iter().rposition(|block| matches!(block, Block::Result { .. }));
    if let (Some(other), Some(result)) = (first_other, last_result)
        && other < result
    {
        faults.push(format!("message {index} has a tool_result behind other blocks"));
    }
    faults
}

fn thinking_fault(json: &Value) -> Option<String> {
    let budget = json["thinking"]["budget_tokens"].as_u64().filter(|_| json["thinking"]["type"] == "enabled")?;
    let room = json["max_tokens"].as_u64().unwrap_or(0);
    let warm = json.get("temperature").is_some_and(|value| value.as_f64() != Some(1.0));
    match () {
        () if budget < 1024 || budget >= room => {
            Some(format!("thinking may take {budget} tokens: it must be at least 1024 and below max_tokens ({room})"))
        }
        () if warm => Some("temperature must be 1 where thinking is enabled".to_owned()),
        () => None,
    }
}

/// A content, a system or a result, as the blocks that a plain text stands for.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        content => list(content).to_vec(),
    }
}

fn block(block: &Value) -> Block {
    match block["type"].as_str().unwrap_or_default() {
        "text" => Block::Text(string(&block["text"])),
        "thinking" => Block::Thinking { text: string(&block["thinking"]), signature: string(&block["signature"]) },
        "redacted_thinking" => Block::Thinking { text: String::new(), signature: string(&block["data"]) },
        "tool_use" => {
            Block::Call { id: string(&block["id"]), name: string(&block["name"]), args: block["input"].clone() }
        }
        "tool_result" => Block::Result {
            id: string(&block["tool_use_id"]),
            text: blocks(&block["content"]).iter().map(|block| string(&block["text"])).collect(),
            is_error: block["is_error"] == true,
        },
        other => Block::Other(other.to_owned()),
    }
}

fn piece(place: &str, block: &Value) -> Piece {
    let mut bare = block.clone();
    let mark = bare.as_object_mut().and_then(|block| block.shift_remove("cache_control"));
    Piece { text: format!("{place}{bare}"), marked: mark.is_some_and(|mark| !mark.is_null()) }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn stop_reason(stop: &Stop) -> &str {
    match stop {
        Stop::End => "end_turn",
        Stop::Call => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refused | Stop::Filtered => "refusal",
        Stop::Other(reason) => reason,
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input, "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cached, "output_tokens": usage.output,
    })
}

fn message(reply: &Reply) -> Value {
    json!({
        "id": format!("msg_{:06}", reply.number), "type": "message", "role": "assistant", "model": reply.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
    })
}

/// The events of a streamed answer.
pub(super) fn frames(reply: &Reply) -> Vec<Frame> {
    let mut start = message(reply);
    // The first event knows the input; of the output, one token.
    let begun = reply.usage.map(|usage| Usage { output: usage.output.min(1), ..usage });
    if let Some(usage) = begun {
        start["usage"] = usage_json(usage);
    }
    let mut frames = vec![frame(begun, json!({"type": "message_start", "message": start}))];
    frames.push(frame(None, json!({"type": "ping"})));
    for (index, part) in reply.parts.iter().enumerate() {
        let (start, deltas) = part_events(part);
        frames.push(frame(None, json!({"type": "content_block_start", "index": index, "content_block": start})));
        let deltas =
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        frames.extend(deltas.map(|delta| frame(None, delta)));
        frames.push(frame(None, json!({"type": "content_block_stop", "index": index})));
    }
    let mut end = json!({"type": "message_delta",
        "delta": {"stop_reason": stop_reason(&reply.stop), "stop_sequence": null}});
    if let Some(usage) = reply.usage {
        end["usage"] = json!({"output_tokens": usage.output});
    }
    frames.push(frame(reply.usage, end));
    frames.push(frame(None, json!({"type": "message_stop"})));
    frames
}

fn part_events(part: &Part) -> (Value, Vec<Value>) {
    match part {
        Part::Text(text) => (
            json!({"type": "text", "text": ""}),
            pieces_of(text).map(|text| json!({"type": "text_delta", "text": text})).collect(),
        ),
        Part::Thinking { text, signature } if text.is_empty() => {
            (json!({"type": "redacted_thinking", "data": signature}), Vec::new())
        }
        Part::Thinking { text, signature } => {
            let mut deltas: Vec<_> =
                pieces_of(text).map(|text| json!({"type": "thinking_delta", "thinking": text})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        Part::Call { id, name, args } => {
            let parts = std::iter::once("").chain(pieces_of(args));
            let deltas = parts.map(|part| json!({"type": "input_json_delta", "partial_json": part})).collect();
            (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
        }
    }
}

fn frame(usage: Option<Usage>, data: Value) -> Frame {
    Frame { bytes: format!("event: {}\ndata: {data}\n\n", string(&data["type"])), usage }
}

/// The answer to a request that asked for no stream.
pub(super) fn whole(reply: &Reply) -> Value {
    let mut whole = message(reply);
    let content = reply.parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Thinking { text, signature } if text.is_empty() => {
            json!({"type": "redacted_thinking", "data": signature})
        }
        Part::Thinking { text, signature } => json!({"type": "thinking", "thinking": text, "signature": signature}),
        Part::Call { id, name, args } => {
            let input = serde_json::from_str(args).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    });
    whole["content"] = content.collect();
    whole["stop_reason"] = stop_reason(&reply.stop).into();
    whole["usage"] = reply.usage.map_or(Value::Null, usage_json);
    whole
}

/// An error as the API words it, also as an event within a stream.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(super) fn overflow(tokens: u64, window: u64) -> Value {
    error(400, &format!("prompt is too long: {tokens} tokens > {window} maximum"))
}
