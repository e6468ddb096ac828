//! What a test demands of every request.

use super::Seen;
use super::seen::Block;
use super::usage::Caches;

/// Starts strict; a test loosens what its subject may do.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(super) key: Option<String>,
    pub(super) forbidden: Vec<String>,
    pub(super) max_tokens: u64,
    pub(super) body: usize,
    pub(super) stable: usize,
    pub(super) conversation: fn(&Seen) -> String,
    pub(super) may_compact: bool,
    pub(super) may_prefill: bool,
    pub(super) models: Vec<String>,
    pub(super) window: Option<u64>,
    pub(super) caches: Caches,
    pub(super) counts: bool,
    pub(super) count_factor: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            key: Some(Self::KEY.to_owned()),
            forbidden: Vec::new(),
            max_tokens: 64_000,
            body: 4 * 1024 * 1024,
            stable: 0,
            conversation: usual,
            may_compact: false,
            may_prefill: false,
            models: Vec::new(),
            window: None,
            caches: Caches::new(1024, 128),
            counts: true,
            count_factor: 1.0,
        }
    }
}

impl Rules {
    /// The key that requests carry, in the one header of their wire and nowhere else.
    pub const KEY: &str = "scripted-key-5f3a9c";

    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// As at a server of one's own: no header may carry a key.
    #[must_use]
    pub fn without_key(self) -> Self {
        Self { key: None, ..self }
    }

    /// A text that may stand nowhere in a request: a secret, the path of the home folder.
    #[must_use]
    pub fn forbid(mut self, text: impl Into<String>) -> Self {
        self.forbidden.push(text.into());
        self
    }

    /// The most that a request may set as `max_tokens` (64000).
    #[must_use]
    pub fn max_tokens(self, most: u64) -> Self {
        Self { max_tokens: most, ..self }
    }

    /// The most bytes of a body (4 MiB).
    #[must_use]
    pub fn body(self, most: usize) -> Self {
        Self { body: most, ..self }
    }

    /// So many bytes of the canonical text stay the same through a conversation, beyond tools, system and the first
    /// message, which always do.
    #[must_use]
    pub fn stable_prefix(self, bytes: usize) -> Self {
        Self { stable: bytes, ..self }
    }

    /// Requests to one model for which this says the same are one conversation. Usually it is the header
    /// `x-understudy-task`, or else the first text of the first message.
    #[must_use]
    pub fn conversation(self, by: fn(&Seen) -> String) -> Self {
        Self { conversation: by, ..self }
    }

    /// Messages behind the first may be rewritten, as when old results are compacted;
    /// [`ScriptedModel::rewrites`](super::ScriptedModel::rewrites) counts it.
    #[must_use]
    pub fn may_compact(self) -> Self {
        Self { may_compact: true, ..self }
    }

    /// The last message may be the assistant's, for it to go on.
    #[must_use]
    pub fn may_prefill(self) -> Self {
        Self { may_prefill: true, ..self }
    }

    /// Any other model is answered with 404. None named: each is known.
    #[must_use]
    pub fn models<const N: usize>(self, models: [&str; N]) -> Self {
        Self { models: models.map(str::to_owned).to_vec(), ..self }
    }

    /// Requests whose input and `max_tokens` together exceed it are answered with the error for that.
    #[must_use]
    pub fn window(self, tokens: u64) -> Self {
        Self { window: Some(tokens), ..self }
    }

    /// The shortest prefix that is cached, and the step by which it grows on the wire of OpenAI, in tokens.
    #[must_use]
    pub fn cache(self, least: u64, step: u64) -> Self {
        Self { caches: Caches::new(least, step), ..self }
    }

    /// The endpoint that counts tokens does not exist.
    #[must_use]
    pub fn without_count(self) -> Self {
        Self { counts: false, ..self }
    }

    /// The endpoint that counts tokens answers with so many times of what they are.
    #[must_use]
    pub fn count_factor(self, factor: f64) -> Self {
        Self { count_factor: factor, ..self }
    }
}

fn usual(seen: &Seen) -> String {
    let first = seen.messages.first().and_then(|message| message.blocks.first()).and_then(Block::text);
    seen.header("x-understudy-task").or(first).unwrap_or_default().to_owned()
}
