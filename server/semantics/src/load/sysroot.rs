//! The standard library as a project description, made from what cargo says about its sources.
//!
//! The compiler's own loader would start cargo; its other mode, stitching crates together without cargo, leaves
//! `HashMap` opaque. A project description needs neither.

use std::path::Path;

use serde_json::{Value, json};

const FACADE: &str = "rustc-std-workspace-";

/// Turns the standard library's `cargo metadata` into the compiler's project description.
///
/// Metadata without a resolve graph (made with `--no-deps`) still gives the edges between the library's own crates.
pub fn project_json(metadata: &Value) -> Value {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let nodes: Vec<&Value> = metadata["resolve"]["nodes"].as_array().into_iter().flatten().collect();
    // The facades only re-export core, alloc and std under other names; edges to them go to the real ones.
    let real: Vec<(&Value, &Value)> = packages
        .iter()
        .filter(|package| !name(package).starts_with(FACADE))
        .filter_map(|package| Some((*package, library_target(package)?)))
        .collect();
    let by_name =
        |wanted: &str| real.iter().position(|(package, _)| name(package) == wanted.trim_start_matches(FACADE));
    let by_id = |id: &Value| {
        let package = packages.iter().find(|package| &package["id"] == id)?;
        match name(package).strip_prefix(FACADE) {
            Some(facade) => by_name(facade),
            None => real.iter().position(|(package, _)| &package["id"] == id),
        }
    };
    let crates: Vec<Value> = real
        .iter()
        .map(|(package, target)| {
            let node = nodes.iter().find(|node| node["id"] == package["id"]);
            let (edges, features) = match node {
                Some(node) => (resolved_edges(node, &by_id), strings(&node["features"])),
                None => (declared_edges(package, &by_name), Vec::new()),
            };
            let mut cfg: Vec<String> = features.iter().map(|feature| format!("feature=\"{feature}\"")).collect();
            cfg.push("bootstrap".to_owned());
            let folder =
                package["manifest_path"].as_str().map(Path::new).and_then(Path::parent).unwrap_or(Path::new("/"));
            // Local crates are covered by the sysroot's own source root.
            let local = package["source"].is_null();
            let include: Vec<&Path> = if local { Vec::new() } else { vec![folder] };
            json!({
                "display_name": target["name"],
                "root_module": target["src_path"],
                "edition": package["edition"],
                "deps": edges,
                "cfg": cfg,
                "is_workspace_member": local,
                "source": {
                    "include_dirs": include,
                    "exclude_dirs": [folder.join("tests"), folder.join("examples"), folder.join("benches")],
                },
            })
        })
        .collect();
    json!({ "crates": crates })
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

fn library_target(package: &Value) -> Option<&Value> {
    package["targets"]
        .as_array()?
        .iter()
        .find(|target| strings(&target["kind"]).iter().any(|kind| matches!(kind.as_str(), "lib" | "rlib" | "dylib")))
}

fn resolved_edges(node: &Value, by_id: &dyn Fn(&Value) -> Option<usize>) -> Vec<Value> {
    let edges = node["deps"].as_array().into_iter().flatten();
    let normal = edges.filter(|edge| {
        edge["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    });
    normal.filter_map(|edge| Some(json!({ "crate": by_id(&edge["pkg"])?, "name": edge["name"] }))).collect()
}

fn declared_edges(package: &Value, by_name: &dyn Fn(&str) -> Option<usize>) -> Vec<Value> {
    let edges = package["dependencies"].as_array().into_iter().flatten();
    edges
        .filter(|edge| edge["kind"].is_null())
        .filter_map(|edge| {
            let package = edge["name"].as_str()?;
            let known_as = edge["rename"].as_str().unwrap_or(package).trim_start_matches(FACADE).replace('-', "_");
            Some(json!({ "crate": by_name(package)?, "name": known_as }))
        })
        .collect()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facades_are_replaced_by_the_crates_they_stand_for() {
        let metadata = json!({
            "packages": [
                {"name": "core", "id": "core", "source": null, "edition": "2024", "manifest_path": "/l/core/Cargo.toml",
                 "targets": [{"name": "core", "kind": ["lib"], "src_path": "/l/core/src/lib.rs"}]},
                {"name": "rustc-std-workspace-core", "id": "facade", "source": null, "edition": "2024", "manifest_path": "/l/f/Cargo.toml",
                 "targets": [{"name": "core", "kind": ["lib"], "src_path": "/l/f/lib.rs"}]},
                {"name": "cfg-if", "id": "cfg", "source": "registry", "edition": "2018", "manifest_path": "/r/cfg-if/Cargo.toml",
                 "targets": [{"name": "cfg_if", "kind": ["lib"], "src_path": "/r/cfg-if/src/lib.rs"}]},
            ],
            "resolve": {"nodes": [{"id": "cfg", "features": ["x"], "deps": [{"pkg": "facade", "name": "core", "dep_kinds": [{"kind": null}]}]}]},
        });
        let project = project_json(&metadata);
        assert_eq!(project["crates"].as_array().unwrap().len(), 2);
        assert_eq!(project["crates"][1]["deps"], json!([{"crate": 0, "name": "core"}]));
        assert_eq!(project["crates"][1]["cfg"], json!(["feature=\"x\"", "bootstrap"]));
    }
}
