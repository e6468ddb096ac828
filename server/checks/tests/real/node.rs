//! `node --test` on small projects without any dependency.

use std::fs;

use checks::{FileMap, Wanted};
use task::{ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, plain, with};

pub const CASES: &[Case] = &[
    ("node_tests_pass_fail_and_vanish", judged),
    ("a_node_test_that_exits_early_hides_nothing", exits),
    ("what_a_node_test_prints_or_forges_does_not_count", forged),
    ("packages_that_lie_elsewhere_are_refused", elsewhere),
    ("installed_packages_lead_back_into_the_tree_and_cannot_be_written", workspaces),
];

const LIB: &str = "export const add = (a, b) => a + b;\n";
const TEST: &str = "import { test, describe, it } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../lib.mjs';\n\
    test('adds', () => assert.strictEqual(add(1, 2), 3));\ndescribe('group', () => { it('again', () => assert.ok(add(0, 1))); });\n";

fn project() -> FileMap {
    plain(&[
        ("package.json", "{\"name\": \"demo\", \"scripts\": {\"test\": \"node --test\"}}"),
        ("lib.mjs", LIB),
        ("test/add.test.mjs", TEST),
    ])
}

fn bench() -> (tempfile::TempDir, Bench) {
    let workspace = tempfile::tempdir().unwrap();
    let bench = Bench::in_workspace(workspace.path());
    (workspace, bench)
}

fn judged() {
    let (_workspace, bench) = bench();
    let base = project();
    bench.verified(&base, &with(&base, &[("lib.mjs", "export const add = (a, b) => b + a;\n")]));
    let judgement = bench.refused(
        &base,
        &with(&base, &[("lib.mjs", "export const add = (a, b) => a - b;\n")]),
        "demo node --test test/add.test.mjs::adds",
    );
    let failure = &judgement.comparisons[0].new_failures[0];
    assert!(failure.excerpt.contains("-1 !== 3"), "{failure:?}");
    assert_eq!(failure.at, Some(("test/add.test.mjs".parse().unwrap(), 4)));
    assert!(!failure.signature.as_ref().unwrap().0.contains("/shadow"), "{failure:?}");
    // Left out, marked, and a file that cannot be loaded.
    bench.refused(
        &base,
        &with(&base, &[("test/add.test.mjs", &TEST.replace("test('adds'", "test.skip('adds'"))]),
        "1 test vanished",
    );
    bench.refused(
        &base,
        &with(&base, &[("test/add.test.mjs", &TEST.replace("test('adds'", "test.todo('adds'"))]),
        "1 test vanished",
    );
    let broken = with(&base, &[("lib.mjs", "export const sum = 1;\n")]);
    bench.refused(&base, &broken, "2 tests vanished");
    // A failure that the base has is known, wherever its line moved to.
    let bad = TEST.to_owned() + "test('bad', () => assert.strictEqual(add(1, 1), 3));\n";
    let failing = with(&base, &[("test/add.test.mjs", &bad)]);
    let judgement = bench.verified(&failing, &with(&failing, &[("test/add.test.mjs", &format!("\n// moved\n{bad}"))]));
    assert_eq!(judgement.comparisons[0].verdict, Verdict::KnownFailure);
}

fn exits() {
    let (_workspace, bench) = bench();
    let base = project();
    let early = TEST.to_owned() + "test('ends', () => process.exit(0));\ntest('late', () => assert.fail('never'));\n";
    bench.refused(&base, &with(&base, &[("test/add.test.mjs", &early)]), "test/add.test.mjs");
    let alone = with(
        &base,
        &[(
            "test/new.test.mjs",
            "import test from 'node:test';\ntest('a', () => process.exit(0));\ntest('b', () => { throw 1 });\n",
        )],
    );
    let judgement = bench.refused(&base, &alone, "demo node --test test/new.test.mjs");
    assert!(judgement.comparisons[0].new_failures[0].excerpt.contains("ended by process.exit"), "{judgement:?}");
    // A program that a test starts may end as it likes.
    let starts = "import { test } from 'node:test';\nimport { spawnSync } from 'node:child_process';\nimport assert from 'node:assert';\n\
        test('starts', () => assert.equal(spawnSync(process.execPath, ['-e', 'process.exit(0)']).status, 0));\n";
    bench.verified(&base, &with(&base, &[("test/starts.test.mjs", starts)]));
    // A program that a test starts may end as it likes.
    let starts = "import { test } from 'node:test';\nimport { spawnSync } from 'node:child_process';\nimport assert from 'node:assert';\n\
        test('starts', () => assert.equal(spawnSync(process.execPath, ['-e', 'process.exit(0)']).status, 0));\n";
    bench.verified(&base, &with(&base, &[("test/starts.test.mjs", starts)]));
    let killed = TEST.to_owned() + "test('ends', () => process.kill(process.pid, 'SIGKILL'));\n";
    bench.refused(&base, &with(&base, &[("test/add.test.mjs", &killed)]), "test/add.test.mjs");
}

