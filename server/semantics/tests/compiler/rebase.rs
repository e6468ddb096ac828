//! A worker that is given another base: it answers like a fresh one, or says that it cannot.

use std::sync::Arc;
use std::time::Duration;

use sandbox::CancelToken;
use semantics::{WorkerLimits, Workspace};
use task::port::{
    Answer, Change, Compiler as _, Gate as _, GateReport, Generation, Refactored, Refactoring, Symbols as _,
};
use task::{Features, TreePath};

use crate::Case;
use crate::support::{Prepared, package_files, path, prepare, project};
use crate::worker::workers;

pub const CASES: &[Case] = &[
    ("rebase::answers_like_a_fresh_compiler", like_a_fresh_one),
    ("rebase::a_worker_goes_from_task_to_task", from_task_to_task),
    ("rebase::a_base_with_other_packages_or_targets_is_not_taken", other_grounds),
    ("rebase::what_build_scripts_and_macros_are_made_of_is_not_taken", compile_time),
];

type Files = Vec<(String, Vec<u8>)>;

const LIB: &str = "//! Demo.\nmod shapes;\npub use shapes::Shape;\n/// See [`area`].\npub fn area(shape: &Shape) -> u32 { shape.width * shape.height() }\npub fn twice(shape: &Shape) -> u32 { area(shape) + area(shape) }\n";
const SHAPES: &str = "pub struct Shape { pub width: u32 }\nimpl Shape {\n    pub fn height(&self) -> u32 { self.width }\n}\n/// ```\n/// assert_eq!(demo::area(&demo::Shape::new(2)), 4);\n/// ```\nimpl Shape {\n    pub fn new(width: u32) -> Shape { Shape { width } }\n}\n";

/// Bases, one after the other, each by what differs from the one before.
const STEPS: &[&[(&str, Option<&str>)]] = &[
    // A body.
    &[(
        "src/lib.rs",
        Some("mod shapes;\npub use shapes::Shape;\npub fn area(shape: &Shape) -> u32 { 1 + shape.height() }\n"),
    )],
    // A declaration that others depend on, broken on one side.
    &[(
        "src/shapes.rs",
        Some("pub struct Shape { pub width: u64 }\nimpl Shape { pub fn height(&self) -> u64 { self.width } }\n"),
    )],
    // A new module, with new uses of the name.
    &[
        ("src/more.rs", Some("use crate::{Shape, area};\npub fn more(shape: &Shape) -> u32 { area(shape) }\n")),
        ("src/shapes.rs", Some(SHAPES)),
        (
            "src/lib.rs",
            Some(
                "mod more;\nmod shapes;\npub use shapes::Shape;\npub fn area(shape: &Shape) -> u32 { more::more(shape) + shape.height() }\n",
            ),
        ),
    ],
    // A module that is gone, and text beside the sources.
    &[
        ("src/more.rs", None),
        ("README.md", Some("area\n")),
        (
            "src/lib.rs",
            Some(
                "mod shapes;\npub use shapes::Shape;\npub fn area(shape: &Shape) -> u32 { shape.width }\npub fn other() -> u32 { missing() }\n",
            ),
        ),
    ],
    &[("src/lib.rs", Some(LIB))],
];

fn start() -> Files {
    package_files(&[("src/lib.rs", LIB), ("src/shapes.rs", SHAPES)])
}

fn stepped(files: &Files, step: &[(&str, Option<&str>)]) -> Files {
    let mut files: Files =
        files.iter().filter(|(path, _)| !step.iter().any(|(name, _)| name == path)).cloned().collect();
    let new = step.iter().filter_map(|(path, text)| Some(((*path).to_owned(), (*text)?.as_bytes().to_vec())));
    files.extend(new);
    files
}

fn text_of(files: &Files) -> Vec<(TreePath, Option<Arc<[u8]>>)> {
    files.iter().map(|(name, bytes)| (path(name), Some(Arc::from(bytes.as_slice())))).collect()
}

fn rename(symbol: &str) -> Refactoring {
    Refactoring::Rename { symbol: symbol.into(), new_name: "renamed".into(), at: None }
}

