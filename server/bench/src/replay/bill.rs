//! What requests and answers count, and what a cache would have known of them.
//!
//! Tokens are those of one public vocabulary, so no provider counts exactly so. The cache is the one of the Messages API:
//! a request is read up to its marks, and a later one reuses the longest prefix that ended at a mark and lies no more than
//! twenty blocks before one of its own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use task::port::Used;
use tiktoken_rs::CoreBPE;

use crate::Failure;

/// What is put around a block, in tokens.
const FRAME: u64 = 4;
/// Blocks before a mark in which the cache is looked up.
const LOOK_BACK: usize = 20;
/// Shorter prefixes are not kept, in tokens.
const LEAST: u64 = 1024;
/// Bytes that are counted at once: the splitter is slow on long white space.
const PART: usize = 16 * 1024;

/// Counts texts, each of them once.
pub struct Counter {
    vocabulary: CoreBPE,
    known: HashMap<u64, u64>,
}

impl Counter {
    pub fn new() -> Result<Self, Failure> {
        let vocabulary = tiktoken_rs::o200k_base().map_err(|error| error.to_string())?;
        Ok(Self { vocabulary, known: HashMap::new() })
    }

    pub fn tokens(&mut self, text: &str) -> u64 {
        let key = hash(0, text);
        if let Some(tokens) = self.known.get(&key) {
            return *tokens;
        }
        let (mut rest, mut tokens) = (text, 0);
        while !rest.is_empty() {
            let (part, tail) = rest.split_at(rest.floor_char_boundary(PART.min(rest.len())).max(1));
            tokens += self.vocabulary.encode_ordinary(part).len() as u64;
            rest = tail;
        }
        self.known.insert(key, tokens);
        tokens
    }
}

/// The bill of one task.
pub struct Bill {
    pub counter: Counter,
    /// Prefixes that a cache holds, by hash.
    cached: HashMap<u64, u64>,
    /// What each request counted, in their order.
    pub requests: Vec<Used>,
}

/// A request up to the end of one block.
struct Prefix {
    hash: u64,
    tokens: u64,
    marked: bool,
}

impl Bill {
    pub fn new(counter: Counter) -> Self {
        Self { counter, cached: HashMap::new(), requests: Vec::new() }
    }

    /// Tokens of a whole request, charged to nobody.
    pub fn count(&mut self, body: &Value) -> u64 {
        self.prefixes(body).last().map_or(0, |prefix| prefix.tokens)
    }

    /// Charges a request; its answer is added later.
    pub fn charge(&mut self, body: &Value) -> Used {
        let prefixes = self.prefixes(body);
        let all = prefixes.last().map_or(0, |prefix| prefix.tokens);
        let marks = || prefixes.iter().enumerate().filter(|(_, prefix)| prefix.marked);
        let near = marks().flat_map(|(at, _)| &prefixes[at.saturating_sub(LOOK_BACK)..=at]);
        let read = near.filter_map(|prefix| self.cached.get(&prefix.hash)).max().copied().unwrap_or(0);
        let last = marks().map(|(_, prefix)| prefix.tokens).max().unwrap_or(0);
        for (_, prefix) in marks().filter(|(_, prefix)| prefix.tokens >= LEAST) {
            self.cached.insert(prefix.hash, prefix.tokens);
        }
        let written = if last >= LEAST { last.saturating_sub(read) } else { 0 };
        let used = Used { input: all - read - written, cache_read: read, cache_written: written, output: 0 };
        self.requests.push(used);
        used
    }

    /// Adds the answer to the last request.
    pub fn answered(&mut self, output: u64) {
        if let Some(last) = self.requests.last_mut() {
            last.output = output;
        }
    }

    /// Everything together.
    pub fn sum(&self) -> Used {
        self.requests.iter().fold(Used::default(), |sum, one| Used {
            input: sum.input + one.input,
            cache_read: sum.cache_read + one.cache_read,
            cache_written: sum.cache_written + one.cache_written,
            output: sum.output + one.output,
        })
    }

    /// Which share of the input a cache knew, from the second request on.
    pub fn share(&self) -> f64 {
        let later = self.requests.iter().skip(1);
        let (read, all) = later.fold((0, 0), |(read, all), one| (read + one.cache_read, all + one.sent()));
        if all == 0 { 0.0 } else { read as f64 / all as f64 }
    }

    /// In the order in which the provider reads: tools, system, messages.
    fn prefixes(&mut self, body: &Value) -> Vec<Prefix> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let messages = list(&body["messages"]);
        let said = messages.iter().flat_map(|message| list(&message["content"]));
        let blocks = list(&body["tools"]).into_iter().chain(list(&body["system"])).chain(said);
        let (mut prefixes, mut before, mut tokens) = (Vec::new(), 0, 0);
        for mut block in blocks {
            let mark = block.as_object_mut().and_then(|block| block.remove("cache_control"));
            before = hash(before, &block.to_string());
            tokens += FRAME + self.counter.tokens(&words(&block));
            prefixes.push(Prefix { hash: before, tokens, marked: mark.is_some_and(|mark| !mark.is_null()) });
        }
        prefixes
    }
}

/// What of a block a model reads.
fn words(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().map(str::to_owned);
    match block["type"].as_str() {
        Some("text") => text("text").unwrap_or_default(),
        Some("tool_result") => text("content").unwrap_or_else(|| block["content"].to_string()),
        Some("tool_use") => format!("{} {}", block["name"], block["input"]),
        _ => block.to_string(),
    }
}

fn hash(before: u64, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (before, text).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(texts: &[&str], marked: usize) -> Value {
        let block = |(at, text): (usize, &&str)| match at == marked {
            true => json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
            false => json!({"type": "text", "text": text}),
        };
        json!({"messages": [{"role": "user", "content": texts.iter().enumerate().map(block).collect::<Vec<_>>()}]})
    }

    #[test]
    fn a_longer_conversation_reads_what_the_shorter_one_wrote() {
        let mut bill = Bill::new(Counter::new().unwrap());
        let long = "word ".repeat(2000);
        let first = bill.charge(&request(&[&long, "a"], 1));
        assert_eq!((first.input, first.cache_read), (0, 0));
        let second = bill.charge(&request(&[&long, "a", "b c"], 2));
        assert_eq!((second.cache_read, second.cache_written, second.input), (first.cache_written, FRAME + 2, 0));
        let third = bill.charge(&request(&[&long, "other", "b c"], 2));
        assert_eq!(third.cache_read, 0, "no request ended with the long text alone");
        assert!(bill.share() > 0.4 && bill.share() < 0.6);
    }
}
