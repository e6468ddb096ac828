//! One call to one model, metered: its worst case is reserved before each attempt, and what the attempt cost is settled
//! whatever became of it.

use std::time::{Duration, Instant};

use task::port::{
    CallId, Charge, FaultKind, Ledger, LedgerError, ModelCall, ModelError, RawFault, RawReply, Reply, Reservation,
    Spent, Used, Waiting,
};

use crate::Price;
use crate::count::tokens;
use crate::experience::{Experience, times};
use crate::pause::{Pauses, sleep};
use crate::source::Source;
use crate::wire::with_ids;

/// A provider's own count may differ a little from its bill.
const COUNTED_MARGIN: f64 = 1.01;
/// Where earlier calls were billed so much beyond the provider's count, its count is not what it bills.
const BILLED_BEYOND: f64 = 1.1;
/// The parts of a text may differ in how they count.
const EXPERIENCE_MARGIN: f64 = 1.05;
/// An answer with less room is not worth asking for.
const LEAST_OUTPUT: u64 = 1024;

/// A source with its ledger.
pub(crate) struct Meter<'a> {
    source: &'a dyn Source,
    ledger: &'a mut dyn Ledger,
    waiting: &'a dyn Waiting,
    experience: &'a Experience,
    spent: Option<Spent>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        source: &'a dyn Source,
        experience: &'a Experience,
        ledger: &'a mut dyn Ledger,
        waiting: &'a dyn Waiting,
    ) -> Self {
        Self { source, ledger, waiting, experience, spent: None }
    }

    /// Asks until there is an answer, or none is to be had.
    pub(crate) fn call(&mut self, call: &ModelCall, patience: Duration) -> Result<Reply, ModelError> {
        let mut pauses = Pauses::new(patience);
        let counted = tokens(call);
        if self.waiting.is_over() {
            return Err(ModelError::Ended);
        }
        let by_provider = self.source.count(call, self.waiting);
        loop {
            if self.waiting.is_over() {
                return Err(ModelError::Ended);
            }
            let (id, worst) = self.reserve(call, counted, by_provider)?;
            let fault = match self.source.attempt(call, worst.output, self.waiting) {
                Ok(raw) => {
                    if let Some(used) = &raw.used {
                        let input = used.sent();
                        self.experience.learn(call, &worst.model, counted, input);
                    }
                    self.settle(id, &worst, raw.used.map(|used| (used, true)))?;
                    return Ok(self.reply(raw, call));
                }
                Err(fault) => fault,
            };
            let cost = match fault.charge {
                Charge::Nothing => Some((Used::default(), false)),
                Charge::Unknown => None,
                Charge::Input(used) => Some((Used { output: worst.output, ..used }, false)),
            };
            self.settle(id, &worst, cost)?;
            self.after(fault, &mut pauses)?;
        }
    }

    /// Waits for the next attempt, where there is to be one.
    fn after(&self, fault: RawFault, pauses: &mut Pauses) -> Result<(), ModelError> {
        let RawFault { why, kind, charge } = fault;
        match kind {
            FaultKind::Ended => Err(ModelError::Ended),
            FaultKind::Overflow => Err(ModelError::Overflow(why)),
            FaultKind::Refused => Err(ModelError::Refused(why)),
            FaultKind::Passing { after } => {
                let Some(wait) = pauses.next(after, charge != Charge::Nothing, Instant::now()) else {
                    let asked = after.map(|after| format!("; it asks to wait {} seconds", after.as_secs()));
                    return Err(ModelError::Unavailable(format!("{why}{}", asked.unwrap_or_default())));
                };
                self.waiting.paused(&why, wait);
                sleep(wait, self.waiting).map_err(|_| ModelError::Ended)
            }
        }
    }

    /// The largest output that fits is reserved: all of it, a half, a quarter and so on.
    fn reserve(
        &mut self,
        call: &ModelCall,
        counted: u64,
        by_provider: Option<u64>,
    ) -> Result<(CallId, Reservation), ModelError> {
        let profile = self.source.profile();
        let ratio = self.ledger.worst_ratio(&profile.name);
        let most = call.max_output.min(profile.max_output).max(1);
        // As large as it will most likely be, for the window; as large as it can be, for the ledger.
        let likely = by_provider.unwrap_or_else(|| times(counted, ratio.unwrap_or(1.0)));
        if likely.saturating_add(most) > profile.window {
            return Err(ModelError::Overflow(format!(
                "about {likely} tokens of input and {most} of output do not fit into the {} of {}",
                profile.window, profile.name
            )));
        }
        let input = match by_provider {
            Some(tokens) => worst_of(tokens, ratio.map_or(0, |ratio| times(counted, ratio))),
            None => self.experience.worst(call, &profile.name, counted, ratio),
        };
        let floor = LEAST_OUTPUT.min(most);
        let mut output = most;
        loop {
            let microdollars = self.source.price().map(|price| price.worst(input, output));
            let worst = Reservation {
                stage: call.stage,
                model: profile.name.clone(),
                counted,
                input,
                output,
                microdollars,
                escalated: call.escalated,
            };
            match self.ledger.reserve(&worst) {
                Ok(id) => return Ok((id, worst)),
                Err(LedgerError::Journal(error)) => return Err(error.into()),
                Err(LedgerError::Exceeds(why)) if output <= floor => return Err(ModelError::Budget(why)),
                Err(LedgerError::Exceeds(_)) => output = (output / 2).max(floor),
            }
        }
    }

    /// `cost` is `None` where nobody knows: the reservation. Whether it was reported stands beside it.
    fn settle(&mut self, id: CallId, worst: &Reservation, cost: Option<(Used, bool)>) -> Result<(), ModelError> {
        let price = self.source.price();
        let spent = match cost {
            Some((used, reported)) => spent(&used, reported, price),
            None => {
                Spent { input: worst.input, output: worst.output, microdollars: worst.microdollars, ..Spent::default() }
            }
        };
        self.spent = Some(self.spent.map_or(spent, |earlier| sum(&earlier, &spent)));
        match self.ledger.settle(id, &spent) {
            Ok(()) => Ok(()),
            Err(LedgerError::Journal(error)) => Err(error.into()),
            Err(LedgerError::Exceeds(why)) => Err(ModelError::Budget(why)),
        }
    }

    fn reply(&self, raw: RawReply, call: &ModelCall) -> Reply {
        let RawReply { mut blocks, stop, model, .. } = raw;
        with_ids(&mut blocks, call);
        Reply { blocks, stop, model, spent: self.spent.unwrap_or_default() }
    }
}

