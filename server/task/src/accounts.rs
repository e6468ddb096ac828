//! [`Accounts`]: the ledger of a task, folded from its reservations and settlements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Limits;
use crate::port::{CallId, Reservation, Spent};

/// What was settled and what is reserved. A call that was never settled counts as its reservation for ever: whoever
/// sent it may have died after the provider had begun to count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accounts {
    pub settled: Spent,
    /// Of what was settled, the part that no provider reported.
    unreported: Assumed,
    /// Of the settled dollars and the open reservations, what the stronger model took.
    escalated_microdollars: u64,
    open: BTreeMap<CallId, Reservation>,
    /// By model, the greatest ratio of reported to counted input.
    ratios: BTreeMap<String, f64>,
    calls: u64,
}

/// What counts although nobody reported it: at most so much of a sum was never used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Assumed {
    pub calls: u64,
    pub tokens: u64,
    /// Millionths of a dollar; `None` where none of these calls had a price.
    pub microdollars: Option<u64>,
}

impl Assumed {
    fn add(&mut self, tokens: u64, microdollars: Option<u64>) {
        self.calls += 1;
        self.tokens = self.tokens.saturating_add(tokens);
        if let Some(cost) = microdollars {
            self.microdollars = Some(self.microdollars.unwrap_or(0).saturating_add(cost));
        }
    }
}

impl Accounts {
    /// The number of the next call, if its worst case fits into what is left.
    ///
    /// # Errors
    /// One sentence: the limit, what is left of it, what the call could cost.
    pub fn admit(&self, limits: &Limits, worst: &Reservation) -> Result<CallId, String> {
        let tokens = worst.input.saturating_add(worst.output);
        if let Some(max) = limits.max_tokens {
            let left = max.saturating_sub(self.tokens());
            if tokens > left {
                return Err(format!(
                    "the limit of {max} tokens would be exceeded: {left} are left and the next call to {} could use {tokens}",
                    worst.model
                ));
            }
        }
        if let Some(cost) = worst.microdollars {
            let check = |what: &str, max: Option<u64>, used: u64| -> Result<(), String> {
                let Some(max) = max else { return Ok(()) };
                let left = max.saturating_sub(used);
                if cost <= left {
                    return Ok(());
                }
                Err(format!(
                    "the {what} of {} would be exceeded: {} is left and the next call to {} could cost {}",
                    dollars(max),
                    dollars(left),
                    worst.model,
                    dollars(cost)
                ))
            };
            check("budget", limits.budget_microdollars, self.microdollars())?;
            if worst.escalated {
                check("allowance for the stronger model", limits.escalation_microdollars, self.escalated())?;
            }
        }
        Ok(CallId(self.calls + 1))
    }

    /// Takes a reservation in that was admitted.
    pub fn reserve(&mut self, call: CallId, worst: &Reservation) {
        self.calls = self.calls.max(call.0);
        self.open.insert(call, worst.clone());
    }

    /// Takes in what a call cost. Of a call that is not open nothing is known, and nothing changes.
    pub fn settle(&mut self, call: CallId, spent: &Spent) {
        let Some(worst) = self.open.remove(&call) else { return };
        let sum = &mut self.settled;
        sum.input = sum.input.saturating_add(spent.input);
        sum.cache_read = sum.cache_read.saturating_add(spent.cache_read);
        sum.cache_written = sum.cache_written.saturating_add(spent.cache_written);
        sum.output = sum.output.saturating_add(spent.output);
        if let Some(cost) = spent.microdollars {
            sum.microdollars = Some(sum.microdollars.unwrap_or(0).saturating_add(cost));
            if worst.escalated {
                self.escalated_microdollars = self.escalated_microdollars.saturating_add(cost);
            }
        }
        if !spent.reported && spent.tokens() > 0 {
            self.unreported.add(spent.tokens(), spent.microdollars);
        }
        let input = spent.tokens().saturating_sub(spent.output);
        if spent.reported && worst.counted > 0 && input > 0 {
            let ratio = input as f64 / worst.counted as f64;
            let known = self.ratios.entry(worst.model).or_insert(ratio);
            *known = known.max(ratio);
        }
    }

    /// Tokens that are used or reserved.
    pub fn tokens(&self) -> u64 {
        let open = self.open.values().map(|worst| worst.input.saturating_add(worst.output));
        open.fold(self.settled.tokens(), u64::saturating_add)
    }

