//! The inner half of loading: facts and pushed text become the compiler's input. No process of the tree is started.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ra_ap_ide_db::base_db::target::{Arch, TargetData};
use ra_ap_ide_db::base_db::{
    CrateBuilderId, CrateDisplayName, CrateGraphBuilder, CrateName, CrateOrigin, CrateWorkspaceData, DependencyBuilder,
    Env, ProcMacroLoadingError, ProcMacroPaths,
};
use ra_ap_ide_db::{ChangeWithProcMacros, FxHashMap};
use ra_ap_intern::Symbol;
use ra_ap_load_cargo::{ProjectFolders, SourceRootConfig, load_proc_macro};
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use ra_ap_project_model::{
    CargoConfig, CargoWorkspace, CfgOverrides, ManifestPath, Metadata, ProjectJson, ProjectJsonData, ProjectWorkspace,
    ProjectWorkspaceKind, RustSourceWorkspaceConfig, Sysroot, WorkspaceBuildScripts,
};
use ra_ap_vfs::{FileId, Vfs, VfsPath, loader::Entry};

use super::disk::Root;
use super::facts::{Facts, LoadError, WorkspaceFacts};
use super::macros::MacroServer;
use super::sysroot;
use crate::text::Text;

/// The folder of synthetic doctest files, below a package. No Cargo target lies there.
const DOCTEST_FOLDER: &str = ".understudy-doctests";

/// A tree that is ready to be handed to the compiler.
pub struct Project {
    facts: Facts,
    workspaces: Vec<ProjectWorkspace>,
    version: semver::Version,
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Project").field("place", &self.facts.place).finish_non_exhaustive()
    }
}

/// What a load gives.
pub struct Loaded {
    pub vfs: Vfs,
    /// The whole input; apply it to an empty database.
    pub change: ChangeWithProcMacros,
    /// Which files belong to which package.
    pub roots: SourceRootConfig,
    /// One synthetic crate for each library, in which its doctests are analysed.
    pub doctest_crates: Vec<DoctestCrate>,
    /// What is missing, one sentence each.
    pub notes: Vec<String>,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// The place of the doctests of one library.
#[derive(Debug, Clone)]
pub struct DoctestCrate {
    /// The library's root file.
    pub library: FileId,
    /// The synthetic crate's root file; its modules lie beside it.
    pub root: PathBuf,
    /// The name by which doctests know the library.
    pub name: String,
}

impl Project {
    /// Builds the compiler's project model.
    ///
    /// # Errors
    /// [`LoadError::Refused`] when the compiler's own constructors cannot take what cargo said.
    pub fn new(facts: Facts) -> Result<Project, LoadError> {
        let version = semver::Version::parse(&facts.toolchain.version).map_err(|_| LoadError::Malformed {
            what: "rustc --version",
            expected: "a version",
            source: None,
        })?;
        let mut workspaces = Vec::new();
        for workspace in &facts.workspaces {
            let refused = |reason: String| LoadError::Refused { manifest: workspace.manifest.clone(), reason };
            // Several constructors of the compiler panic on ids and names that only a forger would print.
            let built = catch_unwind(AssertUnwindSafe(|| build(&facts, workspace, &version)));
            workspaces.push(built.map_err(|panic| refused(panic_text(&*panic)))?.map_err(refused)?);
        }
        Ok(Project { facts, workspaces, version })
    }

    /// Makes the compiler's input from the pushed text and what the facts name on disk. Given the files of an earlier
    /// load, what did not change keeps its number and the compiler what it worked out about it.
    ///
    /// # Errors
    /// [`LoadError::Refused`] when the crate graph cannot be built.
    pub fn load(
        &self,
        texts: &BTreeMap<PathBuf, Text>,
        server: Option<&MacroServer>,
        vfs: Vfs,
    ) -> Result<Loaded, LoadError> {
        catch_unwind(AssertUnwindSafe(|| self.load_inner(texts, server, vfs))).map_err(|panic| LoadError::Refused {
            manifest: self.facts.place.tree.display().to_string(),
            reason: panic_text(&*panic),
        })
    }