/// The most that a call can count, from what its provider says and from what was reported of earlier calls. A provider
/// that bills more than it counts is held to its bills.
fn worst_of(by_provider: u64, by_experience: u64) -> u64 {
    let counted = times(by_provider, COUNTED_MARGIN);
    let billed = by_experience > times(by_provider, BILLED_BEYOND);
    if billed { counted.max(times(by_experience, EXPERIENCE_MARGIN)) } else { counted }
}

fn spent(used: &Used, reported: bool, price: Option<&Price>) -> Spent {
    Spent {
        input: used.input,
        cache_read: used.cache_read,
        cache_written: used.cache_written,
        output: used.output,
        microdollars: price.map(|price| price.of(used)),
        reported,
    }
}

fn sum(one: &Spent, two: &Spent) -> Spent {
    Spent {
        input: one.input.saturating_add(two.input),
        cache_read: one.cache_read.saturating_add(two.cache_read),
        cache_written: one.cache_written.saturating_add(two.cache_written),
        output: one.output.saturating_add(two.output),
        microdollars: one.microdollars.zip(two.microdollars).map(|(one, two)| one.saturating_add(two)),
        reported: one.reported && two.reported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_bills_more_than_it_counts_is_held_to_its_bills() {
        assert_eq!(worst_of(1000, 0), 1010);
        assert_eq!(worst_of(1000, 1050), 1010);
        assert_eq!(worst_of(1000, 3000), 3150);
    }
}
