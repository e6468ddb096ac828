//! Comments that ask for a task: `// understudy: fix warnings`, in whatever language.

use task::{TreePath, Trigger};

const WORD: &str = "understudy:";
/// What begins a comment somewhere. The longest that fits is meant.
const TOKENS: [&str; 9] = ["///", "//", "<!--", "/*", "--", "#", ";", "%", "*"];
const CLOSERS: [&str; 2] = ["*/", "-->"];

/// What a line asks for.
pub fn read(line: &str) -> Option<String> {
    let (before, after) = line.split_once(WORD)?;
    if !TOKENS.iter().any(|token| before.trim_end().ends_with(token)) {
        return None;
    }
    let mut description = after.trim();
    for closer in CLOSERS {
        description = description.strip_suffix(closer).unwrap_or(description).trim_end();
    }
    (!description.is_empty()).then(|| description.to_owned())
}

/// The trigger of a line of a file; lines count from 0 here.
pub fn trigger(path: TreePath, line: usize, text: &str) -> Trigger {
    let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
    Trigger { path, line, text: text.trim_end_matches(['\r', '\n']).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_from_comments_and_from_nothing_else() {
        for (line, task) in [
            ("    // understudy: fix warnings", Some("fix warnings")),
            ("let x = 1; // understudy: rename `x` to `y`  ", Some("rename `x` to `y`")),
            ("# understudy: fix clippy", Some("fix clippy")),
            ("/* understudy: fix errors */", Some("fix errors")),
            ("<!-- understudy: fix errors -->", Some("fix errors")),
            ("let text = \"understudy: no\";", None),
            ("// understudy:", None),
            ("// understudies: x", None),
        ] {
            assert_eq!(read(line).as_deref(), task, "{line}");
        }
    }
}
