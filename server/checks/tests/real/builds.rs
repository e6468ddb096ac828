//! Builds: what a target's verdict is, and what the base has to do with it.

use task::{ItemResult, Verdict};

use crate::Case;
use crate::bench::{Bench, build_check, refused, test_check, tree, verified, with};

pub const CASES: &[Case] = &[
    ("a_good_change_of_a_small_crate_is_verified", good),
    ("a_compile_error_in_one_target_is_a_new_failure_of_that_target", one_target),
    ("a_bench_that_needs_nightly_is_not_judged", nightly_bench),
    ("breakage_that_only_another_feature_set_shows_is_found", feature_only),
    ("build_scripts_and_proc_macros_are_built_and_their_inputs_read", scripts_and_macros),
    ("members_of_a_workspace_are_judged_together_and_a_nested_one_apart", workspaces),
    ("a_manifest_that_cargo_cannot_read_is_a_failure", broken_manifest),
    ("a_dependency_that_is_not_there_is_unavailable", missing_dependency),
    ("warnings_come_with_their_suggestions_once", suggestions),
    ("lints_of_clippy_are_compared_with_the_base", lints),
    ("a_test_program_that_never_built_does_not_keep_the_others_from_running", partly),
    ("a_workspace_in_the_place_of_published_packages_runs_what_was_built", patched),
    ("what_a_proc_macro_prints_builds_nothing", forged_artifact),
    ("a_library_that_never_built_must_build_once_its_package_changes", broken_at_base),
    ("a_lock_is_generated_from_what_the_caches_hold", lock),
    ("sources_of_every_kind_of_target_count_as_read", every_kind),
    ("a_workspace_that_is_new_is_judged_by_itself", new_workspace),
    ("a_broken_build_script_is_named", broken_script),
];

const LIB: &str = "pub fn add(a: u8, b: u8) -> u8 { a + b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3) }\n";

fn good() {
    let base = tree(&[("src/lib.rs", LIB)]);
    let judgement = verified(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    assert!(judgement.limitations.is_empty(), "{:?}", judgement.limitations);
    assert!(judgement.comparisons.iter().all(|comparison| comparison.verdict == Verdict::Passed));
}

fn one_target() {
    let base = tree(&[("src/lib.rs", LIB), ("examples/show.rs", "fn main() { demo::add(1, 2); }")]);
    let broken = with(&base, &[("examples/show.rs", "fn main() { demo::sub(1, 2); }")]);
    let (judgement, cases) = Bench::new().prove(&base, &broken);
    assert!(judgement.reasons[0].contains("demo example show"), "{:?}", judgement.reasons);
    let items = &cases[0].candidate.as_ref().unwrap().items;
    let of = |target: &str| items.iter().find(|item| item.id.target == target).unwrap();
    assert_eq!(of("lib").result, ItemResult::Passed);
    assert_eq!(of("example show").result, ItemResult::Failed);
    assert_eq!(of("example show").at, Some(("examples/show.rs".parse().unwrap(), 1)));
}

fn nightly_bench() {
    let bench = "#![feature(test)]\nextern crate test;\n#[bench]\nfn b(_: &mut test::Bencher) {}\n";
    let base = tree(&[("src/lib.rs", LIB), ("benches/speed.rs", bench)]);
    let judgement = verified(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    let said = |words: &str| judgement.limitations.iter().any(|limitation| limitation.text.contains(words));
    assert!(said("not judged, as it does not build at base: demo bench speed"), "{:?}", judgement.limitations);
    // A test that does build is run all the same, and what breaks the library is seen.
    refused(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "a - b"))]), "demo lib adds");
}

fn feature_only() {
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nmore = []\n";
    let lib = "#[cfg(feature = \"more\")]\npub fn more() -> u8 { one() }\npub fn one() -> u8 { 1 }\n";
    let base = tree(&[("Cargo.toml", manifest), ("src/lib.rs", lib)]);
    let broken = with(&base, &[("src/lib.rs", &lib.replace("fn one() -> u8", "fn one() -> u16"))]);
    refused(&base, &broken, "cargo build (all features): 2 new failures");
}

