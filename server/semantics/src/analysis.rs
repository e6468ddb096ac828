//! A loaded compiler with the developer's text in it: the one place that changes the text and that turns the
//! compiler's positions into the developer's.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ra_ap_ide::AnalysisHost;
use ra_ap_ide_db::{ChangeWithProcMacros, FileId, RootDatabase};
use ra_ap_load_cargo::SourceRootConfig;
use ra_ap_syntax::TextRange;
use ra_ap_vfs::{Vfs, VfsPath};
use task::TreePath;
use task::port::{Answer, Change, Generation};

use crate::gate::BaseFindings;
use crate::load::{DoctestCrate, Facts, Grounds, LoadError, MacroServer, Place, Project, absolute};
use crate::refactor::doctests::Doctests;
use crate::text::Text;

/// The compiler, loaded with one tree.
pub struct Analysis {
    host: AnalysisHost,
    vfs: Vfs,
    roots: SourceRootConfig,
    place: Place,
    /// Every file of the tree as the developer has it.
    files: BTreeMap<TreePath, Arc<[u8]>>,
    /// The files of the tree that the compiler could take, by absolute path.
    texts: BTreeMap<PathBuf, Text>,
    /// The first text that was pushed, or the last that was made the base.
    base: BTreeMap<TreePath, Arc<[u8]>>,
    /// What was pushed since.
    pushed: BTreeMap<TreePath, Option<Arc<[u8]>>>,
    generation: Generation,
    grounds: Grounds,
    notes: Vec<String>,
    pub(crate) doctest_crates: Vec<DoctestCrate>,
    pub(crate) doctests: Doctests,
    pub(crate) base_findings: BaseFindings,
    _server: Option<MacroServer>,
}

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis")
            .field("place", &self.place)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// A place in the developer's text, with the bytes of its range.
pub type Site = task::port::Definition;

impl Analysis {
    /// Loads a tree. `base` is its whole text; `server` expands proc macros.
    ///
    /// # Errors
    /// When the facts cannot be turned into a project.
    pub fn load(facts: Facts, base: &Change, server: Option<MacroServer>) -> Result<Analysis, LoadError> {
        let place = facts.place.clone();
        let mut files = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (path, bytes) in &base.files {
            let Some(bytes) = bytes else { continue };
            if is_analysed(path)
                && let Some(text) = Text::new(bytes)
            {
                texts.insert(host_path(&place, path), text);
            }
            files.insert(path.clone(), Arc::clone(bytes));
        }
        let grounds = grounds(&facts, &texts);
        let loaded = Project::new(facts)?.load(&texts, server.as_ref(), Vfs::default())?;
        let mut database = RootDatabase::new(None);
        database.enable_proc_attr_macros();
        let mut host = AnalysisHost::with_database(database);
        host.apply_change(loaded.change);
        Ok(Analysis {
            host,
            vfs: loaded.vfs,
            roots: loaded.roots,
            place,
            base: files.clone(),
            pushed: BTreeMap::new(),
            files,
            texts,
            generation: base.generation,
            grounds,
            notes: loaded.notes,
            doctest_crates: loaded.doctest_crates,
            doctests: Doctests::default(),
            base_findings: BaseFindings::default(),
            _server: server,
        })
    }

    /// Takes better facts about the same text, keeping what was worked out about the rest: the standard library is the
    /// larger part, and it is the same without build scripts and proc macros.
    ///
    /// # Errors
    /// As [`Analysis::load`].
    pub fn reload(mut self, facts: Facts, server: Option<MacroServer>) -> Result<Analysis, LoadError> {
        self.grounds = grounds(&facts, &self.texts);
        let loaded = Project::new(facts)?.load(&self.texts, server.as_ref(), std::mem::take(&mut self.vfs))?;
        self.host.apply_change(loaded.change);
        self.vfs = loaded.vfs;
        self.roots = loaded.roots;
        self.notes = loaded.notes;
        self.doctest_crates = loaded.doctest_crates;
        self._server = server;
        Ok(self)
    }

