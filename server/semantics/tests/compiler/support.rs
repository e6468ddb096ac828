//! Small projects on disk, loaded as the product loads them, and asked through the ports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sandbox::{CancelToken, CargoHome, Jailed, Mount, Sandbox};
use semantics::{Analysis, InProcess, MacroProcess, MacroServer, Place, Tools, gather};
use task::port::{
    Answer, Change, Compiler as _, Gate as _, GateReport, Generation, Refactor as _, Refactored, Refactoring,
    Symbols as _,
};
use task::{EditSet, Features, Position, TreePath};

/// A loaded project.
pub struct Project {
    pub compiler: InProcess,
    pub files: BTreeMap<TreePath, Arc<[u8]>>,
    generation: AtomicU64,
    _macros: Option<MacroProcess>,
    folder: tempfile::TempDir,
}

pub fn path(text: &str) -> TreePath {
    text.parse().unwrap()
}

/// The toolchain and the cargo home that run this test.
pub fn place(folder: &Path) -> Place {
    let toolchain = PathBuf::from(env!("CARGO")).canonicalize().unwrap();
    Place {
        tree: folder.join("tree"),
        target: folder.join("target"),
        toolchain: toolchain.parent().unwrap().parent().unwrap().to_owned(),
        cargo_home: folder.join("cargo"),
    }
}

/// A package without dependencies.
pub fn package(sources: &[(&str, &str)]) -> Project {
    project(&package_files(sources))
}

/// The files of a package without dependencies.
pub fn package_files(sources: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![
        ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"demo\"\nversion = \"0.1.0\"\n"),
    ];
    files.extend(sources);
    files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
}

/// The sources of a crate that cargo has fetched for this workspace.
pub fn published(name: &str) -> Project {
    let home = CargoHome::from_env().host;
    let registries = std::fs::read_dir(home.join("registry/src")).unwrap().flatten();
    let found = registries.map(|registry| registry.path().join(name)).find(|folder| folder.is_dir());
    let folder = found.unwrap_or_else(|| panic!("{name} is not in the cargo cache; run cargo fetch"));
    let mut files = Vec::new();
    read(&folder, &folder, &mut files);
    files.retain(|(path, _)| {
        !matches!(path.as_str(), "Cargo.lock" | "Cargo.toml.orig" | ".cargo_vcs_info.json" | ".cargo-ok")
    });
    for (path, bytes) in &mut files {
        if path == "Cargo.toml" {
            *bytes = without_benches(std::str::from_utf8(bytes).unwrap()).into_bytes();
        }
    }
    project(&files)
}

/// What only benchmarks need is not in the cargo cache.
fn without_benches(manifest: &str) -> String {
    let mut kept = String::new();
    let mut skipping = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            skipping = line.contains("dev-dependencies") || line.starts_with("[[bench");
        }
        if !skipping {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Lets cargo write the lock file that a published crate does not have.
fn lock(tools: &Tools) {
    let place = &tools.place;
    let mut command =
        Jailed::new(place.toolchain.join("bin/cargo"), &place.tree).args(["generate-lockfile", "--offline"]);
    command.env.extend(tools.cargo.env.iter().cloned());
    command = command.env("PATH", format!("{}:/usr/bin", place.toolchain.join("bin").display()));
    command.mounts = vec![Mount::read_only(&place.toolchain), Mount::writable(&place.tree)];
    command.mounts.extend(tools.cargo.mounts.iter().cloned());
    let finished = tools.sandbox.run(command, &CancelToken::new());
    assert!(finished.outcome.success(), "{}: {}", finished.outcome, finished.stderr.lossy());
}

fn read(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            read(root, &entry.path(), files);
        } else {
            let path = entry.path();
            files.push((path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()));
        }
    }
}

/// A project on disk with what is needed to load it.
pub struct Prepared {
    pub tools: Tools,
    pub files: BTreeMap<TreePath, Arc<[u8]>>,
    pub folder: tempfile::TempDir,
}

