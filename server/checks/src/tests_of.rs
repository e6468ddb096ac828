//! What manifests say about tests: which there are, how they are run, and what only they use.

use std::collections::BTreeSet;

use task::TreePath;
use toml::{Table, Value};

use crate::files::Files;
use crate::folder::resolve;

/// A manifest with what another one says about tests: as a tree is built and run with the tests as they were. None where
/// both say the same, and for files that say nothing about tests.
///
/// Comments are lost. Where a manifest cannot be read the checks say so.
pub fn with_tests_of(path: &TreePath, before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    match path.file_name() {
        b"Cargo.toml" => {
            let (before, mut after) = (parsed(before)?, parsed(after)?);
            let mut differs = put(&mut after, &before, &[], "test");
            differs |= put(&mut after, &before, &["package"], "autotests");
            for key in ["test", "doctest", "harness"] {
                differs |= put(&mut after, &before, &["lib"], key);
            }
            differs.then(|| after.to_string().into_bytes())
        }
        b"pyproject.toml" => {
            let (before, mut after) = (parsed(before)?, parsed(after)?);
            put(&mut after, &before, &["tool"], "pytest").then(|| after.to_string().into_bytes())
        }
        b"package.json" => {
            let parsed = |bytes| serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes).ok();
            let (before, mut after) = (parsed(before)?, parsed(after)?);
            let was = after.clone();
            for key in ["jest", "mocha", "vitest", "babel"] {
                put_json(&mut after, &before, key);
            }
            let scripts = |of: &serde_json::Map<String, serde_json::Value>| of.get("scripts")?.as_object().cloned();
            if let Some(mut own) = scripts(&after) {
                let old = scripts(&before).unwrap_or_default();
                ["pretest", "test", "posttest"].iter().for_each(|key| put_json(&mut own, &old, key));
                after.insert("scripts".to_owned(), own.into());
            }
            if was == after { None } else { serde_json::to_vec_pretty(&after).ok() }
        }
        _ => None,
    }
}

/// The folders of packages of a tree that others use for their tests and for nothing else.
pub fn used_by_tests_only(files: &dyn Files) -> BTreeSet<TreePath> {
    let (mut by_tests, mut otherwise) = (BTreeSet::new(), BTreeSet::new());
    for path in files.list().into_iter().filter(|path| path.file_name() == b"Cargo.toml") {
        let Some(table) = files.read(&path).and_then(|bytes| parsed(&bytes)) else { continue };
        let folder = path.parent();
        for (name, value) in &table {
            paths(name, value, false, &mut |written, for_tests| {
                if let Ok(Some(at)) = resolve(&folder, written) {
                    if for_tests {
                        by_tests.insert(at)
                    } else {
                        otherwise.insert(at)
                    };
                }
            });
        }
    }
    by_tests.retain(|folder| !otherwise.contains(folder));
    by_tests
}

/// The path of each dependency below a key, and whether it is one of tests.
fn paths(key: &str, value: &Value, for_tests: bool, found: &mut dyn FnMut(&str, bool)) {
    let for_tests = for_tests || matches!(key, "dev-dependencies" | "dev_dependencies");
    // Targets have a path, too, and so have their tables.
    if matches!(key, "lib" | "bin" | "test" | "bench" | "example" | "package") {
        return;
    }
    for (key, value) in value.as_table().into_iter().flatten() {
        match value.as_str() {
            Some(path) if key == "path" => found(path, for_tests),
            _ => paths(key, value, for_tests, found),
        }
    }
}

fn parsed(bytes: &[u8]) -> Option<Table> {
    String::from_utf8_lossy(bytes).parse().ok()
}

/// Puts the value of a key below some tables in the place of another's. Whether there was anything else.
fn put(table: &mut Table, from: &Table, above: &[&str], key: &str) -> bool {
    let [first, rest @ ..] = above else {
        let value = from.get(key);
        let before = match value {
            Some(value) => table.insert(key.to_owned(), value.clone()),
            None => table.remove(key),
        };
        return before.as_ref() != value;
    };
    let nothing = Table::new();
    let from = from.get(*first).and_then(Value::as_table).unwrap_or(&nothing);
    match table.get_mut(*first).and_then(Value::as_table_mut) {
        Some(table) => put(table, from, rest, key),
        None if from.contains_key(key) => {
            let mut own = Table::new();
            put(&mut own, from, rest, key);
            table.insert((*first).to_owned(), Value::Table(own));
            true
        }
        None => false,
    }
}

fn put_json(
    table: &mut serde_json::Map<String, serde_json::Value>,
    from: &serde_json::Map<String, serde_json::Value>,
    key: &str,
) {
    match from.get(key) {
        Some(value) => table.insert(key.to_owned(), value.clone()),
        None => table.remove(key),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileMap;

    fn of(name: &str, before: &str, after: &str) -> Option<String> {
        let bytes = with_tests_of(&name.parse().unwrap(), before.as_bytes(), after.as_bytes())?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn tests_of_another_manifest_take_the_place_of_its_own() {
        let before = "[package]\nname='a'\n[dependencies]\nb='1'";
        let after = "[package]\nname='a'\nautotests=false\n[lib]\ntest=false\n[dependencies]\nb='2'\n[[test]]\nname='t'\npath='x.rs'";
        let table = |text: &str| text.parse::<Table>().unwrap();
        let cargo = |before, after| of("x/Cargo.toml", before, after).map(|text| table(&text));
        assert_eq!(cargo(before, after), Some(table(&(before.replace("'1'", "'2'") + "\n[lib]\n"))));
        assert_eq!(cargo(after, before), Some(table(&after.replace("'2'", "'1'"))));
        assert_eq!((cargo(before, &before.replace("'1'", "'2'")), cargo(before, "[package")), (None, None));
    }

    #[test]
    fn so_do_the_runners_settings_of_npm_and_python() {
        let before = r#"{"name":"a","scripts":{"test":"jest"},"dependencies":{}}"#;
        let after = r#"{"name":"a","scripts":{"test":"jest x","start":"y"},"jest":{"a":1},"dependencies":{"b":"1"}}"#;
        let text = of("package.json", before, after).unwrap();
        assert!(text.contains(r#""jest""#) && !text.contains("jest x") && !text.contains(r#""a": 1"#), "{text}");
        assert!(text.contains(r#""start": "y""#) && text.contains(r#""b": "1""#), "{text}");
        assert_eq!(of("package.json", before, before), None);
        let python = "[project]\nname='a'\n";
        let more = "[project]\nname='a'\n[tool.pytest.ini_options]\naddopts='-p plug'\n";
        assert!(!of("pyproject.toml", python, more).unwrap().contains("plug"));
        assert!(of("pyproject.toml", more, python).unwrap().contains("plug"));
    }

    #[test]
    fn a_package_that_only_tests_use_is_named() {
        let files = [
            (
                "Cargo.toml",
                "[lib]\npath='x.rs'\n[dependencies]\na={path='a'}\n[dev-dependencies]\na={path='a'}\nb={path='./b'}",
            ),
            ("c/Cargo.toml", "[target.'cfg(unix)'.dev-dependencies]\nd={path='../d'}\n[[test]]\nname='t'\npath='t.rs'"),
        ];
        let files =
            FileMap(files.iter().map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec())).collect());
        let names: Vec<String> = used_by_tests_only(&files).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["b", "d"]);
    }
}
