//! Which paths loading may believe. Everything that ran beside project code can be forged, so every path that cargo
//! prints is checked here before anything on our side looks at it.

use std::path::{Component, Path, PathBuf};

use sandbox::{CancelToken, CargoView, Mount, Sandbox};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::LoadError;

/// The folders of one analysis. They have the same path inside the sandbox as outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The projection of the tree.
    pub tree: PathBuf,
    /// The build folder in which build scripts and proc macros are built.
    pub target: PathBuf,
    /// The toolchain's root: the folder that has `bin/cargo`.
    pub toolchain: PathBuf,
    /// The private cargo home whose `registry/src` and `git/checkouts` hold dependency sources.
    pub cargo_home: PathBuf,
}

/// What loading works with.
#[derive(Debug, Clone)]
pub struct Tools {
    pub sandbox: Sandbox,
    pub place: Place,
    /// What the sandbox needs to fill `place.cargo_home`.
    pub cargo: CargoView,
    /// Ends whatever runs.
    pub cancel: CancelToken,
}

impl Place {
    /// The standard library's sources.
    pub fn library(&self) -> PathBuf {
        self.toolchain.join("lib/rustlib/src/rust/library")
    }

    /// The proc-macro server that belongs to the toolchain.
    pub fn macro_server(&self) -> PathBuf {
        self.toolchain.join("libexec/rust-analyzer-proc-macro-srv")
    }

    /// Where dependency sources may lie.
    pub fn dependencies(&self) -> [PathBuf; 2] {
        [self.cargo_home.join("registry/src"), self.cargo_home.join("git/checkouts")]
    }

    /// What a process that only reads may see: the tree, its dependencies, the toolchain and what was built.
    pub fn readable(&self) -> Vec<Mount> {
        let folders = self.dependencies().into_iter().chain([self.tree.clone(), self.target.clone()]);
        folders.filter(|folder| folder.exists()).map(Mount::read_only).chain(self.toolchain_mount()).collect()
    }

    /// Nothing when the toolchain lies where every sandbox shows it.
    pub fn toolchain_mount(&self) -> Option<Mount> {
        (!self.toolchain.starts_with("/usr")).then(|| Mount::read_only(&self.toolchain))
    }

    /// Whether a path names a source that analysis may read: in the tree or among the dependencies.
    pub fn is_source(&self, path: &str) -> bool {
        let path = Path::new(path);
        plain(path) && (inside(path, &self.tree) || self.dependencies().iter().any(|root| inside(path, root)))
    }

    /// Whether a path names something cargo built.
    pub fn is_artifact(&self, path: &str) -> bool {
        let path = Path::new(path);
        plain(path) && inside(path, &self.target)
    }

    /// Checks `cargo metadata` output: every path confined, every id that is referred to declared.
    ///
    /// Returns the metadata as text for the compiler's own reader.
    pub fn checked_metadata(&self, text: &str) -> Result<String, LoadError> {
        let malformed = |source| LoadError::Malformed { what: "cargo metadata", expected: "its JSON", source };
        let mut metadata: Value = serde_json::from_str(text).map_err(|error| malformed(Some(error)))?;
        let packages = metadata["packages"].as_array().ok_or_else(|| malformed(None))?;
        let mut ids = std::collections::HashSet::new();
        for package in packages {
            ids.insert(package["id"].as_str().ok_or_else(|| malformed(None))?.to_owned());
            self.check_source(&package["manifest_path"])?;
            for target in package["targets"].as_array().ok_or_else(|| malformed(None))? {
                self.check_source(&target["src_path"])?;
            }
        }
        self.check_source(&metadata["workspace_root"])?;
        // The folder is ours, whatever the tree's configuration says: the environment variable wins in cargo too.
        metadata["target_directory"] = Value::from(self.target.to_string_lossy());
        let known = |id: &Value| id.as_str().is_some_and(|id| ids.contains(id));
        for list in ["workspace_members", "workspace_default_members"] {
            if let Some(members) = metadata.get_mut(list).and_then(Value::as_array_mut) {
                members.retain(known);
            }
        }
        if let Some(nodes) = metadata.pointer_mut("/resolve/nodes").and_then(Value::as_array_mut) {
            nodes.retain(|node| known(&node["id"]));
            for node in nodes {
                if let Some(dependencies) = node.get_mut("deps").and_then(Value::as_array_mut) {
                    dependencies.retain(|dependency| known(&dependency["pkg"]));
                }
                if let Some(dependencies) = node.get_mut("dependencies").and_then(Value::as_array_mut) {
                    dependencies.retain(known);
                }
            }
        }
        Ok(metadata.to_string())
    }

