//! Reports as our reporters write them, and as somebody else would like them to be.

use proptest::prelude::*;
use sandbox::Outcome;
use task::{Item, ItemResult};

use super::*;

const SHADOW: &str = "/state/slot-0/shadow";

fn items(text: &str, code: i32) -> Vec<Item> {
    let root = Some("web".parse().unwrap());
    let (shadow, workspace) = (Path::new(SHADOW), Path::new("/home/u/ws"));
    let context = Context { shadow, workspace, root: &root, package: "demo", target: "vitest" };
    Report::parse(text.as_bytes()).items(&context, &Outcome::Exit { code }, "errors")
}

/// The problem of the run as a whole.
fn problem(text: &str, code: i32) -> Option<String> {
    let items = items(text, code);
    let process = items.last().unwrap();
    assert_eq!(process.id.path, PROCESS);
    (process.result == ItemResult::Failed).then(|| process.excerpt.lines().next().unwrap().to_owned())
}

const LISTED: &str = "{\"kind\":\"listed\",\"file\":\"a.ts\",\"names\":[\"t\"]}\n";
const PASSED: &str = "{\"kind\":\"result\",\"file\":\"a.ts\",\"names\":[\"t\"],\"said\":\"passed\"}\n";
const FAILED: &str =
    "{\"kind\":\"result\",\"file\":\"a.ts\",\"names\":[\"t\"],\"said\":\"failed\",\"message\":\"m\"}\n";
const END: &str = "{\"kind\":\"end\",\"passed\":1}\n";
const END_FAILED: &str = "{\"kind\":\"end\",\"failed\":1}\n";

#[test]
fn a_run_is_fine_only_where_everything_agrees() {
    let all = |lines: &[&str]| lines.concat();
    assert_eq!(problem(&all(&[LISTED, PASSED, END]), 0), None);
    assert_eq!(problem(&all(&[LISTED, FAILED, END_FAILED]), 1), None);
    for (lines, code, wanted) in [
        (all(&[LISTED, PASSED]), 0, "the test process ended before its tests did"),
        (all(&[]), 0, "the test process ended before its tests did"),
        (all(&[LISTED, PASSED, END, END]), 0, "the test process ended before its tests did"),
        (all(&[LISTED, END, PASSED]), 0, "the closing count does not agree with the results of the tests"),
        (all(&[LISTED, PASSED, END_FAILED]), 1, "the closing count does not agree with the results of the tests"),
        (all(&[LISTED, PASSED, PASSED, END]), 0, "a result for `a.ts::t`, which is not among the listed tests"),
        (all(&[LISTED, FAILED, END_FAILED]), 0, "the test process exited with 0 although tests failed"),
        (all(&[LISTED, PASSED, END]), 1, "the test process exited with 1 although no test failed"),
        (all(&[LISTED, PASSED]), 139, "the test process was killed by signal 11"),
        (all(&[LISTED, PASSED, END]), 139, "the test process exited with 139 although no test failed"),
        (all(&[LISTED, PASSED, "noise\n", END]), 0, "something wrote into the report of the tests"),
    ] {
        assert_eq!(problem(&lines, code).as_deref(), Some(wanted), "{lines}");
    }
}

#[test]
fn a_listed_test_without_a_result_has_none() {
    let two = LISTED.replace("[\"t\"]", "[\"g\",\"u\"]");
    let items = items(&[LISTED, &two, PASSED, END].concat(), 0);
    let found: Vec<_> = items.iter().map(|item| (item.id.path.as_str(), item.result)).collect();
    let wanted = [("a.ts::t", ItemResult::Passed), ("a.ts::g::u", ItemResult::NoResult), (PROCESS, ItemResult::Failed)];
    assert_eq!(found, wanted);
}

#[test]
fn a_failure_is_told_without_what_varies() {
    let stack = format!(
        "Error: \\u001b[31mno 3\\u001b[39m\\n    at lib (/home/u/ws/node_modules/x/a.js:1:1)\\n    at go (file://{SHADOW}/web/src/a.ts:7:9)"
    );
    let line = format!(
        "{{\"kind\":\"result\",\"file\":\"{SHADOW}/web/t.ts\",\"names\":[\"in {SHADOW}/web\"],\"said\":\"failed\",\"message\":\"no 3\",\"stack\":\"{stack}\"}}\n"
    );
    let item = items(&(line + END_FAILED), 1).remove(0);
    assert_eq!(item.id.path, "t.ts::in web");
    assert_eq!(item.at, Some(("web/src/a.ts".parse().unwrap(), 7)));
    assert_eq!(item.excerpt, "Error: no 3\n    at go (file://web/src/a.ts:7:9)");
    assert_eq!(item.signature.unwrap().0, "demo | vitest | t.ts::in web | failed | no 3");
}

proptest! {
    #[test]
    fn no_report_makes_the_reader_panic_and_none_but_a_whole_one_is_fine(text in "[ -~\\n\"{}:,é]{0,200}", code in 0i32..256) {
        prop_assert!(problem(&text, code).is_some());
    }
}
