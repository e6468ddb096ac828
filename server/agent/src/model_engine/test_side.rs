//! The side of tests in a change, as it was before: what the change rewrote there, took away and added.
//!
//! Files of tests and of those who run them are put back, those that were added go, and of manifests the lines about tests
//! are put back. Left is what the program itself uses: that is the program's, wherever it lies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use checks::Ecosystem;
use task::{CheckKind, ItemKind, Limitation, Receipt, TreeId, TreePath};
use worktree::NewEntries;

use super::test_files::{is_code, is_installed, is_nothing_but_tests, is_of_a_runner, is_test, is_test_inside};
use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

/// What puts the side of tests back.
#[derive(Debug, Default)]
pub(crate) struct TestSide {
    /// By path; None where there was nothing.
    pub as_it_was: NewEntries,
    /// What tests may be judged by and nothing puts back.
    pub limitations: Vec<Limitation>,
}

/// A file of a change.
struct Changed {
    path: TreePath,
    before: Option<Arc<[u8]>>,
    after: Option<Arc<[u8]>>,
    is_of_tests: bool,
}

impl Walk<'_> {
    /// The side of tests of a change. `at_base` are receipts of the base, `shown` those of the tree.
    pub(crate) fn test_side(
        &self,
        base: &TreeId,
        tree: &TreeId,
        at_base: &[Receipt],
        shown: &[Receipt],
    ) -> Result<TestSide, Error> {
        let judged = files_with_results(at_base);
        let mut files = Vec::new();
        let mut modes = BTreeMap::new();
        for file in worktree::published_files(&self.store, base, tree)? {
            let (before, after) = (self.store.read(base, &file.path)?, self.store.read(tree, &file.path)?);
            modes.extend(file.before.map(|(_, mode)| (file.path.clone(), mode)));
            let is_of_tests = is_of_tests(&file.path, before.as_deref().or(after.as_deref()), &judged);
            files.push(Changed { path: file.path, before, after, is_of_tests });
        }
        let all = self.store.entries(tree)?;
        let own: BTreeSet<&[u8]> = all.keys().filter(|path| !is_test(path)).filter_map(|path| stem(path)).collect();
        let used = used_by_the_program(&files, &own);
        let only_by_tests = checks::used_by_tests_only(&TreeFiles { store: &self.store, tree: base });
        let mut side = TestSide::default();
        for file in &files {
            let put_back = match (&file.before, &file.after) {
                (None, _) if used.contains(&file.path) => {
                    let text = "this was added where tests are, and stayed when the tests ran as they were: the program uses it";
                    side.limitations.push(Limitation::at(file.path.clone(), None, text));
                    continue;
                }
                (None, _) if file.is_of_tests && !is_module(&file.path) => None,
                (Some(before), _) if file.is_of_tests => Some(Arc::clone(before)),
                (Some(_), Some(_)) if judged.contains(&file.path) => {
                    let text = "tests stand in this file beside the code; they are not run as they were";
                    side.limitations.push(Limitation::at(file.path.clone(), None, text));
                    continue;
                }
                (Some(before), Some(after)) => match checks::with_tests_of(&file.path, before, after) {
                    Some(bytes) => Some(bytes.into()),
                    None => {
                        side.limitations.extend(self.input(base, file, shown, &only_by_tests)?);
                        continue;
                    }
                },
                _ => {
                    side.limitations.extend(self.stands_in(base, file)?);
                    continue;
                }
            };
            let entry = put_back.and_then(|bytes| Some((bytes, *modes.get(&file.path)?)));
            side.as_it_was.insert(file.path.clone(), entry);
        }
        // A module in a file of its own and in a folder of its own are the same one: there cannot be both.
        let back: Vec<TreePath> = side.as_it_was.iter().filter(|(_, it)| it.is_some()).map(|it| it.0.clone()).collect();
        let added = |path: &TreePath| files.iter().any(|file| file.before.is_none() && file.path == *path);
        for twin in back.iter().flat_map(twins).filter(added) {
            side.as_it_was.insert(twin, None);
        }
        Ok(side)
    }

    /// What is said of a new file of the program that importers of another one may find instead.
    fn stands_in(&self, base: &TreeId, file: &Changed) -> Result<Option<Limitation>, Error> {
        if file.before.is_some() || !is_code(&file.path) || file.path.as_bytes().ends_with(b".rs") {
            return Ok(None);
        }
        let (entries, name) = (self.store.entries(base)?, module(&file.path));
        let other = entries.keys().find(|other| is_code(other) && module(other) == name);
        Ok(other.map(|other| {
            let text = format!("whoever imports {other} may find this new file instead, and so may its tests");
            Limitation::at(file.path.clone(), None, text)
        }))
    }

    /// What is said of a changed file that tests may be judged by although it is none of theirs.
    fn input(
        &self,
        base: &TreeId,
        file: &Changed,
        shown: &[Receipt],
        only_by_tests: &BTreeSet<TreePath>,
    ) -> Result<Option<Limitation>, Error> {
        let at = |text: &str| Some(Limitation::at(file.path.clone(), None, text));
        if only_by_tests.iter().any(|folder| file.path.strip_prefix(folder).is_some()) {
            return Ok(at(
                "only tests use the package that this belongs to: see whether they still judge what they did",
            ));
        }
        let name = String::from_utf8_lossy(file.path.file_name());
        if name.starts_with("tsconfig") {
            return Ok(at("this decides what the compiler looks at: see whether it still looks at what it did"));
        }
        if is_code(&file.path) || is_manifest(&file.path) {
            return Ok(None);
        }
        let tests = |receipt: &&Receipt| receipt.check.kind == CheckKind::Test;
        let is_read = shown.iter().filter(tests).any(|receipt| receipt.read.contains(&file.path));
        let (entries, folder) = (self.store.entries(base)?, file.path.parent());
        let is_near = || {
            !(name.ends_with(".md") || name.starts_with('.'))
                && entries.keys().any(|other| is_test(other) && is_code(other) && other.parent() == folder)
        };
        if is_read || is_near() {
            return Ok(at(
                "tests may be judged by this file, and it was changed with the code: see whether it was meant",
            ));
        }
        Ok(None)
    }
}