    fn load_inner(&self, texts: &BTreeMap<PathBuf, Text>, server: Option<&MacroServer>, mut vfs: Vfs) -> Loaded {
        let place = &self.facts.place;
        let mut notes = self.facts.notes.clone();
        let outside: Vec<Root> = place
            .dependencies()
            .iter()
            .chain([&place.library(), &place.target])
            .filter_map(|root| Root::open(root))
            .collect();
        let text = |path: &Path| match path.strip_prefix(&place.tree) {
            Ok(_) => texts.get(path).map(|text| text.lf().to_string()),
            Err(_) => outside.iter().find_map(|root| root.read(path)),
        };
        // The graph comes first: file numbers are given in order of arrival, and inference depends on them.
        let mut graph = CrateGraphBuilder::default();
        let mut macro_paths: Vec<ProcMacroPaths> = Vec::new();
        for workspace in &self.workspaces {
            let (other, mut paths) = workspace.to_crate_graph(
                &mut |path: &AbsPath| {
                    let text = text(path.as_ref())?;
                    let path = VfsPath::from(path.to_path_buf());
                    vfs.set_file_contents(path.clone(), Some(text.into_bytes()));
                    vfs.file_id(&path).map(|(id, _)| id)
                },
                &FxHashMap::default(),
            );
            graph.extend(other, &mut paths);
            macro_paths.push(paths);
        }
        let doctest_crates = self.add_doctest_crates(&mut graph, &mut vfs);
        let folders = ProjectFolders::new(&self.workspaces, &[], None);
        for entry in &folders.load {
            let Entry::Directories(directories) = entry else { continue };
            for include in &directories.include {
                let include: &Path = include.as_ref();
                let wanted = |path: &Path| absolute(path).is_some_and(|path| entry.contains_file(&path));
                if include.starts_with(&place.tree) {
                    for (path, text) in
                        texts.range(include.to_owned()..).take_while(|(path, _)| path.starts_with(include))
                    {
                        if wanted(path)
                            && let Some(path) = absolute(path)
                        {
                            vfs.set_file_contents(VfsPath::from(path), Some(text.lf().as_bytes().to_vec()));
                        }
                    }
                    continue;
                }
                let Some(root) = outside.iter().find(|root| root.holds(include)) else { continue };
                let other_root = |path: &Path| {
                    directories.include.iter().any(|other| <AbsPathBuf as AsRef<Path>>::as_ref(other) == path)
                };
                let enter =
                    |path: &Path| absolute(path).is_some_and(|path| entry.contains_dir(&path)) && !other_root(path);
                root.walk(include, &enter, &mut |path| {
                    if wanted(&path)
                        && let (Some(text), Some(path)) = (root.read(&path), absolute(&path))
                    {
                        vfs.set_file_contents(VfsPath::from(path), Some(text.into_bytes()));
                    }
                });
            }
        }
        let mut missing_macros = 0;
        let macros = macro_paths
            .into_iter()
            .flatten()
            .map(|(id, found)| {
                let loaded = found.and_then(|(_, dylib)| match server {
                    Some(server) => load_proc_macro(&server.client, &dylib, &[]),
                    None => Err(ProcMacroLoadingError::Disabled),
                });
                missing_macros += usize::from(loaded.is_err());
                (id, loaded)
            })
            .collect();
        if missing_macros > 0 {
            notes.push(format!(
                "{missing_macros} proc-macro crates could not be loaded, so what they generate is unknown"
            ));
        }
        let mut change = ChangeWithProcMacros::default();
        for (id, file) in vfs.take_changes() {
            if let ra_ap_vfs::Change::Create(bytes, _) | ra_ap_vfs::Change::Modify(bytes, _) = file.change {
                change.change_file(id, String::from_utf8(bytes).ok());
            }
        }
        change.set_roots(folders.source_root_config.partition(&vfs));
        change.set_crate_graph(graph);
        change.set_proc_macros(macros);
        Loaded { vfs, change, roots: folders.source_root_config, doctest_crates, notes }
    }