fn scripts_and_macros() {
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"user\", \"mac\"]\nresolver = \"2\"\n"),
        (
            "mac/Cargo.toml",
            "[package]\nname = \"mac\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
        ),
        (
            "mac/src/lib.rs",
            "use proc_macro::TokenStream;\n#[proc_macro]\npub fn seven(_: TokenStream) -> TokenStream { \"7\".parse().unwrap() }\n#[test]\nfn own() {}\n",
        ),
        (
            "user/Cargo.toml",
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nmac = { path = \"../mac\" }\n",
        ),
        (
            "user/build.rs",
            "fn main() {\n println!(\"cargo:rerun-if-changed=words.txt\");\n println!(\"cargo:rustc-env=WORDS={}\", std::fs::read_to_string(\"words.txt\").unwrap().trim());\n std::fs::write(format!(\"{}/made.rs\", std::env::var(\"OUT_DIR\").unwrap()), \"pub const MADE: u8 = 7;\").unwrap();\n}\n",
        ),
        ("user/words.txt", "hello\n"),
        ("user/text.md", "# text\n"),
        (
            "user/src/lib.rs",
            "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\npub const TEXT: &str = include_str!(\"../text.md\");\n#[test]\nfn t() {\n assert_eq!(MADE, mac::seven!());\n assert_eq!(std::env::var(\"OUT_DIR\").unwrap(), env!(\"OUT_DIR\"));\n assert!(std::path::Path::new(\"words.txt\").exists());\n assert_eq!(std::env::var(\"CARGO_PKG_NAME\").unwrap(), \"user\");\n assert_eq!(env!(\"WORDS\").len(), 5);\n}\n",
        ),
    ];
    let base = tree(&files);
    verified(&base, &with(&base, &[("user/text.md", "# other\n")]));
    verified(&base, &with(&base, &[("user/words.txt", "world\n")]));
    refused(&base, &with(&base, &[("user/words.txt", "worlds\n")]), "user lib t");
    refused(&base, &with(&base, &[("user/notes.txt", "nobody reads me\n")]), "no passing check read");
}

fn workspaces() {
    let member = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let base = tree(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"apart\"]\nresolver = \"2\"\n"),
        ("crates/a/Cargo.toml", &member("a")),
        ("crates/a/src/lib.rs", LIB),
        ("crates/b/Cargo.toml", &(member("b") + "[dependencies]\na = { path = \"../a\" }\n")),
        ("crates/b/src/lib.rs", "#[test]\nfn uses() { assert_eq!(a::add(2, 2), 4) }\n"),
        ("apart/Cargo.toml", &member("apart")),
        ("apart/src/lib.rs", LIB),
    ]);
    refused(&base, &with(&base, &[("crates/a/src/lib.rs", &LIB.replace("a + b", "a * b + 1"))]), "b lib uses");
    let (judgement, cases) =
        Bench::new().prove(&base, &with(&base, &[("apart/src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    assert!(judgement.verified, "{:?}", judgement.reasons);
    let names: Vec<&str> = cases.iter().map(|case| case.check.id.0.as_str()).collect();
    assert_eq!(names, ["cargo build in apart", "cargo test in apart"]);
}

fn broken_manifest() {
    let base = tree(&[("src/lib.rs", LIB)]);
    let ran = Bench::new().run(&with(&base, &[("Cargo.toml", "[package\n")]), &build_check());
    assert_eq!(ran.verdict, Verdict::Failed);
    assert!(ran.reason.is_some());
}

fn missing_dependency() {
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nno-such-crate-anywhere = \"1\"\n";
    let ran = Bench::new().run(&tree(&[("Cargo.toml", manifest), ("src/lib.rs", LIB)]), &build_check());
    assert_eq!(ran.verdict, Verdict::Unavailable, "{:?}", ran.reason);
}

fn suggestions() {
    let lib = "pub fn f() {\n    let mut x = 1;\n    let _ = x;\n}\n";
    let ran = Bench::new().run(&tree(&[("src/lib.rs", lib)]), &build_check());
    assert_eq!(ran.verdict, Verdict::Passed, "{:?}", ran.reason);
    let [warning] = ran.diagnostics.as_slice() else { panic!("{:#?}", ran.diagnostics) };
    assert_eq!(warning.code.as_deref(), Some("unused_mut"));
    let [suggestion] = warning.suggestions.as_slice() else { panic!("{warning:#?}") };
    assert!(suggestion.machine_applicable);
    let bytes = suggestion.bytes.start as usize..suggestion.bytes.end as usize;
    assert_eq!((&lib[bytes], suggestion.replacement.as_str()), ("mut ", ""));
    assert_eq!(warning.targets.len(), 1);
}

fn broken_script() {
    let tree = tree(&[("src/lib.rs", LIB), ("build.rs", "fn main() { panic!(\"no luck\") }")]);
    let ran = Bench::new().run(&tree, &build_check());
    assert_eq!(ran.verdict, Verdict::Failed, "{:?}", ran.reason);
    let items = ran.receipt.unwrap().items;
    let script = items.iter().find(|item| item.id.target == "build script").unwrap();
    assert!(script.result == ItemResult::Failed && script.excerpt.contains("no luck"), "{script:?}");
}

fn lints() {
    let check = checks::check(&None, task::CheckKind::Lint, task::Features::Default);
    let lib = "pub fn f() -> u8 {\n    return 1;\n}\n";
    let base = tree(&[("src/lib.rs", lib)]);
    let bench = Bench::new();
    let before = bench.run(&base, &check).receipt.unwrap();
    assert_eq!(before.verdict, Verdict::Failed);
    assert_eq!(before.items[0].id.path, "src/lib.rs clippy::needless_return");
    let after = |text: &str| {
        let receipt = bench.run(&with(&base, &[("src/lib.rs", text)]), &check).receipt.unwrap();
        checks::compare(&before, &receipt, &checks::Renames::new())
    };
    assert_eq!(after(&format!("// moved\n{lib}")).verdict, Verdict::KnownFailure);
    let fixed = after("pub fn f() -> u8 {\n    1\n}\n");
    assert_eq!((fixed.verdict, fixed.fixed.len()), (Verdict::Passed, 1));
    let twice = after(&format!("{lib}{}", lib.replace("f()", "g()")));
    assert_eq!((twice.new_failures.len(), twice.known_failures.len()), (1, 1));
}

fn partly() {
    let base = tree(&[
        ("src/lib.rs", LIB),
        ("tests/good.rs", "#[test]\nfn fine() { assert_eq!(demo::add(1, 1), 2) }\n"),
        ("tests/never.rs", "#[test]\nfn no() { missing() }\n"),
    ]);
    let ran = Bench::new().run(&base, &test_check());
    let items = ran.receipt.unwrap().items;
    let of = |target: &str, path: &str| {
        items.iter().find(|item| item.id.target == target && item.id.path == path).map(|item| item.result)
    };
    assert_eq!(of("test good", "fine"), Some(ItemResult::Passed), "{items:#?}");
    assert_eq!(of("lib", "adds"), Some(ItemResult::Passed));
    assert_eq!(of("test never", ""), Some(ItemResult::Failed));
    verified(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "b + a"))]));
    refused(&base, &with(&base, &[("src/lib.rs", &LIB.replace("a + b", "a - b"))]), "demo test good fine");
}

