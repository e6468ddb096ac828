//! Vitest, jest and tsc, as they come from the registry; installed once for all cases.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use task::Verdict;

use crate::Case;
use crate::bench::{Bench, plain, with};

pub const CASES: &[Case] = &[
    ("vitest_tests_pass_fail_and_vanish", vitest),
    ("an_older_vitest_passes_where_it_was_just_installed", older_vitest),
    ("jest_tests_pass_fail_and_vanish", jest),
    ("mocha_tests_pass_fail_and_vanish", mocha),
    ("typescript_errors_are_new_or_known", typescript),
];

/// The developer's folder with everything installed.
fn workspace() -> &'static Path {
    static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();
    WORKSPACE.get_or_init(|| installed(PACKAGE))
}

/// A folder in which a manifest was just installed.
fn installed(package: &str) -> PathBuf {
    let folder = tempfile::tempdir().unwrap().keep().canonicalize().unwrap();
    std::fs::write(folder.join("package.json"), package).unwrap();
    let mut npm = ::support::command("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"]).current_dir(&folder);
    let output = npm.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

const PACKAGE: &str = r#"{"name": "demo", "devDependencies": {"vitest": "3.2.4", "jest": "29.7.0", "mocha": "11.7.4", "typescript": "5.9.3"}}"#;

fn package(script: &str) -> String {
    PACKAGE.replace("\"devDep", &format!("\"scripts\": {{\"test\": \"{script}\"}}, \"devDep"))
}

fn vitest() {
    let test = "import { test, expect, describe } from 'vitest';\nimport { add } from '../src/add';\n\
        test('adds', () => expect(add({ n: 1 }, { n: 2 })).toEqual({ n: 3 }));\ndescribe('group', () => { test.each([1, 2])('each', (n) => expect(n).toBeGreaterThan(0)); });\n";
    let base = plain(&[
        ("package.json", &package("vitest")),
        ("src/add.ts", "export const add = (a: { n: number }, b: { n: number }) => ({ n: a.n + b.n });\n"),
        ("test/add.test.ts", test),
        (
            "vitest.config.ts",
            "import { defineConfig } from 'vitest/config';\nexport default defineConfig({ test: {} });\n",
        ),
    ]);
    let bench = Bench::in_workspace(workspace());
    let judgement = bench.verified(
        &base,
        &with(&base, &[("src/add.ts", "export const add = (a: any, b: any) => ({ n: b.n + a.n });\n")]),
    );
    assert_eq!(judgement.comparisons[0].passed, 3);
    let wrong = with(&base, &[("src/add.ts", "export const add = (a: any, b: any) => ({ n: a.n - b.n });\n")]);
    let judgement = bench.refused(&base, &wrong, "demo vitest test/add.test.ts::adds");
    let failure = &judgement.comparisons[0].new_failures[0];
    assert!(failure.excerpt.contains("-   \"n\": 3,\n+   \"n\": -1,"), "{failure:?}");
    assert_eq!(failure.at, Some(("test/add.test.ts".parse().unwrap(), 3)));
    for (edit, reason) in [
        (test.replace("test('adds'", "test.skip('adds'"), "1 test vanished"),
        (test.replace("test('adds'", "test.only('adds'"), "test/add.test.ts"),
        (
            test.replace("expect(add({ n: 1 }, { n: 2 })).toEqual({ n: 3 })", "process.exit(0)"),
            "test/add.test.ts::adds",
        ),
        // The report is not within reach of a test.
        (
            test.to_owned() + "import fs from 'node:fs'; fs.writeFileSync('/proc/self/fd/9', '{}');\n",
            "3 tests vanished",
        ),
        (test.to_owned() + "process.kill(process.pid, 'SIGKILL');\n", "vanished"),
    ] {
        bench.refused(&base, &with(&base, &[("test/add.test.ts", &edit)]), reason);
    }
}

/// The second major version ends with an error where it cannot keep its results beside what is installed.
fn older_vitest() {
    let package = r#"{"name": "demo", "scripts": {"test": "vitest"}, "devDependencies": {"vitest": "2.1.9"}}"#;
    let base = plain(&[
        ("package.json", package),
        ("add.js", "export const add = (a, b) => a + b;\n"),
        (
            "add.test.js",
            "import { test, expect } from 'vitest';\nimport { add } from './add';\ntest('adds', () => expect(add(1, 2)).toBe(3));\n",
        ),
    ]);
    let workspace = installed(package);
    let bench = Bench::in_workspace(&workspace);
    let judgement = bench.verified(&base, &with(&base, &[("add.js", "export const add = (a, b) => b + a;\n")]));
    // What fails in the same way at base would be known and forgiven.
    assert_eq!(judgement.comparisons[0].known_failures, []);
}

