//! What a request and its answer cost, and which part of it a provider's cache would have known.
//!
//! A token is four bytes of canonical text: tools, system, messages, in this order, each as compact JSON without cache
//! marks. Caches belong to one model on one wire.
//! * OpenAI: whole steps of the text (128 tokens) that some earlier request began with are cached.
//! * Anthropic: only what a request marked with `cache_control` is written, up to the mark; a later request reads the
//!   longest prefix that was written and ends at most 20 blocks before one of its own marks. `tool_choice` and
//!   `thinking` are part of every prefix that reaches into the messages.
//!
//! On both, prefixes below 1024 tokens are not cached ([`Rules::cache`](super::Rules::cache) sets other numbers).

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::AddAssign;

use super::Wire;

/// How many blocks before a mark the cache of Anthropic is looked up.
const LOOK_BACK: usize = 20;

/// Tokens, each counted once: what was read from a cache is no input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub cached: u64,
    pub cache_written: u64,
    pub output: u64,
}

impl Usage {
    /// Every token that was sent, whatever it costs.
    pub fn sent(&self) -> u64 {
        self.input + self.cached + self.cache_written
    }

    /// Rounded up.
    pub(super) fn times(self, factor: f64) -> Self {
        let times = |tokens: u64| (tokens as f64 * factor).ceil() as u64;
        Self {
            input: times(self.input),
            cached: times(self.cached),
            cache_written: times(self.cache_written),
            output: times(self.output),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.output += other.output;
    }
}

pub(super) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// A part of a request that a provider sees as one: a tool, a block of text, a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Carries `cache_control`.
    pub(super) marked: bool,
}

/// The canonical text of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    /// Tools and system.
    pub(super) head: Vec<Piece>,
    /// What changes the cached messages without being text.
    pub(super) settings: String,
    pub(super) messages: Vec<Piece>,
}

impl Pieces {
    pub(super) fn all(&self) -> impl Iterator<Item = &Piece> {
        self.head.iter().chain(&self.messages)
    }

    pub(super) fn text(&self) -> String {
        self.all().map(|piece| piece.text.as_str()).collect()
    }

    pub(super) fn tokens(&self) -> u64 {
        tokens(self.all().map(|piece| piece.text.len()).sum())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Caches {
    /// Tokens of the shortest prefix that is cached.
    pub(super) least: u64,
    /// Tokens by which cached prefixes grow on the wire of OpenAI.
    pub(super) step: u64,
    /// Chained hashes of what is known.
    known: HashMap<(Wire, String), HashSet<u64>>,
}

impl Caches {
    pub(super) fn new(least: u64, step: u64) -> Self {
        Self { least, step: step.max(1), known: HashMap::new() }
    }

    /// What the input of this request costs now; it is known from here on.
    pub(super) fn charge(&mut self, wire: Wire, model: &str, pieces: &Pieces) -> Usage {
        let (least, step) = (self.least, self.step);
        let known = self.known.entry((wire, model.to_owned())).or_default();
        let (cached, written) = match wire {
            Wire::Anthropic => marked(known, pieces, least),
            Wire::OpenAi => (stepped(known, pieces, least, step), 0),
        };
        Usage { input: pieces.tokens() - cached - written, cached, cache_written: written, output: 0 }
    }
}

fn stepped(known: &mut HashSet<u64>, pieces: &Pieces, least: u64, step: u64) -> u64 {
    let (text, mut hasher) = (pieces.text(), DefaultHasher::new());
    let (mut cached, mut hit) = (0, true);
    for block in text.as_bytes().chunks_exact(step as usize * 4) {
        block.hash(&mut hasher);
        hit &= !known.insert(hasher.finish());
        cached += if hit { step } else { 0 };
    }
    if cached < least { 0 } else { cached }
}

fn marked(known: &mut HashSet<u64>, pieces: &Pieces, least: u64) -> (u64, u64) {
    let (mut hasher, mut bytes, mut ends) = (DefaultHasher::new(), 0, Vec::new());
    for (index, piece) in pieces.all().enumerate() {
        if index == pieces.head.len() {
            pieces.settings.hash(&mut hasher);
        }
        piece.text.hash(&mut hasher);
        bytes += piece.text.len();
        // Rounded down, so that what is read and written never exceeds the whole.
        ends.push((hasher.finish(), bytes as u64 / 4));
    }
    let marks: Vec<_> = pieces.all().enumerate().filter(|(_, piece)| piece.marked).map(|(index, _)| index).collect();
    let near = marks.iter().flat_map(|mark| &ends[(mark + 1).saturating_sub(LOOK_BACK)..=*mark]);
    let cached = near.filter(|(hash, _)| known.contains(hash)).map(|(_, tokens)| *tokens).max().unwrap_or(0);
    let mut last = 0;
    for (hash, tokens) in marks.iter().map(|mark| ends[*mark]).filter(|(_, tokens)| *tokens >= least) {
        known.insert(hash);
        last = tokens;
    }
    (cached, last.saturating_sub(cached))
}
