//! Workspace folders, and the way between URIs and paths of trees.
//!
//! The client names a folder as it likes, through a link for instance; trees are relative to git's top level, which may
//! lie above the folder.

use std::path::{Path, PathBuf};

use lsp_types::{InitializeParams, Url, WorkspaceFoldersChangeEvent};
use task::TreePath;

/// The file that a URI names; `None` for what only looks like one: an older revision under a scheme of its own, say.
pub fn path_of(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() == "file" { uri.to_file_path().ok() } else { None }
}

/// One folder that the client has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// As the client says it.
    pub given: PathBuf,
    /// Without links.
    pub path: PathBuf,
    /// What tree paths are relative to; the folder itself until somebody has looked.
    pub top: PathBuf,
}

impl Folder {
    fn new(given: PathBuf) -> Self {
        let path = given.canonicalize().unwrap_or_else(|_| given.clone());
        Self { given, top: path.clone(), path }
    }

    /// The tree path of a document, `None` outside the workspace.
    pub fn tree_path(&self, document: &Path) -> Option<TreePath> {
        self.tree_path_below(&self.top, document)
    }

    /// The same for a top that the caller knows better.
    pub fn tree_path_below(&self, top: &Path, document: &Path) -> Option<TreePath> {
        let absolute = match document.strip_prefix(&self.given) {
            Ok(rest) => self.path.join(rest),
            Err(_) => document.to_owned(),
        };
        let relative = absolute.strip_prefix(top).ok()?;
        TreePath::new(std::os::unix::ffi::OsStrExt::as_bytes(relative.as_os_str()).to_vec()).ok()
    }

    /// The document of a tree path, named as the client would.
    pub fn document(&self, path: &TreePath) -> PathBuf {
        let absolute =
            self.top.join(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path.as_bytes())));
        match absolute.strip_prefix(&self.path) {
            Ok(rest) => self.given.join(rest),
            Err(_) => absolute,
        }
    }

    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

/// All of them, in the client's order.
#[derive(Debug, Default)]
pub struct Folders(Vec<Folder>);

impl Folders {
    pub fn of(params: &InitializeParams) -> Self {
        let named = params.workspace_folders.iter().flatten().filter_map(|folder| path_of(&folder.uri));
        let mut paths: Vec<PathBuf> = named.collect();
        if paths.is_empty() {
            // Clients that know no workspace folders still name their root.
            let root = params.root_uri.as_ref().and_then(path_of);
            paths.extend(root);
        }
        Self(paths.into_iter().map(Folder::new).collect())
    }

    pub fn changed(&mut self, event: &WorkspaceFoldersChangeEvent) {
        let gone: Vec<PathBuf> = event.removed.iter().filter_map(|folder| path_of(&folder.uri)).collect();
        self.0.retain(|folder| !gone.contains(&folder.given));
        for folder in &event.added {
            if let Some(path) = path_of(&folder.uri)
                && !self.0.iter().any(|known| known.given == path)
            {
                self.0.push(Folder::new(path));
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Folder> {
        self.0.iter()
    }

    pub fn known(&mut self, path: &Path, top: PathBuf) {
        for folder in self.0.iter_mut().filter(|folder| folder.path == path) {
            folder.top.clone_from(&top);
        }
    }

    /// The innermost folder that holds a document.
    pub fn holding(&self, document: &Path) -> Option<&Folder> {
        let holding =
            self.0.iter().filter(|folder| document.starts_with(&folder.given) || document.starts_with(&folder.path));
        holding.max_by_key(|folder| folder.given.as_os_str().len())
    }

    /// The folder that a task belongs to.
    pub fn by_path(&self, path: &str) -> Option<&Folder> {
        self.0.iter().find(|folder| folder.path == Path::new(path) || folder.given == Path::new(path))
    }

    /// The folder that a caller names by path or URI; without a name, the only one.
    pub fn named(&self, name: Option<&str>) -> Result<&Folder, String> {
        match (name, self.0.as_slice()) {
            (_, []) => Err("no folder is open here; open the folder of a project first".to_owned()),
            (None, [only]) => Ok(only),
            (None, several) => {
                let names: Vec<String> = several.iter().map(Folder::name).collect();
                Err(format!("several folders are open; say which one as `folder`: {}", names.join(", ")))
            }
            (Some(name), _) => {
                let path = Url::parse(name).ok().as_ref().and_then(path_of).unwrap_or_else(|| name.into());
                let folder = self.0.iter().find(|folder| folder.given == path || folder.path == path);
                folder
                    .or_else(|| self.holding(&path))
                    .ok_or_else(|| format!("{} is not in a folder that is open here", task::printable(name)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_below_the_top_and_behind_a_link_is_mapped_both_ways() {
        let folder = Folder { given: "/link/app".into(), path: "/real/repo/app".into(), top: "/real/repo".into() };
        let path: TreePath = "app/src/a b.rs".parse().unwrap();
        assert_eq!(folder.tree_path(Path::new("/link/app/src/a b.rs")), Some(path.clone()));
        assert_eq!(folder.document(&path), Path::new("/link/app/src/a b.rs"));
        let beside: TreePath = "lib/x.rs".parse().unwrap();
        assert_eq!(folder.document(&beside), Path::new("/real/repo/lib/x.rs"));
        assert_eq!(folder.tree_path(Path::new("/real/repo/lib/x.rs")), Some(beside));
        assert_eq!(folder.tree_path(Path::new("/elsewhere/x.rs")), None);
    }

    #[test]
    fn a_folder_is_named_only_where_it_is_not_clear() {
        let folder = |path: &str| Folder { given: path.into(), path: path.into(), top: path.into() };
        assert!(Folders::default().named(None).unwrap_err().contains("no folder is open"));
        let folders = Folders(vec![folder("/a"), folder("/a/b")]);
        assert!(folders.named(None).unwrap_err().contains("/a, /a/b"));
        assert_eq!(folders.named(Some("file:///a/b/src/x.rs")).unwrap().given, Path::new("/a/b"));
        assert!(folders.named(Some("/c")).is_err());
    }
}
