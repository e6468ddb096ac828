//! Processes that do not end well.

use std::sync::Arc;
use std::time::{Duration, Instant};

use checks::{Progress, Unguarded, Watch};
use sandbox::CancelToken;
use task::{ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, build_check, test_check, tree};

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
    let tree = with_test("loop { std::thread::park() }");
    // Built beforehand, so that on a busy machine the time is not used up by the compiler.
    assert_eq!(bench.run(&tree, &build_check()).verdict, Verdict::Passed);
    bench.remaining = Duration::from_secs(10);
    let ran = bench.run(&tree, &test_check());
    assert_eq!(ran.verdict, Verdict::Timeout, "{:?}", ran.reason);
    assert!(ran.reason.unwrap().ends_with("did not end within the time that was left"));
    assert!(ran.receipt.is_some());
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