/// Every answer that a task would want of a base, with edits gated against it.
fn interview(compiler: &dyn task::port::Compiler, files: &Files, first: u64) -> Vec<String> {
    let mut at = first;
    let mut said = Vec::new();
    for symbol in ["area", "Shape::height", "Shape", "Shape::width"] {
        let answer = compiler.refactor(Generation(at), &rename(symbol));
        said.push(format!("{symbol}: {answer:?}"));
        if let Answer::Known { value: Refactored::Edits { edits, .. }, .. } = answer {
            let read = |wanted: &TreePath| {
                files.iter().find(|(name, _)| path(name) == *wanted).map(|(_, bytes)| Arc::from(bytes.as_slice()))
            };
            let new = edits.apply(read).unwrap();
            let back = new.keys().map(|path| (path.clone(), read(path))).collect();
            let edited: Vec<TreePath> = new.keys().cloned().collect();
            at += 1;
            compiler.push(Change { generation: Generation(at), files: new.into_iter().collect() });
            said.push(format!("{:?}", compiler.gate(Generation(at), &edited)));
            at += 1;
            compiler.push(Change { generation: Generation(at), files: back });
        }
    }
    let lib = path("src/lib.rs");
    let broken: Arc<[u8]> = b"mod shapes;\npub use shapes::Shape;\npub fn area() { missing(); gone() }\n"[..].into();
    at += 1;
    compiler.push(Change { generation: Generation(at), files: vec![(lib.clone(), Some(broken))] });
    said.push(format!("{:?}", compiler.gate(Generation(at), std::slice::from_ref(&lib))));
    // It ends somewhere else than at its base, as tasks do.
    said.push(format!("{:?}", compiler.find(Generation(at), "height")));
    said
}

fn like_a_fresh_one() {
    let mut files = start();
    let kept = project(&files);
    assert_eq!(interview(&kept.compiler, &files, 1), interview(&project(&files).compiler, &files, 1));
    for (number, step) in STEPS.iter().enumerate() {
        files = stepped(&files, step);
        let first = 1000 * (number as u64 + 1);
        assert!(
            kept.compiler.rebase(Change { generation: Generation(first), files: text_of(&files) }),
            "step {number}"
        );
        assert_eq!(
            interview(&kept.compiler, &files, first),
            interview(&project(&files).compiler, &files, 1),
            "step {number}"
        );
    }
}

fn opened(prepared: &Prepared) -> Workspace {
    let workspace = Workspace::open(prepared.tools.clone(), Features::All, WorkerLimits::default());
    workspace.push(prepared.base());
    workspace
}

fn from_task_to_task() {
    let mut files = start();
    let prepared = prepare(&files);
    let workspace = opened(&prepared);
    assert!(!workspace.rebase(prepared.base()), "nothing runs that would be worth keeping");
    assert_eq!(interview(&workspace, &files, 1), interview(&project(&files).compiler, &files, 1));
    let [worker] = workers()[..] else { panic!("not one worker") };
    let mut cancel = prepared.tools.cancel.clone();
    for (number, step) in STEPS[..2].iter().enumerate() {
        assert!(workspace.0.release());
        // The end of a task that is over is nothing to the worker.
        cancel.cancel();
        cancel = CancelToken::new();
        workspace.0.renew(&cancel, WorkerLimits::default());
        files = stepped(&files, step);
        let first = 1000 * (number as u64 + 1);
        // The shadow may show anything by now.
        std::fs::remove_dir_all(prepared.tools.place.tree.join("src")).ok();
        assert!(workspace.rebase(Change { generation: Generation(first), files: text_of(&files) }));
        assert_eq!(interview(&workspace, &files, first), interview(&project(&files).compiler, &files, 1));
        assert_eq!(workers(), [worker]);
    }
    workspace.0.renew(&cancel, WorkerLimits { question: Duration::ZERO, ..WorkerLimits::default() });
    let Answer::Unknown { reason } = workspace.find(Generation(9999), "area") else { panic!("an answer") };
    assert!(reason.contains("generation"), "{reason}");
    assert!(workspace.0.release());
    workspace.0.renew(&cancel, WorkerLimits::default());
    cancel.cancel();
    assert!(!workspace.0.release(), "a cancelled task leaves nothing");
    // The cancellation of the present task ends it.
    let begin = std::time::Instant::now();
    while workers() == [worker] {
        assert!(begin.elapsed() < Duration::from_secs(20), "the worker stays");
        std::thread::yield_now();
    }
    assert!(!workspace.rebase(prepared.base()));
}

