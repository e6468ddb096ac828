//! What stands at base and what that means: known failures, flaky tests, targets that never built, no tests at all.

use super::{Change, assert_answers};
use crate::stage::Stage;

const GOOD: Change = Change {
    name: "a good change",
    edit: |it| it.replace("src/lib.rs", "a + b\n", "b + a\n"),
    verdict: "verified",
    because: "",
};

#[test]
fn a_test_that_fails_at_base_stays_known() {
    let stage = Stage::data("sums");
    let failing = "#[test]\nfn old() {\n    assert_eq!(sums::add(1, 1), 3, \"since long\");\n}\n";
    stage.project.write("tests/old.rs", failing);
    stage.project.commit("A failing test");
    assert_answers(
        &stage,
        &[
            GOOD,
            Change {
                name: "another failure beside the known one",
                edit: |it| it.replace("src/lib.rs", "add(a, a)", "add(a, a) + 1"),
                verdict: "not verified",
                because: "cargo test: 1 new failure: sums lib tests::doubles",
            },
            Change {
                name: "the known test fails in another way",
                edit: |it| {
                    it.replace("tests/old.rs", "assert_eq!(sums::add(1, 1), 3, \"since long\")", "panic!(\"no idea\")")
                },
                verdict: "not verified",
                because: "cargo test: 1 new failure: sums test old old",
            },
            Change {
                name: "the failing test is deleted",
                edit: |it| it.remove("tests/old.rs"),
                verdict: "not verified",
                because: "vanished: sums test old",
            },
            Change {
                name: "the known failure is mended",
                edit: |it| it.replace("tests/old.rs", "1), 3", "1), 2"),
                verdict: "verified",
                because: "",
            },
        ],
    );
    let answer = stage.prove(0, &stage.patch(GOOD.edit));
    let check = answer.check("cargo test");
    assert_eq!(check["verdict"], "known_failure", "{check:#}");
    assert_eq!(check["known_failures"][0]["id"]["path"], "old", "{check:#}");
    let answer = stage.prove(0, &stage.patch(|it| it.replace("tests/old.rs", "1), 3", "1), 2")));
    assert_eq!(answer.check("cargo test")["fixed"][0]["path"], "old");
}

#[test]
fn a_flaky_test_is_no_pass_and_says_so() {
    let stage = Stage::data("sums");
    // It fails the first time it is run in a build folder, and passes from then on.
    let edited = stage.edited(|it| {
        let flaky = "#[test]\nfn second_time_lucky() {\n    let mark = concat!(env!(\"CARGO_TARGET_TMPDIR\"), \"/mark\");\n    let seen = std::path::Path::new(mark).exists();\n    std::fs::write(mark, \"\").unwrap();\n    assert!(seen, \"not yet\");\n}\n";
        it.write("tests/flaky.rs", flaky);
    });
    let answer = stage.prove(3, &crate::stage::patch_of(&edited));
    answer.says(
        "not verified",
        "cargo test: flaky, with different results on the same tree: sums test flaky second_time_lucky",
    );
    assert_eq!(answer.check("cargo test")["verdict"], "flaky");
    stage.apply_and_undo(&answer, &edited);
}

#[test]
fn a_bench_that_needs_nightly_is_listed_and_not_judged() {
    let stage = Stage::data("sums");
    let bench = "#![feature(test)]\nextern crate test;\n\n#[bench]\nfn adding(b: &mut test::Bencher) {\n    b.iter(|| sums::add(1, 2));\n}\n";
    stage.project.write("benches/speed.rs", bench);
    stage.project.commit("A bench");
    assert_answers(
        &stage,
        &[
            Change { because: "not judged, as it does not build at base: sums bench speed", ..GOOD },
            Change {
                name: "a change of the bench alone",
                edit: |it| it.replace("benches/speed.rs", "1, 2", "2, 1"),
                verdict: "not verified",
                because: "no passing check read the changed file benches/speed.rs",
            },
        ],
    );
}

const MEMBERS: &str = "\
-- Cargo.toml --
[workspace]
members = [\"good\", \"broken\"]
resolver = \"3\"
-- Cargo.lock --
version = 4

[[package]]
name = \"broken\"
version = \"0.1.0\"

[[package]]
name = \"good\"
version = \"0.1.0\"
-- good/Cargo.toml --
[package]
name = \"good\"
version = \"0.1.0\"
edition = \"2024\"
-- good/src/lib.rs --
pub fn one() -> u32 {
    1
}

#[test]
fn is_one() {
    assert_eq!(one(), 1);
}
-- broken/Cargo.toml --
[package]
name = \"broken\"
version = \"0.1.0\"
edition = \"2024\"
-- broken/src/lib.rs --
pub fn two() -> u32 {
    missing()
}

#[test]
fn is_two() {
    assert_eq!(two(), 2);
}
";

#[test]
fn a_member_that_does_not_build_at_base_is_judged_only_where_it_is_touched() {
    let stage = Stage::text(MEMBERS);
    assert_answers(
        &stage,
        &[
            Change {
                name: "the good member changes",
                edit: |it| it.replace("good/src/lib.rs", "    1\n", "    2 - 1\n"),
                verdict: "verified",
                because: "not judged, as it does not build at base: broken lib",
            },
            Change {
                name: "the good member breaks",
                edit: |it| it.replace("good/src/lib.rs", "    1\n", "    2\n"),
                verdict: "not verified",
                because: "cargo test: 1 new failure: good lib is_one",
            },
            Change {
                name: "the broken member changes and stays broken",
                edit: |it| it.replace("broken/src/lib.rs", "missing()", "absent()"),
                verdict: "not verified",
                because: "broken lib does not build, and this change touches its package",
            },
            Change {
                name: "the broken member is mended",
                edit: |it| it.replace("broken/src/lib.rs", "missing()", "2"),
                verdict: "verified",
                because: "",
            },
        ],
    );
}

#[test]
fn a_project_that_does_not_build_at_base_can_be_mended() {
    let stage = Stage::data("sums");
    stage.project.replace("src/lib.rs", "a + b", "a + c");
    stage.project.commit("Broken");
    assert_answers(
        &stage,
        &[
            Change {
                name: "mended",
                edit: |it| it.replace("src/lib.rs", "a + c", "a + b"),
                verdict: "verified",
                because: "",
            },
            Change {
                name: "still broken",
                edit: |it| it.replace("src/lib.rs", "a + c", "a + d"),
                verdict: "not verified",
                because: "sums lib does not build, and this change touches its package",
            },
        ],
    );
}

const UNTESTED: &str = "\
-- Cargo.toml --
[package]
name = \"untested\"
version = \"0.1.0\"
edition = \"2024\"
-- Cargo.lock --
version = 4

[[package]]
name = \"untested\"
version = \"0.1.0\"
-- src/main.rs --
fn main() {
    println!(\"hello\");
}
";

#[test]
fn without_tests_it_is_verified_by_build_only() {
    let stage = Stage::text(UNTESTED);
    assert_answers(
        &stage,
        &[
            Change {
                name: "still no tests",
                edit: |it| it.replace("src/main.rs", "hello", "good day"),
                verdict: "verified",
                because: "verified by build only: there are no tests",
            },
            Change {
                name: "only tests of its own",
                edit: |it| it.write("tests/own.rs", "#[test]\nfn own() {}\n"),
                verdict: "verified",
                because: "verified by build and the change's own tests only",
            },
            Change {
                name: "does not build",
                edit: |it| it.replace("src/main.rs", "println!", "printline!"),
                verdict: "not verified",
                because: "cargo build: ",
            },
        ],
    );
}
