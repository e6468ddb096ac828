//! Retries, reservations and settlements around models that somebody else reaches, such as those that an editor lends.

use std::time::Duration;

use task::port::{Ledger, Model, ModelCall, ModelError, Profile, RawFault, RawModel, RawReply, Reply, Stage, Waiting};

use crate::Price;
use crate::experience::Experience;
use crate::meter::Meter;
use crate::source::Source;

/// A [`RawModel`] as a [`Model`]. It has no prices: tokens are what limits it.
pub struct Metered {
    raw: Box<dyn RawModel>,
    experience: Experience,
    patience: Duration,
}

impl Metered {
    /// `patience` is how long a fault that passes may last.
    pub fn around(raw: Box<dyn RawModel>, patience: Duration) -> Self {
        Self { raw, experience: Experience::default(), patience }
    }
}

impl std::fmt::Debug for Metered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metered").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Model for Metered {
    fn profile(&self, stage: Stage, escalated: bool) -> Option<Profile> {
        self.raw.profile(stage, escalated).map(|profile| Profile { priced: false, ..profile })
    }

    fn call(&self, call: &ModelCall, ledger: &mut dyn Ledger, waiting: &dyn Waiting) -> Result<Reply, ModelError> {
        let profile = self.profile(call.stage, call.escalated);
        let none = || ModelError::Refused(format!("no model is there for the stage {}", call.stage.as_str()));
        let lent = Lent { raw: &*self.raw, profile: profile.ok_or_else(none)? };
        Meter::new(&lent, &self.experience, ledger, waiting).call(call, self.patience)
    }
}

struct Lent<'a> {
    raw: &'a dyn RawModel,
    profile: Profile,
}

impl Source for Lent<'_> {
    fn profile(&self) -> Profile {
        self.profile.clone()
    }

    fn price(&self) -> Option<&Price> {
        None
    }

    fn count(&self, _: &ModelCall, _: &dyn Waiting) -> Option<u64> {
        None
    }

    fn attempt(&self, call: &ModelCall, max_output: u64, waiting: &dyn Waiting) -> Result<RawReply, RawFault> {
        self.raw.attempt(&ModelCall { max_output, ..call.clone() }, waiting)
    }
}
