//! Whether what was loaded for one text holds for another. Packages, features, generated code and proc macros follow
//! from few files; as long as those are the same, new text in the others is all that a loaded compiler needs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use task::TreePath;

use super::disk::Root;
use super::facts::Facts;

/// Folders whose files cargo takes for targets without being told.
const TARGET_FOLDERS: [&[u8]; 4] = [b"bin", b"tests", b"examples", b"benches"];
/// Files that it takes for targets.
const TARGET_FILES: [&[u8]; 3] = [b"lib.rs", b"main.rs", b"build.rs"];

/// What a loaded compiler stands on.
#[derive(Debug)]
pub struct Grounds {
    tree: PathBuf,
    /// Whether everything was built: what was not may be with other text.
    is_built: bool,
    packages: Vec<Package>,
    /// The root file of every target.
    targets: BTreeSet<PathBuf>,
    /// Proc macros may read any file; those that are no sources are the likely ones.
    has_macros: bool,
    /// The proc macros' libraries as they were when they were loaded: their server may open them again.
    libraries: BTreeMap<PathBuf, Option<Stamp>>,
}

#[derive(Debug)]
struct Package {
    folder: PathBuf,
    /// Its code runs at compile time.
    runs: bool,
    /// What its build script is run again for.
    watched: Watched,
}

#[derive(Debug, PartialEq, Eq)]
enum Watched {
    Everything,
    Paths(Vec<PathBuf>),
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Grounds {
    /// What follows from these facts. `script` gives the text of a file of the tree.
    pub fn new(facts: &Facts, script: &dyn Fn(&Path) -> Option<String>) -> Grounds {
        let mut grounds = Grounds {
            tree: facts.place.tree.clone(),
            is_built: facts.workspaces.iter().all(|workspace| workspace.built),
            packages: Vec::new(),
            targets: BTreeSet::new(),
            has_macros: false,
            libraries: BTreeMap::new(),
        };
        let built = Root::open(&facts.place.target);
        for workspace in &facts.workspaces {
            let metadata: Value = serde_json::from_str(&workspace.metadata).unwrap_or_default();
            let messages: Vec<Value> =
                workspace.messages.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let running = running(&metadata);
            for package in list(&metadata["packages"]).filter(|package| package["source"].is_null()) {
                let folder = package["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
                let Some(folder) = folder else { continue };
                let sources = list(&package["targets"]).filter_map(|target| target["src_path"].as_str());
                grounds.targets.extend(sources.map(PathBuf::from));
                let scripts = list(&package["targets"]).filter(|target| has_kind(target, "custom-build"));
                let scripts = scripts.filter_map(|target| target["src_path"].as_str().map(Path::new));
                let outputs = outputs(package, &messages, built.as_ref());
                let watched = watched(folder, &scripts.collect::<Vec<_>>(), outputs.as_deref(), script);
                let runs = running.contains(package["id"].as_str().unwrap_or_default());
                grounds.packages.push(Package { folder: folder.to_owned(), runs, watched });
            }
            for message in messages.iter().filter(|message| has_kind(&message["target"], "proc-macro")) {
                grounds.has_macros = true;
                let files = list(&message["filenames"]).filter_map(Value::as_str).map(PathBuf::from);
                grounds.libraries.extend(files.map(|path| (path.clone(), stamp(&path))));
            }
        }
        // The innermost package is the one that a file belongs to.
        grounds.packages.sort_by_key(|package| std::cmp::Reverse(package.folder.components().count()));
        grounds
    }

    /// Whether they hold for a text that differs in these files. `came_or_went` tells which of them only one side has.
    pub fn hold<'a>(
        &self,
        mut differing: impl Iterator<Item = &'a TreePath>,
        came_or_went: &dyn Fn(&TreePath) -> bool,
    ) -> bool {
        self.is_built
            && self.libraries.iter().all(|(path, known)| stamp(path) == *known)
            && differing.all(|path| self.allow(path, came_or_went(path)))
    }

    fn allow(&self, path: &TreePath, came_or_went: bool) -> bool {
        let name = path.file_name();
        let is_source = name.ends_with(b".rs");
        let steers = matches!(name, b"Cargo.toml" | b"Cargo.lock" | b"rust-toolchain" | b"rust-toolchain.toml")
            || path.components().any(|part| part == b".cargo");
        if steers || (self.has_macros && !is_source && !name.ends_with(b".md")) {
            return false;
        }
        let host = self.tree.join(OsStr::from_bytes(path.as_bytes()));
        if is_source && came_or_went {
            let in_target_folder = path.components().any(|part| TARGET_FOLDERS.contains(&part));
            if in_target_folder || TARGET_FILES.contains(&name) || self.targets.contains(&host) {
                return false;
            }
        }
        let watches = |package: &Package| match &package.watched {
            Watched::Everything => false,
            Watched::Paths(paths) => paths.iter().any(|path| host.starts_with(path)),
        };
        if self.packages.iter().any(watches) {
            return false;
        }
        let owner = self.packages.iter().find(|package| host.starts_with(&package.folder));
        owner.is_none_or(|package| !package.runs && package.watched != Watched::Everything)
    }
}

/// The packages whose code runs at compile time: proc macros, what build scripts depend on, and what those depend on.
fn running(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let dependencies = |id: &str, kinds: &[&str]| -> Vec<&str> {
        let edges = nodes.get(id).map(|node| list(&node["deps"])).into_iter().flatten();
        let of_kind = |edge: &&Value| {
            list(&edge["dep_kinds"]).any(|kind| kinds.contains(&kind["kind"].as_str().unwrap_or("normal")))
        };
        edges.filter(of_kind).filter_map(|edge| edge["pkg"].as_str()).collect()
    };
    let mut waiting = Vec::new();
    for package in list(&metadata["packages"]) {
        let Some(id) = package["id"].as_str() else { continue };
        if list(&package["targets"]).any(|target| has_kind(target, "proc-macro")) {
            waiting.push(id);
        }
        waiting.extend(dependencies(id, &["build"]));
    }
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id) {
            waiting.extend(dependencies(id, &["normal", "build"]));
        }
    }
    found
}