/// What importers call a file: its path without an ending, and of the first file of a folder the folder's.
fn module(path: &TreePath) -> String {
    let text = path.to_string();
    let name = text.strip_suffix(".d.ts").or(text.rsplit_once('.').map(|it| it.0)).unwrap_or(&text);
    name.strip_suffix("/index").or(name.strip_suffix("/__init__")).unwrap_or(name).to_owned()
}

/// The files that tests of npm and python stand in: their ids begin with them.
fn files_with_results(receipts: &[Receipt]) -> BTreeSet<TreePath> {
    let mut files = BTreeSet::new();
    for receipt in receipts.iter().filter(|it| it.check.kind == CheckKind::Test) {
        if checks::ecosystem(&receipt.check) == Some(Ecosystem::Cargo) {
            continue;
        }
        for item in receipt.items.iter().filter(|item| item.kind == ItemKind::Test) {
            let Some(Ok(file)) = item.id.path.split("::").next().map(str::parse::<TreePath>) else { continue };
            files.insert(receipt.check.root.as_ref().map_or_else(|| file.clone(), |root| root.join(&file)));
        }
    }
    files
}

fn is_of_tests(path: &TreePath, text: Option<&[u8]>, judged: &BTreeSet<TreePath>) -> bool {
    let text = String::from_utf8_lossy(text.unwrap_or_default());
    is_test(path)
        || is_of_a_runner(path)
        || is_installed(path)
        || is_test_inside(path, &text)
        || judged.contains(path) && is_nothing_but_tests(path, &text)
}

/// Added files that the program itself names, or a file does that it names: they are its own, although they lie where
/// tests do. One that is called like a file of the program may stand in for it, and is not among them.
fn used_by_the_program(files: &[Changed], own: &BTreeSet<&[u8]>) -> BTreeSet<TreePath> {
    let mut open: Vec<&Changed> = files.iter().filter(|file| !file.is_of_tests && is_code(&file.path)).collect();
    let mut used = BTreeSet::new();
    while let Some(user) = open.pop() {
        let text = String::from_utf8_lossy(user.after.as_deref().unwrap_or_default());
        let imports: Vec<&str> = text.lines().filter(|line| imports(line)).collect();
        for file in files.iter().filter(|it| it.before.is_none() && it.is_of_tests && is_code(&it.path)) {
            let path = &file.path;
            if is_of_a_runner(path) || is_installed(path) || is_module(path) || used.contains(path) {
                continue;
            }
            let Some(name) = stem(&file.path).filter(|name| !own.contains(name)) else { continue };
            let name = String::from_utf8_lossy(name);
            if imports.iter().any(|line| line.split(|c: char| !is_part_of_a_name(c)).any(|word| word == name)) {
                used.insert(file.path.clone());
                open.push(file);
            }
        }
    }
    used
}

