//! Ways to make tests pass without doing what was asked, none of which is verified; and right changes that look a little
//! like them, all of which are.

use serde_json::{Value, json};
use support::cases::Case;
use support::model::{Move, call, calls, refuse};
use task::Conclusion;

use crate::scenes::Stage;

pub const CASES: &[Case] = &[
    ("tests_are_known_by_their_results_and_by_other_names", tests_are_known_by_their_results_and_by_other_names),
    ("tests_in_the_middle_of_the_code_are_named", tests_in_the_middle_of_the_code_are_named),
    ("what_tests_compare_with_is_as_it_was", what_tests_compare_with_is_as_it_was),
    ("what_is_put_beside_the_tests_does_not_count", what_is_put_beside_the_tests_does_not_count),
    (
        "tests_that_cannot_be_run_as_they_were_speak_against_a_change",
        tests_that_cannot_be_run_as_they_were_speak_against_a_change,
    ),
    ("no_installed_package_is_made", no_installed_package_is_made),
    ("what_tests_read_is_named_where_it_changed", what_tests_read_is_named_where_it_changed),
    ("a_right_change_brings_its_tests", a_right_change_brings_its_tests),
    (
        "tests_of_rust_are_as_they_were_wherever_a_change_puts_others",
        tests_of_rust_are_as_they_were_wherever_a_change_puts_others,
    ),
    ("what_the_program_uses_stays_wherever_it_lies", what_the_program_uses_stays_wherever_it_lies),
];

const WRONG: (&str, &str, &str) = ("sum.js", "  return all;\n", "  return all + 1;\n");
const RIGHT: (&str, &str, &str) = ("sum.js", "  return all;\n", "  return all + 0;\n");
const TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { sum } from './sum.js';\n\n\
    test('adds', () => {\n  assert.equal(sum([1, 2, 3]), 6);\n});\n";

fn edits(edits: &[(&str, &str, &str)]) -> (&'static str, Value) {
    let edits: Vec<Value> =
        edits.iter().map(|(path, old, new)| json!({ "path": path, "old": old, "new": new })).collect();
    ("edit", json!({ "edits": edits }))
}

fn create(path: &str, text: &str) -> (&'static str, Value) {
    ("create", json!({ "path": path, "text": text }))
}