fn other_grounds() {
    let files = start();
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let refused: &[(&str, Option<&str>)] = &[
        ("Cargo.toml", Some(manifest)),
        ("Cargo.lock", None),
        (".cargo/config.toml", Some("[build]\n")),
        ("rust-toolchain.toml", Some("[toolchain]\n")),
        ("tests/new.rs", Some("")),
        ("src/bin/new.rs", Some("fn main() {}")),
        ("src/main.rs", Some("fn main() {}")),
        ("build.rs", Some("fn main() {}")),
        ("src/lib.rs", None),
    ];
    let kept = project(&files);
    for step in refused {
        let files = text_of(&stepped(&files, &[*step]));
        assert!(!kept.compiler.rebase(Change { generation: Generation(2), files }), "{step:?}");
    }
    let report = kept.compiler.gate(Generation(1), &[path("src/lib.rs")]);
    assert_eq!(report, GateReport::Clean { missing: Vec::new() }, "a base that is not taken changes nothing");
}

fn compile_time() {
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let lock = "version = 4\n\n[[package]]\nname = \"demo\"\nversion = \"0.1.0\"\ndependencies = [\n \"words\",\n]\n\n[[package]]\nname = \"helper\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"words\"\nversion = \"0.1.0\"\ndependencies = [\n \"helper\",\n]\n";
    let build = "fn main() { println!(\"cargo::rerun-if-changed=data\"); }\n";
    let expand = "#[proc_macro_derive(Words)]\npub fn words(_: proc_macro::TokenStream) -> proc_macro::TokenStream { helper::text().parse().unwrap() }\n";
    let files = [
        ("Cargo.toml", manifest("demo", "[dependencies]\nwords = { path = \"words\" }\n")),
        ("Cargo.lock", lock.to_owned()),
        ("build.rs", build.to_owned()),
        ("data/one.rs", "1\n".to_owned()),
        ("notes.txt", "1\n".to_owned()),
        ("src/lib.rs", "#[derive(words::Words)]\npub struct Point;\npub fn two() -> u32 { made() }\n".to_owned()),
        (
            "words/Cargo.toml",
            manifest("words", "[lib]\nproc-macro = true\n[dependencies]\nhelper = { path = \"helper\" }\n"),
        ),
        ("words/src/lib.rs", expand.to_owned()),
        ("words/helper/Cargo.toml", manifest("helper", "")),
        ("words/helper/src/lib.rs", "pub fn text() -> &'static str { \"fn made() -> u32 { 2 }\" }\n".to_owned()),
    ];
    let files: Files = files.map(|(path, text)| (path.to_owned(), text.into_bytes())).into();
    let kept = project(&files);
    let clean = |at: u64| {
        let report = kept.compiler.gate(Generation(at), &[path("src/lib.rs")]);
        assert_eq!(report, GateReport::Clean { missing: Vec::new() });
    };
    clean(1);
    // Sources of the package with the build script are no business of the script: it says what it reads.
    let three = "#[derive(words::Words)]\npub struct Point;\npub fn three() -> u32 { made() + 1 }\n";
    let files = stepped(&files, &[("src/lib.rs", Some(three))]);
    assert!(kept.compiler.rebase(Change { generation: Generation(2), files: text_of(&files) }));
    clean(2);
    for changed in ["build.rs", "data/one.rs", "notes.txt", "words/src/lib.rs", "words/helper/src/lib.rs"] {
        let files = text_of(&stepped(&files, &[(changed, Some("fn main() {}\n"))]));
        assert!(!kept.compiler.rebase(Change { generation: Generation(3), files }), "{changed}");
    }
    // Somebody else built the macros anew.
    let again = Change { generation: Generation(3), files: text_of(&files) };
    assert!(kept.compiler.rebase(again.clone()));
    let built = kept.folder().join("target/debug/deps");
    let mut library = std::fs::read_dir(built).unwrap().flatten().map(|entry| entry.path());
    let library = library.find(|path| path.extension().is_some_and(|extension| extension == "so")).unwrap();
    std::fs::copy(&library, library.with_extension("new")).unwrap();
    std::fs::rename(library.with_extension("new"), library).unwrap();
    assert!(!kept.compiler.rebase(again));
}
