//! The ledger as the walk keeps it: each reservation and each settlement is a fact in the journal before it counts.

use task::port::{CallId, Ledger, LedgerError, Note, Reservation, Spent};
use task::{AttemptId, Event, Limits};

use crate::{Error, Progress, walk::Walk};

/// The accounts of a task while it is walked.
pub(crate) struct Purse<'w, 'h> {
    pub walk: &'w mut Walk<'h>,
    pub attempt: Option<AttemptId>,
}

impl Ledger for Purse<'_, '_> {
    fn reserve(&mut self, worst: &Reservation) -> Result<CallId, LedgerError> {
        // A limit that was raised a moment ago already counts.
        self.walk.take_raises()?;
        let state = &self.walk.state;
        let call = state.work.accounts.admit(&state.request.limits, worst).map_err(LedgerError::Exceeds)?;
        self.walk.record(Event::CallReserved { call, attempt: self.attempt, worst: worst.clone() })?;
        self.walk.tell_spent();
        Ok(call)
    }

    fn settle(&mut self, call: CallId, spent: &Spent) -> Result<(), LedgerError> {
        self.walk.record(Event::CallSettled { call, spent: *spent })?;
        self.walk.tell_spent();
        Ok(())
    }

    fn worst_ratio(&self, model: &str) -> Option<f64> {
        self.walk.state.work.accounts.worst_ratio(model)
    }
}

impl Walk<'_> {
    pub(crate) fn tell_spent(&self) {
        let (accounts, limits) = (&self.state.work.accounts, &self.state.request.limits);
        self.house.audience.tell(Progress::Spent {
            tokens: accounts.tokens(),
            max_tokens: limits.max_tokens,
            microdollars: accounts.is_priced().then(|| accounts.microdollars()),
            max_microdollars: limits.budget_microdollars,
            calls: accounts.calls(),
        });
    }

    /// Takes up raised limits only: what else waits is for the next turn, which it becomes a part of.
    fn take_raises(&mut self) -> Result<(), task::port::JournalError> {
        let notes = self.house.journal.notes(self.id(), self.state.work.note)?;
        // In order: a note that is passed over would be lost, as only the last number is remembered.
        for (number, note) in notes {
            let Note::RaiseLimits { limits } = note else { break };
            self.raise(number, &limits)?;
        }
        Ok(())
    }

    /// Limits only rise: one that would fall stays.
    pub(crate) fn raise(&mut self, note: u64, to: &Limits) -> Result<(), task::port::JournalError> {
        let from = &self.state.request.limits;
        let limits = raised(from, to);
        self.extend(limits.timeout_ms.saturating_sub(from.timeout_ms));
        self.record(Event::LimitsRaised { limits, note })
    }

    /// Everything that was left for this task since it was looked at last.
    pub(crate) fn take_notes(&mut self) -> Result<(), Error> {
        let notes = self.house.journal.notes(self.id(), self.state.work.note)?;
        for (number, note) in notes {
            match note {
                Note::RaiseLimits { limits } => self.raise(number, &limits)?,
                Note::Steer { text } => self.record(Event::Steered { text, note: number })?,
                Note::Answer { answers } => self.record(Event::Answered { answers, note: number })?,
                Note::ApprovePlan { version } => self.approve_plan(version, number)?,
                Note::AmendPlan { plan } => self.amend_plan(plan, number)?,
            }
        }
        Ok(())
    }
}

pub(crate) fn raised(from: &Limits, to: &Limits) -> Limits {
    // No limit is more than any number.
    let more = |from: Option<u64>, to: Option<u64>| match (from, to) {
        (Some(from), Some(to)) => Some(from.max(to)),
        (Some(from), None) => Some(from),
        (None, _) => None,
    };
    Limits {
        max_attempts: from.max_attempts.max(to.max_attempts.min(Limits::MOST_ATTEMPTS)),
        budget_microdollars: more(from.budget_microdollars, to.budget_microdollars),
        max_tokens: more(from.max_tokens, to.max_tokens),
        escalation_microdollars: more(from.escalation_microdollars, to.escalation_microdollars),
        timeout_ms: from.timeout_ms.max(to.timeout_ms),
        check_timeout_ms: from.check_timeout_ms.max(to.check_timeout_ms),
        check_memory_bytes: from.check_memory_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_only_rise() {
        let from = Limits { max_tokens: Some(100), budget_microdollars: Some(500), ..Limits::default() };
        let to = Limits {
            max_tokens: Some(50),
            budget_microdollars: Some(900),
            timeout_ms: 1,
            max_attempts: 99,
            ..from.clone()
        };
        let limits = raised(&from, &to);
        assert_eq!((limits.max_tokens, limits.budget_microdollars), (Some(100), Some(900)));
        assert_eq!((limits.timeout_ms, limits.max_attempts), (from.timeout_ms, 10));
    }
}
