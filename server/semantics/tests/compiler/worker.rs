//! The compiler in its own process: the same answers, and what happens when it dies, hangs or idles.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semantics::{WorkerLimits, Workspace};
use task::Features;
use task::port::{
    Answer, Change, Compiler as _, Gate as _, GateReport, Generation, Refactor as _, Refactored, Refactoring,
    Symbols as _,
};

use crate::Case;
use crate::support::{Prepared, package_files, path, prepare};

pub const CASES: &[Case] = &[
    ("worker::answers_like_the_compiler_in_process", answers),
    ("worker::that_is_killed_is_unknown_once_and_then_replaced", killed),
    ("worker::that_is_too_slow_or_too_large_or_idle_is_ended", ended),
    ("worker::runs_project_code_in_the_sandbox_only", hostile),
    ("worker::does_without_proc_macros_after_one_never_returned", endless_macro),
];

const LIB: &str = "/// See [`one`].\npub fn one() -> u32 { 1 }\npub fn two() -> u32 { one() + one() }\n";

fn open(prepared: &Prepared, limits: WorkerLimits) -> Workspace {
    let workspace = Workspace::open(prepared.tools.clone(), Features::All, limits);
    workspace.push(prepared.base());
    workspace
}

fn names(workspace: &Workspace, at: u64, name: &str) -> Result<Vec<String>, String> {
    match workspace.find(Generation(at), name) {
        Answer::Known { value, .. } => Ok(value.into_iter().map(|symbol| symbol.name).collect()),
        Answer::Unknown { reason } => Err(reason),
    }
}

fn answers() {
    let prepared = prepare(&package_files(&[("src/lib.rs", LIB)]));
    let workspace = open(&prepared, WorkerLimits::default());
    assert!(!workspace.0.is_running(), "nothing is started before the first question");
    let rename = Refactoring::Rename { symbol: "one".into(), new_name: "uno".into(), at: None };
    let Answer::Known { value: Refactored::Edits { edits, .. }, missing } = workspace.refactor(Generation(1), &rename)
    else {
        panic!("no edits")
    };
    assert_eq!(missing, Vec::<String>::new(), "the toolchain and its sources are complete");
    let new = edits.apply(|path| prepared.files.get(path).cloned()).unwrap();
    let text = new[&path("src/lib.rs")].clone().unwrap();
    assert_eq!(std::str::from_utf8(&text).unwrap(), LIB.replace("one", "uno"));

    workspace.push(Change { generation: Generation(2), files: new.into_iter().collect() });
    assert_eq!(workspace.gate(Generation(2), &[path("src/lib.rs")]), GateReport::Clean { missing });
    assert!(names(&workspace, 1, "uno").unwrap_err().contains("generation"));
    assert_eq!(names(&workspace, 2, "uno"), Ok(vec!["demo::uno".to_owned()]));

    let broken: Arc<[u8]> = b"pub fn two() -> u32 { one() }\n"[..].into();
    workspace.push(Change { generation: Generation(3), files: vec![(path("src/lib.rs"), Some(broken))] });
    let report = workspace.gate(Generation(3), &[path("src/lib.rs")]);
    let GateReport::Errors { problems, .. } = report else { panic!("{report:?}") };
    assert!(problems[0].message.contains("one"), "{problems:?}");
}

/// Processes of this test's own workers: descendants of ours with the worker's argument.
pub fn workers() -> Vec<i32> {
    let parent = |pid: i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<i32>().ok())
    };
    let ours = std::process::id() as i32;
    let descends = |pid: i32| std::iter::successors(Some(pid), |pid| parent(*pid)).take(16).any(|pid| pid == ours);
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_worker = |pid: &i32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).nth(1) == Some(semantics::WORKER_ARG.as_bytes())
    };
    all.filter(is_worker).filter(|pid| descends(*pid)).collect()
}

fn killed() {
    let prepared = prepare(&package_files(&[("src/lib.rs", LIB)]));
    let workspace = open(&prepared, WorkerLimits::default());
    assert_eq!(names(&workspace, 1, "two"), Ok(vec!["demo::two".to_owned()]));
    let found = workers();
    assert_eq!(found.len(), 1, "{found:?}");
    let pid = rustix::process::Pid::from_raw(found[0]).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let text: Arc<[u8]> = b"pub fn three() {}\n"[..].into();
    // The text that arrives while no worker runs is not lost.
    workspace.push(Change { generation: Generation(2), files: vec![(path("src/lib.rs"), Some(text))] });
    let first = names(&workspace, 2, "three");
    if let Err(reason) = first {
        assert!(reason.contains("ended"), "{reason}");
        assert_eq!(names(&workspace, 2, "three"), Ok(vec!["demo::three".to_owned()]));
    }
}