    /// Millionths of a dollar that are used or reserved.
    pub fn microdollars(&self) -> u64 {
        let open = self.open.values().filter_map(|worst| worst.microdollars);
        open.fold(self.settled.microdollars.unwrap_or(0), u64::saturating_add)
    }

    fn escalated(&self) -> u64 {
        let open = self.open.values().filter(|worst| worst.escalated).filter_map(|worst| worst.microdollars);
        open.fold(self.escalated_microdollars, u64::saturating_add)
    }

    /// Whether any call had a price.
    pub fn is_priced(&self) -> bool {
        self.settled.microdollars.is_some() || self.open.values().any(|worst| worst.microdollars.is_some())
    }

    /// Calls that were sent, or may have been.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls whose cost nobody reported.
    pub fn open(&self) -> impl Iterator<Item = (&CallId, &Reservation)> {
        self.open.iter()
    }

    /// Of all that is used or reserved, what nobody reported: open calls, and settled ones whose provider did not say.
    pub fn assumed(&self) -> Assumed {
        let mut sum = self.unreported;
        for worst in self.open.values() {
            sum.add(worst.input.saturating_add(worst.output), worst.microdollars);
        }
        sum
    }

    pub fn worst_ratio(&self, model: &str) -> Option<f64> {
        self.ratios.get(model).copied()
    }
}

/// `$0.50`, with as many digits as small amounts need.
pub fn dollars(microdollars: u64) -> String {
    let (whole, rest) = (microdollars / 1_000_000, microdollars % 1_000_000);
    let mut digits = format!("{rest:06}");
    while digits.len() > 2 && digits.ends_with('0') {
        digits.pop();
    }
    format!("${whole}.{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Stage;

    fn worst(input: u64, output: u64, microdollars: Option<u64>) -> Reservation {
        let (stage, model) = (Stage::Code, "m".to_owned());
        Reservation { stage, model, counted: input / 2, input, output, microdollars, escalated: false }
    }

    #[test]
    fn what_is_reserved_and_never_settled_stays_charged() {
        let mut accounts = Accounts::default();
        let limits = Limits { max_tokens: Some(1000), ..Limits::default() };
        let call = accounts.admit(&limits, &worst(300, 200, None)).unwrap();
        accounts.reserve(call, &worst(300, 200, None));
        assert_eq!(accounts.tokens(), 500);
        let error = accounts.admit(&limits, &worst(400, 101, None)).unwrap_err();
        assert!(error.contains("500 are left"), "{error}");
        assert_eq!(accounts.admit(&limits, &worst(400, 100, None)).unwrap(), CallId(2));
    }

    #[test]
    fn settling_frees_what_was_not_used_and_teaches_the_ratio() {
        let mut accounts = Accounts::default();
        accounts.reserve(CallId(1), &worst(200, 100, Some(900)));
        let spent =
            Spent { input: 10, cache_read: 110, output: 7, microdollars: Some(40), reported: true, ..Spent::default() };
        accounts.settle(CallId(1), &spent);
        assert_eq!((accounts.tokens(), accounts.microdollars()), (127, 40));
        assert_eq!(accounts.worst_ratio("m"), Some(1.2));
        // Twice is once.
        accounts.settle(CallId(1), &spent);
        assert_eq!(accounts.tokens(), 127);
    }

    #[test]
    fn what_nobody_reported_is_known_apart() {
        let mut accounts = Accounts::default();
        for call in 1..=3 {
            accounts.reserve(CallId(call), &worst(200, 100, Some(900)));
        }
        accounts.settle(CallId(1), &Spent { input: 10, output: 7, reported: true, ..Spent::default() });
        accounts.settle(CallId(2), &Spent { input: 180, output: 5, microdollars: Some(70), ..Spent::default() });
        assert_eq!(accounts.assumed(), Assumed { calls: 2, tokens: 185 + 300, microdollars: Some(970) });
        // A call that never reached its provider costs nothing, whoever says so.
        accounts.settle(CallId(3), &Spent::default());
        assert_eq!(accounts.assumed(), Assumed { calls: 1, tokens: 185, microdollars: Some(70) });
    }

    #[test]
    fn dollars_are_shown_to_the_last_digit_that_counts() {
        assert_eq!(dollars(500_000), "$0.50");
        assert_eq!(dollars(1_234_567), "$1.234567");
        assert_eq!(dollars(10), "$0.00001");
    }
}
