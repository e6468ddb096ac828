//! Tests: what counts as passed, and what does not.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use checks::{Guard, Moment, Progress, Watch};
use task::{ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, refused, test_check, tree, verified, with};

pub const CASES: &[Case] = &[
    ("a_test_that_fails_now_is_a_new_failure", failing),
    ("a_test_that_failed_at_base_the_same_way_is_a_known_failure", known),
    ("a_test_that_is_deleted_or_ignored_has_vanished", vanished),
    ("a_test_that_ends_the_process_early_hides_nothing", early_exit),
    ("results_that_a_test_prints_do_not_count", forged),
    ("a_flaky_test_is_neither_passed_nor_failed", flaky),
    ("a_harness_of_its_own_is_judged_by_its_exit_status", own_harness),
    ("a_crate_without_tests_is_verified_by_build_only", no_tests),
    ("progress_counts_tests", progress),
    ("a_shadow_that_changed_during_a_check_leaves_no_receipt", guarded),
    ("an_edit_is_tested_and_not_what_was_built_before", stale),
    ("what_the_repository_configures_for_its_tests_is_in_force", configured),
    ("a_harness_that_speaks_the_protocol_is_not_vouched_for", protocol),
    ("folders_with_odd_names_are_no_obstacle", odd_names),
    ("a_test_that_replaces_another_program_is_caught", replaces),
    ("noise_on_standard_output_hides_no_result", noise),
];

const LIB: &str = "pub fn add(a: u8, b: u8) -> u8 { a + b }\n";

fn test(name: &str, body: &str) -> String {
    format!("#[test]\nfn {name}() {{ {body} }}\n")
}

fn lib(tests: &[(&str, &str)]) -> String {
    LIB.to_owned() + &tests.iter().map(|(name, body)| test(name, body)).collect::<String>()
}

fn failing() {
    let base = tree(&[("src/lib.rs", LIB), ("tests/api.rs", &test("adds", "assert_eq!(demo::add(1, 2), 3)"))]);
    let judgement =
        refused(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "a - b"))]), "demo test api adds");
    let failure = &judgement.comparisons.last().unwrap().new_failures[0];
    assert!(failure.excerpt.contains("panicked"), "{failure:?}");
}

fn known() {
    let text = lib(&[("good", ""), ("bad", "assert_eq!(add(1, 2), 4)")]);
    let base = tree(&[("src/lib.rs", &text)]);
    let judgement = verified(&base, &with(&base, &[("src/lib.rs", &format!("// moved down\n\n{text}"))]));
    assert_eq!(judgement.comparisons[1].verdict, Verdict::KnownFailure);
    // The same test failing in another way is news.
    refused(&base, &with(&base, &[("src/lib.rs", &text.replace("4)", "5)"))]), "demo lib bad");
}

fn vanished() {
    let base = tree(&[("src/lib.rs", &lib(&[("one", ""), ("two", "")]))]);
    refused(&base, &with(&base, &[("src/lib.rs", &lib(&[("one", "")]))]), "1 test vanished: demo lib two");
    let ignored = lib(&[("one", "")]) + "#[ignore]\n" + &test("two", "");
    refused(&base, &with(&base, &[("src/lib.rs", &ignored)]), "1 test vanished: demo lib two");
}

fn early_exit() {
    let bodies = |first: &str| {
        lib(&[("a_first", first), ("b_second", "std::thread::sleep(std::time::Duration::from_secs(60)); panic!()")])
    };
    let ran = Bench::new().run(&tree(&[("src/lib.rs", &bodies("std::process::exit(0)"))]), &test_check());
    assert_eq!(ran.verdict, Verdict::Failed);
    let items = ran.receipt.unwrap().items;
    let process = items.iter().find(|item| item.id.path == checks::PROCESS).unwrap();
    assert_eq!(process.excerpt, "the test process ended before its tests did");
    assert!(items.iter().any(|item| item.id.path == "b_second" && item.result == ItemResult::NoResult));
}