fn ended() {
    let prepared = prepare(&package_files(&[("src/lib.rs", LIB)]));
    let slow = WorkerLimits { question: Duration::ZERO, ..WorkerLimits::default() };
    let workspace = open(&prepared, slow);
    assert!(names(&workspace, 1, "two").unwrap_err().contains("in time"));
    assert!(!workspace.0.is_running());
    assert_eq!(workers(), Vec::<i32>::new());

    let large = WorkerLimits { resident_bytes: 1, ..WorkerLimits::default() };
    let workspace = open(&prepared, large);
    assert_eq!(names(&workspace, 1, "two"), Ok(vec!["demo::two".to_owned()]));
    assert!(!workspace.0.is_running());

    let starved = WorkerLimits { memory_bytes: 64 << 20, ..WorkerLimits::default() };
    let workspace = open(&prepared, starved);
    let reason = names(&workspace, 1, "two").unwrap_err();
    assert!(reason.contains("ended"), "{reason}");

    let idle = WorkerLimits { idle: Duration::from_millis(50), ..WorkerLimits::default() };
    let workspace = open(&prepared, idle);
    assert_eq!(names(&workspace, 1, "two"), Ok(vec!["demo::two".to_owned()]));
    let begin = Instant::now();
    while workspace.0.is_running() {
        assert!(begin.elapsed() < Duration::from_secs(20), "an idle worker stays");
        std::thread::yield_now();
    }
}

fn hostile() {
    let outside = tempfile::tempdir().unwrap();
    let marker = outside.path().join("marker");
    let script = format!("#!/bin/sh\ntouch {}\nexec \"$@\"\n", marker.display());
    let build = format!(
        "fn main() {{ let _ = std::fs::write({marker:?}, \"x\"); std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/made.rs\", \"pub struct Made;\").unwrap(); }}"
    );
    let mut files = package_files(&[
        ("src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\npub fn make() -> Made { Made }\n"),
        ("build.rs", &build),
        (".cargo/config.toml", "[build]\nrustc-wrapper = \"./evil.sh\"\n"),
    ]);
    files.push(("evil.sh".to_owned(), script.into_bytes()));
    let prepared = prepare(&files);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(prepared.tools.place.tree.join("evil.sh"), executable).unwrap();
    std::os::unix::fs::symlink("/etc", prepared.tools.place.tree.join("src/linked")).unwrap();
    let workspace = open(&prepared, WorkerLimits::default());
    let report = workspace.gate(Generation(1), &[path("src/lib.rs")]);
    assert!(matches!(report, GateReport::Clean { .. }), "{report:?}");
    assert!(names(&workspace, 1, "make").is_ok());
    assert!(!marker.exists() && Path::new("/etc/passwd").exists(), "project code ran outside the sandbox");
}

fn endless_macro() {
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let files = [
        ("Cargo.toml", manifest("demo", "[dependencies]\nendless = { path = \"endless\" }\n")),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"demo\"\nversion = \"0.1.0\"\ndependencies = [\n \"endless\",\n]\n\n[[package]]\nname = \"endless\"\nversion = \"0.1.0\"\n".to_owned()),
        ("src/lib.rs", "#[derive(endless::Endless)]\npub struct Point;\npub fn two() -> u32 { 2 }\n".to_owned()),
        ("endless/Cargo.toml", manifest("endless", "[lib]\nproc-macro = true\n")),
        ("endless/src/lib.rs", "#[proc_macro_derive(Endless)]\npub fn endless(_: proc_macro::TokenStream) -> proc_macro::TokenStream { loop { std::thread::park() } }\n".to_owned()),
    ];
    let prepared = prepare(&files.map(|(path, text)| (path.to_owned(), text.into_bytes())));
    // How long a first answer takes depends on the machine, so a healthy one is timed.
    let healthy = prepare(&package_files(&[("src/lib.rs", LIB)]));
    let begin = Instant::now();
    assert!(names(&open(&healthy, WorkerLimits::default()), 1, "two").is_ok());
    let workspace = open(&prepared, WorkerLimits { question: begin.elapsed(), ..WorkerLimits::default() });
    assert!(names(&workspace, 1, "two").unwrap_err().contains("in time"));
    // A slow machine may need more than one try.
    let mut reasons = Vec::new();
    let (value, missing) = loop {
        match workspace.find(Generation(1), "two") {
            Answer::Known { value, missing } => break (value, missing),
            Answer::Unknown { reason } => reasons.push(format!("{reason} after {:?}", begin.elapsed())),
        }
        assert!(reasons.len() < 3, "{reasons:#?}");
    };
    assert_eq!(value[0].name, "demo::two");
    assert!(missing.iter().any(|note| note.contains("proc-macro")), "{missing:?}");
}
