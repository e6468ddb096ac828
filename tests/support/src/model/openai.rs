//! Chat completions as OpenAI and everything compatible with it speak them: how a request is read and an answer written.

use serde_json::{Value, json};

use super::reply::{Frame, Part, Reply, Stop, pieces_of};
use super::seen::{Block, Message, Parsed, Role, list, string};
use super::usage::{Piece, Usage};

/// Every answer was made at this second.
const CREATED: u64 = 1_767_225_600;

pub(super) fn parse(json: &Value) -> Parsed {
    let max_tokens = json["max_completion_tokens"].as_u64().or(json["max_tokens"].as_u64());
    let mut parsed = Parsed { max_tokens, ..Parsed::default() };
    for tool in list(&json["tools"]) {
        let function = &tool["function"];
        parsed.tools.push(string(&function["name"]));
        parsed.pieces.head.push(piece("tool", tool));
        if tool["type"] != "function" || function["parameters"]["type"] != "object" {
            parsed.faults.push(format!("the tool {} is no function with parameters of type object", function["name"]));
        }
    }
    let mut before = "system";
    for (index, message) in list(&json["messages"]).iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let first = matches!(before, "system" | "developer");
        let fits = match role {
            "system" | "developer" => first,
            "user" => before != "user",
            "assistant" => !first && before != "assistant",
            "tool" => matches!(before, "assistant" | "tool"),
            _ => false,
        };
        if !fits {
            parsed.faults.push(format!("message {index} has the role {} behind `{before}`", message["role"]));
        }
        before = role;
        if matches!(role, "system" | "developer") {
            parsed.system += &text(&message["content"]);
            parsed.pieces.head.push(piece("", message));
            continue;
        }
        parsed.pieces.messages.push(piece("", message));
        let blocks = blocks(message);
        if blocks.is_empty() {
            parsed.faults.push(format!("message {index} is empty"));
        }
        let role = if role == "assistant" { Role::Assistant } else { Role::User };
        match parsed.messages.last_mut().filter(|last| last.role == Role::User && role == Role::User) {
            Some(last) => last.blocks.extend(blocks),
            None => parsed.messages.push(Message { role, blocks }),
        }
    }
    parsed
}

fn piece(place: &str, value: &Value) -> Piece {
    Piece { text: format!("{place}{value}"), marked: false }
}

/// The words of a content, which is a text, a list of parts, or nothing.
fn text(content: &Value) -> String {
    content.as_str().map_or_else(|| list(content).iter().map(|part| string(&part["text"])).collect(), str::to_owned)
}

fn blocks(message: &Value) -> Vec<Block> {
    let said = text(&message["content"]);
    if message["role"] == "tool" {
        return vec![Block::Result { id: string(&message["tool_call_id"]), text: said, is_error: false }];
    }
    let calls = list(&message["tool_calls"]).iter().map(|call| {
        let args = string(&call["function"]["arguments"]);
        Block::Call {
            id: string(&call["id"]),
            name: string(&call["function"]["name"]),
            args: serde_json::from_str(&args).unwrap_or(Value::String(args)),
        }
    });
    let texts = [said, string(&message["refusal"])].into_iter().filter(|text| !text.is_empty()).map(Block::Text);
    texts.chain(calls).collect()
}

fn finish_reason(stop: &Stop) -> &str {
    match stop {
        Stop::End | Stop::Refused => "stop",
        Stop::Call => "tool_calls",
        Stop::Length => "length",
        Stop::Filtered => "content_filter",
        Stop::Other(reason) => reason,
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.sent(), "completion_tokens": usage.output, "total_tokens": usage.sent() + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn head(reply: &Reply, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{:06}", reply.number), "object": object, "created": CREATED, "model": reply.model,
    })
}

/// The chunks of a streamed answer. Usage comes last, and only to those who asked for it.
pub(super) fn frames(reply: &Reply, with_usage: bool) -> Vec<Frame> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = head(reply, "chat.completion.chunk");
        chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        if with_usage && reply.usage.is_some() {
            chunk["usage"] = Value::Null;
        }
        frame(None, &chunk)
    };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), None)];
    let mut calls = 0;
    for part in &reply.parts {
        let deltas: Vec<Value> = match part {
            Part::Text(text) => {
                let key = if reply.stop == Stop::Refused { "refusal" } else { "content" };
                pieces_of(text).map(|text| json!({key: text})).collect()
            }
            Part::Thinking { text, .. } => pieces_of(text).map(|text| json!({"reasoning_content": text})).collect(),
            Part::Call { id, name, args } => {
                let first = json!({"index": calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}});
                let rest = pieces_of(args).map(|args| json!({"index": calls, "function": {"arguments": args}}));
                let deltas = std::iter::once(first).chain(rest).map(|call| json!({"tool_calls": [call]})).collect();
                calls += 1;
                deltas
            }
        };
        frames.extend(deltas.into_iter().map(|delta| chunk(delta, None)));
    }
    frames.push(chunk(json!({}), Some(finish_reason(&reply.stop))));
    if let Some(usage) = reply.usage.filter(|_| with_usage) {
        let mut last = head(reply, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage_json(usage);
        frames.push(frame(Some(usage), &last));
    }
    frames.push(Frame { bytes: "data: [DONE]\n\n".to_owned(), usage: None });
    frames
}

fn frame(usage: Option<Usage>, data: &Value) -> Frame {
    Frame { bytes: format!("data: {data}\n\n"), usage }
}

/// The answer to a request that asked for no stream.
pub(super) fn whole(reply: &Reply) -> Value {
    let (mut said, mut calls) = (String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Text(text) => said += text,
            Part::Thinking { .. } => {}
            Part::Call { id, name, args } => {
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}}));
            }
        }
    }
    let key = if reply.stop == Stop::Refused { "refusal" } else { "content" };
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    message[key] = if said.is_empty() { Value::Null } else { said.into() };
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut whole = head(reply, "chat.completion");
    whole["choices"] =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(&reply.stop)}]);
    if let Some(usage) = reply.usage {
        whole["usage"] = usage_json(usage);
    }
    whole
}

/// An error as the API words it, also as a chunk within a stream.
pub(super) fn error(status: u16, code: Option<&str>, message: &str) -> Value {
    let (kind, usual) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500..=599 => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code.or(usual)}})
}

pub(super) fn overflow(tokens: u64, window: u64) -> Value {
    let message = format!(
        "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. \
         Please reduce the length of the messages."
    );
    let mut error = error(400, Some("context_length_exceeded"), &message);
    error["error"]["param"] = "messages".into();
    error
}
