//! What the developer installed for a project: `node_modules` and virtual environments. They are in no tree; checks see
//! them read-only, at the place where they are in the developer's folder.
//!
//! Nothing may be mounted inside the shadow, which commands write to. So the developer's folder is imitated inside the
//! jail: a folder in memory at its path, in which what is installed is mounted and everything else is a link into the
//! shadow. Links of packages that lead out of `node_modules` into the project, and packages that python has installed
//! "editable", so lead to the tree that is judged, and never to the developer's files. The shadow itself has a link
//! in the place of each `node_modules`, provisioned beside the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sandbox::Mount;
use sha2::{Digest as _, Sha256};
use task::{Digest, TreePath};

use crate::files::Files;
use crate::folder::{Folder, file_in, upwards};
use crate::npm::is_installed;

/// A folder that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    /// Where a project expects it.
    pub at: TreePath,
    /// Where it is, free of links.
    pub host: PathBuf,
}

/// The `node_modules` of every package of a tree that has one in the developer's folder.
///
/// # Errors
/// One sentence, when one of them is a link that leads out of the developer's folder.
pub(crate) fn node_modules(files: &dyn Files, workspace: &Path) -> Result<Vec<Installed>, String> {
    let list = files.list();
    let manifests = list.iter().filter(|path| path.file_name() == b"package.json" && !is_installed(path));
    let folders: BTreeSet<Folder> = manifests.flat_map(|path| upwards(path.parent())).collect();
    // Those of the tree itself are in the shadow.
    let kept: BTreeSet<Folder> = list
        .iter()
        .filter(|path| is_installed(path))
        .flat_map(|path| upwards(Some(path.clone())))
        .filter(|folder| folder.as_ref().is_some_and(|it| it.file_name() == b"node_modules"))
        .collect();
    let mut found = Vec::new();
    for at in folders.iter().filter_map(|folder| file_in(folder, "node_modules")) {
        if !kept.contains(&Some(at.clone())) {
            found.extend(installed(workspace, at)?);
        }
    }
    Ok(found)
}

/// What is installed at a place of the developer's folder.
pub(crate) fn installed(workspace: &Path, at: TreePath) -> Result<Option<Installed>, String> {
    let path = on_disk(workspace, &at);
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let host = path.canonicalize().map_err(|error| format!("{at} is a link that leads nowhere: {error}"))?;
    if !host.starts_with(workspace) {
        return Err(format!("{at} is a link that leads out of the workspace: install the packages in its place"));
    }
    Ok(host.is_dir().then_some(Installed { at, host }))
}

/// The links that have to stand beside a tree in its projection, with their targets, so that what is installed is found.
///
/// # Errors
/// One sentence, when something installed cannot be shown.
pub fn links(files: &dyn Files, workspace: &Path) -> Result<BTreeMap<TreePath, PathBuf>, String> {
    let found = node_modules(files, workspace)?.into_iter();
    Ok(found
        .map(|it| {
            let target = on_disk(workspace, &it.at);
            (it.at, target)
        })
        .collect())
}

/// The developer's folder as commands see it: what is installed, and links into the shadow.
pub(crate) fn imitated(files: &dyn Files, workspace: &Path, shadow: &Path, installed: &[Installed]) -> Vec<Mount> {
    let real: BTreeSet<Folder> = installed.iter().flat_map(|it| upwards(it.at.parent())).chain([None]).collect();
    let places: BTreeSet<&TreePath> = installed.iter().map(|it| &it.at).collect();
    let mut linked = BTreeSet::new();
    for path in files.list() {
        // The topmost part of it that is no folder in memory.
        let above: Vec<Folder> = upwards(Some(path)).collect();
        let part = above.into_iter().rev().flatten().find(|part| !real.contains(&Some(part.clone())));
        linked.extend(part.filter(|part| !places.contains(part) && !shadow.starts_with(on_disk(workspace, part))));
    }
    // Folders and manifests first: of very many files the others can be done without.
    let mut linked: Vec<&TreePath> = linked.iter().collect();
    linked.sort_by_key(|part| files.read(part).is_some() && part.file_name() != b"package.json");
    linked.truncate(MOST_LINKS);
    let links =
        linked.iter().map(|part| Mount::Link { inside: on_disk(workspace, part), target: on_disk(shadow, part) });
    let folders =
        installed.iter().map(|it| Mount::ReadOnly { host: it.host.clone(), inside: on_disk(workspace, &it.at) });
    folders.chain(links).collect()
}

