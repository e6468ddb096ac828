//! Changes that a developer might make, honestly.

use super::{Change, assert_answers};
use crate::stage::Stage;

const CHANGES: &[Change] = &[
    Change {
        name: "a good change",
        edit: |it| it.replace("src/lib.rs", "a + b", "b + a"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a change that adds a test",
        edit: |it| it.write("tests/more.rs", "#[test]\nfn one() {\n    assert_eq!(sums::twice(1), 2);\n}\n"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a change that breaks a test",
        edit: |it| it.replace("src/lib.rs", "add(a, a)", "add(a, a) + 1"),
        verdict: "not verified",
        because: "cargo test: 1 new failure: sums lib tests::doubles",
    },
    Change {
        name: "a change that breaks tests of every kind",
        edit: |it| it.replace("src/lib.rs", "a + b", "a + b + 1"),
        verdict: "not verified",
        because: "cargo test: 4 new failures: ",
    },
    Change {
        name: "a change that breaks only a doc test",
        edit: |it| it.replace("src/lib.rs", "sums::add(2, 2), 4", "sums::add(2, 2), 5"),
        verdict: "not verified",
        because: "cargo test: 1 new failure: sums doc src/lib.rs - add",
    },
    Change {
        name: "a change that removes a doc test",
        edit: |it| it.replace("src/lib.rs", "/// ```\n/// assert_eq!(sums::add(2, 2), 4);\n/// ```\n", ""),
        verdict: "not verified",
        because: "cargo test: 1 test vanished: sums doc src/lib.rs - add",
    },
    Change {
        name: "a change that does not compile",
        edit: |it| it.replace("src/lib.rs", "a + b", "a + c"),
        verdict: "not verified",
        because: "cargo build: ",
    },
    Change {
        name: "a change that does not parse",
        edit: |it| it.replace("src/lib.rs", "a + b\n}", "a + b"),
        verdict: "not verified",
        because: "cargo build: ",
    },
    Change {
        name: "a change that breaks only the build of the tests",
        edit: |it| it.replace("tests/outside.rs", "sums::add", "sums::plus"),
        verdict: "not verified",
        because: "sums test outside",
    },
    Change {
        name: "a change of the manifest that cargo refuses",
        edit: |it| it.replace("Cargo.toml", "edition = \"2024\"", "edition = \"1066\""),
        verdict: "not verified",
        because: "cargo build: failed",
    },
    Change {
        name: "a deleted test",
        edit: |it| it.replace("src/lib.rs", "#[test]\n    fn doubles", "#[expect(dead_code)]\n    fn doubles"),
        verdict: "not verified",
        because: "cargo test: 1 test vanished: sums lib tests::doubles",
    },
    Change {
        name: "a deleted test file",
        edit: |it| it.remove("tests/outside.rs"),
        verdict: "not verified",
        because: "vanished: sums test outside",
    },
    Change {
        name: "a renamed test",
        edit: |it| it.replace("src/lib.rs", "fn doubles", "fn doubled"),
        verdict: "not verified",
        because: "cargo test: 1 test vanished: sums lib tests::doubles",
    },
    Change {
        name: "an ignored test",
        edit: |it| it.replace("src/lib.rs", "#[test]\n    fn doubles", "#[test]\n    #[ignore]\n    fn doubles"),
        verdict: "not verified",
        because: "cargo test: 1 test vanished: sums lib tests::doubles",
    },
    Change {
        name: "a test that is configured away",
        edit: |it| it.replace("src/lib.rs", "#[test]\n    fn doubles", "#[cfg(windows)]\n    #[test]\n    fn doubles"),
        verdict: "not verified",
        because: "cargo test: 1 test vanished: sums lib tests::doubles",
    },
    Change {
        name: "tests that are switched off in the manifest",
        edit: |it| it.write("Cargo.toml", format!("{}\n[lib]\ntest = false\n", it.text("Cargo.toml"))),
        verdict: "not verified",
        because: "vanished: sums lib",
    },
    Change {
        name: "a change that nothing reads",
        edit: |it| it.replace("README.md", "Adds.", "Adds numbers."),
        verdict: "not verified",
        because: "no passing check read the changed file README.md",
    },
    Change {
        name: "a good change beside one that nothing reads",
        edit: |it| {
            it.replace("README.md", "Adds.", "Adds numbers.");
            it.replace("src/lib.rs", "a + b", "b + a");
        },
        verdict: "verified",
        because: "README.md no passing check read this changed file",
    },
    Change {
        name: "a new file that no target includes",
        edit: |it| it.write("src/unused.rs", "this is not Rust\n"),
        verdict: "not verified",
        because: "no passing check read the changed file src/unused.rs",
    },
    Change {
        name: "a file moved with its module",
        edit: |it| {
            let lib = it.text("src/lib.rs");
            it.write("src/sum.rs", "//! Adding.\n\n/// Adds.\npub fn sum(a: i64, b: i64) -> i64 {\n    a + b\n}\n");
            it.write(
                "src/lib.rs",
                lib.replace("    a + b\n", "    sum::sum(a, b)\n").replace("//! Sums.\n", "//! Sums.\n\nmod sum;\n"),
            );
        },
        verdict: "verified",
        because: "",
    },
];

#[test]
fn every_change_of_a_library_gets_the_answer_that_it_deserves() {
    assert_answers(&Stage::data("sums"), CHANGES);
}

#[test]
fn a_change_that_compiles_only_without_a_feature_is_not_verified() {
    let stage = Stage::data("features");
    assert_answers(
        &stage,
        &[
            Change {
                name: "a good change",
                edit: |it| it.replace("src/lib.rs", "    a + b\n", "    b + a\n"),
                verdict: "verified",
                because: "",
            },
            Change {
                name: "the feature does not compile any more",
                edit: |it| it.replace("src/lib.rs", "let total = add(", "let total = sum("),
                verdict: "not verified",
                because: "cargo build (all features): ",
            },
            Change {
                name: "a test of the feature fails",
                edit: |it| it.replace("src/lib.rs", "{total}!", "{total}?"),
                verdict: "not verified",
                because: "cargo test (all features): 1 new failure: features lib tests::shouts",
            },
            Change {
                name: "only the feature works",
                edit: |it| it.replace("src/lib.rs", "#[cfg(not(feature = \"loud\"))]", "#[cfg(any())]"),
                verdict: "not verified",
                because: "cargo build: ",
            },
        ],
    );
}

#[test]
fn a_patch_that_changes_nothing_is_nothing_to_do() {
    let stage = Stage::data("sums");
    for (name, patch) in [
        ("empty", &b""[..]),
        ("blank", b"\n\n"),
        (
            "a line replaced by itself",
            b"--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n # Sums\n \n-Adds.\n+Adds.\n",
        ),
    ] {
        let answer = stage.prove(0, patch);
        assert_eq!((name, answer.verdict().as_str()), (name, "nothing to do"), "{answer:?}");
        assert!(answer.hunks().is_empty() && answer.list("checks").is_empty(), "{answer:?}");
    }
}

#[test]
fn a_patch_that_does_not_apply_is_told_from_one_that_fails() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| it.replace("src/lib.rs", "a + b", "b + a"));
    let patch = String::from_utf8(crate::stage::patch_of(&edited)).unwrap();
    for (name, patch, because) in [
        ("other text", patch.replace("-    a + b", "-    a - b"), "src/lib.rs"),
        ("another file", patch.replace("src/lib.rs", "src/gone.rs"), "src/gone.rs"),
        ("cut off", patch.split("+    b + a").next().unwrap().to_owned(), "patch"),
        ("a file that is there already", "--- /dev/null\n+++ b/README.md\n@@ -0,0 +1 @@\n+x\n".into(), "README.md"),
        ("out of the folder", "--- /dev/null\n+++ b/../up.txt\n@@ -0,0 +1 @@\n+x\n".into(), "patch"),
        ("into git's folder", "--- /dev/null\n+++ b/.git/hooks/post-commit\n@@ -0,0 +1 @@\n+x\n".into(), "patch"),
        ("no patch at all", "this is a letter\n".into(), "patch"),
    ] {
        let answer = stage.prove(8, patch.as_bytes());
        assert!(answer.differs("stopped", because).is_none(), "{name}: {:?}", answer.differs("stopped", because));
        assert!(answer.hunks().is_empty());
    }
}