    /// Takes new text.
    pub fn push(&mut self, change: &Change) {
        let paths: Vec<TreePath> = change.files.iter().map(|(path, _)| path.clone()).collect();
        self.learn_before_change(&paths);
        self.pushed.extend(change.files.iter().cloned());
        self.set_files(change.files.clone());
        self.generation = change.generation;
    }

    /// Makes another text the base. `change` is what differs from the present text, `differing` the files that differ
    /// from the base so far. Answers whether what was loaded holds for it; if not, nothing has changed.
    pub fn rebase(&mut self, change: &Change, differing: &[TreePath]) -> bool {
        let changed: BTreeMap<_, _> = change.files.iter().map(|(path, bytes)| (path, bytes.is_some())).collect();
        let new = |path: &TreePath| changed.get(path).copied().unwrap_or_else(|| self.files.contains_key(path));
        if !self.grounds.hold(differing.iter(), &|path| self.base.contains_key(path) != new(path)) {
            return false;
        }
        self.set_files(change.files.clone());
        self.base = self.files.clone();
        self.pushed = BTreeMap::new();
        self.base_findings = BaseFindings::default();
        self.generation = change.generation;
        true
    }

    /// Puts back the text that was pushed, after a question that broke off in the middle.
    pub(crate) fn restore(&mut self) {
        self.hide_doctests();
        let mut pushed: BTreeMap<TreePath, Option<Arc<[u8]>>> =
            self.files.keys().map(|path| (path.clone(), None)).collect();
        pushed.extend(self.base.iter().map(|(path, bytes)| (path.clone(), Some(Arc::clone(bytes)))));
        pushed.extend(self.pushed.clone());
        self.set_files(pushed.into_iter().collect());
    }

    /// The generation of the text that answers speak of.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// What this analysis cannot see, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the text is the one asked about; otherwise the reason for "unknown".
    pub fn check(&self, at: Generation) -> Result<(), String> {
        if at == self.generation {
            return Ok(());
        }
        Err(format!(
            "the compiler has the text of generation {}, the question is about generation {}",
            self.generation.0, at.0
        ))
    }

    /// An answer with what this analysis cannot see.
    pub fn known<T>(&self, value: T) -> Answer<T> {
        Answer::Known { value, missing: self.notes.clone() }
    }

    pub(crate) fn database(&self) -> &RootDatabase {
        self.host.raw_database()
    }

    /// Runs something that asks about types: the compiler finds its database through the thread.
    pub(crate) fn attached<R>(&self, work: impl FnOnce() -> R) -> R {
        ra_ap_hir::attach_db(self.database(), work)
    }

    pub(crate) fn ide(&self) -> ra_ap_ide::Analysis {
        self.host.analysis()
    }

    pub(crate) fn files(&self) -> &BTreeMap<TreePath, Arc<[u8]>> {
        &self.files
    }

    pub(crate) fn base(&self) -> &BTreeMap<TreePath, Arc<[u8]>> {
        &self.base
    }

    pub(crate) fn file_path(&self, file: FileId) -> Option<PathBuf> {
        let path = self.vfs.file_path(file).as_path()?;
        Some(<ra_ap_paths::AbsPath as AsRef<Path>>::as_ref(path).to_owned())
    }

    /// Where a file of the tree is, if it is one; synthetic files are not.
    pub(crate) fn tree_path(&self, path: &Path) -> Option<TreePath> {
        let relative = path.strip_prefix(&self.place.tree).ok()?;
        let path = TreePath::new(relative.as_os_str().as_bytes()).ok()?;
        self.files.contains_key(&path).then_some(path)
    }

    /// The tree path of a file number.
    pub(crate) fn tree_path_of(&self, file: FileId) -> Option<TreePath> {
        self.tree_path(&self.file_path(file)?)
    }

    pub(crate) fn host_path(&self, path: &TreePath) -> PathBuf {
        host_path(&self.place, path)
    }

    pub(crate) fn relative(&self, path: &Path) -> Option<TreePath> {
        TreePath::new(path.strip_prefix(&self.place.tree).ok()?.as_os_str().as_bytes()).ok()
    }

    pub(crate) fn text(&self, path: &TreePath) -> Option<&Text> {
        self.texts.get(&self.host_path(path))
    }

