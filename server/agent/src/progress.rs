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
