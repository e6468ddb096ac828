//! What both wires have in common: how arguments are read, names are made fit, and an answer is collected.

use serde_json::Value;
use task::port::{Arguments, Block, ModelCall, RawReply, Said, Used};

use crate::sse::Event;

/// What a model says outside of its arguments is theirs; of malformed arguments so many bytes are kept.
const MOST_MALFORMED: usize = 64 * 1024;
/// Of a name that a tool cannot have.
const LONGEST_NAME: usize = 64;

/// A part of a stream that is no part of an answer.
#[derive(Debug)]
pub(crate) enum Break {
    /// The provider says that it failed; its error, as JSON.
    Error(Value),
    /// Nobody can say what this is.
    Garbage,
}

/// Puts an answer together from events.
pub(crate) trait Collect {
    /// Takes an event; true once nothing more can come.
    fn take(&mut self, event: &Event, heard: &mut dyn FnMut(&str)) -> Result<bool, Break>;

    /// Takes an answer that came whole, from a server that does not stream.
    fn take_whole(&mut self, answer: &Value, heard: &mut dyn FnMut(&str)) -> Result<(), Break>;

    /// Whether the model had ended when the stream did.
    fn is_whole(&self) -> bool;

    /// Usage, as far as it was reported.
    fn used(&self) -> Option<Used>;

    /// The answer; `used` only where it is final.
    fn finish(self: Box<Self>) -> RawReply;
}

/// The JSON of an event. Bytes that are no UTF-8 are replaced: the rest of the answer is worth having.
pub(crate) fn json(event: &Event) -> Result<Value, Break> {
    let read = serde_json::from_slice(&event.data);
    read.or_else(|_| serde_json::from_str(&String::from_utf8_lossy(&event.data))).map_err(|_| Break::Garbage)
}

/// The arguments of a call. None at all are an empty object, unless the answer was cut off.
pub(crate) fn arguments(text: &str, cut_off: bool) -> Arguments {
    let bare = text.trim();
    if bare.is_empty() && !cut_off {
        return Arguments::Read(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(bare) {
        Ok(Value::Object(object)) => Arguments::Read(Value::Object(object)),
        Ok(Value::Null) => arguments("", cut_off),
        // Weak models write JSON into a JSON string.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => arguments(&inner, cut_off),
        _ => Arguments::Malformed(text[..text.floor_char_boundary(MOST_MALFORMED)].to_owned()),
    }
}

/// The arguments as an object that a provider takes back.
pub(crate) fn object(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Read(value) if value.is_object() => value.clone(),
        Arguments::Read(value) => serde_json::json!({ "malformed": value.to_string() }),
        Arguments::Malformed(text) => serde_json::json!({ "malformed": text }),
    }
}

/// A name or an id with nothing in it that a provider refuses. Models call tools that do not exist by any name.
pub(crate) fn fit(name: &str) -> String {
    let fitting = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(LONGEST_NAME).map(fitting).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// Gives each call an id that no other call of the conversation has: some servers send none, or the same again.
pub(crate) fn with_ids(blocks: &mut [Said], call: &ModelCall) {
    let earlier = call.messages.iter().flat_map(|message| &message.blocks);
    let mut taken: Vec<String> = earlier
        .filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(fit(id)),
            _ => None,
        })
        .collect();
    for (index, said) in blocks.iter_mut().enumerate() {
        let Said::ToolCall { id, .. } = said else { continue };
        if id.is_empty() || taken.contains(&fit(id)) {
            *id = format!("call_{}_{index}", call.messages.len());
        }
        taken.push(fit(id));
    }
}

/// A number of tokens in a usage; absent and null say nothing.
pub(crate) fn count(usage: &Value, path: &str) -> Option<u64> {
    let value = usage.pointer(path)?;
    // Some servers count in floating point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    value.as_u64().or_else(|| value.as_f64().map(|count| count.ceil() as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_objects_or_malformed() {
        for (text, read) in [
            ("{\"a\": 1}", json!({"a": 1})),
            (" \n", json!({})),
            ("null", json!({})),
            ("\"{\\\"a\\\": 1}\"", json!({"a": 1})),
        ] {
            assert_eq!(arguments(text, false), Arguments::Read(read), "{text}");
        }
        for text in ["{\"a\": ", "[1]", "3", "{'a': 1}", "{} {}", "\"text\""] {
            assert_eq!(arguments(text, false), Arguments::Malformed(text.to_owned()));
        }
        assert_eq!(arguments("", true), Arguments::Malformed(String::new()));
        assert!(object(&Arguments::Malformed("x".into())).is_object());
    }

    #[test]
    fn names_that_nobody_could_have_are_made_fit() {
        assert_eq!(fit("functions.edit:0"), "functions_edit_0");
        assert_eq!(fit(""), "unknown");
        assert_eq!(fit(&"ä".repeat(99)).len(), 64);
    }
}