    /// The compiler's number of a file of the tree that it analyses.
    pub(crate) fn file_id(&self, path: &TreePath) -> Option<FileId> {
        self.file_id_at(&self.host_path(path))
    }

    pub(crate) fn file_id_at(&self, path: &Path) -> Option<FileId> {
        let (file, _) = self.vfs.file_id(&VfsPath::from(absolute(path)?))?;
        Some(file)
    }

    /// A range of the compiler's text as a place in the developer's; `None` outside the tree.
    pub(crate) fn site(&self, file: FileId, range: TextRange) -> Option<Site> {
        let path = self.file_path(file)?;
        let text = self.texts.get(&path)?;
        let path = self.tree_path(&path)?;
        let range = usize::from(range.start())..usize::from(range.end());
        let line = text.line(range.start);
        let range = text.range_to_bytes(range);
        Some(Site { path, start: range.start, end: range.end, line })
    }

    /// The Rust files of the tree that the compiler analyses, in order.
    pub(crate) fn rust_files(&self) -> Vec<(TreePath, FileId)> {
        let found = self.texts.keys().filter(|path| path.extension() == Some(OsStr::new("rs")));
        found.filter_map(|path| Some((self.tree_path(path)?, self.file_id_at(path)?))).collect()
    }

    /// Replaces the text of files without counting a generation: what a question does for itself it also undoes.
    pub(crate) fn set_files(&mut self, files: Vec<(TreePath, Option<Arc<[u8]>>)>) {
        for (path, bytes) in files {
            let host_path = self.host_path(&path);
            let text = bytes.as_deref().filter(|_| is_analysed(&path)).and_then(Text::new);
            if self.is_compiled(&host_path) {
                self.set_source(&host_path, text.as_ref().map(|text| text.lf().to_string()));
            }
            match text {
                Some(text) => self.texts.insert(host_path, text),
                None => self.texts.remove(&host_path),
            };
            match bytes {
                Some(bytes) => self.files.insert(path, bytes),
                None => self.files.remove(&path),
            };
        }
        self.apply_sources();
    }

    /// Queues the text of one source file, synthetic ones included; [`Analysis::apply_sources`] makes it count.
    pub(crate) fn set_source(&mut self, path: &Path, text: Option<String>) {
        if let Some(path) = absolute(path) {
            self.vfs.set_file_contents(VfsPath::from(path), text.map(String::into_bytes));
        }
    }

    /// Hands queued text to the compiler.
    pub(crate) fn apply_sources(&mut self) {
        let mut change = ChangeWithProcMacros::default();
        let mut moved = false;
        let changes = self.vfs.take_changes();
        if changes.is_empty() {
            return;
        }
        for (file, changed) in changes {
            moved |= changed.is_created_or_deleted();
            let text = match changed.change {
                ra_ap_vfs::Change::Create(bytes, _) | ra_ap_vfs::Change::Modify(bytes, _) => {
                    String::from_utf8(bytes).ok()
                }
                ra_ap_vfs::Change::Delete => None,
            };
            change.change_file(file, text);
        }
        if moved {
            change.set_roots(self.roots.partition(&self.vfs));
        }
        self.host.apply_change(change);
    }

    /// Whether the compiler takes this path as a source of a package of the tree.
    fn is_compiled(&self, path: &Path) -> bool {
        let Some(path) = absolute(path) else { return false };
        let vfs_path = VfsPath::from(path.clone());
        path.extension() == Some("rs")
            && self
                .roots
                .fsc
                .classify_path(&vfs_path)
                .is_some_and(|set| self.roots.local_filesets.contains(&(set as u64)))
    }
}

fn host_path(place: &Place, path: &TreePath) -> PathBuf {
    place.tree.join(OsStr::from_bytes(path.as_bytes()))
}

fn grounds(facts: &Facts, texts: &BTreeMap<PathBuf, Text>) -> Grounds {
    Grounds::new(facts, &|path| texts.get(path).map(|text| text.lf().to_string()))
}

/// Which files are worth keeping in the compiler's shape: sources, and Markdown for its doctests.
fn is_analysed(path: &TreePath) -> bool {
    let name = path.file_name();
    name.ends_with(b".rs") || name.ends_with(b".md")
}
