//! Start, end, limits on time and output, and that nothing outlives its run.

use sandbox::Outcome;

use crate::Case;
use crate::support::Place;

pub const CASES: &[Case] = &[("exit_codes_are_exact", exit_codes_are_exact)];

fn exit_codes_are_exact() {
    let place = Place::new();
    for code in [0, 1, 2, 125, 126, 127, 128, 137, 255] {
        let finished = place.run(&format!("echo out; echo err >&2; exit {code}"));
        assert_eq!(finished.outcome, Outcome::Exit { code }, "{}", finished.stderr.lossy());
        assert_eq!((finished.stdout.lossy().as_str(), finished.stderr.lossy().as_str()), ("out\n", "err\n"));
    }
}