/// A path of a tree below a folder of this machine.
pub(crate) fn on_disk(folder: &Path, path: &TreePath) -> PathBuf {
    folder.join(OsStr::from_bytes(path.as_bytes()))
}

/// A jail is made of a bounded number of words, three for each link.
const MOST_LINKS: usize = 1500;

/// Entries of an installation that are looked at. Beyond them a change is not seen.
const MOST: usize = 1_000_000;

/// What an installation holds, without reading it: path, size, time of change and mode of every entry. What tools keep
/// there for themselves is left out.
pub(crate) fn fingerprint(folders: &[PathBuf]) -> Digest {
    const CACHES: [&[u8]; 5] = [b".cache", b".vite", b".vitest", b".vite-temp", b"__pycache__"];
    let mut hash = Sha256::new();
    let mut seen = 0_usize;
    for top in folders {
        let mut open = vec![top.clone()];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut entries: Vec<_> = entries.map(|entry| (entry.file_name(), entry.path())).collect();
            entries.sort();
            for path in entries.into_iter().filter(|(name, _)| !CACHES.contains(&name.as_bytes())).map(|it| it.1) {
                let Ok(data) = path.symlink_metadata() else { continue };
                seen += 1;
                if seen > MOST {
                    break;
                }
                hash.update(path.strip_prefix(top).unwrap_or(&path).as_os_str().as_bytes());
                hash.update([0]);
                if data.is_dir() {
                    open.push(path);
                    continue;
                }
                for number in [data.size(), data.mtime() as u64, data.mtime_nsec() as u64, u64::from(data.mode())] {
                    hash.update(number.to_le_bytes());
                }
                if data.is_symlink() {
                    hash.update(fs::read_link(&path).unwrap_or_default().as_os_str().as_bytes());
                }
            }
        }
    }
    let text: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Digest::of([text])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileMap;

    fn tree(paths: &[&str]) -> FileMap {
        FileMap(paths.iter().map(|path| (path.parse().unwrap(), Vec::new())).collect())
    }

    #[test]
    fn around_what_is_installed_everything_leads_into_the_shadow() {
        let files = tree(&["LICENSE", "package.json", "src/a.js", "web/package.json", "web/src/b.js", "docs/x.md"]);
        let installed =
            ["node_modules", "web/node_modules"].map(|at| Installed { at: at.parse().unwrap(), host: "/h".into() });
        let mounts = imitated(&files, Path::new("/ws"), Path::new("/s"), &installed);
        let inside = |mount: &Mount| mount.inside().to_str().unwrap().to_owned();
        let folders = ["/ws/node_modules", "/ws/web/node_modules"];
        assert_eq!(mounts[..2].iter().map(inside).collect::<Vec<_>>(), folders);
        let links = ["docs", "package.json", "src", "web/package.json", "web/src", "LICENSE"];
        let wanted =
            links.map(|part| Mount::Link { inside: Path::new("/ws").join(part), target: Path::new("/s").join(part) });
        assert_eq!(mounts[2..], wanted);
    }

    #[test]
    fn packages_that_the_repository_brings_are_not_looked_for_elsewhere() {
        let workspace = tempfile::tempdir().unwrap();
        let top = workspace.path().canonicalize().unwrap();
        for folder in ["node_modules", "web/node_modules"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        let found = node_modules(&tree(&["package.json", "node_modules/x/package.json", "web/package.json"]), &top);
        assert_eq!(
            found.unwrap(),
            [Installed { at: "web/node_modules".parse().unwrap(), host: top.join("web/node_modules") }]
        );
    }

    #[test]
    fn a_fingerprint_changes_with_a_file_and_not_with_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("x/.cache")).unwrap();
        fs::write(top.join("x/a"), "1").unwrap();
        let before = fingerprint(std::slice::from_ref(&top));
        fs::write(top.join("x/.cache/b"), "1").unwrap();
        assert_eq!(fingerprint(std::slice::from_ref(&top)), before);
        fs::write(top.join("x/a"), "12").unwrap();
        assert_ne!(fingerprint(&[top]), before);
    }
}
