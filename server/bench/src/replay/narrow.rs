//! A workspace cut down to what `cargo test -p` of the changed packages would build: for repositories whose checks as a
//! whole take longer than a measurement may.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::Failure;

type Files = BTreeMap<String, Vec<u8>>;

/// Folders whose programs are left out, and the manifest's tables about them.
const ASIDE: [(&str, &str); 3] = [("tests", "test"), ("benches", "bench"), ("examples", "example")];

/// Leaves out members and nested workspaces that the fix does not touch, programs of tests, benches and examples that it
/// does not touch, and doc tests. Packages that others depend on by path stay members, as cargo has it. Answers whether anything was done: a
/// repository of one package is left alone.
pub fn narrow(files: &mut Files, touched: &BTreeSet<String>) -> Result<bool, Failure> {
    let Some(mut root) = manifest(files, "")?.filter(|root| root.contains_key("workspace")) else { return Ok(false) };
    let all: Vec<String> = files.keys().filter_map(|path| folder(path)).filter(|folder| !folder.is_empty()).collect();
    for folder in &all {
        let nested = manifest(files, folder)?.is_some_and(|it| it.contains_key("workspace"));
        if nested && !touched.iter().any(|path| is_in(path, folder)) {
            files.retain(|path, _| !(path.ends_with("Cargo.toml") && is_in(path, folder)));
        }
    }
    let folders: BTreeSet<String> = files.keys().filter_map(|path| folder(path)).collect();
    let owner = |path: &str| folders.iter().filter(|folder| is_in(path, folder)).max_by_key(|folder| folder.len());
    let members: BTreeSet<&String> = touched.iter().filter_map(|path| owner(path)).collect();
    if let Some(workspace) = root.get_mut("workspace").and_then(Value::as_table_mut) {
        workspace.remove("default-members");
        let members = members.iter().filter(|folder| !folder.is_empty()).map(|folder| Value::from(folder.as_str()));
        workspace.insert("members".to_owned(), Value::Array(members.collect()));
    }
    files.insert("Cargo.toml".to_owned(), toml::to_string(&root)?.into_bytes());
    for folder in &folders {
        package(files, folder, touched)?;
    }
    Ok(true)
}

fn package(files: &mut Files, folder: &str, touched: &BTreeSet<String>) -> Result<(), Failure> {
    let Some(mut manifest) = manifest(files, folder)?.filter(|manifest| manifest.contains_key("package")) else {
        return Ok(());
    };
    for (name, table) in ASIDE {
        // A test program that is named may be made of the files beside it.
        if table == "test" && manifest.contains_key(table) {
            continue;
        }
        manifest.remove(table);
        let place = join(folder, name);
        let program = |path: &str| {
            let below = path.strip_prefix(&place).and_then(|below| below.strip_prefix('/'));
            below.is_some_and(|below| below.ends_with(".rs") && (!below.contains('/') || below.ends_with("/main.rs")))
        };
        let package =
            |path: &str| files.contains_key(&format!("{}/Cargo.toml", path.rsplit_once('/').unwrap_or_default().0));
        let out: Vec<String> = files
            .keys()
            .filter(|path| program(path) && !package(path) && !is_touched(path, touched))
            .cloned()
            .collect();
        for path in out {
            files.remove(&path);
        }
    }
    if manifest.contains_key("lib") || files.contains_key(&join(folder, "src/lib.rs")) {
        let library = manifest.entry("lib").or_insert_with(|| Value::Table(Table::new()));
        if let Some(library) = library.as_table_mut() {
            library.insert("doctest".to_owned(), Value::Boolean(false));
        }
    }
    files.insert(join(folder, "Cargo.toml"), toml::to_string(&manifest)?.into_bytes());
    Ok(())
}

/// A program is touched with any file that lies in its folder.
fn is_touched(path: &str, touched: &BTreeSet<String>) -> bool {
    let folder = path.strip_suffix("/main.rs");
    touched.contains(path) || folder.is_some_and(|folder| touched.iter().any(|path| is_in(path, folder)))
}

fn manifest(files: &Files, folder: &str) -> Result<Option<Table>, Failure> {
    let Some(bytes) = files.get(&join(folder, "Cargo.toml")) else { return Ok(None) };
    Ok(Some(String::from_utf8_lossy(bytes).parse()?))
}

/// The folder of a manifest; the top is empty.
fn folder(path: &str) -> Option<String> {
    let folder = path.strip_suffix("Cargo.toml")?;
    if folder.is_empty() { Some(String::new()) } else { folder.strip_suffix('/').map(str::to_owned) }
}

fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|below| below.starts_with('/'))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn touched(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|&path| path.to_owned()).collect()
    }

    #[test]
    fn members_and_programs_that_a_fix_does_not_touch_are_left_out() {
        let mut all = files(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\", \"examples/*\"]\ndefault-members = [\"a\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n[[bench]]\nname = \"x\"\nharness = false\n"),
            ("a/src/lib.rs", ""),
            ("a/benches/x.rs", ""),
            ("a/tests/one.rs", ""),
            ("a/tests/two.rs", ""),
            ("a/tests/data/three.rs", ""),
            ("a/tests/four/main.rs", ""),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n[[test]]\nname = \"all\"\npath = \"tests/all.rs\"\n"),
            ("b/tests/all.rs", ""),
            ("examples/c/Cargo.toml", "[package]\nname = \"c\"\n"),
            ("fuzz/Cargo.toml", "[workspace]\nmembers = [\"one\"]\n"),
            ("fuzz/one/Cargo.toml", "[package]\nname = \"one\"\n[dependencies]\na = { path = \"../../a\" }\n"),
        ]);
        assert!(narrow(&mut all, &touched(&["a/src/lib.rs", "a/tests/one.rs"])).unwrap());
        let left: Vec<&str> = all.keys().map(String::as_str).filter(|path| path.ends_with(".rs")).collect();
        assert_eq!(left, ["a/src/lib.rs", "a/tests/data/three.rs", "a/tests/one.rs", "b/tests/all.rs"]);
        assert!(!all.keys().any(|path| path.starts_with("fuzz")));
        let root = manifest(&all, "").unwrap().unwrap();
        assert_eq!(root["workspace"], toml::toml! { members = ["a"] }.into());
        let a = manifest(&all, "a").unwrap().unwrap();
        assert!(a["lib"]["doctest"] == Value::Boolean(false) && !a.contains_key("bench"));
    }

    #[test]
    fn a_repository_of_one_package_is_left_alone() {
        let mut all = files(&[("Cargo.toml", "[package]\nname = \"a\"\n"), ("tests/one.rs", "")]);
        let before = all.clone();
        assert!(!narrow(&mut all, &touched(&["src/lib.rs"])).unwrap() && all == before);
    }
}
