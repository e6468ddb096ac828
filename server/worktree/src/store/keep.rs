//! Keep-refs: what makes a tree last. `refs/understudy/<task>/<n>` names a tree, `.../provision` the provisioned files.

use std::fs;
use std::path::PathBuf;

use task::{TaskId, TreeId};

use super::Store;
use crate::{Error, durable};

const PROVISION: &str = "provision";

impl Store {
    /// Makes a tree last until the task is forgotten, whatever happens to the process or the machine.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep(&self, task: &TaskId, tree: &TreeId) -> Result<(), Error> {
        let refs = self.numbered(task)?;
        if refs.iter().any(|(_, kept)| kept == tree) {
            return self.flush();
        }
        let next = refs.last().map_or(1, |(number, _)| number + 1);
        self.write_ref(task, &next.to_string(), tree)
    }

    /// The kept trees of a task, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn kept(&self, task: &TaskId) -> Result<Vec<TreeId>, Error> {
        Ok(self.numbered(task)?.into_iter().map(|(_, tree)| tree).collect())
    }

    /// Like [`Store::keep`], for the provisioned files of a task.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep_provision(&self, task: &TaskId, provision: &TreeId) -> Result<(), Error> {
        self.write_ref(task, PROVISION, provision)
    }

    /// The provisioned files of a task, as a tree of their own.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn kept_provision(&self, task: &TaskId) -> Result<Option<TreeId>, Error> {
        let path = self.folder_of(task).join(PROVISION);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim_end().parse().ok()),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(Error::io("read", path)(err)),
        }
    }

    /// Lets the trees of a task go; [`Store::tidy`] then gives their space back.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn forget(&self, task: &TaskId) -> Result<(), Error> {
        let folder = self.folder_of(task);
        match fs::remove_dir_all(&folder) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(Error::io("removed", folder)(err)),
            _ => Ok(()),
        }
    }

    /// Every tree that some task keeps.
    pub(super) fn roots(&self) -> Result<Vec<TreeId>, Error> {
        let folder = self.path.join("refs/understudy");
        let mut roots = Vec::new();
        for task in list(&folder)? {
            for name in list(&folder.join(&task))? {
                let path = folder.join(&task).join(name);
                let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
                roots.extend(text.trim_end().parse::<TreeId>().ok());
            }
        }
        Ok(roots)
    }

    fn numbered(&self, task: &TaskId) -> Result<Vec<(u32, TreeId)>, Error> {
        let folder = self.folder_of(task);
        let mut refs = Vec::new();
        for name in list(&folder)? {
            let Ok(number) = name.parse::<u32>() else { continue };
            let path = folder.join(&name);
            let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
            if let Ok(tree) = text.trim_end().parse() {
                refs.push((number, tree));
            }
        }
        refs.sort_unstable_by_key(|(number, _)| *number);
        Ok(refs)
    }

    /// Objects first, then the name: a ref never names what is not there.
    fn write_ref(&self, task: &TaskId, name: &str, tree: &TreeId) -> Result<(), Error> {
        self.flush()?;
        // Fails here rather than later when the tree is not ours.
        self.entries(tree)?;
        let folder = self.folder_of(task);
        fs::create_dir_all(&folder).map_err(Error::io("made", &folder))?;
        let path = folder.join(name);
        durable::write_file(&path, &[tree.as_str().as_bytes(), b"\n"], 0o600).map_err(Error::io("written", &path))?;
        durable::sync_folder(&folder).map_err(Error::io("synced", &folder))
    }

    fn folder_of(&self, task: &TaskId) -> PathBuf {
        // A few task ids are no name of a ref or even of a folder; `@` occurs in no id, so the other form is free.
        let id = task.as_str();
        let name = if git2::Reference::is_valid_name(&format!("refs/understudy/{id}/1")) {
            id.to_owned()
        } else {
            format!("@{}", id.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
        };
        self.path.join("refs/understudy").join(name)
    }
}

fn list(folder: &PathBuf) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(Error::io("read", folder)(err)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("read", folder))?;
        if let Ok(name) = entry.file_name().into_string()
            && !name.ends_with(".tmp")
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
