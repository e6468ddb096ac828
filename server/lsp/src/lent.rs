//! [`Lent`]: the models of the client, asked through it. What reserves, settles and tries again around them is the same
//! as for every other model; here a call becomes a request to the client, and its answer a reply.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use task::port::{
    Arguments, Block, Charge, FaultKind, ModelCall, Profile, RawFault, RawModel, RawReply, Role, Stage, Waiting,
};

use crate::lent_answer::{fault, read};
use crate::mail::{Mail, Mailbox};

/// How often whoever waits is asked whether it still does.
const LOOK: Duration = Duration::from_millis(50);
/// A client that says nothing for this long has forgotten the call.
const SILENCE: Duration = Duration::from_secs(300);
/// More text than this is no answer.
pub const LARGEST: usize = 1 << 20;

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

/// `understudy/modelOver`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ModelOver {
    pub id: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

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
