//! Real tasks, and the bare repositories that they are about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use task::{Mode, TreeId, TreePath};
use worktree::{FreezeOptions, Store, Workspace};

use crate::Failure;
use crate::corpus::Home;

/// One line of the file: `id`, `repo`, `lang`, `base_commit`, `fix_commit`, `issue_text` or `query`, `gold_files`,
/// `gold_symbols`, `n_code_files`, `names_symbol`.
pub struct Task(pub Value);

/// One file of a revision: where it is, what kind, and its bytes.
pub type MirroredFile = (TreePath, Mode, std::sync::Arc<[u8]>);

impl Task {
    /// The tasks of a file, by repository.
    pub fn read(file: &Path) -> Result<BTreeMap<String, Vec<Self>>, Failure> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut by_repository: BTreeMap<String, Vec<Self>> = BTreeMap::new();
        for line in text.lines() {
            let task = Self(serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?);
            by_repository.entry(task.word("repo").to_owned()).or_default().push(task);
        }
        Ok(by_repository)
    }

    pub fn word(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    pub fn list(&self, key: &str) -> Vec<String> {
        self.0[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub fn text(&self) -> &str {
        Some(self.word("issue_text")).filter(|text| !text.is_empty()).unwrap_or_else(|| self.word("query"))
    }
}

/// A bare repository, read the way a task with a base revision reads one: through a workspace whose `.git` points at it.
pub struct Mirror {
    workspace: Workspace,
    pub store: Store,
    _home: Home,
}

impl Mirror {
    /// The repository of this name in a folder of them; none where it is not there.
    pub fn find(repositories: &Path, name: &str) -> Result<Option<Self>, Failure> {
        let folder = repositories.join(name.replace('/', "+")).join("repo");
        if !folder.is_dir() {
            return Ok(None);
        }
        let home = Home::new("mirror")?;
        fs::create_dir_all(home.join("work"))?;
        let folder = folder.canonicalize()?;
        fs::write(home.join("work/.git"), format!("gitdir: {}\n", folder.display()))?;
        let workspace = Workspace::open(&home.join("work"), &home.join("state"))?;
        let store = Store::open(&workspace)?;
        Ok(Some(Self { workspace, store, _home: home }))
    }

    pub fn tree(&self, revision: &str) -> Result<TreeId, Failure> {
        Ok(worktree::freeze_revision(&self.workspace, &self.store, revision, &FreezeOptions::default())?.tree)
    }

    /// The files of a revision with their bytes; symbolic links and submodules are none.
    pub fn files(&self, revision: &str) -> Result<Vec<MirroredFile>, Failure> {
        let tree = self.tree(revision)?;
        let mut files = Vec::new();
        for (path, entry) in self.store.entries(&tree)?.iter() {
            if matches!(entry.mode, Mode::File | Mode::Executable) {
                files.push((path.clone(), entry.mode, self.store.blob(entry.blob)?));
            }
        }
        Ok(files)
    }
}
