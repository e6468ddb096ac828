//! Recorded output of real test programs, and what hostile ones would print.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sandbox::Outcome;

use crate::libtest::{Report, Said, irregular, parse_list, parse_log, parse_stdout};

const STDOUT: &str = "
running 5 tests
test ign ... ignored, slow
test m::deep ... FAILED
partialtest ok ... ok
test bad ... FAILED
test sp - should panic ... ok

failures:

---- m::deep stdout ----
Error: \"x\"

---- bad stdout ----

thread 'bad' (17232) panicked at a.rs:2:20:
no 3


failures:
    bad
    m::deep

test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.06s

";
const LOG: &str = "ignored: slow ign\nfailed m::deep\nok ok\nfailed bad\nok sp\n";
const EXIT: Outcome = Outcome::Exit { code: 0 };

fn ids(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn report(log: &str, stdout: &str, listed: &BTreeSet<String>) -> Report {
    Report { results: parse_log(log.as_bytes(), listed), ..parse_stdout(stdout.as_bytes(), listed, false) }
}

fn closing(passed: usize) -> String {
    format!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s\n")
}

#[test]
fn a_recorded_run_is_read_whole() {
    let listed = parse_list(b"bad: test\nign: test\nm::deep: test\nok: test\nsp: test\n").unwrap();
    let listed: BTreeSet<String> = listed.into_iter().collect();
    let report = report(LOG, STDOUT, &listed);
    assert_eq!(report.results.len(), 5);
    assert!(report.results.contains(&("ign".into(), Said::Ignored)));
    assert!(report.sections["bad"].contains("no 3"));
    assert_eq!(report.sections["m::deep"].trim(), "Error: \"x\"");
    assert_eq!(irregular(&listed, &report, &Outcome::Exit { code: 101 }), None);
}

#[test]
fn a_list_with_anything_else_in_it_is_none() {
    assert_eq!(parse_list(b"own harness\n"), None);
    assert_eq!(parse_list(b""), Some(vec![]));
}

#[test]
fn a_failure_whose_message_has_lines_is_one_result() {
    let listed = ids(&["a", "b"]);
    let log = "failed: panic did not contain expected string\n      panic message: \"ok b\"\n expected substring: \"y\" a\nok b\n";
    let results = parse_log(log.as_bytes(), &listed);
    assert!(results.contains(&("a".into(), Said::Failed)));
}

#[test]
fn a_process_that_ends_before_its_tests_is_not_passed() {
    let listed = ids(&["a", "b"]);
    let said = irregular(&listed, &report("ok a\n", "", &listed), &EXIT);
    assert_eq!(said.as_deref(), Some("the test process ended before its tests did"));
}

#[test]
fn a_printed_summary_and_printed_results_do_not_count() {
    let listed = ids(&["a", "b"]);
    let forged = format!("test a ... ok\ntest b ... ok\n{}", closing(2));
    assert!(irregular(&listed, &report("ok a\n", &forged, &listed), &EXIT).is_some());
}

#[test]
fn repeated_and_foreign_results_are_seen() {
    let listed = ids(&["a", "b"]);
    let twice = irregular(&listed, &report("ok a\nok b\nfailed b\n", &closing(2), &listed), &EXIT);
    assert_eq!(twice.as_deref(), Some("more than one result for `b`"));
    let foreign = irregular(&listed, &report("ok a\nok b\nok c\n", &closing(2), &listed), &EXIT);
    assert_eq!(foreign.as_deref(), Some("a result for `c`, which is not among the listed tests"));
    let ignored = irregular(&listed, &report("ok a\nok b\nignored c\n", &closing(2), &listed), &EXIT);
    assert_eq!(ignored.as_deref(), Some("a result for `c`, which is not among the listed tests"));
    let reason = parse_log(b"ok a\nignored: later\n or never b\n", &listed);
    assert_eq!(reason, [("a".into(), Said::Ok), ("b".into(), Said::Ignored)]);
}

#[test]
fn exit_status_and_summary_must_agree_with_the_results() {
    let listed = ids(&["a"]);
    assert!(irregular(&listed, &report("failed a\n", STDOUT, &listed), &EXIT).is_some());
    assert!(irregular(&listed, &report("ok a\n", &closing(2), &listed), &EXIT).is_some());
    assert!(irregular(&listed, &report("ok a\n", &closing(1), &listed), &Outcome::Exit { code: 101 }).is_some());
    assert!(irregular(&listed, &report("ok a\n", &closing(1), &listed), &Outcome::Signal { signal: 11 }).is_some());
    assert_eq!(irregular(&listed, &report("ok a\n", &closing(1), &listed), &EXIT), None);
}

#[test]
fn doc_tests_are_read_from_both_of_their_blocks() {
    let listed = ids(&["src/lib.rs - add (line 12)", "src/lib.rs - add (line 15)"]);
    let stdout = format!(
        "running 1 test\ntest src/lib.rs - add (line 12) - compile ... ok\n{}running 1 test\n\
         test src/lib.rs - add (line 15) - compile fail ... ok\n{}",
        closing(1),
        closing(1)
    );
    let report = parse_stdout(stdout.as_bytes(), &listed, true);
    assert_eq!(irregular(&listed, &report, &EXIT), None);
}

proptest! {
    /// Whatever tests write to standard output and even to the log: a run is regular only if the log gives each listed
    /// test one result and the exit status says the same.
    #[test]
    fn a_regular_run_has_one_result_for_each_test(
        log in prop::collection::vec((prop::sample::select(vec!["ok", "failed", "ignored"]), prop::sample::select(vec!["a", "b", "c"])), 0..5),
        printed in prop::collection::vec(prop::sample::select(vec![
            "test a ... ok", "test b ... ok", "test b ... FAILED", "noise", "---- b stdout ----", "failures:",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ]), 0..6),
        code in prop::sample::select(vec![0, 1, 101]),
    ) {
        let listed = ids(&["a", "b"]);
        let log: String = log.iter().map(|(said, id)| format!("{said} {id}\n")).collect();
        let report = report(&log, &printed.join("\n"), &listed);
        if irregular(&listed, &report, &Outcome::Exit { code }).is_none() {
            let mut seen: Vec<&str> = report.results.iter().map(|(id, _)| id.as_str()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, ["a", "b"]);
            let failed = report.results.iter().any(|(_, said)| *said == Said::Failed);
            prop_assert_eq!(failed, code != 0);
            prop_assert_eq!(log.lines().count(), 2);
        }
    }

    #[test]
    fn no_output_makes_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(test|ok|failed|ignored|[ :.\n-]|a|result){0,40}") {
        let listed = ids(&["a", "b"]);
        for said in [bytes.as_slice(), text.as_bytes()] {
            let _ = (parse_list(said), parse_log(said, &listed), parse_stdout(said, &listed, true));
            let _ = (crate::message::parse(said), crate::recorder::starts(said, "x"));
        }
    }
}
