//! Which names may be given to something new: those that mean the same on every machine and to every reader.
//!
//! A base carries whatever names it has; these rules are for what a patch, an edit or a publication would add.

use task::{Mode, TreePath};

/// Most bytes of one component and of a path, and most components of one.
const COMPONENT: usize = 255;
const PATH: usize = 4096;
const DEPTH: usize = 64;

/// Why nothing may be written at this path; `None` when it may.
pub(crate) fn refused(path: &TreePath) -> Option<&'static str> {
    let Some(text) = path.to_str() else { return Some("its name is not UTF-8") };
    if text.len() > PATH || path.components().count() > DEPTH {
        return Some("its path is too long or too deep");
    }
    // The escaped form differs exactly where a character is a control, hides or reorders text, or is a backslash.
    if path.to_string() != text {
        return Some("its name holds a backslash, a control character or an invisible one");
    }
    path.components().find_map(|part| refused_component(&String::from_utf8_lossy(part)))
}

fn refused_component(part: &str) -> Option<&'static str> {
    if part.len() > COMPONENT {
        return Some("a part of its path is longer than 255 bytes");
    }
    // Other systems see `.git` in all of these: case, trailing dots and spaces, streams, short names.
    let lower = part.to_lowercase();
    let bare = lower.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let short = bare
        .strip_prefix("git~")
        .is_some_and(|tail| !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit()));
    if bare == ".git" || short {
        return Some("it belongs to git itself");
    }
    None
}

/// Why a symlink at this path may not have this target; `None` when it may.
pub(crate) fn refused_link(path: &TreePath, target: &[u8]) -> Option<&'static str> {
    if target.is_empty() || target.contains(&0) {
        return Some("a symbolic link needs a target");
    }
    if target[0] == b'/' {
        return Some("a symbolic link may not have an absolute target");
    }
    let mut depth = path.components().count() - 1;
    for part in target.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return Some("a symbolic link may not point out of the tree"),
            },
            name => {
                if refused_component(&String::from_utf8_lossy(name)).is_some() {
                    return Some("a symbolic link may not point into git's own folder");
                }
                depth += 1;
            }
        }
    }
    None
}

/// Both rules, for a new entry.
pub(crate) fn refused_entry(path: &TreePath, mode: Mode, bytes: &[u8]) -> Option<&'static str> {
    refused(path).or_else(|| match mode {
        Mode::Symlink => refused_link(path, bytes),
        Mode::Gitlink => Some("it is a submodule"),
        Mode::File | Mode::Executable => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_git_folder_is_refused() {
        for bad in
            [".git/config", "a/.GIT/hooks/x", ".git. /x", "git~1", ".git::$INDEX_ALLOCATION/x", "a\\b", "x\u{202e}y"]
        {
            assert!(refused(&bad.parse().unwrap()).is_some(), "{bad}");
        }
        for good in [".gitignore", ".github/x", "a/git~", "weird name.rs", "é.rs"] {
            assert_eq!(refused(&good.parse().unwrap()), None, "{good}");
        }
    }

    #[test]
    fn links_stay_inside_the_tree() {
        let path = "a/b".parse().unwrap();
        assert_eq!(refused_link(&path, b"../c"), None);
        for bad in [&b"/etc"[..], b"../../x", b"../.git/config", b""] {
            assert!(refused_link(&path, bad).is_some());
        }
    }
}