pub fn prepare(files: &[(String, Vec<u8>)]) -> Prepared {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder.path().canonicalize().unwrap());
    std::fs::create_dir(&place.target).unwrap();
    for (path, bytes) in files {
        let path = place.tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::create_dir(&place.cargo_home).unwrap();
    let cargo = CargoHome::from_env().provision(&place.cargo_home).unwrap();
    let tools = Tools { sandbox: Sandbox::open().unwrap(), place, cargo, cancel: CancelToken::new() };
    let mut files: BTreeMap<TreePath, Arc<[u8]>> =
        files.iter().map(|(path, bytes)| (path.parse().unwrap(), Arc::from(bytes.as_slice()))).collect();
    if !files.keys().any(|path| path.file_name() == b"Cargo.lock") {
        lock(&tools);
        files.insert(path("Cargo.lock"), std::fs::read(tools.place.tree.join("Cargo.lock")).unwrap().into());
    }
    Prepared { tools, files, folder }
}

impl Prepared {
    /// The whole text as the first change.
    pub fn base(&self) -> Change {
        let files = self.files.iter().map(|(path, bytes)| (path.clone(), Some(Arc::clone(bytes)))).collect();
        Change { generation: Generation(1), files }
    }

    pub fn gather(&self) -> Result<semantics::Facts, semantics::LoadError> {
        let manifests: Vec<String> =
            self.files.keys().map(TreePath::to_string).filter(|path| path.ends_with("Cargo.toml")).collect();
        gather(&self.tools, &manifests, Features::All, Duration::from_secs(120))
    }
}

pub fn project(files: &[(String, Vec<u8>)]) -> Project {
    let prepared = prepare(files);
    let facts = prepared.gather().unwrap();
    let place = &prepared.tools.place;
    let started = MacroProcess::start(&prepared.tools.sandbox, place, &prepared.tools.cancel).unwrap().unwrap();
    let server = MacroServer::connect(&place.macro_server(), started.1, &facts.toolchain.version).unwrap();
    let analysis = Analysis::load(facts, &prepared.base(), Some(server)).unwrap();
    Project {
        compiler: InProcess::new(analysis),
        files: prepared.files,
        generation: AtomicU64::new(1),
        _macros: Some(started.0),
        folder: prepared.folder,
    }
}

impl Project {
    pub fn at(&self) -> Generation {
        Generation(self.generation.load(Ordering::SeqCst))
    }

    /// What holds the tree and the build folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn text(&self, file: &str) -> String {
        String::from_utf8(self.files[&path(file)].to_vec()).unwrap()
    }

    /// Pushes new text for some files.
    pub fn push(&self, files: Vec<(TreePath, Option<Arc<[u8]>>)>) {
        let generation = Generation(self.generation.fetch_add(1, Ordering::SeqCst) + 1);
        self.compiler.push(Change { generation, files });
    }

    /// Replaces text in one file and asks the gate.
    pub fn gate_after(&self, file: &str, from: &str, to: &str) -> GateReport {
        let old = self.text(file);
        assert!(old.contains(from), "{from} is not in {file}");
        self.push(vec![(path(file), Some(old.replace(from, to).into_bytes().into()))]);
        let report = self.compiler.gate(self.at(), &[path(file)]);
        self.push(vec![(path(file), Some(self.files[&path(file)].clone()))]);
        report
    }

    pub fn refactor(&self, refactoring: &Refactoring) -> Refactored {
        match self.compiler.refactor(self.at(), refactoring) {
            Answer::Known { value, .. } => value,
            Answer::Unknown { reason } => panic!("unknown: {reason}"),
        }
    }

    pub fn rename(&self, symbol: &str, new_name: &str) -> Refactored {
        self.refactor(&Refactoring::Rename { symbol: symbol.to_owned(), new_name: new_name.to_owned(), at: None })
    }

    pub fn rename_at(&self, symbol: &str, at: (&str, u32, u32), new_name: &str) -> Refactored {
        let at = Some(Position { path: path(at.0), line: at.1, column: at.2 });
        self.refactor(&Refactoring::Rename { symbol: symbol.to_owned(), new_name: new_name.to_owned(), at })
    }

    /// The new texts of an edit set, by path.
    pub fn applied(&self, edits: &EditSet) -> BTreeMap<String, Option<String>> {
        let new = edits.apply(|path| self.files.get(path).cloned()).unwrap();
        new.into_iter()
            .map(|(path, text)| (path.to_string(), text.map(|text| String::from_utf8(text.to_vec()).unwrap())))
            .collect()
    }

    pub fn find(&self, name: &str) -> Vec<String> {
        match self.compiler.find(self.at(), name) {
            Answer::Known { value, .. } => value.into_iter().map(|symbol| symbol.name).collect(),
            Answer::Unknown { reason } => panic!("unknown: {reason}"),
        }
    }
}
