//! [`Lent`]: the models of the client, asked through it. What reserves, settles and tries again around them is the same
//! as for every other model; here a call becomes a request to the client, and its answer a reply.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use task::port::{
    Arguments, Block, Charge, FaultKind, ModelCall, Profile, RawFault, RawModel, RawReply, Role, Said, Stage, Stop,
    Used, Waiting,
};

use crate::entry::one_line;
use crate::mail::{Mail, Mailbox};

/// How often whoever waits is asked whether it still does.
const LOOK: Duration = Duration::from_millis(50);
/// A client that says nothing for this long has forgotten the call.
const SILENCE: Duration = Duration::from_secs(300);
/// More text than this is no answer.
const LARGEST: usize = 1 << 20;
/// Of malformed arguments so many bytes are kept.
const MOST_MALFORMED: usize = 64 * 1024;

/// The models that a client lends, as far as it knows them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Lends {
    pub name: String,
    /// Tokens that input and output share.
    pub window: u64,
    pub max_output: u64,
}

impl Default for Lends {
    /// What holds for any model that is worth lending.
    fn default() -> Self {
        Self { name: "lent".into(), window: 32_768, max_output: 4_096 }
    }
}

impl Lends {
    /// `true`, or an object with what is known; anything else lends nothing.
    pub fn read(value: &Value) -> Option<Self> {
        let lends = match value {
            Value::Bool(true) => Self::default(),
            object @ Value::Object(_) => serde_json::from_value(object.clone()).ok()?,
            _ => return None,
        };
        (lends.max_output > 0 && lends.max_output < lends.window).then_some(lends)
    }
}

/// `understudy/modelText`.
#[derive(Debug, Deserialize)]
pub struct ModelText {
    pub id: u64,
    pub text: String,
}

/// What comes of a call, piece by piece.
#[derive(Debug)]
pub enum Piece {
    Text(String),
    Done(Result<Value, String>),
}

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

/// The models of the client that is connected.
#[derive(Debug, Clone)]
pub struct Lent {
    mailbox: Mailbox,
}

impl Lent {
    pub(crate) fn new(mailbox: Mailbox) -> Self {
        Self { mailbox }
    }

    /// Whether the client lends any at present. Not to be asked on the loop's own thread.
    pub fn is_there(&self) -> bool {
        self.lends().is_some()
    }

    fn lends(&self) -> Option<Lends> {
        self.mailbox.ask(Mail::Lends).flatten()
    }
}

impl RawModel for Lent {
    fn profile(&self, _: Stage, escalated: bool) -> Option<Profile> {
        let lends = self.lends().filter(|_| !escalated)?;
        let Lends { name, window, max_output } = lends;
        let identity = format!("wire=editor model={name} window={window} max_output={max_output}");
        Some(Profile { name: format!("editor/{name}"), window, max_output, priced: false, identity })
    }

    fn attempt(&self, call: &ModelCall, waiting: &dyn Waiting) -> Result<RawReply, RawFault> {
        let (pieces, answers) = channel();
        let ask = Box::new(question(call));
        let Some(number) = self.mailbox.ask(|reply| Mail::Lend { ask, pieces, reply }) else {
            return Err(fault("the server ends", FaultKind::Ended, Charge::Nothing));
        };
        let mut quiet_since = Instant::now();
        let mut heard = 0;
        let (answered, reply) = loop {
            if waiting.is_over() {
                break (false, Err(fault("the call was ended", FaultKind::Ended, Charge::Unknown)));
            }
            match answers.recv_timeout(LOOK) {
                Ok(Piece::Text(text)) => {
                    quiet_since = Instant::now();
                    heard += text.len();
                    if heard > LARGEST {
                        let why = "the editor's model does not stop talking";
                        break (false, Err(fault(why, FaultKind::Refused, Charge::Unknown)));
                    }
                    waiting.heard(&text);
                }
                Ok(Piece::Done(answer)) => break (true, read(answer)),
                Err(RecvTimeoutError::Timeout) if quiet_since.elapsed() < SILENCE => {}
                Err(_) => {
                    let kind = FaultKind::Passing { after: None };
                    break (false, Err(fault("the editor does not answer for its model", kind, Charge::Unknown)));
                }
            }
        };
        self.mailbox.post(Mail::LendOver { call: number, answered });
        reply
    }
}

fn fault(why: &str, kind: FaultKind, charge: Charge) -> RawFault {
    RawFault { why: why.to_owned(), kind, charge }
}

/// A call as JSON. Thinking is left out: it belongs to another wire.
fn question(call: &ModelCall) -> Value {
    let messages: Vec<Value> = call
        .messages
        .iter()
        .map(|message| {
            let blocks: Vec<Value> = message.blocks.iter().filter_map(block).collect();
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({ "role": role, "blocks": blocks })
        })
        .collect();
    json!({
        "task": call.task, "stage": call.stage, "system": call.system.text(), "tools": call.tools,
        "messages": messages, "max_output": call.max_output,
    })
}

fn block(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text { told, .. } => json!({ "kind": "text", "text": told.text() }),
        Block::ToolCall { id, name, arguments } => {
            let arguments = match arguments {
                Arguments::Read(value) if value.is_object() => value.clone(),
                // A client's model wants an object back; that it was none is in the result.
                Arguments::Read(_) | Arguments::Malformed(_) => json!({}),
            };
            json!({ "kind": "tool_call", "id": id, "name": name, "arguments": arguments })
        }
        Block::ToolResult { id, told, failed } => {
            json!({ "kind": "tool_result", "id": id, "text": told.text(), "failed": failed })
        }
        Block::Thinking { .. } => return None,
    })
}

fn read(answer: Result<Value, String>) -> Result<RawReply, RawFault> {
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

/// `understudy/modelOver`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ModelOver {
    pub id: u64,
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

    #[test]
    fn what_a_client_lends_is_true_or_described() {
        assert_eq!(Lends::read(&json!(true)), Some(Lends::default()));
        let described = Lends::read(&json!({"name": "big", "window": 100_000})).unwrap();
        assert_eq!((described.name.as_str(), described.window, described.max_output), ("big", 100_000, 4_096));
        for nothing in [json!(false), json!(null), json!("yes"), json!({"window": 10, "max_output": 20})] {
            assert_eq!(Lends::read(&nothing), None, "{nothing}");
        }
    }
}