/// What the build scripts of a package printed, every run of them; `None` when one cannot be read.
fn outputs(package: &Value, messages: &[Value], built: Option<&Root>) -> Option<Vec<String>> {
    let runs = messages.iter().filter(|message| message["package_id"] == package["id"]);
    let folders = runs.filter_map(|message| message["out_dir"].as_str());
    folders.map(|folder| built?.read(&Path::new(folder).parent()?.join("output"))).collect()
}

/// What a package's build scripts are run again for, by cargo's rules.
fn watched(
    folder: &Path,
    scripts: &[&Path],
    outputs: Option<&[String]>,
    text: &dyn Fn(&Path) -> Option<String>,
) -> Watched {
    let mut paths: Vec<PathBuf> = scripts.iter().map(|script| script.to_path_buf()).collect();
    if scripts.is_empty() {
        return Watched::Paths(paths);
    }
    // One that is made of several files could be made of any.
    let is_whole = |text: String| !text.contains("mod ") && !text.contains("include");
    let Some(outputs) = outputs.filter(|outputs| !outputs.is_empty()) else { return Watched::Everything };
    if !scripts.iter().all(|script| text(script).is_some_and(is_whole)) {
        return Watched::Everything;
    }
    for output in outputs {
        let told = output.lines().filter_map(|line| line.strip_prefix("cargo::").or(line.strip_prefix("cargo:")));
        let mut says_when = false;
        for line in told {
            says_when |= line.starts_with("rerun-if-");
            paths.extend(line.strip_prefix("rerun-if-changed=").map(|path| folder.join(path)));
        }
        if !says_when {
            return Watched::Everything;
        }
    }
    // A path that climbs is not compared name by name.
    let climbs = |path: &PathBuf| path.components().any(|part| part == std::path::Component::ParentDir);
    if paths.iter().any(climbs) { Watched::Everything } else { Watched::Paths(paths) }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn has_kind(target: &Value, wanted: &str) -> bool {
    list(&target["kind"]).any(|kind| kind == wanted)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let changed = (metadata.mtime(), metadata.mtime_nsec());
    Some(Stamp { inode: metadata.ino(), bytes: metadata.len(), changed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watches(script: &str, outputs: Option<&[&str]>) -> Watched {
        let outputs: Option<Vec<String>> = outputs.map(|all| all.iter().map(|text| (*text).to_owned()).collect());
        let read = |_: &Path| Some(script.to_owned());
        watched(Path::new("/p"), &[Path::new("/p/build.rs")], outputs.as_deref(), &read)
    }

    #[test]
    fn a_build_script_is_believed_where_it_says_what_it_reads() {
        let paths = |paths: &[&str]| Watched::Paths(paths.iter().map(PathBuf::from).collect());
        let said = ["cargo:rustc-cfg=x\ncargo:rerun-if-changed=data\ncargo::rerun-if-changed=/q/one\n"];
        assert_eq!(watches("fn main() {}", Some(&said)), paths(&["/p/build.rs", "/p/data", "/q/one"]));
        assert_eq!(watches("fn main() {}", Some(&["cargo:rerun-if-env-changed=CC\n"])), paths(&["/p/build.rs"]));
        assert_eq!(watched(Path::new("/p"), &[], None, &|_| None), paths(&[]));
    }

    #[test]
    fn otherwise_everything_of_its_package_counts() {
        let said = "cargo:rerun-if-changed=data\n";
        for outputs in [None, Some(&[][..]), Some(&["made things\n"][..]), Some(&[said, ""][..])] {
            assert_eq!(watches("fn main() {}", outputs), Watched::Everything, "{outputs:?}");
        }
        assert_eq!(watches("fn main() {}", Some(&["cargo:rerun-if-changed=../data\n"])), Watched::Everything);
        assert_eq!(watches("mod more;\nfn main() {}", Some(&[said])), Watched::Everything);
        assert_eq!(watches("include!(\"src/cli.rs\");", Some(&[said])), Watched::Everything);
    }
}
