//! What npm and cargo fetch for the applications: once, from their lock files, kept beside what cargo builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use support::{Project, command, repository};
use task::Digest;

/// Puts Express and what it needs into a project, as `npm ci` would.
pub fn express(project: &Project) {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let lock = fs::read(repository().join("tests/data/golden-express.lock.json")).unwrap();
        let name = format!("golden-express-{}", &Digest::of([&lock]).as_str()[..16]);
        kept(&name, |fresh| {
            fs::write(fresh.join("package-lock.json"), &lock).unwrap();
            fs::write(fresh.join("package.json"), project.read("package.json")).unwrap();
            let mut npm = command("npm");
            npm.args(["ci", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"]).current_dir(fresh);
            succeeds(npm);
        })
    });
    let mut copy = command("cp");
    copy.arg("--archive").arg(folder.join("node_modules")).arg(project.path());
    succeeds(copy);
}

/// Fetches the crates that a project's lock file names, so that what is built without network finds them.
pub fn crates(project: &Project) {
    static FETCHED: OnceLock<()> = OnceLock::new();
    FETCHED.get_or_init(|| {
        let fetch = |offline: &[&str]| {
            let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["fetch", "--locked"]).args(offline).current_dir(project.path());
            cargo
        };
        if !fetch(&["--offline"]).output().unwrap().status.success() {
            succeeds(fetch(&[]));
        }
    });
}

/// A folder among what cargo builds, made by the first who needs it and only seen when it is whole.
fn kept(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = all.join(name);
    if !folder.exists() {
        let fresh = tempfile::Builder::new().prefix(name).tempdir_in(all).unwrap();
        make(fresh.path());
        // Whoever comes second leaves what is there.
        if let Err(error) = fs::rename(fresh.path(), &folder) {
            assert!(folder.exists(), "{error}");
        }
    }
    folder
}

#[track_caller]
fn succeeds(mut command: std::process::Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
