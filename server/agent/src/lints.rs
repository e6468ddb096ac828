//! Whether clippy knows the lints that a task names. Clippy itself is asked, on an empty crate.

use std::path::Path;
use std::time::Duration;

use sandbox::{Jailed, Keep, Limits, Output, RustHome, Stdin, rust_toolchain};
use serde::Deserialize;

use crate::house::House;

/// An empty crate takes no longer.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Message {
    message: String,
    #[serde(default)]
    children: Vec<Message>,
}

/// What is wrong with the names of these lints, in one sentence. `None` also where clippy cannot be asked: the task says
/// why not.
pub fn unknown_lints(house: &House, folder: &Path, lints: &[String]) -> Option<String> {
    let sandbox = house.sandbox.as_ref().ok()?;
    let pinned =
        ["rust-toolchain", "rust-toolchain.toml"].iter().find_map(|name| std::fs::read(folder.join(name)).ok());
    let toolchain = rust_toolchain(&RustHome::from_env(), folder, pinned.as_deref()).ok()?;
    let options = ["--crate-type=lib", "--emit=metadata", "-o", "/tmp/empty.rmeta", "--error-format=json", "-"];
    let named = lints.iter().flat_map(|lint| ["-W".to_owned(), format!("clippy::{lint}")]);
    let mut jailed = Jailed::new(toolchain.rustc.with_file_name("clippy-driver"), "/tmp").args(options).args(named);
    jailed.mounts.extend(toolchain.mounts());
    jailed.env.insert("PATH".into(), toolchain.path_variable());
    jailed.stdin = Stdin::Bytes(Vec::new().into());
    jailed.stderr = Output::Captured(Keep::all());
    jailed.limits = Limits::within(LIMIT);
    let finished = sandbox.run(jailed, &house.cancel);
    finished.outcome.success().then(|| sentence(&finished.stderr.lossy())).flatten()
}

fn sentence(stderr: &str) -> Option<String> {
    let parsed = stderr.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let odd = parsed.filter_map(|Message { message, children }| {
        let message = match message.strip_prefix("unknown lint: ") {
            Some(name) => format!("clippy has no lint {name}"),
            // One that was renamed or removed: clippy says it well.
            None => message.starts_with("lint `clippy::").then_some(message)?,
        };
        let near = children.into_iter().find(|child| child.message.starts_with("did you mean"));
        let near = near.map(|near| format!("; {}?", near.message.replacen("mean: ", "mean ", 1))).unwrap_or_default();
        Some(format!("{message}{near}").replace("clippy::", ""))
    });
    let odd: Vec<String> = odd.collect();
    (!odd.is_empty()).then(|| task::printable(&odd.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_lint_is_named_with_its_near_spelling() {
        let said = r#"{"message":"unknown lint: `clippy::needles_return`","children":[{"message":"did you mean: `clippy::needless_return`"},{"message":"requested on the command line"}]}
{"message":"lint `clippy::cyclomatic_complexity` has been renamed to `clippy::cognitive_complexity`"}
{"message":"2 warnings emitted"}"#;
        assert_eq!(
            sentence(said).unwrap(),
            "clippy has no lint `needles_return`; did you mean `needless_return`? lint `cyclomatic_complexity` has been \
             renamed to `cognitive_complexity`"
        );
        assert_eq!(sentence(""), None);
    }
}
