//! What `cargo --message-format=json` says, and what of it we rely on.
//!
//! A proc macro can print lines of its own into this stream. A forged failure only harms its author; a forged artifact
//! is overruled by cargo's error output ([`not_compiled`]), which nothing that is being compiled writes to, and by the
//! exit status, which is 0 only when everything was built.

use std::collections::BTreeSet;

use serde::Deserialize;

/// One line that matters.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[expect(clippy::enum_variant_names, reason = "the words are cargo's")]
pub(crate) enum Message {
    CompilerMessage {
        package_id: String,
        target: Target,
        message: serde_json::Value,
    },
    CompilerArtifact(Artifact),
    BuildScriptExecuted {
        package_id: String,
        out_dir: String,
    },
    BuildFinished {},
    #[serde(other)]
    Other,
}

/// A build unit that was built, now or earlier.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Artifact {
    pub package_id: String,
    pub target: Target,
    pub profile: Profile,
    #[serde(default)]
    pub features: Vec<String>,
    pub filenames: Vec<String>,
    pub executable: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Profile {
    /// Whether it was built as a test program.
    pub test: bool,
}

/// A build target as cargo describes it, in messages and in metadata.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Target {
    pub kind: Vec<String>,
    pub name: String,
    #[serde(default)]
    pub test: bool,
    #[serde(default)]
    pub doctest: bool,
    #[serde(default, rename = "required-features")]
    pub required_features: Vec<String>,
}

impl Target {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|own| own == kind)
    }

    /// Kind and name as they stand in item ids: `lib`, `bin ripgrep`, `test integration`, `build script`.
    pub(crate) fn label(&self) -> String {
        match self.kind.first().map(String::as_str) {
            Some("custom-build") => "build script".to_owned(),
            Some(kind @ ("bin" | "example" | "test" | "bench")) => format!("{kind} {}", self.name),
            _ => "lib".to_owned(),
        }
    }
}

/// All messages in the order in which they came; lines that are none are passed over.
pub(crate) fn parse(stdout: &[u8]) -> Vec<Message> {
    let lines = stdout.split(|&byte| byte == b'\n').filter(|line| line.first() == Some(&b'{'));
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The name of the target that a line says was built: for progress, so it looks at no more than it must.
pub(crate) fn built_unit(line: &[u8]) -> Option<String> {
    if !line.starts_with(b"{\"reason\":\"compiler-artifact\"") {
        return None;
    }
    match serde_json::from_slice(line).ok()? {
        Message::CompilerArtifact(artifact) => Some(artifact.target.name),
        _ => None,
    }
}

/// What cargo's error output says it could not compile: package name and the unit, such as `lib`, `lib test`,
/// `bin "tool"`, `build script`.
pub(crate) fn not_compiled(stderr: &str) -> BTreeSet<(String, String)> {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("error: could not compile `"));
    lines
        .filter_map(|line| {
            let (package, rest) = line.split_once('`')?;
            let unit = rest.strip_prefix(" (")?.split_once(')')?.0;
            Some((package.to_owned(), unit.to_owned()))
        })
        .collect()
}

/// What the build script of a package said when it failed, if it did.
pub(crate) fn broken_script(stderr: &str, package: &str) -> Option<String> {
    let mark = format!("failed to run custom build command for `{package} v");
    let said = &stderr[stderr.find(&mark)?..];
    let lines = said.lines().take_while(|line| !line.starts_with("warning: build failed"));
    let mut text = task::printable(&lines.collect::<Vec<_>>().join("\n"));
    text.truncate(text.floor_char_boundary(2000));
    Some(text)
}

/// How [`not_compiled`] names a unit of a target.
pub(crate) fn unit_label(target: &Target, test: bool) -> String {
    let kind = target.kind.first().map_or("lib", String::as_str);
    match kind {
        "custom-build" => "build script".to_owned(),
        "test" | "bench" => format!("{kind} \"{}\"", target.name),
        "bin" | "example" => format!("{kind} \"{}\"{}", target.name, if test { " test" } else { "" }),
        _ => format!("lib{}", if test { " test" } else { "" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_that_cargo_gave_up_on_are_named() {
        let stderr = "   Compiling a v0.1.0\nerror: could not compile `a` (bench \"bench\") due to 1 previous error\n\
                      warning: build failed\nerror: could not compile `b` (lib test) due to 2 previous errors; 1 warning emitted\n";
        let named = not_compiled(stderr);
        assert!(named.contains(&("a".into(), "bench \"bench\"".into())));
        assert!(named.contains(&("b".into(), "lib test".into())));
        assert_eq!(named.len(), 2);
    }

    #[test]
    fn lines_that_are_not_messages_are_passed_over() {
        let stdout = b"hello from a proc macro\n{\"reason\":\"build-finished\",\"success\":false}\n{broken\n{\"reason\":\"new\"}\n";
        let messages = parse(stdout);
        assert!(matches!(messages.as_slice(), [Message::BuildFinished {}, Message::Other]));
    }
}
