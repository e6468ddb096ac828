//! The python projects of a tree that have tests, as pytest would find them.

use std::collections::{BTreeMap, BTreeSet};

use task::TreePath;

use crate::files::Files;
use crate::folder::{Folder, file_in, holds, is_fixture, upwards, within};
use crate::npm::is_installed;
use crate::project::{Project, check};
use crate::tool::{Ecosystem, Tool};

/// Files that make their folder a project.
const MANIFESTS: [&str; 8] =
    ["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", ".pytest.ini", "tox.ini", "Pipfile", "requirements.txt"];

/// Every project with a file of tests that it owns.
pub(crate) fn find(files: &dyn Files) -> Vec<Project> {
    let list = files.list();
    let own = |path: &&TreePath| !is_installed(path) && !is_fixture(path);
    let is_manifest = |path: &&TreePath| MANIFESTS.iter().any(|name| path.file_name() == name.as_bytes());
    let folders: BTreeSet<Folder> = list.iter().filter(own).filter(is_manifest).map(TreePath::parent).collect();
    let mut roots: BTreeSet<Folder> = BTreeSet::new();
    for path in list.iter().filter(own).filter(|path| is_test(path)) {
        let owner = upwards(path.parent()).find(|folder| folders.contains(folder));
        // Without any manifest: the folder above the tests, or where its `conftest.py` is.
        roots.insert(owner.unwrap_or_else(|| above_tests(path)));
    }
    let mut projects = Vec::new();
    for folder in &roots {
        // Each project's tests are run in its own folder.
        let inner = roots.iter().filter(|other| *other != folder && within(other, folder));
        let ignored = inner.filter_map(|other| match folder {
            Some(folder) => other.as_ref()?.strip_prefix(folder),
            None => other.clone(),
        });
        let args: Vec<String> = ignored.map(|inner| format!("--ignore={inner}")).collect();
        projects.push(Project {
            ecosystem: Ecosystem::Python,
            folder: folder.clone(),
            checks: vec![check(Tool::Pytest, folder, &[], &args)],
            unavailable: BTreeMap::new(),
            uses: BTreeSet::new(),
            has_manifest: folders.contains(folder),
        });
    }
    projects
}

/// `test_*.py` or `*_test.py`
fn is_test(path: &TreePath) -> bool {
    let name = path.file_name();
    name.ends_with(b".py") && (name.starts_with(b"test_") || name.ends_with(b"_test.py"))
}

fn above_tests(path: &TreePath) -> Folder {
    let tests = |folder: &TreePath| matches!(folder.file_name(), b"tests" | b"test");
    let outermost = upwards(path.parent()).flatten().filter(tests).last();
    outermost.map_or_else(|| path.parent(), |tests| tests.parent())
}

/// What a project calls itself, else its folder.
pub(crate) fn name(files: &dyn Files, folder: &Folder) -> String {
    let text = file_in(folder, "pyproject.toml").and_then(|path| files.read(&path)).unwrap_or_default();
    let table: Option<toml::Table> = String::from_utf8_lossy(&text).parse().ok();
    let named = |keys: &[&str]| {
        let mut value = table.as_ref()?.get(*keys.first()?)?;
        for key in &keys[1..] {
            value = value.get(key)?;
        }
        value.as_str().map(str::to_owned)
    };
    named(&["project", "name"])
        .or_else(|| named(&["tool", "poetry", "name"]))
        .unwrap_or_else(|| folder.as_ref().map_or_else(|| "python".to_owned(), TreePath::to_string))
}

/// Whether a folder holds anything in a tree.
pub(crate) fn is_there(files: &dyn Files, folder: &Folder) -> bool {
    files.list().iter().any(|path| holds(folder, path))
}