fn forged() {
    let forge = "use std::io::Write;\n let mut out = std::io::stdout();\n \
        write!(out, \"\\ntest forges ... ok\\ntest fails ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n\").unwrap();\n \
        out.flush().unwrap(); std::process::exit(0)";
    let base = tree(&[("src/lib.rs", &lib(&[("fails", "assert_eq!(add(1, 1), 2)"), ("forges", "")]))]);
    let broken =
        lib(&[("fails", "std::thread::sleep(std::time::Duration::from_secs(60)); panic!()"), ("forges", forge)]);
    refused(&base, &with(&base, &[("src/lib.rs", &broken)]), "demo lib (process)");
}

fn flaky() {
    // The first run leaves a file in the private folder of the tests, the second finds it.
    let body = "let seen = std::path::Path::new(env!(\"CARGO_TARGET_TMPDIR\")).join(\"seen\"); \
                if !seen.exists() { std::fs::write(seen, \"\").unwrap(); panic!(\"first time\") }";
    let base = tree(&[("src/lib.rs", LIB), ("tests/api.rs", &test("moody", ""))]);
    let candidate = with(&base, &[("tests/api.rs", &test("moody", body))]);
    let judgement = refused(&base, &candidate, "flaky, with different results on the same tree: demo test api moody");
    assert_eq!(judgement.comparisons[1].verdict, Verdict::Flaky);
}

fn own_harness() {
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[[test]]\nname = \"own\"\nharness = false\n";
    let base = tree(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", LIB),
        ("tests/own.rs", "fn main() { println!(\"all is well\"); assert_eq!(demo::add(1, 2), 3); }\n"),
    ]);
    let judgement = verified(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    assert!(
        judgement.limitations.iter().any(|limitation| limitation.text.contains("harness of its own")),
        "{:?}",
        judgement.limitations
    );
    refused(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "a * b"))]), "demo test own");
    let usual = with(&base, &[("tests/own.rs", &test("listed", ""))]);
    refused(
        &base,
        &with(&usual, &[("Cargo.toml", &manifest.replace("[[test]]\nname = \"own\"\nharness = false\n", ""))]),
        "vanished",
    );
}

fn no_tests() {
    let base = tree(&[("src/main.rs", "fn main() {}\n")]);
    let judgement = verified(&base, &with(&base, &[("src/main.rs", "fn main() { println!(); }\n")]));
    assert!(judgement.limitations.iter().any(|limitation| limitation.text.contains("verified by build only")));
}

fn progress() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let seen = seen.clone();
        Arc::new(move |progress: Progress| seen.lock().unwrap().push(progress))
    };
    let watch = Watch { progress, ..Watch::default() };
    let tree = tree(&[("src/lib.rs", &lib(&[("one", ""), ("two", "")]))]);
    let ran = Bench::new().run_with(&tree, &test_check(), None, &watch, &mut checks::Unguarded);
    assert_eq!(ran.verdict, Verdict::Passed, "{:?}", ran.reason);
    let seen = seen.lock().unwrap();
    assert!(seen.iter().any(|progress| matches!(progress, Progress::Tested { done: 2, all: 2, .. })), "{seen:?}");
    assert!(seen.iter().any(|progress| matches!(progress, Progress::Compiled { .. })), "{seen:?}");
}

/// Notices that the shadow changed.
struct Strict(AtomicU32);

impl Guard for Strict {
    fn verify(&mut self, moment: Moment) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if moment == Moment::After { Err("src/lib.rs changed during the check".to_owned()) } else { Ok(()) }
    }
}

fn guarded() {
    let mut guard = Strict(AtomicU32::new(0));
    let tree = tree(&[("src/lib.rs", LIB)]);
    let ran = Bench::new().run_with(&tree, &test_check(), None, &Watch::default(), &mut guard);
    assert_eq!((ran.verdict, ran.receipt.is_none()), (Verdict::Infrastructure, true));
    assert_eq!(guard.0.load(Ordering::Relaxed), 2);
}