    /// Adds an empty crate beside each library of the tree that depends on what the library's doctests can use.
    fn add_doctest_crates(&self, graph: &mut CrateGraphBuilder, vfs: &mut Vfs) -> Vec<DoctestCrate> {
        let libraries = libraries(&self.facts);
        let target = self.facts.toolchain.target_data();
        let ids: Vec<CrateBuilderId> = graph.iter().collect();
        let mut added = Vec::new();
        for id in ids {
            let root = graph[id].basic.root_file_id;
            let Some(path) = vfs.file_path(root).as_path().map(|path| path.to_path_buf()) else { continue };
            let Some(library) = libraries.get(<AbsPathBuf as AsRef<Path>>::as_ref(&path)) else { continue };
            let Ok(name) = CrateName::new(&library.name) else { continue };
            let synthetic = library.folder.join(DOCTEST_FOLDER).join(format!("{}.rs", library.name));
            let Some(synthetic_path) = absolute(&synthetic) else { continue };
            let synthetic_path = VfsPath::from(synthetic_path);
            vfs.set_file_contents(synthetic_path.clone(), Some(Vec::new()));
            let Some((file, _)) = vfs.file_id(&synthetic_path) else { continue };
            let basic = graph[id].basic.clone();
            let data = CrateWorkspaceData { target: Ok(target.clone()), toolchain: Some(self.version.clone()) };
            let crate_id = graph.add_crate_root(
                file,
                basic.edition,
                Some(CrateDisplayName::from_canonical_name(&format!("{}_doctests", library.name))),
                None,
                graph[id].cfg_options.clone(),
                None,
                Env::default(),
                CrateOrigin::Local { repo: None, name: Some(Symbol::intern(&format!("{}_doctests", library.name))) },
                Vec::new(),
                false,
                basic.proc_macro_cwd.clone(),
                data.into(),
            );
            for dependency in basic.dependencies {
                // A new root has no dependents, so no edge from it can close a cycle.
                let _ = graph.add_dep(crate_id, dependency);
            }
            let _ = graph.add_dep(crate_id, DependencyBuilder::new(name, id));
            added.push(DoctestCrate { library: root, root: synthetic, name: library.name.clone() });
        }
        added
    }
}

/// A library target of a package of the tree.
struct Library {
    name: String,
    folder: PathBuf,
}

/// Library targets of local packages by their root file.
fn libraries(facts: &Facts) -> BTreeMap<PathBuf, Library> {
    let mut found = BTreeMap::new();
    for workspace in &facts.workspaces {
        let metadata: serde_json::Value = serde_json::from_str(&workspace.metadata).unwrap_or_default();
        for package in
            metadata["packages"].as_array().into_iter().flatten().filter(|package| package["source"].is_null())
        {
            for target in package["targets"].as_array().into_iter().flatten() {
                let kinds = target["kind"].as_array().into_iter().flatten();
                let is_library = kinds
                    .filter_map(|kind| kind.as_str())
                    .any(|kind| matches!(kind, "lib" | "rlib" | "dylib" | "cdylib" | "staticlib"));
                let has_doctests = target["doctest"].as_bool().unwrap_or(true);
                let (Some(name), Some(source)) = (target["name"].as_str(), target["src_path"].as_str()) else {
                    continue;
                };
                let folder = package["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
                if let (true, true, Some(folder)) = (is_library, has_doctests, folder) {
                    found.insert(
                        PathBuf::from(source),
                        Library { name: name.replace('-', "_"), folder: folder.to_owned() },
                    );
                }
            }
        }
    }
    found
}

/// One workspace in the compiler's project model.
fn build(facts: &Facts, workspace: &WorkspaceFacts, version: &semver::Version) -> Result<ProjectWorkspace, String> {
    let metadata: Metadata = serde_json::from_str(&workspace.metadata).map_err(|error| error.to_string())?;
    let manifest = absolute(Path::new(&workspace.manifest)).and_then(|path| ManifestPath::try_from(path).ok());
    let manifest = manifest.ok_or("the manifest's path is not usable")?;
    let cargo = CargoWorkspace::new(metadata, manifest, ra_ap_ide_db::base_db::Env::default(), false);
    let mut built = ProjectWorkspace {
        kind: ProjectWorkspaceKind::Cargo {
            cargo,
            error: None,
            build_scripts: WorkspaceBuildScripts::default(),
            rustc: Err(None),
        },
        sysroot: standard_library(facts)?,
        rustc_cfg: facts.toolchain.cfg_atoms(),
        toolchain: Some(version.clone()),
        target: Ok(facts.toolchain.target_data()),
        cfg_overrides: CfgOverrides::default(),
        extra_includes: Vec::new(),
        set_test: true,
    };
    let scripts = build_scripts(&built, workspace).map_err(|error| error.to_string())?;
    built.set_build_scripts(scripts);
    Ok(built)
}

/// The compiler reads cargo's build messages only from a command that it starts itself, so it is given one that
/// prints the messages that were checked.
fn build_scripts(
    built: &ProjectWorkspace,
    workspace: &WorkspaceFacts,
) -> Result<WorkspaceBuildScripts, Box<dyn std::error::Error>> {
    let mut file = tempfile::NamedTempFile::new()?;
    for message in &workspace.messages {
        std::io::Write::write_all(&mut file, format!("{message}\n").as_bytes())?;
    }
    let path = file.path().display().to_string();
    let command = vec!["/usr/bin/cat".to_owned(), path];
    let config = CargoConfig { run_build_script_command: Some(command), ..CargoConfig::default() };
    Ok(built.run_build_scripts(&config, &|_| {})?)
}

fn standard_library(facts: &Facts) -> Result<Sysroot, String> {
    if facts.toolchain.library.is_null() {
        return Ok(Sysroot::empty());
    }
    let sources = absolute(&facts.place.library()).ok_or("the toolchain's path is not UTF-8")?;
    // A sysroot with a root would make the compiler start rustup to find its tools.
    let mut sysroot = Sysroot::new(None, Some(sources.clone()));
    let data: ProjectJsonData =
        serde_json::from_value(sysroot::project_json(&facts.toolchain.library)).map_err(|error| error.to_string())?;
    let config = RustSourceWorkspaceConfig::Json(ProjectJson::new(None, &sources, data));
    if let Some(library) = sysroot.load_workspace(&config, false, &|_| {}) {
        sysroot.set_workspace(library);
    }
    Ok(sysroot)
}

impl super::facts::ToolchainFacts {
    fn cfg_atoms(&self) -> Vec<ra_ap_cfg::CfgAtom> {
        let atom = |line: &String| match line.split_once('=') {
            Some((key, value)) => ra_ap_cfg::CfgAtom::KeyValue {
                key: Symbol::intern(key),
                value: Symbol::intern(value.trim_matches('"')),
            },
            None => ra_ap_cfg::CfgAtom::Flag(Symbol::intern(line)),
        };
        self.cfg.iter().map(atom).collect()
    }

    fn target_data(&self) -> TargetData {
        let arch = match self.arch.as_str() {
            "wasm32" => Arch::Wasm32,
            "wasm64" => Arch::Wasm64,
            _ => Arch::Other,
        };
        TargetData { data_layout: self.data_layout.as_str().into(), arch }
    }
}

/// The compiler's form of an absolute path, when it is UTF-8.
pub fn absolute(path: &Path) -> Option<AbsPathBuf> {
    AbsPathBuf::try_from(Utf8PathBuf::from_path_buf(path.to_owned()).ok()?).ok()
}

/// What a panic said.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the compiler panicked").to_owned()
}
