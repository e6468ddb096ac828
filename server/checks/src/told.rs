//! What failing tests told: the part that identifies the failure, where it points, and a few lines for people.

use std::path::Path;

use task::TreePath;

use crate::commands::tree_path;
use crate::order::Order;

/// A few lines, printable. No word of them is cut in two: a part of a secret is not known as one by whoever leaves
/// secrets out of what is passed on.
pub(crate) fn excerpt(text: &str) -> String {
    const LINES: usize = 20;
    const BYTES: usize = 2000;
    let lines: Vec<&str> = text.trim_matches('\n').lines().take(LINES).collect();
    let mut text = task::printable(&lines.join("\n"));
    if text.len() > BYTES {
        let cut = &text[..text.floor_char_boundary(BYTES)];
        text.truncate(cut.trim_end_matches(|c: char| c.is_alphanumeric() || "+/=_-.~%".contains(c)).len());
    }
    text
}

/// The messages of panics in what a test printed, or its last lines where nothing panicked: other output (logs, dumps)
/// may vary while the failure is the same.
pub(crate) fn what_failed(section: &str) -> String {
    let mut said: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in section.lines() {
        if line.starts_with("thread '") && line.contains(" panicked at ") {
            inside = true;
        } else if line.starts_with("stack backtrace:") || line.starts_with("note: ") {
            inside = false;
        } else if inside {
            said.push(line);
        }
    }
    if said.is_empty() {
        let lines: Vec<&str> = section.lines().filter(|line| !line.trim().is_empty()).collect();
        said = lines[lines.len().saturating_sub(5)..].to_vec();
    }
    said.join("\n")
}

/// Where the first panic happened, if that is in the tree.
pub(crate) fn place(section: &str, order: &Order<'_>) -> Option<(TreePath, u32)> {
    place_in(section, order.shadow, &order.check.root)
}

fn place_in(section: &str, shadow: &Path, root: &Option<TreePath>) -> Option<(TreePath, u32)> {
    let line = section.lines().find(|line| line.starts_with("thread '") && line.contains(" panicked at "))?;
    let at = line.split(" panicked at ").nth(1)?.trim_end_matches(':');
    let mut parts = at.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((tree_path(shadow, root, file)?, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_with_a_whole_word() {
        let text = format!("{} key=\"sk-0123456789-{}\"", "a ".repeat(990), "b".repeat(40));
        assert!(excerpt(&text).ends_with(" key=\""), "{}", excerpt(&text));
        assert_eq!(excerpt("short"), "short");
    }

    const SECTION: &str =
        "some log 17:03\n\nthread 'bad' (17232) panicked at src/a.rs:2:20:\nno 3\nstack backtrace:\n   0: x\n";

    #[test]
    fn the_message_of_the_panic_is_what_failed() {
        assert_eq!(what_failed(SECTION), "no 3");
        assert_eq!(what_failed("Error: \"x\"\n"), "Error: \"x\"");
    }

    #[test]
    fn a_panic_points_into_the_tree_or_nowhere() {
        let root = Some("tools".parse().unwrap());
        let found = place_in(SECTION, Path::new("/s"), &root);
        assert_eq!(found, Some(("tools/src/a.rs".parse().unwrap(), 2)));
        assert_eq!(place_in(&SECTION.replace("src/a.rs", "/rustc/abc/core.rs"), Path::new("/s"), &root), None);
    }
}
