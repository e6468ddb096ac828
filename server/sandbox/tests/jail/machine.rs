//! What the crate says about this machine, and that its own toolchain builds a project inside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use sandbox::{
    CancelToken, CargoHome, Jailed, Limits, Mount, RustHome, Sandbox, Toolchain, Verdict, probe, remove_tree,
    rust_toolchain,
};

use crate::Case;
use crate::support::{Place, sandbox};

pub const CASES: &[Case] = &[
    ("the_probe_finds_a_jail_that_holds", the_probe_finds_a_jail_that_holds),
    ("a_project_with_dependencies_builds_offline", a_project_with_dependencies_builds_offline),
    ("a_git_dependency_builds_from_the_users_database", a_git_dependency_builds_from_the_users_database),
    ("a_bubblewrap_without_descriptors_for_mounts_is_enough", a_bubblewrap_without_descriptors_for_mounts_is_enough),
    ("what_a_hostile_command_leaves_is_removed", what_a_hostile_command_leaves_is_removed),
];

fn the_probe_finds_a_jail_that_holds() {
    let probes = probe();
    assert_eq!(probes.len(), 13, "{probes:?}");
    for probe in &probes {
        let notes = probe.what == "the number of processes is bounded" && rustix::process::getuid().is_root();
        match &probe.verdict {
            Verdict::Holds => assert!(!notes),
            Verdict::Note(_) => assert!(notes || probe.what == "bubblewrap can be used", "{probe:?}"),
            Verdict::Broken(_) => panic!("{probe:?}"),
        }
    }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A build script, a dependency from the registry, tests and doc tests: with this machine's own toolchain and caches.
fn a_project_with_dependencies_builds_offline() {
    let place = Place::new();
    write(
        &place.shadow,
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"1\"\n",
            ),
            ("build.rs", "fn main() { println!(\"cargo::rustc-env=MADE=by the build script\"); }\n"),
            (
                "src/lib.rs",
                "//! ```\n//! assert_eq!(demo::two(), \"2\");\n//! ```\npub fn two() -> String { itoa::Buffer::new().format(2).into() }\n\
             #[test]\nfn works() { assert_eq!((two().as_str(), env!(\"MADE\")), (\"2\", \"by the build script\")); }\n",
            ),
        ],
    );
    let home = RustHome::from_env();
    let toolchain = rust_toolchain(&home, &place.shadow, None).unwrap();
    let private = place.root.join("cargo");
    let view = CargoHome::from_env().provision(&private).unwrap();
    let work = place.root.join("work");
    fs::create_dir(&work).unwrap();
    let mut jailed = Jailed::new(&toolchain.cargo, &place.shadow).args(["test", "--offline"]);
    jailed.env.insert("PATH".into(), toolchain.path_variable());
    jailed.env.insert("CARGO_TARGET_DIR".into(), work.clone().into());
    jailed.env.extend(view.env);
    jailed.mounts = [toolchain.mounts(), view.mounts].concat();
    jailed.mounts.extend([Mount::writable(&place.shadow), Mount::writable(&work)]);
    jailed.limits = Limits::within(Duration::from_secs(300));
    // Two at a time share the home: its locks keep one from building what the other is unpacking.
    let other_work = place.root.join("other");
    fs::create_dir(&other_work).unwrap();
    let mut other = jailed.clone().mount(Mount::writable(&other_work)).env("CARGO_TARGET_DIR", &other_work);
    other.args = vec!["build".into(), "--offline".into(), "-v".into()];
    let other = sandbox().start(other, &CancelToken::new()).unwrap();
    let finished = sandbox().run(jailed.clone(), &CancelToken::new());
    let other = other.wait();
    assert!(other.outcome.success(), "{}", other.stderr.lossy());
    let said = finished.stdout.lossy();
    assert!(finished.outcome.success(), "{}\n{said}\n{}", finished.outcome, finished.stderr.lossy());
    assert_eq!(said.matches("1 passed").count(), 2, "{said}");
    // What cargo unpacked is ours, at the path that the jail knows; the user's own was not even there.
    let unpacked: Vec<_> = fs::read_dir(private.join("registry/src")).unwrap().flatten().collect();
    assert_eq!(unpacked.len(), 1);
    assert!(
        fs::read_dir(unpacked[0].path())
            .unwrap()
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("itoa-"))
    );

    // What is secret or shared cannot be reached from there.
    let mut look = jailed;
    look.program = "/bin/sh".into();
    look.args = vec![
        "-c".into(),
        "ls -A $CARGO_HOME; (: >$CARGO_HOME/registry/index/x) || echo denied; cat $CARGO_HOME/credentials.toml".into(),
    ];
    let finished = sandbox().run(look, &CancelToken::new());
    let said = finished.stdout.lossy();
    assert!(said.contains("config.toml") && said.contains("denied") && !said.contains("credentials"), "{said}");
}

