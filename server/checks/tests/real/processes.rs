//! Processes that do not end well.

use std::sync::Arc;
use std::time::{Duration, Instant};

use checks::{Progress, Unguarded, Watch};
use sandbox::CancelToken;
use task::{ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, test_check, tree};

pub const CASES: &[Case] = &[
    ("a_test_that_hangs_is_a_timeout", hangs),
    ("a_test_that_prints_for_ever_is_killed", floods),
    ("a_crash_leaves_no_result_for_what_it_took_along", crashes),
    ("a_cancelled_check_ends_soon_without_receipt", cancelled),
];

fn with_test(body: &str) -> checks::FileMap {
    tree(&[("src/lib.rs", &format!("#[test]\nfn it() {{ {body} }}\n"))])
}

fn hangs() {
    let mut bench = Bench::new();
    bench.remaining = Duration::from_secs(15);
    let ran = bench.run(&with_test("loop { std::thread::park() }"), &test_check());
    assert_eq!(ran.verdict, Verdict::Timeout, "{:?}", ran.reason);
    assert_eq!(ran.reason.unwrap(), "lib of demo did not end within the time that was left");
    assert!(!ran.receipt.unwrap().read.is_empty());
}

fn floods() {
    let ran = Bench::new().run(
        &with_test("use std::io::Write; loop { std::io::stdout().write_all(&[b'x'; 65536]).unwrap() }"),
        &test_check(),
    );
    assert_eq!(ran.verdict, Verdict::Killed, "{:?}", ran.reason);
}

fn crashes() {
    let ran = Bench::new().run(&with_test("std::process::abort()"), &test_check());
    assert_eq!(ran.verdict, Verdict::Failed, "{:?}", ran.reason);
    let items = ran.receipt.unwrap().items;
    assert!(items.iter().any(|item| item.id.path == "it" && item.result == ItemResult::NoResult), "{items:#?}");
    assert!(items.iter().any(|item| item.excerpt.contains("signal 6")), "{items:#?}");
}

fn cancelled() {
    let cancel = CancelToken::new();
    let progress = {
        let cancel = cancel.clone();
        // Cancelled once the test runs: it never ends by itself.
        Arc::new(move |progress: Progress| {
            if matches!(progress, Progress::Compiled { .. }) {
                cancel.cancel()
            }
        })
    };
    let watch = Watch { cancel, progress };
    let clock = Instant::now();
    let ran =
        Bench::new().run_with(&with_test("loop { std::thread::park() }"), &test_check(), None, &watch, &mut Unguarded);
    assert_eq!((ran.verdict, ran.receipt.is_none()), (Verdict::NotRun, true), "{:?}", ran.reason);
    assert!(clock.elapsed() < Duration::from_secs(60));
}
