//! What a task says while it runs, for whoever shows it.

use std::sync::Arc;

use task::{CheckId, Event, TreeId, Verdict};

/// Which tree a check judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Base,
    Candidate,
}

/// One piece of news. Never needed for the result: a front may drop all of it.
#[derive(Debug, Clone)]
pub enum Progress {
    /// A fact that is in the journal already.
    Happened(Event),
    CheckStarted {
        check: CheckId,
        side: Side,
    },
    /// How far a check is: `Compiling serde`, 12 of 40.
    CheckAdvanced {
        check: CheckId,
        text: String,
        done: u64,
        total: u64,
    },
    CheckEnded {
        check: CheckId,
        side: Side,
        tree: TreeId,
        verdict: Verdict,
        cached: bool,
        duration_ms: u64,
    },
    /// A piece of the model's text as it arrives.
    Heard(String),
    /// A tool that the model called, in a few words: `read src/lib.rs:1-80`.
    Tool(String),
    /// What is used or reserved of the task's limits.
    Spent {
        tokens: u64,
        max_tokens: Option<u64>,
        /// `None` where no model had a price so far.
        microdollars: Option<u64>,
        max_microdollars: Option<u64>,
        calls: u64,
    },
    /// The provider of the model asked to wait, or failed and is tried again.
    Waiting {
        why: String,
        ms: u64,
    },
    /// What is being done now, in a few words.
    Doing(String),
}

/// Where the news go.
#[derive(Clone)]
pub struct Audience(Arc<dyn Fn(Progress) + Send + Sync>);

impl Audience {
    pub fn new(listen: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listen))
    }

    /// Nobody listens.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    pub fn tell(&self, news: Progress) {
        (self.0)(news);
    }

    pub fn doing(&self, what: impl Into<String>) {
        self.tell(Progress::Doing(what.into()));
    }
}

impl std::fmt::Debug for Audience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Audience")
    }
}
