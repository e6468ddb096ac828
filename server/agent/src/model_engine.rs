//! The model engine: a language model proposes, this code decides.
//!
//! A plan is a graph of steps (`planning`). Each step is a conversation (`talk`) in which the model calls tools (`tools`,
//! `looks`, `change`); edits apply to a tree in memory. Checks judge each step and the whole (`steps`), failures come back
//! as evidence (`feedback`), and when to stop is decided from failures and trees alone (`controller`). Money is counted in
//! `purse`, what came from others is marked in `quote`. Everything here follows from the journal, so it goes on in another
//! process where it was.

mod acceptance;
mod arguments;
mod change;
mod controller;
mod feedback;
mod indexed;
mod locate;
mod looks;
mod mend;
mod opening;
mod planning;
mod prompt;
mod purse;
mod quote;
mod request_held;
mod running;
mod steps;
mod suspicion;
mod talk;
mod test_files;
mod test_side;
mod tools;
mod warming;
mod watcher;

use task::port::Stage;
use task::{Conclusion, Digest, Station, Wait};

pub(crate) use acceptance::{Met, met};
pub(crate) use arguments::{Explained, read as read_arguments};
pub(crate) use indexed::Indexed;
pub(crate) use looks::Looks;
pub(crate) use prompt::{system, tools as tool_list};
pub(crate) use purse::raised;
pub(crate) use quote::Quoter;
pub(crate) use talk::{Desk, as_sent};
pub(crate) use tools::{look, refusal, sketch};
pub(crate) use watcher::Watcher;

use crate::{Error, walk::Walk};

impl Walk<'_> {
    /// One station further with the model engine, after the base is there.
    pub(crate) fn model_step(&mut self) -> Result<Option<Conclusion>, Error> {
        self.take_notes()?;
        match &self.state.work.wait {
            // Whoever resumes looks whether the provider is back.
            None | Some(Wait::Provider { .. }) => {}
            Some(_) => return Ok(Some(self.waiting())),
        }
        self.warm_up()?;
        match self.state.station {
            Station::Frozen => self.plan_with_model(),
            Station::Planned => self.approve_with_policy(),
            _ => self.work(),
        }
    }

    /// The configuration of the attempt that is under way, if one is.
    pub(crate) fn configuration(&self) -> Option<Digest> {
        let attempt = self.state.attempts.last().filter(|attempt| attempt.outcome.is_none());
        attempt.and_then(|attempt| attempt.configuration.clone())
    }

    /// Names models, prompts, tools and versions, so that what an attempt did can be laid to what it did it with.
    pub(crate) fn present_configuration(&self) -> Option<Digest> {
        let model = self.house.model.as_ref().ok()?;
        let profiles =
            Stage::ALL.iter().flat_map(|stage| [(*stage, false), (*stage, true)]).map(|(stage, escalated)| {
                let profile = model.profile(stage, escalated);
                format!("{} {escalated} {:?}", stage.as_str(), profile.map(|profile| (profile.name, profile.identity)))
            });
        Some(Digest::of([prompt::identity().to_string()].into_iter().chain(profiles)))
    }

    /// After a hint that did not help, the stronger model has its turn, where one is configured.
    pub(crate) fn is_escalated(&self, seat: &tools::Seat) -> bool {
        let stronger = |stage| self.house.model.as_ref().is_ok_and(|model| model.profile(stage, true).is_some());
        !self.state.work.nudged.is_empty()
            && matches!(seat.stage, Stage::Code | Stage::Diagnose)
            && stronger(seat.stage)
    }
}