fn jest() {
    let test = "const { add } = require('../src/add');\ntest('adds', () => expect(add(1, 2)).toBe(3));\n\
        describe('group', () => { test('again', () => expect(add(0, 1)).toBe(1)); });\n";
    let base = plain(&[
        ("package.json", &package("jest --coverage")),
        ("src/add.js", "exports.add = (a, b) => a + b;\n"),
        ("src/unused.js", "exports.nothing = 0;\n"),
        ("src/data.json", "{}"),
        ("test/add.test.js", test),
    ]);
    let bench = Bench::in_workspace(workspace());
    bench.verified(&base, &with(&base, &[("src/add.js", "exports.add = (a, b) => b + a;\n")]));
    // What jest looks at to find its way about is not read by a test.
    bench.refused(
        &base,
        &with(&base, &[("src/unused.js", "exports.nothing = 1;\n")]),
        "no passing check read the changed file src/unused.js",
    );
    let wrong = with(&base, &[("src/add.js", "exports.add = (a, b) => a - b;\n")]);
    let judgement = bench.refused(&base, &wrong, "demo jest test/add.test.js::adds");
    let failure = &judgement.comparisons[0].new_failures[0];
    assert!(failure.excerpt.contains("Expected: 3") && failure.excerpt.contains("Received: -1"), "{failure:?}");
    assert_eq!(failure.at, Some(("test/add.test.js".parse().unwrap(), 2)));
    for (edit, reason) in [
        (test.replace("test('adds'", "test.skip('adds'"), "1 test vanished"),
        (test.replace("test('adds'", "test.only('adds'"), "1 test vanished"),
        (test.replace("expect(add(1, 2)).toBe(3)", "process.exit(0)"), "demo jest (process)"),
        (test.replace("'../src/add'", "'../src/gone'"), "2 tests vanished"),
        (
            test.to_owned() + "afterAll(() => { require('fs').writeFileSync('/proc/self/fd/9', 'x\\n'); });\n",
            "demo jest (process)",
        ),
    ] {
        bench.refused(&base, &with(&base, &[("test/add.test.js", &edit)]), reason);
    }
}

fn mocha() {
    let test = "const assert = require('assert');\nconst { add } = require('../add');\ndescribe('add', () => {\n\
        it('adds', () => assert.deepEqual({ n: add(1, 2) }, { n: 3 }));\n  it('again', () => assert.ok(add(0, 1)));\n});\n";
    let base = plain(&[
        ("package.json", &package("mocha --reporter dot test/*.spec.js")),
        ("add.js", "exports.add = (a, b) => a + b;\n"),
        ("test/add.spec.js", test),
    ]);
    let bench = Bench::in_workspace(workspace());
    let judgement = bench.verified(&base, &with(&base, &[("add.js", "exports.add = (a, b) => b + a;\n")]));
    assert_eq!(judgement.comparisons[0].passed, 2);
    let wrong = with(&base, &[("add.js", "exports.add = (a, b) => a - b;\n")]);
    let judgement = bench.refused(&base, &wrong, "demo mocha test/add.spec.js::add::adds");
    let failure = &judgement.comparisons[0].new_failures[0];
    assert!(failure.excerpt.contains("{\"n\":3}") && failure.excerpt.contains("{\"n\":-1}"), "{failure:?}");
    assert_eq!(failure.at, Some(("test/add.spec.js".parse().unwrap(), 4)));
    for (edit, reason) in [
        (test.replace("it('adds'", "it.skip('adds'"), "1 test vanished"),
        (test.replace("it('adds'", "it.only('adds'"), "1 test vanished: demo mocha test/add.spec.js::add::again"),
        (
            test.replace("it('adds', () =>", "before(() => { throw new Error('no') }); it('adds', () =>"),
            "3 new failures",
        ),
        (test.replace("it('adds', () =>", "it('adds', () => process.exit(0) ||"), "demo mocha (process)"),
    ] {
        bench.refused(&base, &with(&base, &[("test/add.spec.js", &edit)]), reason);
    }
}

fn typescript() {
    let base = plain(&[
        (
            "package.json",
            PACKAGE.replace("\"vitest\": \"3.2.4\", \"jest\": \"29.7.0\", \"mocha\": \"11.7.4\", ", "").as_str(),
        ),
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"types\": []}, \"include\": [\"src\"]}"),
        ("src/a.ts", "export const a: number = 1;\n"),
        ("src/old.ts", "export const old: number = 'known';\n"),
    ]);
    let bench = Bench::in_workspace(workspace());
    let judgement = bench.verified(&base, &with(&base, &[("src/a.ts", "export const a: number = 2;\n")]));
    assert_eq!(judgement.comparisons[0].verdict, Verdict::KnownFailure);
    assert!(judgement.limitations.iter().any(|it| it.text.contains("verified by build only")), "{judgement:?}");
    let wrong = with(&base, &[("src/a.ts", "export const a: number = 'two';\n")]);
    let judgement = bench.refused(&base, &wrong, "demo tsc src/a.ts TS2322");
    assert_eq!(judgement.comparisons[0].new_failures[0].at, Some(("src/a.ts".parse().unwrap(), 1)));
    bench.refused(&base, &with(&base, &[("src/a.ts", "export const a: number = ;\n")]), "TS1109");
    let refused = base.0[&"tsconfig.json".parse().unwrap()].clone();
    let refused = String::from_utf8(refused).unwrap().replace("\"strict\"", "\"composite\": 3, \"strict\"");
    bench.refused(&base, &with(&base, &[("tsconfig.json", &refused)]), "tsc could not begin: TS5024");
    let refused = base.0[&"tsconfig.json".parse().unwrap()].clone();
    let refused = String::from_utf8(refused).unwrap().replace("\"strict\"", "\"composite\": 3, \"strict\"");
    bench.refused(&base, &with(&base, &[("tsconfig.json", &refused)]), "tsc could not begin: TS5024");
    bench.refused(&base, &with(&base, &[("README.md", "text")]), "no passing check read the changed file README.md");
}
