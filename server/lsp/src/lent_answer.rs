//! What a client says for its model, read into a reply or a fault.

use serde::Deserialize;
use serde_json::{Value, json};
use task::port::{Arguments, Charge, FaultKind, RawFault, RawReply, Said, Stop, Used};

use crate::entry::one_line;
use crate::lent::LARGEST;

/// Of malformed arguments so many bytes are kept.
const MOST_MALFORMED: usize = 64 * 1024;

/// The client's answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    blocks: Vec<AnswerBlock>,
    stop: String,
    model: String,
    usage: Option<Usage>,
    fault: Option<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum AnswerBlock {
    Text {
        text: String,
    },
    ToolCall {
        #[serde(default)]
        id: String,
        name: String,
        #[serde(default)]
        arguments: Value,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input: u64,
    cache_read: u64,
    cache_written: u64,
    output: u64,
}

#[derive(Debug, Deserialize)]
struct Fault {
    sentence: String,
    #[serde(default)]
    kind: FaultWord,
    /// Whether the call reached a model: what did not costs nothing.
    #[serde(default = "yes")]
    sent: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultWord {
    /// It may work later.
    Passing,
    /// It does not fit into the window.
    Overflow,
    #[default]
    Refused,
}

fn yes() -> bool {
    true
}

pub fn fault(why: &str, kind: FaultKind, charge: Charge) -> RawFault {
    RawFault { why: why.to_owned(), kind, charge }
}

/// The reply, or why there is none and what that may have cost.
pub fn read(answer: Result<Value, String>) -> Result<RawReply, RawFault> {
    let answer = answer.map_err(|error| fault(&one_line(&error), FaultKind::Refused, Charge::Unknown))?;
    let answer: Answer = serde_json::from_value(answer).map_err(|error| {
        let why = format!("the editor's answer for its model is not understood: {error}");
        fault(&one_line(&why), FaultKind::Refused, Charge::Unknown)
    })?;
    if let Some(Fault { sentence, kind, sent }) = answer.fault {
        let kind = match kind {
            FaultWord::Passing => FaultKind::Passing { after: None },
            FaultWord::Overflow => FaultKind::Overflow,
            FaultWord::Refused => FaultKind::Refused,
        };
        return Err(fault(&one_line(&sentence), kind, if sent { Charge::Unknown } else { Charge::Nothing }));
    }
    let blocks: Vec<Said> = answer.blocks.into_iter().map(said).collect();
    let calls = blocks.iter().any(|said| matches!(said, Said::ToolCall { .. }));
    let stop = match answer.stop.as_str() {
        "length" => Stop::Length,
        "refusal" => Stop::Refusal,
        "" | "end" | "tool_calls" if calls => Stop::ToolCalls,
        "" | "end" => Stop::End,
        other => Stop::Other(one_line(other)),
    };
    let used = answer.usage.map(|usage| Used {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_written: usage.cache_written,
        output: usage.output,
    });
    Ok(RawReply { blocks, stop, model: answer.model, used })
}

fn said(block: AnswerBlock) -> Said {
    match block {
        AnswerBlock::Text { mut text } => {
            text.truncate(text.floor_char_boundary(LARGEST));
            Said::Text(text)
        }
        AnswerBlock::ToolCall { id, name, arguments } => {
            let arguments = match arguments {
                Value::Null => Arguments::Read(json!({})),
                object @ Value::Object(_) => Arguments::Read(object),
                other => {
                    let mut text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
                    text.truncate(text.floor_char_boundary(MOST_MALFORMED));
                    Arguments::Malformed(text)
                }
            };
            Said::ToolCall { id, name, arguments }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_order_and_what_it_says_about_usage() {
        let answer = json!({
            "blocks": [
                {"kind": "text", "text": "I look."},
                {"kind": "tool_call", "id": "a", "name": "read", "arguments": {"path": "x"}},
                {"kind": "tool_call", "name": "read", "arguments": "{oops"},
            ],
            "stop": "end", "model": "m", "usage": {"input": 7, "output": 2},
        });
        let reply = read(Ok(answer)).unwrap();
        assert_eq!((reply.stop, reply.used.unwrap().input, reply.blocks.len()), (Stop::ToolCalls, 7, 3));
        let Said::ToolCall { arguments, .. } = &reply.blocks[2] else { panic!() };
        assert_eq!(*arguments, Arguments::Malformed("{oops".into()));
        assert_eq!(read(Ok(json!({}))).unwrap().stop, Stop::End);
    }

    #[test]
    fn faults_say_what_follows_and_what_they_cost() {
        let told = |fault: Value| read(Ok(json!({ "fault": fault }))).unwrap_err();
        let later = told(json!({"sentence": "busy", "kind": "passing", "sent": false}));
        assert_eq!((later.kind, later.charge), (FaultKind::Passing { after: None }, Charge::Nothing));
        assert_eq!(told(json!({"sentence": "no"})).kind, FaultKind::Refused);
        for odd in [Ok(json!(3)), Ok(json!({"blocks": [{"kind": "dance"}]})), Err("method not\nfound".into())] {
            let fault = read(odd).unwrap_err();
            assert_eq!((fault.kind, fault.charge), (FaultKind::Refused, Charge::Unknown));
            assert!(!fault.why.contains('\n'));
        }
    }
}
