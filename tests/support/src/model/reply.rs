//! A move made concrete for one request: what is said, how it stops, what it costs.

use super::usage::{Usage, tokens};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    /// The arguments as text, which need not be JSON.
    Call {
        id: String,
        name: String,
        args: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    Call,
    Length,
    Refused,
    Filtered,
    Other(String),
}

#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    /// None where the answer tells nothing about it.
    pub(super) usage: Option<Usage>,
}

/// One event, and what has been reported once it is sent.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: String,
    pub(super) usage: Option<Usage>,
}

impl Part {
    /// The text that output tokens are counted from, behind the name of a tool.
    fn body(&mut self) -> (usize, &mut String) {
        match self {
            Self::Text(text) | Self::Thinking { text, .. } => (0, text),
            Self::Call { name, args, .. } => (name.len(), args),
        }
    }
}

/// Tokens of what is said; at least one, because even silence ends with a token.
pub(super) fn output(parts: &mut [Part]) -> u64 {
    let bytes = parts.iter_mut().map(Part::body).map(|(name, text)| name + text.len()).sum();
    tokens(bytes).max(1)
}

/// Takes away what does not fit into so many tokens, as every provider does; true if something was.
pub(super) fn cut(parts: &mut Vec<Part>, most: u64) -> bool {
    let mut room = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(4);
    for index in 0..parts.len() {
        let (name, text) = parts[index].body();
        if name > room {
            parts.truncate(index);
            return true;
        }
        room -= name;
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            parts.truncate(index + 1);
            return true;
        }
        room -= text.len();
    }
    false
}

/// A text in the parts in which it is streamed.
pub(super) fn pieces_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        // Long texts come in longer parts, so that a giant answer is no matter of a million events.
        let size = (text.len() / 64).max(24);
        let (part, tail) = rest.split_at(rest.floor_char_boundary(size));
        rest = tail;
        (!part.is_empty()).then_some(part)
    })
}