/// Runs a program of the host, without the user's settings; it must succeed.
#[expect(clippy::disallowed_methods, reason = "the fixture is what the developer's own git and cargo leave")]
fn on_the_host(folder: &Path, toolchain: &Toolchain, program: &Path, args: &[&str], cargo_home: &Path) {
    let output = std::process::Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("CARGO_HOME", cargo_home)
        .env("PATH", toolchain.path_variable())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn a_git_dependency_builds_from_the_users_database() {
    let place = Place::new();
    let toolchain = rust_toolchain(&RustHome::from_env(), &place.shadow, None).unwrap();
    let (dependency, users_home) = (place.root.join("dependency"), place.root.join("users-cargo"));
    write(
        &dependency,
        &[
            ("Cargo.toml", "[package]\nname = \"dependency\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("src/lib.rs", "pub fn answer() -> u8 { 42 }\n"),
        ],
    );
    let git = |args: &[&str]| on_the_host(&dependency, &toolchain, Path::new("git"), args, &users_home);
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-qm", "first"]);
    let manifest = format!(
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndependency = {{ git = \"file://{}\" }}\n",
        dependency.display()
    );
    write(
        &place.shadow,
        &[("Cargo.toml", &manifest), ("src/main.rs", "fn main() { println!(\"{}\", dependency::answer()); }\n")],
    );
    on_the_host(&place.shadow, &toolchain, &toolchain.cargo, &["fetch"], &users_home);

    let view = CargoHome { host: users_home, variables: Vec::new() }.provision(&place.root.join("cargo")).unwrap();
    let mut jailed = Jailed::new(&toolchain.cargo, &place.shadow).args(["run", "--offline", "--locked"]);
    jailed.env.insert("PATH".into(), toolchain.path_variable());
    jailed.env.extend(view.env);
    jailed.mounts = [toolchain.mounts(), view.mounts].concat();
    jailed.mounts.push(Mount::writable(&place.shadow));
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert_eq!(finished.stdout.lossy(), "42\n", "{}", finished.stderr.lossy());
}

/// The same jail where only paths can be mounted, as by upstream's 0.8 and 0.9.
fn a_bubblewrap_without_descriptors_for_mounts_is_enough() {
    let mut older = sandbox().bubblewrap().clone();
    older.bind_fd = false;
    let place = Place::new();
    let finished = Sandbox::with(older).unwrap().run(place.script("echo x >own; cat own"), &CancelToken::new());
    assert_eq!(finished.stdout.lossy(), "x\n", "{}", finished.outcome);
}

fn what_a_hostile_command_leaves_is_removed() {
    let place = Place::new();
    let program = "import os, socket\nos.chdir('.')\nfor i in range(3000):\n  os.mkdir('d'); os.chdir('d')\nos.symlink('/etc', 'link')\nos.mkfifo('fifo')\nos.mkdir('none', 0)";
    place.says(&format!("python3 -c \"{program}\"; mkdir -p a/b; chmod 000 a/b a"));
    fs::write(place.root.join("beside"), "x").unwrap();
    remove_tree(&place.shadow).unwrap();
    assert!(!place.shadow.exists() && place.root.join("beside").exists());
}