    /// The lines of cargo's build output that are about known packages and whose paths lie in the build folder.
    pub fn checked_messages(&self, output: &str, metadata: &str) -> Vec<String> {
        let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
        let ids: std::collections::HashSet<&str> = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|package| package["id"].as_str())
            .collect();
        let artifact = |path: &Value| path.as_str().is_some_and(|path| self.is_artifact(path));
        let keep = |message: &Value| {
            message["package_id"].as_str().is_some_and(|id| ids.contains(id))
                && match message["reason"].as_str() {
                    Some("build-script-executed") => artifact(&message["out_dir"]),
                    Some("compiler-artifact") => {
                        message["filenames"].as_array().is_some_and(|names| names.iter().all(artifact))
                    }
                    _ => false,
                }
        };
        output
            .lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok_and(|message| keep(&message)))
            .map(str::to_owned)
            .collect()
    }

    fn check_source(&self, path: &Value) -> Result<(), LoadError> {
        let path = path.as_str().unwrap_or_default();
        if self.is_source(path) { Ok(()) } else { Err(LoadError::Outside { path: path.to_owned() }) }
    }
}

/// Absolute, and without any component that could lead elsewhere.
fn plain(path: &Path) -> bool {
    let mut components = path.components();
    // `components()` swallows `.` and `//`; comparing the bytes back refuses those spellings too.
    components.next() == Some(Component::RootDir)
        && components.all(|component| matches!(component, Component::Normal(_)))
        && path.components().collect::<PathBuf>().as_os_str() == path.as_os_str()
}

fn inside(path: &Path, root: &Path) -> bool {
    path == root || path.starts_with(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            tree: "/s/shadow".into(),
            target: "/s/work".into(),
            toolchain: "/tc".into(),
            cargo_home: "/cargo".into(),
        }
    }

    #[test]
    fn paths_outside_the_tree_the_registry_and_the_build_folder_are_refused() {
        let place = place();
        assert!(place.is_source("/s/shadow/src/lib.rs"));
        assert!(place.is_source("/cargo/registry/src/index/x-1.0.0/src/lib.rs"));
        for path in [
            "/etc/passwd",
            "/s/shadow/../x.rs",
            "/s/shadow2/lib.rs",
            "src/lib.rs",
            "/s/shadow//x",
            "/cargo/credentials.toml",
            "",
        ] {
            assert!(!place.is_source(path), "{path}");
        }
        assert!(place.is_artifact("/s/work/debug/deps/libx.so"));
        assert!(!place.is_artifact("/s/shadow/libx.so"));
    }

    #[test]
    fn forged_metadata_is_refused_with_the_path() {
        let text = r#"{"packages":[{"id":"a","manifest_path":"/s/shadow/Cargo.toml","targets":[{"src_path":"/etc/x.rs"}]}],"workspace_root":"/s/shadow"}"#;
        let error = place().checked_metadata(text).unwrap_err();
        assert!(error.to_string().contains("/etc/x.rs"), "{error}");
    }

    #[test]
    fn references_to_undeclared_packages_are_dropped() {
        let text = r#"{"packages":[{"id":"a","manifest_path":"/s/shadow/Cargo.toml","targets":[]}],"workspace_root":"/s/shadow",
            "workspace_members":["a","ghost"],"resolve":{"nodes":[{"id":"a","deps":[{"pkg":"ghost"}],"dependencies":["ghost"]},{"id":"ghost"}]}}"#;
        let checked = place().checked_metadata(text).unwrap();
        assert!(!checked.contains("ghost"), "{checked}");
    }

    #[test]
    fn only_messages_about_known_packages_and_own_artifacts_are_kept() {
        let metadata = r#"{"packages":[{"id":"a"}]}"#;
        let output = concat!(
            r#"{"reason":"build-script-executed","package_id":"a","out_dir":"/s/work/out"}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"a","out_dir":"/etc"}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"b","out_dir":"/s/work/out"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"a","filenames":["/s/work/x.so","/tmp/x.so"]}"#,
            "\n",
            "not json\n",
        );
        assert_eq!(place().checked_messages(output, metadata).len(), 1);
    }
}
