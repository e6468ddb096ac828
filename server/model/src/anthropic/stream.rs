//! An answer of the Messages API, put together from its events.

use serde_json::{Value, json};
use task::port::{RawReply, Said, Stop, Used};

use super::WIRE;
use crate::sse::Event;
use crate::wire::{Break, Collect, arguments, count, json as read};

/// A block that is being said.
#[derive(Debug)]
struct Open {
    index: u64,
    /// As it began; thinking is completed in place, because it goes back as it came.
    start: Value,
    text: String,
    is_closed: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Collector {
    blocks: Vec<Open>,
    stop: Option<String>,
    model: Option<String>,
    used: Option<Used>,
    /// The usage that came with the end.
    is_final: bool,
}

impl Collector {
    /// Later counts include earlier ones; a server that counts late begins with zeros.
    fn count(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let used = self.used.get_or_insert_default();
        for (field, path) in [
            (&mut used.input, "/input_tokens"),
            (&mut used.cache_read, "/cache_read_input_tokens"),
            (&mut used.cache_written, "/cache_creation_input_tokens"),
            (&mut used.output, "/output_tokens"),
        ] {
            *field = count(usage, path).unwrap_or(0).max(*field);
        }
    }

    fn delta(&mut self, event: &Value, heard: &mut dyn FnMut(&str)) -> Result<(), Break> {
        let index = event["index"].as_u64();
        let open = self.blocks.iter_mut().rev().find(|open| index.is_none_or(|index| open.index == index));
        let open = open.ok_or(Break::Garbage)?;
        let delta = &event["delta"];
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                heard(text("text"));
                open.text.push_str(text("text"));
            }
            "input_json_delta" => open.text.push_str(text("partial_json")),
            "thinking_delta" => append(&mut open.start, "thinking", text("thinking")),
            "signature_delta" => append(&mut open.start, "signature", text("signature")),
            _ => {}
        }
        Ok(())
    }

    fn cut_off(&self) -> bool {
        matches!(self.stop.as_deref(), Some("max_tokens" | "model_context_window_exceeded"))
    }
}

fn append(block: &mut Value, key: &str, text: &str) {
    let Some(block) = block.as_object_mut() else { return };
    let whole = block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned() + text;
    block.insert(key.to_owned(), whole.into());
}

impl Collect for Collector {
    fn take(&mut self, event: &Event, heard: &mut dyn FnMut(&str)) -> Result<bool, Break> {
        if event.data.is_empty() {
            return Ok(false);
        }
        let json = read(event)?;
        match json["type"].as_str().unwrap_or(&event.name) {
            "message_start" => {
                self.model = json["message"]["model"].as_str().map(str::to_owned);
                self.count(&json["message"]["usage"]);
            }
            "content_block_start" => {
                let start = json["content_block"].clone();
                if !start.is_object() {
                    return Err(Break::Garbage);
                }
                let text = start["text"].as_str().unwrap_or_default().to_owned();
                heard(&text);
                let index = json["index"].as_u64().unwrap_or(self.blocks.len() as u64);
                self.blocks.push(Open { index, start, text, is_closed: false });
            }
            "content_block_delta" => self.delta(&json, heard)?,
            "content_block_stop" => {
                let index = json["index"].as_u64();
                let open = self.blocks.iter_mut().filter(|open| index.is_none_or(|index| open.index == index));
                open.for_each(|open| open.is_closed = true);
            }
            "message_delta" => {
                self.stop = json["delta"]["stop_reason"].as_str().map(str::to_owned).or(self.stop.take());
                self.is_final |= count(&json["usage"], "/output_tokens").is_some();
                self.count(&json["usage"]);
            }
            "message_stop" => return Ok(true),
            "error" => return Err(Break::Error(json)),
            // `ping`, and whatever is added later.
            _ => {}
        }
        Ok(false)
    }

    fn take_whole(&mut self, answer: &Value, heard: &mut dyn FnMut(&str)) -> Result<(), Break> {
        if answer["type"] == "error" {
            return Err(Break::Error(answer.clone()));
        }
        let content = answer["content"].as_array().ok_or(Break::Garbage)?;
        for (index, block) in (0..).zip(content) {
            let text = block["text"].as_str().unwrap_or_default().to_owned();
            heard(&text);
            self.blocks.push(Open { index, start: block.clone(), text, is_closed: true });
        }
        self.model = answer["model"].as_str().map(str::to_owned);
        self.stop = Some(answer["stop_reason"].as_str().unwrap_or("end_turn").to_owned());
        self.count(&answer["usage"]);
        self.is_final = self.used.is_some();
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.stop.is_some() && self.blocks.iter().all(|open| open.is_closed)
    }

    fn used(&self) -> Option<Used> {
        self.used.filter(|used| used.sent() > 0)
    }

    fn finish(self: Box<Self>) -> RawReply {
        let (cut_off, last) = (self.cut_off(), self.blocks.len());
        let used = self.used().filter(|_| self.is_final);
        let mut blocks = Vec::new();
        for (number, open) in self.blocks.into_iter().enumerate() {
            match open.start["type"].as_str().unwrap_or_default() {
                "text" if open.text.is_empty() => {}
                "text" => blocks.push(Said::Text(open.text)),
                "tool_use" => {
                    let word = |key: &str| open.start[key].as_str().unwrap_or_default().to_owned();
                    // Some servers send the arguments at once, with the start.
                    let whole = open.start["input"].as_object().filter(|input| !input.is_empty());
                    let text = match whole {
                        Some(whole) if open.text.is_empty() => json!(whole).to_string(),
                        _ => open.text.clone(),
                    };
                    let arguments = arguments(&text, cut_off && number + 1 == last);
                    blocks.push(Said::ToolCall { id: word("id"), name: word("name"), arguments });
                }
                "thinking" | "redacted_thinking" => {
                    blocks.push(Said::Thinking { wire: WIRE.to_owned(), raw: open.start });
                }
                _ => {}
            }
        }
        let calls = blocks.iter().any(|block| matches!(block, Said::ToolCall { .. }));
        let stop = match self.stop.as_deref() {
            None | Some("end_turn" | "stop_sequence") if calls => Stop::ToolCalls,
            None | Some("end_turn" | "stop_sequence") => Stop::End,
            Some("tool_use") if calls => Stop::ToolCalls,
            Some("tool_use") => Stop::End,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refusal,
            Some(other) => Stop::Other(other.to_owned()),
        };
        RawReply { blocks, stop, model: self.model.unwrap_or_default(), used }
    }
}