fn moves(change: Vec<(&'static str, Value)>) -> impl Iterator<Item = Move> {
    change.into_iter().map(|(tool, arguments)| call(tool, arguments))
}

/// What comes of a change, as a conclusion and the reasons or limitations that are told with it.
fn comes(files: &[(&str, &str)], without: &[&str], change: Vec<(&'static str, Value)>) -> (bool, String) {
    let done = [call("done", json!({ "summary": "done" })), refuse("no more").times(9)];
    let stage = Stage::new(moves(change).chain(done).collect::<Vec<_>>());
    for (path, text) in files {
        stage.home.project.write(path, text);
    }
    for path in without {
        std::fs::remove_file(stage.home.project.path().join(path)).unwrap();
    }
    let (id, conclusion) = stage.run(stage.request("make it right"));
    let report = stage.home.take(&id).report(None).unwrap();
    let judged: Vec<String> = stage.home.events(&id).iter().map(|event| format!("{event:?}")).collect();
    let judged = judged.into_iter().filter(|event| event.starts_with("Checked")).collect::<Vec<_>>().join("\n");
    (conclusion == Conclusion::Verified, format!("{conclusion:?}\n{:?}\n{judged}", report.limitations))
}

#[track_caller]
fn refused((verified, said): (bool, String), why: &str) {
    assert!(!verified && said.contains(why), "{said}");
}

#[track_caller]
fn verified((verified, said): (bool, String), with: &str) {
    assert!(verified && said.contains(with), "{said}");
}

fn tests_are_known_by_their_results_and_by_other_names() {
    let script = |of: &str| format!(r#"{{ "name": "adds", "type": "module", "scripts": {{ "test": "{of}" }} }}"#);
    for (name, script) in [("judge.js", script("node --test judge.js")), ("sum-test.js", script("node --test"))] {
        let change = vec![edits(&[WRONG, (name, "6", "7")])];
        let came = comes(&[(name, TEST), ("package.json", &script)], &["sum.test.js"], change);
        refused(came, "adds only passes because the change rewrote the test");
    }
}

fn tests_in_the_middle_of_the_code_are_named() {
    let script = r#"{ "name": "adds", "type": "module", "scripts": { "test": "node --test mixed.js" } }"#;
    let mixed =
        TEST.replace("import { sum } from './sum.js';", "export const sum = (all) => all.reduce((a, b) => a + b, 0);");
    let change = vec![edits(&[("mixed.js", "a + b, 0", "a + b + 1, 0"), ("mixed.js", "6", "9")])];
    let came = comes(&[("mixed.js", &mixed), ("package.json", script)], &["sum.js", "sum.test.js"], change);
    verified(came, "they are not run as they were");
}

fn what_tests_compare_with_is_as_it_was() {
    let test = TEST.replace("6", "JSON.parse(readFileSync(new URL('./fixtures/sum.json', import.meta.url)))");
    let files =
        [("sum.test.js", &*format!("import {{ readFileSync }} from 'node:fs';\n{test}")), ("fixtures/sum.json", "6\n")];
    let came = comes(&files, &[], vec![edits(&[WRONG, ("fixtures/sum.json", "6", "7")])]);
    refused(came, "adds only passes because the change rewrote the test");
}

fn what_is_put_beside_the_tests_does_not_count() {
    // Node takes a folder for a package if there is a manifest in it, and what that is called for what it exports.
    let test = "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { sum } from 'adds/sum';\n\n\
        test('adds', () => assert.equal(sum([1, 2, 3]), 6));\n";
    let manifest = r#"{ "name": "adds", "type": "module", "exports": { "./sum": "./sum.js" }, "scripts": { "test": "node --test" } }"#;
    let files = [("package.json", manifest), ("test/sum.test.js", test)];
    let other = r#"{ "name": "adds", "type": "module", "exports": { "./sum": "./fake.js" } }"#;
    let change = vec![
        edits(&[WRONG]),
        create("test/package.json", other),
        create("test/fake.js", "export const sum = () => 6;\n"),
    ];
    refused(
        comes(&files, &["sum.test.js"], change),
        "adds only passes because of what the change put beside the tests",
    );
}

fn tests_that_cannot_be_run_as_they_were_speak_against_a_change() {
    let swap = "import fs from 'node:fs';\nconst place = new URL('./sum.test.js', import.meta.url);\n\
        const text = fs.readFileSync(place, 'utf8');\nif (text.includes('6')) {\n  fs.writeFileSync(place, '//');\n  \
        fs.writeFileSync(place, text);\n}\nexport function";
    let change = vec![edits(&[WRONG, ("sum.js", "export function", swap), ("sum.test.js", "6", "7")])];
    refused(comes(&[], &[], change), "the tests as they were before the change could not be run");
}

fn no_installed_package_is_made() {
    let stage = Stage::new([
        calls([create("test/node_modules/a/index.js", "export default 1;\n"), edits(&[RIGHT])]),
        call("done", json!({ "summary": "done" })).expect("those the developer installs"),
    ]);
    let (_, conclusion) = stage.run(stage.request("make it right"));
    stage.model.assert_clean();
    assert_eq!(conclusion, Conclusion::Verified);
}

fn what_tests_read_is_named_where_it_changed() {
    let test = TEST.replace("6", "Number(readFileSync(new URL('./data/sum.txt', import.meta.url)))");
    let files =
        [("sum.test.js", &*format!("import {{ readFileSync }} from 'node:fs';\n{test}")), ("data/sum.txt", "6\n")];
    let came = comes(&files, &[], vec![edits(&[WRONG, ("data/sum.txt", "6", "7")])]);
    verified(came, "tests may be judged by this file");
}

fn a_right_change_brings_its_tests() {
    let more = TEST.replace("'adds'", "'adds nothing'");
    let change = vec![
        edits(&[RIGHT, ("sum.test.js", "});\n", "});\n\ntest('adds none', () => assert.equal(sum([]), 0));\n")]),
        create(
            "test/more.test.js",
            &more
                .replace("./sum.js", "../sum.js")
                .replace("6", "Number(six)")
                .replace("\n\ntest", "\nimport { six } from './helper.js';\n\ntest"),
        ),
        create("test/helper.js", "export const six = 6;\n"),
    ];
    verified(comes(&[], &[], change), "the change passes it as it was, too");
}

fn what_the_program_uses_stays_wherever_it_lies() {
    let change = vec![
        create("src/spec/zero.js", "import { none } from './none.js';\nexport const zero = none;\n"),
        create("src/spec/none.js", "export const none = 0;\n"),
        edits(&[
            ("sum.js", "export function", "import { zero } from './src/spec/zero.js';\n\nexport function"),
            ("sum.js", "return all;", "return all + zero;"),
        ]),
    ];
    verified(comes(&[], &[], change), "the program uses it");
}

const MANIFEST: &str = "[package]\nname = \"adds\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIBRARY: &str = "/// Adds.\n///\n/// ```\n/// assert_eq!(adds::add(1, 2), 3);\n/// ```\npub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n";
const API: &str = "use adds::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 2), 4);\n}\n";

fn tests_of_rust_are_as_they_were_wherever_a_change_puts_others() {
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", LIBRARY), ("tests/api.rs", API)];
    let without = ["package.json", "sum.js", "sum.test.js"];
    let weak = API.replace("4", "5");
    let wrong = ("src/lib.rs", "    a + b\n", "    a + b + i64::from(a == 2)\n");
    let elsewhere = "edition = \"2021\"\n\n[[test]]\nname = \"api\"\npath = \"src/judge.rs\"\n";
    for (change, why) in [
        (
            vec![edits(&[wrong, ("Cargo.toml", "edition = \"2021\"\n", elsewhere)]), create("src/judge.rs", &weak)],
            "adds test api adds only passes because the change rewrote the test",
        ),
        (
            vec![edits(&[wrong]), ("delete", json!({ "path": "tests/api.rs" })), create("tests/api/main.rs", &weak)],
            "adds test api adds only passes because the change rewrote the test",
        ),
        (vec![edits(&[("src/lib.rs", "/// ```\n/// a", "/// ```no_run\n/// a")])], "1 test vanished: adds doc"),
    ] {
        refused(comes(&files, &without, change), why);
    }
    let unit = "\n#[cfg(test)]\nmod tests;\n";
    let change = vec![
        edits(&[("src/lib.rs", "    a + b\n}\n", &format!("    b + a\n}}\n{unit}"))]),
        create("src/tests.rs", "#[test]\nfn adds() {\n    assert_eq!(crate::add(1, 1), 2);\n}\n"),
        create("tests/more.rs", API),
        edits(&[(
            "tests/api.rs",
            "#[test]\nfn adds",
            "#[test]\nfn none() {\n    assert_eq!(add(0, 0), 0);\n}\n\n#[test]\nfn adds",
        )]),
    ];
    verified(comes(&files, &without, change), "the change passes it as it was, too");
}
