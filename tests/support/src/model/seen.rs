//! A request as the scripted model sees it, whatever the wire.

use std::time::Instant;

use serde_json::Value;

use super::usage::Pieces;
use super::{anthropic, http, openai};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    OpenAi,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        id: String,
        name: String,
        /// A string with the raw text where that is no JSON (possible on the wire of OpenAI only).
        args: Value,
    },
    Result {
        id: String,
        text: String,
        is_error: bool,
    },
    /// Anything else, by its type.
    Other(String),
}

/// Tool results, and the user's text behind them, are one message of the user on both wires.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    pub blocks: Vec<Block>,
}

#[derive(Debug)]
pub struct Seen {
    /// Counts from 1.
    pub number: usize,
    pub at: Instant,
    pub wire: Wire,
    pub model: String,
    pub system: String,
    pub messages: Vec<Message>,
    /// The names of the tools that are offered.
    pub tools: Vec<String>,
    pub max_tokens: Option<u64>,
    pub stream: bool,
    pub json: Value,
    pub body: Vec<u8>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub(super) pieces: Pieces,
    /// What the wire would not take, in sentences.
    pub(super) faults: Vec<String>,
}

/// What a wire's own reader finds in a request.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<String>,
    pub(super) max_tokens: Option<u64>,
    pub(super) pieces: Pieces,
    pub(super) faults: Vec<String>,
}

impl Seen {
    pub(super) fn new(number: usize, wire: Wire, request: http::Request, json: Value) -> Self {
        let parsed = match wire {
            Wire::Anthropic => anthropic::parse(&json),
            Wire::OpenAi => openai::parse(&json),
        };
        Self {
            number,
            at: Instant::now(),
            wire,
            model: string(&json["model"]),
            system: parsed.system,
            messages: parsed.messages,
            tools: parsed.tools,
            max_tokens: parsed.max_tokens,
            stream: json["stream"] == true,
            json,
            body: request.body,
            headers: request.headers,
            pieces: parsed.pieces,
            faults: parsed.faults,
        }
    }

    /// Everything the last message says, results of tools included, one block a line.
    pub fn last_text(&self) -> String {
        let blocks = self.messages.last().map_or(&[][..], |message| &message.blocks);
        blocks.iter().filter_map(Block::text).collect::<Vec<_>>().join("\n")
    }

    /// Whether system or any message says this.
    pub fn says(&self, text: &str) -> bool {
        let mut blocks = self.messages.iter().flat_map(|message| &message.blocks).filter_map(Block::text);
        self.system.contains(text) || blocks.any(|said| said.contains(text))
    }

    /// The results in the last message, with the names of the tools that were called.
    pub fn last_results(&self) -> Vec<(&str, &str)> {
        let blocks = self.messages.last().map_or(&[][..], |message| &message.blocks);
        let results = blocks.iter().filter_map(|block| match block {
            Block::Result { id, text, .. } => Some((self.called(id)?, text.as_str())),
            _ => None,
        });
        results.collect()
    }

    pub fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered == tool)
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        http::header(&self.headers, name)
    }

    /// The canonical text that tokens are counted from.
    pub fn rendered(&self) -> String {
        self.pieces.text()
    }

    fn called(&self, call: &str) -> Option<&str> {
        self.messages.iter().rev().flat_map(|message| &message.blocks).find_map(|block| match block {
            Block::Call { id, name, .. } if id == call => Some(name.as_str()),
            _ => None,
        })
    }
}

impl Block {
    /// The words of a text or a result.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Result { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// The text of a string, nothing for anything else.
pub(super) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The elements of a list, nothing for anything else.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
