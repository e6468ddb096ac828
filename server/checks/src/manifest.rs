//! What we need to know of a `Cargo.toml`, read without cargo.
//!
//! Cargo remains the judge: a manifest that we cannot read is taken as a package without dependencies, and the check
//! that runs cargo on it says what is wrong.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// `None` for a virtual manifest.
    pub package: Option<String>,
    /// The `workspace` key of the package, as written.
    pub workspace_of: Option<String>,
    pub workspace: Option<Members>,
    /// Path dependencies of every kind, as written, by name.
    pub paths: Vec<(String, String)>,
    /// Whether there are features that `default` does not turn on.
    pub has_optional_features: bool,
    /// Features in the closure of `default`.
    pub default_features: BTreeSet<String>,
    /// Targets with `harness = false`: kind and name, as in item ids.
    pub own_harness: BTreeSet<String>,
    /// Whether some profile says what debug information is wanted.
    pub chooses_debug: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Members {
    pub members: Vec<String>,
    pub exclude: Vec<String>,
}

impl Manifest {
    pub(crate) fn parse(bytes: &[u8]) -> Manifest {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let Ok(table) = text.parse::<Table>() else {
            return Manifest { package: Some(String::new()), ..Manifest::default() };
        };
        let package = table.get("package").or_else(|| table.get("project")).and_then(Value::as_table);
        let workspace = table.get("workspace").and_then(Value::as_table);
        let features = Features::of(&table);
        Manifest {
            package: package.map(|package| text_of(package, "name").unwrap_or_default()),
            workspace_of: package.and_then(|package| text_of(package, "workspace")),
            workspace: workspace.map(|workspace| Members {
                members: texts_of(workspace, "members"),
                exclude: texts_of(workspace, "exclude"),
            }),
            paths: paths_of(&table),
            has_optional_features: features.all.iter().any(|name| !features.default.contains(name)),
            default_features: features.default,
            own_harness: own_harness(&table),
            chooses_debug: table.get("profile").is_some_and(names_debug),
        }
    }
}

fn text_of(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn texts_of(table: &Table, key: &str) -> Vec<String> {
    let values = table.get(key).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The tables of dependencies: by kind, the same below each `target`, and the workspace's.
fn dependency_tables(table: &Table) -> Vec<&Table> {
    const KINDS: [&str; 5] =
        ["dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"];
    let targets = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let workspace = table.get("workspace").and_then(Value::as_table);
    let holders = std::iter::once(table).chain(targets.filter_map(Value::as_table)).chain(workspace);
    let mut tables: Vec<&Table> =
        holders.flat_map(|holder| KINDS.iter().filter_map(|kind| holder.get(*kind)?.as_table())).collect();
    let patches = table.get("patch").and_then(Value::as_table).into_iter().flat_map(Table::values);
    tables.extend(patches.filter_map(Value::as_table));
    tables.extend(table.get("replace").and_then(Value::as_table));
    tables
}

fn paths_of(table: &Table) -> Vec<(String, String)> {
    let dependencies = dependency_tables(table).into_iter().flatten();
    dependencies.filter_map(|(name, value)| Some((name.clone(), text_of(value.as_table()?, "path")?))).collect()
}

#[derive(Default)]
struct Features {
    all: BTreeSet<String>,
    default: BTreeSet<String>,
}

impl Features {
    /// Declared features and the implicit ones of optional dependencies that no `dep:` names.
    fn of(table: &Table) -> Features {
        let declared: BTreeMap<String, Vec<String>> = table
            .get("features")
            .and_then(Value::as_table)
            .map(|features| features.iter().map(|(name, _)| (name.clone(), texts_of(features, name))).collect())
            .unwrap_or_default();
        let explicit: BTreeSet<&str> =
            declared.values().flatten().filter_map(|value| value.strip_prefix("dep:")).collect();
        let optional = dependency_tables(table).into_iter().flatten().filter(|(_, value)| {
            value.as_table().and_then(|value| value.get("optional")).and_then(Value::as_bool) == Some(true)
        });
        let implicit = optional.map(|(name, _)| name).filter(|name| !explicit.contains(name.as_str())).cloned();
        let all = declared.keys().filter(|name| *name != "default").cloned().chain(implicit).collect();
        let mut default = BTreeSet::new();
        let mut open: Vec<String> = declared.get("default").cloned().unwrap_or_default();
        while let Some(name) = open.pop() {
            let feature = name.split('/').next().unwrap_or(&name).trim_end_matches('?').to_owned();
            if default.insert(feature.clone()) {
                open.extend(declared.get(&feature).cloned().unwrap_or_default());
            }
        }
        Features { all, default }
    }
}

/// Whether a key `debug` stands anywhere below.
pub(crate) fn names_debug(value: &Value) -> bool {
    let table = value.as_table().into_iter().flatten();
    table.into_iter().any(|(name, value)| name == "debug" || names_debug(value))
}

fn own_harness(table: &Table) -> BTreeSet<String> {
    let off = |target: &Table| target.get("harness").and_then(Value::as_bool) == Some(false);
    let mut names = BTreeSet::new();
    if table.get("lib").and_then(Value::as_table).is_some_and(off) {
        names.insert("lib".to_owned());
    }
    for kind in ["bin", "example", "test", "bench"] {
        let targets = table.get(kind).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
        names.extend(
            targets
                .filter(|target| off(target))
                .filter_map(|target| Some(format!("{kind} {}", text_of(target, "name")?))),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_beyond_the_default_closure_are_seen() {
        let plain = Manifest::parse(b"[package]\nname='a'\n[features]\ndefault=['x']\nx=['y']\ny=[]");
        assert!(!plain.has_optional_features);
        let more = Manifest::parse(b"[package]\nname='a'\n[features]\ndefault=['x']\nx=[]\nz=[]");
        assert!(more.has_optional_features);
        let implicit = Manifest::parse(b"[package]\nname='a'\n[dependencies]\nserde={version='1',optional=true}");
        assert!(implicit.has_optional_features);
        let named = Manifest::parse(
            b"[package]\nname='a'\n[dependencies]\nserde={version='1',optional=true}\n[features]\ndefault=['s']\ns=['dep:serde']",
        );
        assert!(!named.has_optional_features);
    }

    #[test]
    fn path_dependencies_of_every_kind_are_seen() {
        let text = b"[package]\nname='a'\n[dependencies]\nb={path='../b'}\n[target.'cfg(unix)'.dev-dependencies]\nc={path='c'}\n[patch.crates-io]\nd={path='d'}";
        let paths: Vec<_> = Manifest::parse(text).paths.into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["../b", "c", "d"]);
    }

    #[test]
    fn profiles_that_choose_their_debug_information_are_seen() {
        let of = |text: &str| Manifest::parse(text.as_bytes()).chooses_debug;
        assert!(of("[profile.dev]\ndebug = 0") && of("[profile.dev.package.x]\ndebug = true"));
        assert!(!of("[profile.dev]\nopt-level = 1"));
    }

    #[test]
    fn a_manifest_that_is_no_toml_is_a_package_that_cargo_will_judge() {
        assert_eq!(Manifest::parse(b"[package").package.as_deref(), Some(""));
    }

    #[test]
    fn targets_with_their_own_harness_are_named() {
        let text = b"[package]\nname='a'\n[[test]]\nname='own'\nharness=false\n[lib]\nharness=false";
        assert_eq!(Manifest::parse(text).own_harness, ["lib", "test own"].map(str::to_owned).into());
    }
}
