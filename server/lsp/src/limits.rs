//! Limits of a task as a client names them.

use serde::Deserialize;
use task::Limits;

use crate::mail::Refusal;

/// Limits as the developer names them; what is not named is as in the settings, or stays.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitParams {
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<u64>,
    pub max_tokens: Option<u64>,
    pub budget_usd: Option<f64>,
}

/// Dollars that nobody means.
const MOST_DOLLARS: f64 = 1e6;

impl LimitParams {
    /// Whether each is a limit that a task can have.
    pub fn sound(&self) -> Result<(), Refusal> {
        let bad = |sentence: &str| Err(Refusal::BadParams(sentence.to_owned()));
        if self.max_iterations.is_some_and(|attempts| !(1..=Limits::MOST_ATTEMPTS).contains(&attempts)) {
            return bad(&format!("`limits.max_iterations` is a number from 1 to {}", Limits::MOST_ATTEMPTS));
        }
        if self.timeout_seconds == Some(0) {
            return bad("`limits.timeout_seconds` is at least 1");
        }
        if self.max_tokens == Some(0) {
            return bad("`limits.max_tokens` is at least 1");
        }
        if self.budget_usd.is_some_and(|dollars| !(dollars > 0.0 && dollars <= MOST_DOLLARS)) {
            return bad("`limits.budget_usd` is an amount of dollars above 0");
        }
        Ok(())
    }

    /// Millionths, as the ledger counts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sound amounts are small and positive")]
    pub fn budget_microdollars(&self) -> Option<u64> {
        self.budget_usd.map(|dollars| (dollars * 1e6).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn limits_are_numbers_that_a_task_can_have() {
        let read = |value: Value| serde_json::from_value::<LimitParams>(value).unwrap();
        for bad in [
            json!({"max_iterations": 11}),
            json!({"timeout_seconds": 0}),
            json!({"max_tokens": 0}),
            json!({"budget_usd": 0}),
            json!({"budget_usd": -1.5}),
            json!({"budget_usd": 1e7}),
        ] {
            assert!(read(bad.clone()).sound().is_err(), "{bad}");
        }
        let good = read(json!({"budget_usd": 0.1, "max_tokens": 1}));
        assert_eq!((good.sound(), good.budget_microdollars()), (Ok(()), Some(100_000)));
    }
}
