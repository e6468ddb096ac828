//! A model as the metering sees it: what it is, what it costs, and one attempt at a time.

use task::port::{ModelCall, Profile, RawFault, RawReply, Waiting};

use crate::Price;

pub(crate) trait Source {
    fn profile(&self) -> Profile;

    fn price(&self) -> Option<&Price>;

    /// Tokens of input as the provider counts them, where it does.
    fn count(&self, call: &ModelCall, waiting: &dyn Waiting) -> Option<u64>;

    fn attempt(&self, call: &ModelCall, max_output: u64, waiting: &dyn Waiting) -> Result<RawReply, RawFault>;
}
