//! Recorded output of real test programs, and what hostile ones would print.

use std::collections::BTreeSet;

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