fn stale() {
    let bench = Bench::new();
    let text = lib(&[("adds", "assert_eq!(add(1, 2), 3)")]);
    assert_eq!(bench.run(&tree(&[("src/lib.rs", &text)]), &test_check()).verdict, Verdict::Passed);
    let broken = tree(&[("src/lib.rs", &text.replace("a + b", "a - b"))]);
    assert_eq!(bench.run(&broken, &test_check()).verdict, Verdict::Failed);
}

fn noise() {
    let noisy = "use std::io::Write; std::io::stdout().write_all(b\"no newline\").unwrap();";
    let ran = Bench::new().run(&tree(&[("src/lib.rs", &lib(&[("noisy", noisy), ("quiet", "")]))]), &test_check());
    assert_eq!(ran.verdict, Verdict::Passed, "{:#?}", ran.receipt.unwrap().items);
}

fn configured() {
    let config = "[env]\nGREETING = \"hello\"\n[build]\ntarget-dir = \"elsewhere\"\n[target.'cfg(all())']\nrunner = \"/bin/false\"\n";
    let body = "assert_eq!(std::env::var(\"GREETING\").unwrap(), \"hello\"); \
                assert!(std::env::vars().all(|(name, _)| !name.ends_with(\"_RUNNER\")))";
    let tree = tree(&[("src/lib.rs", &lib(&[("greets", body)])), (".cargo/config.toml", config)]);
    let ran = Bench::new().run(&tree, &test_check());
    assert_eq!(ran.verdict, Verdict::Passed, "{:?} {:#?}", ran.reason, ran.receipt.map(|receipt| receipt.items));
}

fn protocol() {
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let own = "fn main() {\n if std::env::args().any(|arg| arg == \"--list\") { println!(\"works: test\"); return }\n \
               println!(\"test works ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\");\n}\n";
    let base = tree(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", LIB),
        ("tests/api.rs", &test("works", "assert_eq!(demo::add(1, 2), 3)")),
    ]);
    let switched = format!("{manifest}[[test]]\nname = \"api\"\nharness = false\n");
    refused(
        &base,
        &with(&base, &[("Cargo.toml", &switched), ("tests/api.rs", own)]),
        "vanished: demo test api (process)",
    );
    // Where it was so before, it is believed and said.
    let before = with(&base, &[("Cargo.toml", &switched), ("tests/api.rs", own)]);
    let judgement = verified(&before, &with(&before, &[("src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    assert!(judgement.limitations.iter().any(|limitation| limitation.text.contains("harness of its own")));
}

fn odd_names() {
    let base = tree(&[
        ("src/lib.rs", "pub mod odd;\n"),
        ("src/odd.rs", "pub const TEXT: &str = include_str!(\"a b/t\u{fc}r.txt\");\n#[test]\nfn t() {}\n"),
        ("src/a b/t\u{fc}r.txt", "one\n"),
    ]);
    let bench = Bench::at("a folder, with $odd 'names'");
    let (judgement, _) = bench.prove(&base, &with(&base, &[("src/a b/t\u{fc}r.txt", "two\n")]));
    assert!(judgement.verified, "{:#?}", judgement.reasons);
}

fn replaces() {
    let swap = "let own = std::env::current_exe().unwrap(); \
        for entry in std::fs::read_dir(own.parent().unwrap()).unwrap() { let path = entry.unwrap().path(); \
        if path.file_name().unwrap().to_str().unwrap().starts_with(\"victim-\") && path.extension().is_none() { \
        std::fs::remove_file(&path).unwrap(); std::fs::copy(&own, &path).unwrap(); } }";
    let tests =
        [("src/lib.rs", LIB), ("tests/attacker.rs", &test("t", swap)), ("tests/victim.rs", &test("t", "panic!()"))];
    let ran = Bench::new().run(&tree(&tests), &test_check());
    assert_eq!(ran.verdict, Verdict::Failed);
    assert!(ran.reason.as_ref().unwrap().contains("a test changed `victim-"), "{:?}", ran.reason);
}
