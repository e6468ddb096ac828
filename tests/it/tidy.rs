//! The rules of the house, as tests: what a reviewer would otherwise have to look for.

mod crates;
mod licences;
mod size;
mod sources;
mod text;

use serde_json::Value;

/// One broken rule a line, all of them at once.
#[track_caller]
fn assert_none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

/// What cargo knows about this workspace, without asking the network.
fn metadata(arguments: &[&str]) -> Value {
    let mut cargo = support::command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(support::repository());
    cargo.args(["metadata", "--offline", "--locked", "--format-version=1"]).args(arguments);
    let output = cargo.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo fetch --locked` first; cargo said: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().unwrap()
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
