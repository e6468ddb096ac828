//! Doc tests.

use task::{ItemKind, ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, refused, test_check, tree, verified, with};

pub const CASES: &[Case] = &[
    ("a_change_that_breaks_only_a_doc_test_is_found", breaks),
    ("every_kind_of_doc_test_has_a_result", kinds),
    ("doc_tests_that_are_all_merged_into_one_program_are_listed", merged),
    ("doc_tests_keep_their_ids_when_lines_move", moved),
];

const LIB: &str = "//! ```\n//! assert_eq!(demo::add(1, 2), 3);\n//! ```\n/// Adds.\n///\n/// ```\n/// assert_eq!(demo::add(2, 2), 4);\n/// ```\npub fn add(a: u8, b: u8) -> u8 { a + b }\n";

fn breaks() {
    let base = tree(&[("src/lib.rs", LIB)]);
    let judgement = refused(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "a * b"))]), "new failure");
    let failures = &judgement.comparisons[1].new_failures;
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!((failures[0].kind, failures[0].id.path.as_str()), (ItemKind::Doctest, "src/lib.rs -"));
}

fn moved() {
    let base = tree(&[("src/lib.rs", LIB)]);
    verified(&base, &with(&base, &[("src/lib.rs", &LIB.replace("/// Adds.", "/// Adds.\n///\n/// Really."))]));
    let fewer = LIB.replace("/// ```\n/// assert_eq!(demo::add(2, 2), 4);\n/// ```\n", "");
    refused(&base, &with(&base, &[("src/lib.rs", &fewer)]), "1 test vanished: demo doc src/lib.rs - add");
}

fn kinds() {
    for edition in ["2021", "2024"] {
        let manifest = format!("[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n");
        let lib = "/// ```\n/// ```\n/// ```ignore\n/// nothing\n/// ```\n/// ```no_run\n/// loop {}\n/// ```\n/// ```compile_fail\n/// let x: u8 = \"\";\n/// ```\n/// ```should_panic\n/// panic!()\n/// ```\n/// ```\n/// println!(\"test src/lib.rs - f (line 1) ... FAILED\");\n/// ```\npub fn f() {}\n#[doc = include_str!(\"../README.md\")]\npub struct Readme;\n";
        let readme = "# Demo\n```\nassert!(true);\n```\n";
        let ran = Bench::new()
            .run(&tree(&[("Cargo.toml", &manifest), ("src/lib.rs", lib), ("README.md", readme)]), &test_check());
        assert_eq!(ran.verdict, Verdict::Passed, "{:#?}", ran.receipt.unwrap().items);
        let receipt = ran.receipt.unwrap();
        let tests =
            receipt.items.iter().filter(|item| item.kind == ItemKind::Doctest && item.id.path != checks::PROCESS);
        let (ignored, passed): (Vec<_>, Vec<_>) = tests.partition(|item| item.result == ItemResult::Ignored);
        // What is only compiled counts as little as what is ignored.
        assert_eq!((ignored.len(), passed.len()), (2, 5), "{edition}");
        assert!(receipt.read.contains(&"README.md".parse().unwrap()));
    }
}

fn merged() {
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let ran = Bench::new().run(&tree(&[("Cargo.toml", manifest), ("src/lib.rs", LIB)]), &test_check());
    assert_eq!(ran.verdict, Verdict::Passed, "{:?}", ran.reason);
    let items = ran.receipt.unwrap().items;
    assert_eq!(items.iter().filter(|item| item.kind == ItemKind::Doctest).count(), 3);
}
