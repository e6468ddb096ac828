//! In what servers of this wire differ, as far as a request must know. They are told apart by their host first and by
//! their complaints later; what was learned stays for the life of the process.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::place::Place;

#[derive(Debug)]
pub(crate) struct Dialect {
    /// `max_completion_tokens` in place of `max_tokens`.
    completion: AtomicBool,
    stream_options: AtomicBool,
    effort: AtomicBool,
    /// Takes reasoning back.
    thoughts: AtomicBool,
    /// Asks for the same cache again; only OpenAI itself knows the word.
    pub(crate) cache_key: bool,
}

impl Dialect {
    pub(crate) fn of(place: &Place) -> Self {
        let own = place.host == "api.openai.com";
        Self {
            completion: AtomicBool::new(own),
            stream_options: AtomicBool::new(true),
            effort: AtomicBool::new(true),
            thoughts: AtomicBool::new(!own),
            cache_key: own,
        }
    }

    pub(crate) fn max_output(&self) -> &'static str {
        if self.completion.load(Relaxed) { "max_completion_tokens" } else { "max_tokens" }
    }

    pub(crate) fn has_stream_options(&self) -> bool {
        self.stream_options.load(Relaxed)
    }

    pub(crate) fn has_effort(&self) -> bool {
        self.effort.load(Relaxed)
    }

    pub(crate) fn has_thoughts(&self) -> bool {
        self.thoughts.load(Relaxed)
    }

    /// Whether a complaint about a request taught something, so that it is worth asking again. Each can be learned once.
    pub(crate) fn learn(&self, complaint: &str) -> bool {
        let names = |word: &str| complaint.contains(word);
        let refused =
            ["nsupported", "not supported", "nrecognized", "nknown", "xtra inputs", "not permitted", "nexpected"]
                .iter()
                .any(|word| names(word));
        if !refused {
            return false;
        }
        if names("max_tokens") || names("max_completion_tokens") {
            // What is refused is named first, the remedy behind it.
            let at = |word: &str| complaint.find(word).unwrap_or(usize::MAX);
            let wants_completion = at("max_tokens") < at("max_completion_tokens");
            return self.completion.swap(wants_completion, Relaxed) != wants_completion;
        }
        if names("stream_options") || names("include_usage") {
            return self.stream_options.swap(false, Relaxed);
        }
        if names("reasoning_effort") {
            return self.effort.swap(false, Relaxed);
        }
        (names("reasoning") || names("extra_content")) && self.thoughts.swap(false, Relaxed)
    }
}
