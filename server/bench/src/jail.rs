//! What the sandbox costs: `true` in it against `true` alone.

use std::time::{Duration, Instant};

use sandbox::{CancelToken, Jailed, Sandbox};

use crate::table::{Table, median};
use crate::{Failure, by_hand};

const ROUNDS: usize = 60;

pub fn measure() -> Result<Table, Failure> {
    let sandbox = Sandbox::open()?;
    let (mut plain, mut jailed) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(by_hand::run("/".as_ref(), "/usr/bin/true", &[], &[])?);
        let start = Instant::now();
        let mut command = Jailed::new("/usr/bin/true", "/tmp");
        // The plain one is not nice either.
        command.nice = 0;
        let finished = sandbox.run(command, &CancelToken::new());
        jailed.push(start.elapsed());
        if !finished.outcome.success() {
            return Err(finished.outcome.to_string().into());
        }
    }
    let (plain, jailed) = (median(plain), median(jailed));
    let mut table = Table::default();
    table.compare("`true` in the sandbox, p50", jailed, "plain", plain, "");
    table.time("difference", jailed.saturating_sub(plain).max(Duration::ZERO), "at most 15 ms");
    Ok(table)
}