fn patched() {
    let package = |name: &str, version: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{rest}")
    };
    let own = "#[test]\nfn own() {}\n";
    let user = "[features]\nmore = [\"dep:mid\"]\n[dependencies]\nleaf = \"0.1.7\"\nmid = { version = \"0.1\", optional = true }\n";
    let tree = tree(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"user\", \"leaf\"]\nresolver = \"2\"\n[patch.crates-io]\nleaf = { path = \"leaf\" }\n",
        ),
        (
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
        ),
        ("leaf/Cargo.toml", &package("leaf", "0.1.7", "")),
        ("leaf/src/lib.rs", own),
        ("leaf/tests/same.rs", own),
        ("user/Cargo.toml", &package("user", "0.1.0", user)),
        ("user/src/lib.rs", &format!("//! ```\n//! user::f()\n//! ```\npub fn f() {{}}\n{own}")),
        ("user/src/main.rs", "fn main() {\n #[cfg(feature = \"more\")]\n missing()\n}\n"),
        ("user/tests/held.rs", own),
        ("user/tests/same.rs", "#[cfg(feature = \"more\")]\nfn no() { missing() }\n"),
        ("vendor/leaf/Cargo.toml", &package("leaf", "0.1.9", "")),
        ("vendor/leaf/src/lib.rs", ""),
        ("vendor/leaf/.cargo-checksum.json", "{\"files\":{}}"),
        ("vendor/mid/Cargo.toml", &package("mid", "0.1.0", "[dependencies]\nleaf = \"0.1.8\"\n")),
        ("vendor/mid/src/lib.rs", ""),
        ("vendor/mid/.cargo-checksum.json", "{\"files\":{}}"),
    ]);
    let ran = Bench::new().run(&tree, &checks::check(&None, task::CheckKind::Test, task::Features::All));
    assert_eq!(ran.reason, None);
    let items = ran.receipt.unwrap().items;
    let of = |package: &str, target: &str, path: &str| {
        let mut items = items.iter();
        let item = items.find(|it| (&*it.id.package, &*it.id.target, &*it.id.path) == (package, target, path));
        item.map(|item| item.result)
    };
    for (package, target, path) in [
        ("leaf", "lib", "own"),
        ("leaf", "test same", "own"),
        ("user", "lib", "own"),
        ("user", "doc", "user/src/lib.rs -"),
    ] {
        assert_eq!(of(package, target, path), Some(ItemResult::Passed), "{package} {target} {path}: {items:#?}");
    }
    assert_eq!(of("user", "test same", ""), Some(ItemResult::Failed));
    assert_eq!(of("user", "test held", ""), Some(ItemResult::NoResult), "cargo would need the program first");
}