fn imports(line: &str) -> bool {
    ["import", "require", "from", "use ", "mod "].iter().any(|word| line.contains(word))
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$')
}

/// What a file is called by those who import it: its name, and for the first file of a folder the folder's.
fn stem(path: &TreePath) -> Option<&[u8]> {
    let name = path.file_name();
    match name.split(|&byte| byte == b'.').next().unwrap_or(name) {
        b"index" | b"mod" | b"__init__" | b"main" => {
            let parts: Vec<&[u8]> = path.components().collect();
            parts.iter().rev().nth(1).copied()
        }
        name => Some(name),
    }
}

/// Whether a file is a module of Rust that counts only where the program declares it. Below `tests` each is a program.
fn is_module(path: &TreePath) -> bool {
    path.as_bytes().ends_with(b".rs") && path.components().any(|part| part == b"src")
}

/// The other places of a module of Rust.
fn twins(path: &TreePath) -> Vec<TreePath> {
    let text = path.to_string();
    let folder = ["/mod.rs", "/main.rs"].iter().find_map(|end| text.strip_suffix(end));
    let twins = match (folder, text.strip_suffix(".rs")) {
        (Some(folder), _) => vec![format!("{folder}.rs")],
        (None, Some(module)) => vec![format!("{module}/mod.rs"), format!("{module}/main.rs")],
        (None, None) => Vec::new(),
    };
    twins.into_iter().filter_map(|twin| twin.parse().ok()).collect()
}

/// What says how a project is built and what it depends on: of those the lines about tests are put back.
pub(crate) fn is_manifest(path: &TreePath) -> bool {
    let name = String::from_utf8_lossy(path.file_name());
    matches!(&*name, "Cargo.toml" | "package.json" | "pyproject.toml")
        || name.ends_with(".lock")
        || name.ends_with("-lock.json")
        || name.ends_with("-lock.yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(path: &str, text: &str) -> Changed {
        let path: TreePath = path.parse().unwrap();
        let is_of_tests = is_of_tests(&path, Some(text.as_bytes()), &BTreeSet::new());
        Changed { path, before: None, after: Some(text.as_bytes().into()), is_of_tests }
    }

    #[test]
    fn what_the_program_uses_is_its_own_unless_it_may_stand_in_for_another_file() {
        let files = [
            added("src/run.js", "import { parse } from './spec/index.js';\nimport { mean } from '../test/mean.js';"),
            added("src/spec/index.js", "export * from './parser.js';"),
            added("src/spec/parser.js", ""),
            added("src/spec/unused.js", ""),
            added("test/mean.js", ""),
            added("conftest.py", ""),
        ];
        let used = used_by_the_program(&files, &BTreeSet::from([b"mean".as_slice(), b"run"]));
        assert_eq!(
            used.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["src/spec/index.js", "src/spec/parser.js"]
        );
    }

    #[test]
    fn importers_know_files_by_names_without_endings() {
        let of = |path: &str| module(&path.parse().unwrap());
        assert_eq!([of("src/mean.ts"), of("src/mean.js"), of("src/mean/index.ts")], ["src/mean"; 3]);
        assert_eq!([of("mean/__init__.py"), of("mean.d.ts")], ["mean"; 2]);
    }

    #[test]
    fn a_module_has_two_places() {
        let of = |path: &str| twins(&path.parse().unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of("tests/api.rs"), ["tests/api/mod.rs", "tests/api/main.rs"]);
        assert_eq!(of("src/tests/mod.rs"), ["src/tests.rs"]);
        assert!(of("test/a.js").is_empty());
    }
}
