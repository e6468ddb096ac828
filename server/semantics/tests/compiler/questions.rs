//! Structural replace, assists, quick fixes, names and impact on real projects.

use task::port::{Answer, Impact as _, Problem, Refactor as _, Refactored, Refactoring, Symbols as _};

use crate::Case;
use crate::support::{Project, package, path, project};

pub const CASES: &[Case] = &[
    ("questions::replace_follows_types_and_not_spelling", replace),
    ("questions::assists_run_by_id_and_are_listed_when_unknown", assists),
    ("questions::quick_fixes_import_fill_and_open_up", quick_fixes),
    ("questions::a_name_that_is_missed_often_is_imported_once_for_each_module", import_everywhere),
    ("questions::of_a_workspace_in_a_folder_with_macros_and_generated_code", workspace),
    ("questions::are_answered_and_marked_when_dependencies_are_missing", unresolved),
];

#[track_caller]
fn changed(project: &Project, refactoring: &Refactoring) -> String {
    match project.refactor(refactoring) {
        Refactored::Edits { edits, .. } => project.applied(&edits)["src/lib.rs"].clone().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn replace() {
    let text = "pub mod a { pub fn old(x: u32, y: u32) -> u32 { x + y } }\npub mod b { pub fn old(x: u32, y: u32) -> u32 { x * y } }\npub fn new(y: u32, x: u32) -> u32 { x + y }\npub fn f() -> u32 { use a::old; old(1, 2 + 3) + b::old(4, 5) + assert_same(a::old(6, 7)) }\nfn assert_same(x: u32) -> u32 { assert_eq!(a::old(x, 0), x); x }\n";
    let project = package(&[("src/lib.rs", text)]);
    let rule =
        |pattern: &str, template: &str| Refactoring::Replace { pattern: pattern.into(), template: template.into() };
    let new = changed(&project, &rule("a::old($x, $y)", "new($y, $x)"));
    assert!(new.contains("new(2 + 3, 1) + b::old(4, 5) + assert_same(new(7, 6))"), "{new}");
    assert!(new.contains("assert_eq!(new(0, x), x)"), "{new}");
    let refused = project.refactor(&rule("nowhere::at_all($x)", "$x"));
    assert!(matches!(&refused, Refactored::Refused { reason } if reason.contains("does not resolve")), "{refused:?}");
    let refused = project.refactor(&rule("a::old($x", "$y"));
    assert!(matches!(&refused, Refactored::Refused { reason } if reason.contains("is not a rule")), "{refused:?}");
    let none = project.refactor(&rule("a::old(99, $y)", "$y"));
    assert!(matches!(&none, Refactored::Edits { edits, .. } if edits.is_empty()), "{none:?}");
}

fn assists() {
    let text = "pub fn f(é: bool) -> u32 {\r\n    if !é { 1 } else { 2 }\r\n}\r\n";
    let project = package(&[("src/lib.rs", text)]);
    let at = |id: &str, line, column| Refactoring::Assist { id: id.into(), path: path("src/lib.rs"), line, column };
    assert_eq!(changed(&project, &at("invert_if", 2, 5)), text.replace("!é { 1 } else { 2 }", "é { 2 } else { 1 }"));
    let Refactored::Refused { reason } = project.refactor(&at("no_such_thing", 2, 5)) else { panic!("there is none") };
    assert!(reason.contains("invert_if"), "{reason}");
    let Refactored::Refused { reason } = project.refactor(&at("invert_if", 9, 1)) else { panic!("there is no line 9") };
    assert!(reason.contains("no line 9"), "{reason}");
}

#[track_caller]
fn mended(project: &Project, marked: &str, code: &str) -> Vec<String> {
    let start = project.text("src/lib.rs").find(marked).unwrap();
    let problem = Problem {
        path: path("src/lib.rs"),
        start,
        end: start + marked.len(),
        code: Some(code.into()),
        message: String::new(),
    };
    match project.compiler.quick_fixes(project.at(), &problem) {
        Answer::Known { value, .. } => {
            value.iter().map(|edits| format!("{:?}", project.applied(edits).values())).collect()
        }
        Answer::Unknown { reason } => panic!("{reason}"),
    }
}

fn quick_fixes() {
    let text = "mod inner { pub struct P { pub a: u32, pub b: String } fn hidden() {} }\npub fn f() -> HashMap<u32, u32> { Default::default() }\npub fn g() -> inner::P { inner::P { a: 1 } }\npub fn h() { inner::hidden() }\npub fn i() -> String { \"text\" }\npub enum E { A, B }\npub fn j(e: E) -> u32 { match e { E::A => 1 } }\n";
    let project = package(&[("src/lib.rs", text)]);
    let found = mended(&project, "HashMap", "E0412");
    assert!(found[0].contains("use std::collections::HashMap;"), "{found:#?}");
    let found = mended(&project, "inner::P { a: 1 }", "E0063");
    assert!(found.iter().any(|text| text.contains("inner::P { a: 1, b: ")), "{found:#?}");
    let found = mended(&project, "hidden() }\npub fn i", "E0603");
    assert!(
        found.iter().any(|text| text.contains("pub fn hidden") || text.contains("pub(crate) fn hidden")),
        "{found:#?}"
    );
    let found = mended(&project, "\"text\"", "E0308");
    assert!(found.iter().any(|text| text.contains(".to_owned()")), "{found:#?}");
    let found = mended(&project, "e { E::A", "E0004");
    assert!(found.iter().any(|text| text.contains("E::B => todo!()")), "{found:#?}");
}

fn import_everywhere() {
    let text = "use std::fmt::Debug;\n\npub fn f(_: impl Debug) -> HashMap<u32, u32> { HashMap::new() }\nmod inner {\n    pub fn g() -> HashMap<u32, u32> { HashMap::new() }\n}\npub fn h() { inner::g(); }\n";
    let project = package(&[("src/lib.rs", text)]);
    let found = mended(&project, "HashMap", "E0412");
    let wanted = "use std::collections::HashMap;\\nuse std::fmt::Debug;";
    assert!(
        found[0].contains(wanted) && found[0].contains("mod inner {\\n    use std::collections::HashMap;"),
        "{found:#?}"
    );
}

fn workspace() {
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let files = [
        ("README.md", "# Not a Rust project at the top\n".to_owned()),
        ("rust/Cargo.toml", "[workspace]\nmembers = [\"base\", \"user\", \"twin\"]\nresolver = \"2\"\n".to_owned()),
        ("rust/Cargo.lock", "version = 4\n\n[[package]]\nname = \"base\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"twin\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"user\"\nversion = \"0.1.0\"\ndependencies = [\n \"base\",\n \"twin\",\n]\n".to_owned()),
        ("rust/base/Cargo.toml", manifest("base", "build = \"build.rs\"\n[features]\nextra = []\n")),
        ("rust/base/build.rs", "fn main() { std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/made.rs\", \"pub struct Made { pub size: u32 }\").unwrap(); }\n".to_owned()),
        ("rust/base/src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\npub fn size(made: &Made) -> u32 { made.size }\n#[cfg(feature = \"extra\")]\npub fn extra() -> u32 { 1 }\n".to_owned()),
        ("rust/twin/Cargo.toml", manifest("twin", "[lib]\nproc-macro = true\n")),
        ("rust/twin/src/lib.rs", "use proc_macro::TokenStream;\n#[proc_macro_derive(Twin)]\npub fn twin(input: TokenStream) -> TokenStream {\n    let name = input.to_string().split(\"struct \").nth(1).unwrap().split_whitespace().next().unwrap().trim_end_matches(';').to_owned();\n    format!(\"pub struct {name}Twin;\").parse().unwrap()\n}\n".to_owned()),
        ("rust/user/Cargo.toml", manifest("user", "[dependencies]\nbase = { path = \"../base\" }\ntwin = { path = \"../twin\" }\n")),
        ("rust/user/src/lib.rs", "#[derive(twin::Twin)]\npub struct Point;\npub fn f(_: PointTwin, made: &base::Made) -> u32 { base::size(made) + base::size(made) }\n".to_owned()),
    ];
    let project = project(&files.map(|(path, text)| (path.to_owned(), text.into_bytes())));
    let Answer::Known { value: found, missing } = project.compiler.find(project.at(), "base::size") else { panic!() };
    assert_eq!(missing, Vec::<String>::new(), "build scripts and proc macros were built");
    let definition = &found[0].definition;
    assert_eq!((definition.path.to_string().as_str(), definition.line), ("rust/base/src/lib.rs", 2));
    let references = project.compiler.references(project.at(), &definition.path, definition.start);
    let Answer::Known { value: references, .. } = references else { panic!("{references:?}") };
    let places: Vec<(String, u32)> = references.iter().map(|found| (found.path.to_string(), found.line)).collect();
    assert_eq!(places, [("rust/user/src/lib.rs".to_owned(), 3), ("rust/user/src/lib.rs".to_owned(), 3)]);
    assert_eq!(project.find("extra"), ["base::extra"], "all features are analysed");

    let outline = project.compiler.outline(project.at(), &path("rust/user/src/lib.rs"));
    let Answer::Known { value: outline, .. } = outline else { panic!("{outline:?}") };
    assert_eq!(outline.iter().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(), ["user::Point", "user::f"]);

    let affected = |file: &str| match project.compiler.affected(project.at(), &[path(file)]) {
        Answer::Known { value, .. } => value,
        Answer::Unknown { reason } => panic!("{reason}"),
    };
    assert_eq!(affected("rust/base/src/lib.rs"), ["base", "user"]);
    assert_eq!(affected("rust/user/src/lib.rs"), ["user"]);
    assert_eq!(affected("rust/base/build.rs"), ["base", "user"]);

    // What a derive or a build script made has no text in the tree that could be renamed.
    for made in ["PointTwin", "Made"] {
        let refused = project.rename(made, "Other");
        assert!(
            matches!(&refused, Refactored::Refused { reason } if reason.contains("made by a macro") || reason.contains("outside")),
            "{made}: {refused:?}"
        );
    }
    let Refactored::Edits { edits, .. } = project.rename("base::size", "extent") else { panic!("no edits") };
    assert_eq!(project.applied(&edits).len(), 2);
}

fn unresolved() {
    let project = project(&[
        ("Cargo.toml".to_owned(), b"[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nno-such-package-anywhere = \"1\"\n".to_vec()),
        ("Cargo.lock".to_owned(), b"version = 4\n".to_vec()),
        ("src/lib.rs".to_owned(), b"pub fn one() -> u32 { no_such_package_anywhere::two() }\n".to_vec()),
    ]);
    let Answer::Known { value, missing } = project.compiler.find(project.at(), "one") else { panic!("no answer") };
    assert_eq!(value[0].name, "demo::one");
    assert!(missing.iter().any(|note| note.contains("cannot resolve its dependencies")), "{missing:?}");
    let report = project.gate_after("src/lib.rs", "two()", "three()");
    assert!(
        matches!(report, task::port::GateReport::Clean { .. }),
        "what the base does not know is not new: {report:?}"
    );
}
