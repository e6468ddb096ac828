//! What is measured on: a generated repository, and crates as their authors published them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, by_hand};

/// A folder of ours that goes with the value.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new(name: &str) -> Result<Self, Failure> {
        Ok(Self(tempfile::Builder::new().prefix(&format!("understudy-bench-{name}-")).tempdir()?))
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A committed repository with this many files of about 7 KB.
pub fn repository(top: &Path, files: usize) -> Result<(), Failure> {
    let body: String = (0..220).map(|line| format!("    let value_{line} = compute({line});\n")).collect();
    for number in 0..files {
        let folder = top.join(format!("crate{}/src/part{}", number / 500, number / 50 % 10));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file{number}.rs")), format!("// {number}\n{body}"))?;
    }
    commit(top)
}

pub fn commit(top: &Path) -> Result<(), Failure> {
    by_hand::run(top, "git", &["init", "-q"], &[])?;
    by_hand::run(top, "git", &["add", "-A"], &[])?;
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false"];
    by_hand::run(top, "git", &[&identity[..], &["commit", "-q", "-m", "base"]].concat(), &[])?;
    by_hand::run(top, "git", &["gc", "-q"], &[])?;
    Ok(())
}

/// The crates of ripgrep 14.1.1, as published, in one workspace. With `grep-pcre2` from the registry two versions of
/// `grep-matcher` would meet and ripgrep not build with all features.
const RIPGREP: [(&str, &str); 10] = [
    ("ripgrep", "14.1.1"),
    ("grep", "0.3.2"),
    ("grep-cli", "0.1.11"),
    ("grep-matcher", "0.1.7"),
    ("grep-pcre2", "0.1.8"),
    ("grep-printer", "0.2.2"),
    ("grep-regex", "0.1.13"),
    ("grep-searcher", "0.1.14"),
    ("globset", "0.4.15"),
    ("ignore", "0.4.23"),
];

/// ripgrep's crates in one workspace, committed.
pub fn ripgrep(top: &Path) -> Result<(), Failure> {
    published(top, &RIPGREP)
}

/// Crates as their authors published them, fetched by cargo: one by itself, several put together by path. Committed.
pub fn published(top: &Path, crates: &[(&str, &str)]) -> Result<(), Failure> {
    let probe = top.with_extension("fetch");
    fs::create_dir_all(probe.join("src"))?;
    fs::write(probe.join("src/lib.rs"), "")?;
    let wanted: String = crates.iter().map(|(name, version)| format!("{name} = \"={version}\"\n")).collect();
    let manifest =
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n";
    fs::write(probe.join("Cargo.toml"), format!("{manifest}{wanted}"))?;
    by_hand::run(&probe, "cargo", &["fetch", "-q"], &[])?;
    let sources = cargo_home()?.join("registry/src");
    for (name, version) in crates {
        let indexes = fs::read_dir(&sources)?.flatten();
        let source = indexes.map(|index| index.path().join(format!("{name}-{version}"))).find(|path| path.is_dir());
        let source = source.ok_or_else(|| format!("cargo fetched no source of {name} {version}"))?;
        let folder = if crates.len() == 1 { top.to_owned() } else { top.join(name) };
        copy(&source, &folder)?;
        // What cargo adds to a published crate is not its author's.
        for added in ["Cargo.lock", ".cargo-ok", ".cargo_vcs_info.json", "Cargo.toml.orig"] {
            let _ = fs::remove_file(folder.join(added));
        }
    }
    if crates.len() > 1 {
        let members: String = crates.iter().map(|(name, _)| format!("\"{name}\", ")).collect();
        let patches: String =
            crates.iter().skip(1).map(|(name, _)| format!("{name} = {{ path = \"{name}\" }}\n")).collect();
        let manifest = format!("[workspace]\nresolver = \"2\"\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}");
        fs::write(top.join("Cargo.toml"), manifest)?;
    } else {
        let path = top.join("Cargo.toml");
        let manifest = fs::read_to_string(&path)?;
        fs::write(path, format!("{manifest}\n[workspace]\n"))?;
    }
    fs::write(top.join(".gitignore"), "target\n")?;
    by_hand::run(top, "cargo", &["generate-lockfile", "-q"], &[])?;
    by_hand::run(top, "cargo", &["fetch", "-q", "--locked"], &[])?;
    commit(top)
}

fn cargo_home() -> Result<PathBuf, Failure> {
    let own = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    own.or_else(home).ok_or_else(|| "neither CARGO_HOME nor HOME is set".into())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?
        } else {
            fs::copy(entry.path(), target).map(drop)?
        }
    }
    Ok(())
}
