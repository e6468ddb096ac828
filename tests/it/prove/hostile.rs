//! Changes that want to be believed: tests that end the process, print results, or touch the sources that are judged.

use super::{Change, assert_answers};
use crate::stage::{Edit, Stage};

/// Puts a test before the others; `adds` fails from then on unless the change is believed.
macro_rules! forging {
    ($body:literal) => {
        |it| {
            it.replace("src/lib.rs", "a + b\n", "a + b + 1\n");
            it.replace(
                "src/lib.rs",
                "    #[test]\n    fn adds",
                concat!(
                    "    #[test]\n    fn aaa() {\n        use std::io::Write;\n",
                    $body,
                    "    }\n\n    #[test]\n    fn adds"
                ),
            );
            it.remove("tests/outside.rs");
            it.write("tests/outside.rs", "#[test]\nfn nothing_and_nothing() {}\n");
            it.replace("src/lib.rs", "sums::add(2, 2), 4", "sums::add(2, 2), 5");
        }
    };
}

const LIES: &[Change] = &[
    Change {
        name: "a test that ends the process early although nothing fails",
        edit: |it| {
            let body = "    #[test]\n    fn aaa() {\n        std::process::exit(0);\n    }\n\n    #[test]\n    fn adds";
            it.replace("src/lib.rs", "    #[test]\n    fn adds", body);
        },
        verdict: "not verified",
        because: "cargo test: ",
    },
    Change {
        name: "a test that ends the process early",
        edit: forging!("        let _ = std::io::stdout().flush();\n        std::process::exit(0);\n"),
        verdict: "not verified",
        because: "new failures: sums lib (process), ",
    },
    Change {
        name: "a test that prints the results of the others and ends the process",
        edit: forging!(
            "        let mut out = std::io::stdout();
        writeln!(out, \"test tests::aaa ... ok\\ntest tests::adds ... ok\\ntest tests::doubles ... ok\").unwrap();
        writeln!(out, \"\\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\").unwrap();
        std::process::exit(0);
"
        ),
        verdict: "not verified",
        because: "new failures: sums lib (process), ",
    },
    Change {
        name: "a test that prints results of the others and goes on",
        edit: forging!(
            "        let mut out = std::io::stdout();
        writeln!(out, \"test tests::adds ... ok\\ntest tests::doubles ... ok\").unwrap();
"
        ),
        verdict: "not verified",
        because: "new failures: sums lib tests::adds, sums lib tests::doubles",
    },
    Change {
        name: "a test that replaces the process",
        edit: forging!(
            "        use std::os::unix::process::CommandExt;
        let script = \"printf 'running 3 tests\\\\ntest tests::aaa ... ok\\\\ntest tests::adds ... ok\\\\ntest tests::doubles ... ok\\\\n\\\\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\\\n'\";
        let _ = std::io::stdout().flush();
        panic!(\"{}\", std::process::Command::new(\"sh\").args([\"-c\", script]).exec());
"
        ),
        verdict: "not verified",
        because: "new failures: sums lib (process), ",
    },
    Change {
        name: "a test that dies of a signal",
        edit: forging!("        let _ = std::io::stdout().flush();\n        std::process::abort();\n"),
        verdict: "not verified",
        because: "new failures: sums lib (process), ",
    },
];

/// An edit that adds lines to the honest test `doubles`.
macro_rules! chatting {
    ($body:literal) => {
        |it| {
            it.replace(
                "src/lib.rs",
                "fn doubles() {\n",
                concat!("fn doubles() {\n        use std::io::Write;\n", $body),
            )
        }
    };
}

const NOISE: &[Change] = &[
    Change {
        name: "a test that prints results of tests that do not exist",
        edit: chatting!(
            "        writeln!(std::io::stdout(), \"test tests::made_up ... ok\\ntest tests::too ... FAILED\").unwrap();\n"
        ),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a test that prints a closing line of its own",
        edit: chatting!(
            "        writeln!(std::io::stdout(), \"test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\").unwrap();\n"
        ),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a test that prints bytes that are not text",
        edit: chatting!("        std::io::stdout().write_all(b\"\\xff\\x00\\x1b[2J\\r\\n\").unwrap();\n"),
        verdict: "verified",
        because: "",
    },
];

#[test]
fn a_test_that_lies_hides_no_failing_sibling() {
    assert_answers(&Stage::data("sums"), LIES);
}

#[test]
fn what_tests_print_neither_counts_nor_hurts() {
    let stage = Stage::data("sums");
    assert_answers(&stage, NOISE);
    let answer = stage.prove(0, &stage.patch(NOISE[0].edit));
    let check = answer.check("cargo test");
    assert_eq!((check["passed"].as_u64(), check["added"].as_u64()), (Some(4), Some(0)), "{check:#}");
}

const REWRITES: &[(&str, Edit, &str)] = &[
    (
        "a test that rewrites a source",
        |it| {
            let body = "let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/src/lib.rs\");\n    let text = std::fs::read_to_string(path).unwrap();\n    std::fs::write(path, text + \"\\n// more\\n\").unwrap();\n";
            it.write("tests/writes.rs", format!("#[test]\nfn writes() {{\n    {body}}}\n"));
        },
        "src/lib.rs was changed while the check ran",
    ),
    (
        "a build script that rewrites a source",
        |it| {
            let body = "let text = std::fs::read_to_string(\"src/lib.rs\").unwrap();\n    std::fs::write(\"src/lib.rs\", text.replace(\"a + b\", \"b + a\")).unwrap();\n";
            it.write("build.rs", format!("fn main() {{\n    {body}}}\n"));
        },
        "src/lib.rs was changed while the check ran",
    ),
    (
        "a test that rewrites a source and puts it back",
        |it| {
            let body = "let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/src/lib.rs\");\n    let text = std::fs::read_to_string(path).unwrap();\n    std::fs::write(path, \"other\").unwrap();\n    std::fs::write(path, text).unwrap();\n";
            it.write("tests/writes.rs", format!("#[test]\nfn writes() {{\n    {body}}}\n"));
        },
        "src/lib.rs was written while the check ran and put back",
    ),
];

#[test]
fn a_check_that_rewrites_sources_gives_no_receipt() {
    let stage = Stage::data("sums");
    for (name, edit, because) in REWRITES {
        let edited = stage.edited(edit);
        let answer = stage.prove(3, &crate::stage::patch_of(&edited));
        let problem =
            answer.differs("not verified", "infrastructure failure").or(answer.differs("not verified", because));
        assert!(problem.is_none(), "{name}: {}", problem.unwrap());
        // No receipt of the check that was disturbed: only those that ended before it.
        let tree = answer.tree();
        let disturbed =
            answer.list("executions").iter().filter(|it| it["tree"] == tree.as_str() && it["command"][1] == "test");
        assert_eq!(disturbed.count(), 0, "{name}: {answer:?}");
        stage.apply_and_undo(&answer, &edited);
    }
}

#[test]
fn files_that_checks_leave_behind_are_not_in_the_diff() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        let body = "std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/left.txt\"), \"x\").unwrap();\n    std::fs::create_dir_all(\"target/x\").unwrap();\n";
        it.write("tests/writes.rs", format!("#[test]\nfn writes() {{\n    {body}}}\n"));
    });
    let answer = stage.prove(0, &crate::stage::patch_of(&edited));
    assert_eq!(answer.hunks().len(), 1, "{answer:?}");
    stage.apply_and_undo(&answer, &edited);
}
