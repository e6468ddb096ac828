//! The models of all stages, as the agent's port wants them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use task::port::{Ledger, Model, ModelCall, ModelError, Profile, Reply, Stage, Waiting};

use crate::choice::Choice;
use crate::error::SettingsError;
use crate::experience::Experience;
use crate::line::Line;
use crate::meter::Meter;
use crate::remote::Remote;
use crate::settings::Settings;
use crate::source::Source;

/// How long a model that could not be reached is passed over, where there is a fallback.
const REST: Duration = Duration::from_secs(300);
const PATIENCE: u64 = 900;
/// As long as that, at most, a model is waited for that another one can stand in for.
const PATIENCE_BEFORE_FALLBACK: Duration = Duration::from_secs(30);
const CONNECT: u64 = 20;
const IDLE: u64 = 300;

/// Every model that the settings name, with the line to them. Its calls must not be made inside an async runtime.
#[derive(Debug)]
pub struct Panel {
    stages: BTreeMap<Stage, Desk>,
    experience: Experience,
    patience: Duration,
}

/// Who serves a stage.
#[derive(Debug)]
struct Desk {
    first: Remote,
    fallback: Option<Remote>,
    escalation: Option<Remote>,
    /// The first one was out of reach at this time.
    rests_since: Mutex<Option<Instant>>,
}

impl Panel {
    /// # Errors
    /// [`SettingsError`] names the setting that cannot be followed. Nothing is sent, no provider is asked.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let mut choices = Vec::new();
        for stage in Stage::ALL {
            let own = settings.stages.get(&stage).cloned().unwrap_or_default();
            let choose = |own: Option<String>, common: &Option<String>| {
                let name = own.or_else(|| common.clone()).filter(|name| !name.is_empty());
                name.map(|name| Choice::new(settings, &name, stage)).transpose()
            };
            let first = choose(own.first, &settings.common)?.ok_or(SettingsError::NoModel)?;
            let fallback = choose(own.fallback, &settings.fallback)?;
            choices.push((stage, first, fallback, choose(own.escalation, &settings.escalation)?));
        }
        let named = choices.iter().flat_map(|(_, first, fallback, escalation)| {
            [Some(first), fallback.as_ref(), escalation.as_ref()].into_iter().flatten()
        });
        let needs_tls = named.into_iter().any(|choice| choice.place.is_tls());
        let seconds = |set: Option<u64>, usual: u64| Duration::from_secs(set.unwrap_or(usual));
        let connect = seconds(settings.connect_timeout, CONNECT);
        let line = Arc::new(Line::new(connect, seconds(settings.idle_timeout, IDLE), needs_tls)?);
        let remote = |choice| Remote::new(choice, Arc::clone(&line));
        let mut stages = BTreeMap::new();
        for (stage, first, fallback, escalation) in choices {
            let (fallback, escalation) = (fallback.map(remote).transpose()?, escalation.map(remote).transpose()?);
            stages.insert(stage, Desk { first: remote(first)?, fallback, escalation, rests_since: Mutex::new(None) });
        }
        Ok(Self { stages, experience: Experience::default(), patience: seconds(settings.patience, PATIENCE) })
    }
}

impl Desk {
    fn rests(&self) -> bool {
        let since = *self.rests_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < REST)
    }

    fn note(&self, unreached: bool) {
        let since = unreached.then(Instant::now);
        *self.rests_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl Model for Panel {
    fn profile(&self, stage: Stage, escalated: bool) -> Option<Profile> {
        let desk = self.stages.get(&stage)?;
        let source = if escalated { desk.escalation.as_ref()? } else { &desk.first };
        let mut profile = source.profile();
        if let Some(fallback) = desk.fallback.as_ref().filter(|_| !escalated) {
            profile.identity = format!("{} fallback: {}", profile.identity, fallback.profile().identity);
        }
        Some(profile)
    }

    fn call(&self, call: &ModelCall, ledger: &mut dyn Ledger, waiting: &dyn Waiting) -> Result<Reply, ModelError> {
        let unknown = || ModelError::Refused(format!("no model is configured for the stage {}", call.stage.as_str()));
        let desk = self.stages.get(&call.stage).ok_or_else(unknown)?;
        if call.escalated {
            let Some(stronger) = &desk.escalation else {
                return Err(ModelError::Refused("no stronger model is configured: set `escalation`".to_owned()));
            };
            return Meter::new(stronger, &self.experience, ledger, waiting).call(call, self.patience);
        }
        let Some(fallback) = &desk.fallback else {
            return Meter::new(&desk.first, &self.experience, ledger, waiting).call(call, self.patience);
        };
        let mut why = String::new();
        if !desk.rests() {
            let patience = self.patience.min(PATIENCE_BEFORE_FALLBACK);
            match Meter::new(&desk.first, &self.experience, ledger, waiting).call(call, patience) {
                // Also where it does not take the key or does not know the model: that is said, and work goes on.
                Err(ModelError::Unavailable(first) | ModelError::Refused(first)) => {
                    desk.note(true);
                    waiting.paused(&format!("{first}; {} is asked instead", fallback.profile().name), Duration::ZERO);
                    why = format!("{first}; ");
                }
                other => {
                    desk.note(false);
                    return other;
                }
            }
        }
        match Meter::new(fallback, &self.experience, ledger, waiting).call(call, self.patience) {
            Err(ModelError::Unavailable(second)) => {
                // Now either of them is as good as the other: the next call begins with the first again.
                desk.note(false);
                Err(ModelError::Unavailable(format!("{why}{second}")))
            }
            other => other,
        }
    }
}
