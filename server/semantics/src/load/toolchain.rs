//! Facts about a toolchain: asked once for each toolchain, in a sandbox in which the tree is not mounted.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use sandbox::Finished;
use serde_json::Value;

use super::confine::Tools;
use super::facts::{LoadError, ToolchainFacts};
use crate::jail::ToolCommand;

/// Atoms that rustc sets but does not print on the stable channel; without them parts of `core` do not resolve.
const UNPRINTED: [&str; 2] = ["target_has_atomic_equal_alignment", "target_has_atomic_load_store"];
const UNPRINTED_WIDTHS: [&str; 6] = ["8", "16", "32", "64", "128", "ptr"];
const UNPRINTED_FLAGS: [&str; 3] = ["target_has_atomic_load_store", "target_thread_local", "target_has_atomic"];

/// Lets a stable cargo take the unstable flags that the compiler's own loader uses.
pub const CHANNEL: &[(&str, &str)] = &[("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly")];

/// Facts by toolchain and cargo home.
type Known = Mutex<HashMap<(PathBuf, PathBuf), Arc<ToolchainFacts>>>;

/// The facts of the toolchain of this place, from memory when it was asked before.
pub fn facts(tools: &Tools) -> Result<Arc<ToolchainFacts>, LoadError> {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let key = (tools.place.toolchain.clone(), tools.place.cargo_home.clone());
    if let Some(found) = known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&key) {
        return Ok(Arc::clone(found));
    }
    let asked = Arc::new(ask(tools)?);
    // An incomplete answer is not remembered: what is missing may be installed while the server runs.
    if asked.notes.is_empty() {
        known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(key, Arc::clone(&asked));
    }
    Ok(asked)
}

fn ask(tools: &Tools) -> Result<ToolchainFacts, LoadError> {
    let version_text = succeed("rustc --version", rustc(tools, &["-vV"], &[]))?;
    let field =
        |name: &str| version_text.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned());
    let unreadable = || LoadError::Malformed { what: "rustc --version", expected: "its version", source: None };
    let version = field("release:").ok_or_else(unreadable)?;
    let host = field("host:").ok_or_else(unreadable)?;
    let mut cfg: Vec<String> = succeed("rustc --print cfg", rustc(tools, &["--print", "cfg", "-O"], &[]))?
        .lines()
        .map(str::to_owned)
        .collect();
    cfg.extend(UNPRINTED.iter().flat_map(|atom| UNPRINTED_WIDTHS.map(|width| format!("{atom}=\"{width}\""))));
    cfg.extend(UNPRINTED_FLAGS.map(str::to_owned));
    let spec = rustc(tools, &["-Zunstable-options", "--print", "target-spec-json"], &[("RUSTC_BOOTSTRAP", "1")]);
    let spec: Value = serde_json::from_str(&succeed("rustc --print target-spec-json", spec)?).map_err(|error| {
        LoadError::Malformed { what: "rustc --print target-spec-json", expected: "JSON", source: Some(error) }
    })?;
    let text = |key: &str| spec[key].as_str().unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    let library = library(tools, &host, &mut notes)?;
    Ok(ToolchainFacts { version, host, cfg, data_layout: text("data-layout"), arch: text("arch"), library, notes })
}

/// What cargo says about the standard library, or null with a note.
fn library(tools: &Tools, host: &str, notes: &mut Vec<String>) -> Result<Value, LoadError> {
    if !tools.place.library().join("Cargo.toml").is_file() {
        notes.push("the standard library's sources are missing: run `rustup component add rust-src`".to_owned());
        return Ok(Value::Null);
    }
    let whole = ["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform", host];
    let output = command("bin/cargo", &whole, CHANNEL, tools.place.library()).run(tools);
    if output.outcome.success() {
        return parse(&output.stdout.bytes());
    }
    notes.push(
        "the standard library's own dependencies are not in the cargo cache, so types like HashMap are only partly known: \
         run `cargo fetch` in the toolchain's rust-src folder"
            .to_owned(),
    );
    let alone = ["metadata", "--format-version=1", "--offline", "--no-deps"];
    let output = command("bin/cargo", &alone, CHANNEL, tools.place.library()).run(tools);
    if output.outcome.success() { parse(&output.stdout.bytes()) } else { Ok(Value::Null) }
}

fn parse(bytes: &[u8]) -> Result<Value, LoadError> {
    serde_json::from_slice(bytes).map_err(|error| LoadError::Malformed {
        what: "cargo metadata of the standard library",
        expected: "JSON",
        source: Some(error),
    })
}

fn rustc(tools: &Tools, arguments: &[&str], environment: &'static [(&'static str, &'static str)]) -> Finished {
    command("bin/rustc", arguments, environment, tools.place.toolchain.clone()).run(tools)
}

/// A toolchain command without the tree.
fn command(
    program: &'static str,
    arguments: &[&str],
    environment: &'static [(&'static str, &'static str)],
    directory: PathBuf,
) -> ToolCommand {
    ToolCommand {
        program,
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        environment,
        directory,
        mounts: Vec::new(),
        limit: Duration::from_secs(60),
    }
}

/// Standard output of a command that must succeed.
pub fn succeed(what: &'static str, output: Finished) -> Result<String, LoadError> {
    if output.outcome.success() {
        return String::from_utf8(output.stdout.bytes().into_owned()).map_err(|_| LoadError::Malformed {
            what,
            expected: "UTF-8",
            source: None,
        });
    }
    Err(LoadError::Command { what, ending: output.outcome.to_string(), stderr: last_lines(&output.stderr.lossy()) })
}

/// The end of a standard error text, short enough for a message.
fn last_lines(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("; ")
}
