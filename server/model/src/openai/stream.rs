//! An answer of a chat completion, put together from its chunks. Servers differ in what they leave out, repeat or
//! number: a call begins where anything says that it is another one.

use serde_json::{Value, json};
use task::port::{RawReply, Said, Stop, Used};

use super::{THOUGHTS, WIRE};
use crate::sse::Event;
use crate::wire::{Break, Collect, arguments, count, json as read};

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What the server wants back with the call.
    extra: Option<Value>,
}

#[derive(Debug, Default)]
pub(crate) struct Collector {
    text: String,
    /// Reasoning, and the name of the field that it came in.
    thought: Option<(&'static str, String)>,
    calls: Vec<Call>,
    refused: bool,
    stop: Option<String>,
    model: Option<String>,
    used: Option<Used>,
    is_done: bool,
}

impl Collector {
    fn chunk(&mut self, chunk: &Value, heard: &mut dyn FnMut(&str)) -> Result<(), Break> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Break::Error(chunk.clone()));
        }
        if !chunk.is_object() {
            return Err(Break::Garbage);
        }
        if let Some(model) = chunk["model"].as_str().filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
        self.count(&chunk["usage"]);
        let Some(choice) = chunk["choices"].get(0) else { return Ok(()) };
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        for field in THOUGHTS {
            if let Some(text) = said[field].as_str().filter(|text| !text.is_empty()) {
                let (known, thought) = self.thought.get_or_insert_with(|| (field, String::new()));
                // Some send the same under two names.
                if *known == field {
                    thought.push_str(text);
                }
            }
        }
        self.say(&said["content"], heard);
        if let Some(refusal) = said["refusal"].as_str().filter(|text| !text.is_empty()) {
            self.refused = true;
            heard(refusal);
            self.text.push_str(refusal);
        }
        for call in said["tool_calls"].as_array().into_iter().flatten() {
            self.call(call);
        }
        if let Some(stop) = choice["finish_reason"].as_str().filter(|stop| !stop.is_empty()) {
            self.stop = Some(stop.to_owned());
        }
        Ok(())
    }

    /// A text, or a list of parts.
    fn say(&mut self, content: &Value, heard: &mut dyn FnMut(&str)) {
        let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        for text in content.as_str().into_iter().chain(parts).filter(|text| !text.is_empty()) {
            heard(text);
            self.text.push_str(text);
        }
    }

    fn call(&mut self, delta: &Value) {
        let word = |path: &str| delta.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (index, id, name) = (delta["index"].as_u64(), word("/id"), word("/function/name"));
        let at = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            // Without a number, only a name or an id can tell that another one begins.
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id),
        };
        // The same number again, but complete and with another id or a name: a server that numbers each with 0.
        let is_another = |call: &Call| {
            let whole = serde_json::from_str::<Value>(&call.arguments).is_ok();
            let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
            other_id || (id.is_empty() && whole && !name.is_empty() && !call.name.is_empty())
        };
        let at = at.filter(|at| !is_another(&self.calls[*at])).unwrap_or_else(|| {
            self.calls.push(Call { index, ..Call::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if delta["extra_content"].is_object() {
            call.extra = Some(delta["extra_content"].clone());
        }
        match &delta["function"]["arguments"] {
            Value::String(text) => call.arguments.push_str(text),
            Value::Null => {}
            // An object where the wire has a string.
            whole => call.arguments = whole.to_string(),
        }
    }

    /// Counts are of the whole answer so far. Input includes what was cached; thinking may be missing from the output,
    /// but not from the total.
    fn count(&mut self, usage: &Value) {
        let sent = count(usage, "/prompt_tokens").unwrap_or(0);
        let said = count(usage, "/completion_tokens").unwrap_or(0);
        let total = count(usage, "/total_tokens").unwrap_or(0);
        let cached = count(usage, "/prompt_tokens_details/cached_tokens");
        let cached = cached.or_else(|| count(usage, "/prompt_cache_hit_tokens")).unwrap_or(0).min(sent);
        // All zeros are a field that nobody filled.
        if sent > 0 {
            let output = said.max(total.saturating_sub(sent));
            self.used = Some(Used { input: sent - cached, cache_read: cached, cache_written: 0, output });
        }
    }
}

impl Collect for Collector {
    fn take(&mut self, event: &Event, heard: &mut dyn FnMut(&str)) -> Result<bool, Break> {
        match event.data.trim_ascii() {
            b"" => return Ok(false),
            b"[DONE]" => {
                self.is_done = true;
                return Ok(true);
            }
            _ => {}
        }
        let mut chunk = read(event)?;
        if event.name == "error" && chunk.get("error").is_none() {
            chunk = json!({ "error": chunk });
        }
        self.chunk(&chunk, heard)?;
        Ok(false)
    }

    fn take_whole(&mut self, answer: &Value, heard: &mut dyn FnMut(&str)) -> Result<(), Break> {
        if answer.get("error").is_none_or(Value::is_null) && !answer["choices"].is_array() {
            return Err(Break::Garbage);
        }
        self.is_done = true;
        self.chunk(answer, heard)
    }

    fn is_whole(&self) -> bool {
        self.is_done || self.stop.is_some()
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn finish(self: Box<Self>) -> RawReply {
        let cut_off = self.stop.as_deref() == Some("length");
        let mut blocks = Vec::new();
        let kept = |raw: Value| Said::Thinking { wire: WIRE.to_owned(), raw };
        blocks.extend(self.thought.map(|(field, thought)| kept(json!({ field: thought }))));
        if !self.text.is_empty() {
            blocks.push(Said::Text(self.text));
        }
        let last = self.calls.len();
        for (number, call) in self.calls.into_iter().enumerate() {
            let arguments = arguments(&call.arguments, cut_off && number + 1 == last);
            blocks.extend(call.extra.map(|extra| kept(json!({ "extra_content": extra }))));
            blocks.push(Said::ToolCall { id: call.id, name: call.name, arguments });
        }
        let stop = match self.stop.as_deref() {
            _ if self.refused => Stop::Refusal,
            None | Some("stop" | "tool_calls" | "function_call") if last > 0 => Stop::ToolCalls,
            None | Some("stop" | "tool_calls" | "function_call") => Stop::End,
            Some("length") => Stop::Length,
            Some("content_filter") => Stop::Refusal,
            Some(other) => Stop::Other(other.to_owned()),
        };
        RawReply { blocks, stop, model: self.model.unwrap_or_default(), used: self.used }
    }
}