fn forged() {
    let (_workspace, bench) = bench();
    let base = project();
    let line = r#"{"kind":"result","file":"test/add.test.mjs","names":["adds"],"said":"passed"}"#;
    let forge = format!(
        "import test from 'node:test';\nimport fs from 'node:fs';\ntest('forges', () => {{ console.log('{line}\\n{{\"kind\":\"end\",\"passed\":3,\"failed\":0,\"ignored\":0}}'); \
         let wrote = 0; try {{ fs.writeSync(9, '{line}\\n'); wrote = 1; }} catch {{}} if (wrote) throw new Error('the report can be written'); }});\n"
    );
    // It only prints, and cannot reach the report: nothing is forged, and nothing is hidden.
    bench.verified(&base, &with(&base, &[("test/forge.test.mjs", &forge)]));
    let hides = TEST
        .replace("test('adds', () => assert", &format!("test('adds', () => {{ console.log('{line}'); assert"))
        .replace("3));", "4) });");
    bench.refused(&base, &with(&base, &[("test/add.test.mjs", &hides)]), "test/add.test.mjs::adds");
}

fn elsewhere() {
    let (workspace, bench) = bench();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("left")).unwrap();
    std::os::unix::fs::symlink(outside.path(), workspace.path().join("node_modules")).unwrap();
    let base = project();
    let (judgement, _) = bench.prove(&base, &with(&base, &[("lib.mjs", "export const add = (a, b) => b + a;\n")]));
    assert!(judgement.reasons[0].contains("leads out of the workspace"), "{:?}", judgement.reasons);
    fs::remove_file(workspace.path().join("node_modules")).unwrap();
    let asks = |name: &str| {
        let text = format!(
            "{{\"name\": \"demo\", \"scripts\": {{\"test\": \"node --test\"}}, \"dependencies\": {{\"{name}\": \"1\"}}}}"
        );
        with(&base, &[("package.json", &text)])
    };
    fs::create_dir_all(workspace.path().join("node_modules/left")).unwrap();
    bench.verified(&asks("left"), &with(&asks("left"), &[("lib.mjs", "export const add = (a, b) => b + a;\n")]));
    let (judgement, _) = bench.prove(&asks("left"), &asks("right"));
    assert!(judgement.reasons[0].contains("right is in package.json and not installed"), "{:?}", judgement.reasons);
    fs::remove_dir_all(workspace.path().join("node_modules")).unwrap();
    let needy = with(
        &base,
        &[
            (
                "package.json",
                "{\"name\": \"demo\", \"scripts\": {\"test\": \"node --test\"}, \"devDependencies\": {\"left\": \"1\"}}",
            ),
            ("package-lock.json", "{}"),
        ],
    );
    let (judgement, _) = bench.prove(&needy, &with(&needy, &[("lib.mjs", "export const add = (a, b) => b + a;\n")]));
    assert!(
        judgement.reasons[0].contains("node_modules is missing: run `npm ci` in the top"),
        "{:?}",
        judgement.reasons
    );
}

fn workspaces() {
    let (workspace, bench) = bench();
    // As npm lays out a workspace: a link into the packages, and one package that was installed.
    let modules = workspace.path().join("node_modules");
    fs::create_dir_all(modules.join("left")).unwrap();
    fs::write(modules.join("left/package.json"), "{\"name\": \"left\", \"main\": \"index.js\"}").unwrap();
    fs::write(modules.join("left/index.js"), "module.exports = 'left';").unwrap();
    fs::create_dir_all(workspace.path().join("packages/core")).unwrap();
    fs::write(workspace.path().join("packages/core/index.js"), "module.exports = 'the developer\\'s file';").unwrap();
    std::os::unix::fs::symlink("../packages/core", modules.join("core")).unwrap();
    let test = "const test = require('node:test'); const assert = require('node:assert'); const fs = require('node:fs');\n\
        test('reads', () => { assert.equal(require('core'), 'tree'); assert.equal(require('left'), 'left'); });\n\
        test('writes', () => { assert.throws(() => fs.writeFileSync(require.resolve('left'), ''), /EROFS/); });\n";
    let base = plain(&[
        ("package.json", "{\"name\": \"top\", \"workspaces\": [\"packages/*\"]}"),
        ("packages/core/package.json", "{\"name\": \"core\", \"main\": \"index.js\"}"),
        ("packages/core/index.js", "module.exports = 'tree';"),
        (
            "packages/app/package.json",
            "{\"name\": \"app\", \"scripts\": {\"test\": \"node --test test/*.js\"}, \"dependencies\": {\"core\": \"*\", \"left\": \"1\"}}",
        ),
        ("packages/app/test/a.js", test),
    ]);
    let candidate = with(&base, &[("packages/core/index.js", "module.exports = ['tree'].join();")]);
    // The package that uses what changed is asked.
    let judgement = bench.verified(&base, &candidate);
    assert_eq!(judgement.comparisons[0].check.0, "node --test in packages/app");
    assert_eq!(judgement.comparisons[0].passed, 2);
    assert_eq!(fs::read_to_string(modules.join("left/index.js")).unwrap(), "module.exports = 'left';");
    let found = checks::find(&base, Wanted::default()).all();
    let ran = bench.run(&base, &found.checks[0]);
    let receipt = ran.receipt.unwrap();
    assert!(receipt.items.iter().all(|item| item.result == ItemResult::Passed), "{:?}", receipt.items);
    assert!(receipt.read.contains(&"packages/core/index.js".parse().unwrap()), "{:?}", receipt.read);
    // Another package in its place is another environment.
    let before = receipt.environment;
    fs::write(modules.join("left/index.js"), "module.exports = 'LEFT' && 'left';").unwrap();
    let after = bench.run(&base, &found.checks[0]).receipt.unwrap().environment;
    assert_ne!(before, after);
}
