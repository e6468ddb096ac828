//! Folders of a tree, and the paths that manifests write, resolved by their text alone.

use task::TreePath;

/// A folder of the tree; `None` is its top.
pub(crate) type Folder = Option<TreePath>;

/// Resolves a path as a manifest in `folder` writes it. `Err` when it leaves the tree.
pub(crate) fn resolve(folder: &Folder, written: &str) -> Result<Folder, ()> {
    if written.starts_with('/') {
        return Err(());
    }
    let mut parts: Vec<&[u8]> = folder.iter().flat_map(TreePath::components).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or(())?),
            part => parts.push(part.as_bytes()),
        }
    }
    if parts.is_empty() { Ok(None) } else { TreePath::new(parts.join(&b'/')).map(Some).map_err(|_| ()) }
}

/// The path of a file in a folder.
pub(crate) fn file_in(folder: &Folder, name: &str) -> Option<TreePath> {
    let name = name.parse::<TreePath>().ok()?;
    Some(folder.as_ref().map_or_else(|| name.clone(), |folder| folder.join(&name)))
}

/// Whether a path lies in a folder or below it.
pub(crate) fn holds(folder: &Folder, path: &TreePath) -> bool {
    folder.as_ref().is_none_or(|folder| path.strip_prefix(folder).is_some())
}

/// Whether a folder is another one or lies below it.
pub(crate) fn within(inner: &Folder, outer: &Folder) -> bool {
    inner == outer || inner.as_ref().is_some_and(|inner| holds(outer, inner))
}

/// The folder itself and all above it, nearest first, the top of the tree last.
pub(crate) fn upwards(folder: Folder) -> impl Iterator<Item = Folder> {
    std::iter::successors(Some(folder), |folder| folder.as_ref().map(TreePath::parent))
}

/// Whether a file is data of tests: manifests among them make no project, they belong to the one around.
pub(crate) fn is_fixture(path: &TreePath) -> bool {
    const NAMES: [&[u8]; 6] = [b"fixtures", b"__fixtures__", b"fixture", b"testdata", b"test-data", b"__mocks__"];
    path.components().any(|part| NAMES.contains(&part))
}

/// How a folder is written after "in"; nothing for the top.
pub(crate) fn suffix(folder: &Folder) -> String {
    folder.as_ref().map(|folder| format!(" in {folder}")).unwrap_or_default()
}

/// Whether a pattern of a workspace's `members` matches a folder below the workspace's own: `*` and `?` stay within one
/// component, `**` spans any number of them.
pub(crate) fn matches(pattern: &str, path: &[&[u8]]) -> bool {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    matches_parts(&parts, path)
}

fn matches_parts(pattern: &[&str], path: &[&[u8]]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            matches_parts(rest, path) || path.split_first().is_some_and(|(_, path)| matches_parts(pattern, path))
        }
        ([first, rest @ ..], [name, path @ ..]) => matches_name(first.as_bytes(), name) && matches_parts(rest, path),
        _ => false,
    }
}

fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches_name(rest, name) || name.split_first().is_some_and(|(_, name)| matches_name(pattern, name))
        }
        ([b'?', pattern @ ..], [_, name @ ..]) => matches_name(pattern, name),
        ([one, pattern @ ..], [other, name @ ..]) => one == other && matches_name(pattern, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> Folder {
        Some(text.parse().unwrap())
    }

    #[test]
    fn written_paths_resolve_inside_the_tree_or_not_at_all() {
        assert_eq!(resolve(&folder("a/b"), "../c"), Ok(folder("a/c")));
        assert_eq!(resolve(&folder("a"), ".."), Ok(None));
        assert_eq!(resolve(&folder("a"), "../../x"), Err(()));
        assert_eq!(resolve(&None, "/etc"), Err(()));
    }

    #[test]
    fn patterns_of_members_stay_within_components() {
        let path = |text: &'static str| text.split('/').map(str::as_bytes).collect::<Vec<_>>();
        assert!(matches("crates/*", &path("crates/a")));
        assert!(!matches("crates/*", &path("crates/a/b")));
        assert!(matches("crates/**", &path("crates/a/b")));
        assert!(matches("./tools", &path("tools")));
        assert!(matches("a?-*", &path("ab-c")));
    }

    #[test]
    fn a_folder_holds_what_lies_below_it_only() {
        let path: TreePath = "ab/c".parse().unwrap();
        assert!(holds(&None, &path) && holds(&folder("ab"), &path) && !holds(&folder("a"), &path));
        assert_eq!(upwards(folder("a/b")).collect::<Vec<_>>(), [folder("a/b"), folder("a"), None]);
    }
}
