//! A model without a ledger: one attempt at one exchange. What retries, reserves and settles around it is the same for
//! every provider, so an editor that lends its own models implements this and no more.

use std::time::Duration;

use super::model::{ModelCall, Profile, Stage, Waiting};
use super::reply::{Said, Stop};

/// Models that can be asked once at a time.
pub trait RawModel: Send + Sync {
    /// As [`Model::profile`](super::Model::profile).
    fn profile(&self, stage: Stage, escalated: bool) -> Option<Profile>;

    /// Asks once. `call.max_output` is what may be said at most; the caller has reserved it.
    ///
    /// # Errors
    /// [`RawFault`], which says what the attempt may have cost.
    fn attempt(&self, call: &ModelCall, waiting: &dyn Waiting) -> Result<RawReply, RawFault>;
}

/// What one attempt brought.
#[derive(Debug, Clone, PartialEq)]
pub struct RawReply {
    pub blocks: Vec<Said>,
    pub stop: Stop,
    /// As the provider names it.
    pub model: String,
    /// `None` where nobody counts: then the reservation is charged.
    pub used: Option<Used>,
}

/// Tokens as the provider counted them, each in one field only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub input: u64,
    pub cache_read: u64,
    pub cache_written: u64,
    pub output: u64,
}

impl Used {
    /// Input, cached or not. What a provider reports can be anything.
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_written)
    }
}

/// Why an attempt brought nothing that could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFault {
    /// One sentence, without secrets.
    pub why: String,
    pub kind: FaultKind,
    pub charge: Charge,
}

/// What follows from a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It may work later; not before this time, where the provider named one.
    Passing { after: Option<Duration> },
    /// The conversation does not fit into the window.
    Overflow,
    /// Asking again brings the same.
    Refused,
    /// `Waiting::is_over` said so.
    Ended,
}

/// What a failed attempt costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charge {
    /// It is certain that no model worked.
    Nothing,
    /// Nobody knows: the reservation.
    Unknown,
    /// The input was counted, the output may have been anything up to its maximum.
    Input(Used),
}