fn forged_artifact() {
    // It prints what cargo would say had the example been built.
    let forged = r#"{\"reason\":\"compiler-artifact\",\"package_id\":\"path+file://{}#user@0.1.0\",\"target\":{\"kind\":[\"example\"],\"name\":\"show\"},\"profile\":{\"test\":false},\"filenames\":[],\"executable\":null}"#;
    let escaped = forged.replace('{', "{{").replace('}', "}}").replace("{{}}", "{}");
    let mac = format!(
        "use proc_macro::TokenStream;\n#[proc_macro]\npub fn seven(_: TokenStream) -> TokenStream {{\n \
         println!(\"{escaped}\", std::env::var(\"CARGO_MANIFEST_DIR\").unwrap());\n \"7\".parse().unwrap()\n}}\n"
    );
    let member = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let base = tree(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"user\", \"mac\"]\nresolver = \"2\"\n"),
        ("mac/Cargo.toml", &(member("mac") + "[lib]\nproc-macro = true\n")),
        ("mac/src/lib.rs", &mac),
        ("user/Cargo.toml", &(member("user") + "[dependencies]\nmac = { path = \"../mac\" }\n")),
        ("user/src/lib.rs", "pub const SEVEN: u8 = mac::seven!();\n"),
        ("user/examples/show.rs", "fn main() { missing() }\n"),
    ]);
    let ran = Bench::new().run(&base, &build_check());
    let items = ran.receipt.unwrap().items;
    let show = items.iter().find(|item| item.id.target == "example show").unwrap();
    assert_eq!(show.result, ItemResult::Failed, "{items:#?}");
    let printed = ran.output.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("\"executable\":null}\n"));
    assert!(printed, "the forged line did arrive");
}

fn broken_at_base() {
    let base = tree(&[("src/lib.rs", "pub fn f() { missing() }\n"), ("src/main.rs", "fn main() {}\n")]);
    let judgement =
        refused(&base, &with(&base, &[("src/main.rs", "fn main() { println!() }\n")]), "demo lib does not build");
    assert!(judgement.comparisons[0].new_failures.is_empty(), "{judgement:#?}");
    verified(&base, &with(&base, &[("src/lib.rs", "pub fn f() {}\n")]));
}

fn lock() {
    // This workspace itself depends on it, so it is in the caches.
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nfnv = \"1\"\n";
    let bench = Bench::new();
    let tree = tree(&[("Cargo.toml", manifest), ("src/lib.rs", LIB)]);
    let lock = String::from_utf8(bench.generate_lock(&tree).unwrap()).unwrap();
    assert!(lock.contains("name = \"fnv\""), "{lock}");
    let missing = with(&tree, &[("Cargo.toml", &manifest.replace("fnv", "no-such-crate-anywhere"))]);
    assert_eq!(bench.generate_lock(&missing).unwrap_err().verdict, Verdict::Unavailable);
}

fn every_kind() {
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let main = "fn main() {}\n";
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"a-a\", \"c-c\", \"m-m\"]\nresolver = \"2\"\n"),
        ("a-a/Cargo.toml", &package("a-a", "")),
        ("a-a/src/lib.rs", LIB),
        ("a-a/src/main.rs", main),
        ("a-a/src/bin/my-tool.rs", main),
        ("a-a/examples/an-example.rs", main),
        ("a-a/benches/a-bench.rs", "#[test]\nfn b() {}\n"),
        ("a-a/tests/a-test.rs", "#[test]\nfn t() {}\n"),
        ("a-a/build.rs", main),
        ("c-c/Cargo.toml", &package("c-c", "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n")),
        ("c-c/src/lib.rs", LIB),
        ("m-m/Cargo.toml", &package("m-m", "[lib]\nproc-macro = true\n")),
        ("m-m/src/lib.rs", "extern crate proc_macro;\n"),
    ];
    let ran = Bench::new().run(&tree(&files), &build_check());
    assert_eq!(ran.verdict, Verdict::Passed, "{:?}", ran.reason);
    let read: Vec<String> = ran.receipt.unwrap().read.iter().map(ToString::to_string).collect();
    let mut expected: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    expected.sort();
    assert_eq!(read, expected);
}

fn new_workspace() {
    let base = tree(&[("src/lib.rs", LIB)]);
    let manifest = "[package]\nname = \"tool\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let judgement = verified(&base, &with(&base, &[("tool/Cargo.toml", manifest), ("tool/src/lib.rs", LIB)]));
    let said =
        judgement.limitations.iter().any(|limitation| limitation.text.contains("there is no Cargo.toml in tool"));
    assert!(said, "{:?}", judgement.limitations);
}
