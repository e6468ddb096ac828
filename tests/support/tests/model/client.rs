//! A client of models that is written by hand, so that nothing but the bytes of the wire is trusted.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};
use support::model::{Rules, ScriptedModel};

/// An answer, as far as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// Whether the answer reached its own end.
    pub whole: bool,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The data of each event, `[DONE]` as a string.
    pub fn events(&self) -> Vec<Value> {
        let data =
            self.text().split("\n\n").filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }
}

pub fn send(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n", body.len());
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).unwrap();
    stream
}

/// None when the connection ended before an answer began.
pub fn receive(stream: TcpStream) -> Option<Answer> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let (mut body, mut whole) = (Vec::new(), true);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map(|text| text.parse().unwrap());
    match length {
        Some(length) => body.resize(length, 0),
        None => loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Ok(length) = usize::from_str_radix(line.trim_end(), 16) else {
                whole = false;
                break;
            };
            let mut chunk = vec![0; length + 2];
            reader.read_exact(&mut chunk).ok()?;
            if length == 0 {
                break;
            }
            body.extend(&chunk[..length]);
        },
    }
    if length.is_some() {
        reader.read_exact(&mut body).ok()?;
    }
    Some(Answer { status, head, body, whole })
}

pub const ANTHROPIC: [(&str, &str); 3] =
    [("x-api-key", Rules::KEY), ("anthropic-version", "2023-06-01"), ("content-type", "application/json")];

/// Sends a request of the Messages API.
pub fn ask(model: &ScriptedModel, request: &Value) -> Answer {
    receive(send(model.address(), "/v1/messages", &ANTHROPIC, request.to_string().as_bytes())).unwrap()
}

/// Sends a request for a chat completion.
pub fn chat(model: &ScriptedModel, request: &Value) -> Answer {
    let bearer = format!("Bearer {}", Rules::KEY);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    receive(send(model.address(), "/v1/chat/completions", &headers, request.to_string().as_bytes())).unwrap()
}

pub fn request(messages: Value) -> Value {
    json!({
        "model": "large", "max_tokens": 1000, "stream": true, "system": "Be brief.",
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
        "messages": messages,
    })
}

pub fn chat_request(messages: Value) -> Value {
    json!({
        "model": "large", "max_tokens": 1000, "stream": true, "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
        "messages": messages,
    })
}

/// What the events of the Messages API add up to: the blocks, the last delta, the usage.
pub fn gathered(events: &[Value]) -> (Vec<Value>, Value, Value) {
    let (mut blocks, mut last, mut usage): (Vec<Value>, _, _) = (Vec::new(), Value::Null, Value::Null);
    for event in events {
        let add = |target: &mut Value, text: &Value| {
            *target = format!("{}{}", target.as_str().unwrap_or_default(), text.as_str().unwrap()).into();
        };
        match event["type"].as_str().unwrap() {
            "message_start" => usage = event["message"]["usage"].clone(),
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                let block = &mut blocks[event["index"].as_u64().unwrap() as usize];
                for (key, text) in event["delta"].as_object().unwrap().iter().filter(|(key, _)| *key != "type") {
                    add(&mut block[key.as_str()], text);
                }
            }
            "message_delta" => {
                last = event["delta"].clone();
                usage["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            _ => {}
        }
    }
    (blocks, last, usage)
}
