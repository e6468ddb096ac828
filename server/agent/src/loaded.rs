//! [`Loaded`]: a compiler, and which text it has. It comes from the shelf where one waits that fits, and goes there.

use std::sync::Arc;

use task::port::{Absent, Change, Compiler, Generation};
use task::{Mode, TreeId, TreePath};
use worktree::{Entry, Store};

use crate::shelf::Kept;
use crate::site::Place;
use crate::{Compilers, Error};

/// Files above this size are not source text that a compiler or a search needs.
const LARGEST_TEXT: usize = 4 << 20;

/// A compiler in use. Dropping it puts it on the shelf, if there is one and the compiler is fit for another task.
pub(crate) struct Loaded {
    pub base: TreeId,
    compiler: Arc<dyn Compiler>,
    compilers: Arc<dyn Compilers>,
    /// Where it was opened; `None` for one that knows nothing.
    place: Option<Place>,
    provision: Option<TreeId>,
    shows: TreeId,
    generation: Generation,
}

impl Loaded {
    /// A compiler with the text of a base, which the shadow of the place shows with these files beside it.
    pub fn load(
        compilers: &Arc<dyn Compilers>,
        store: &Store,
        place: &Result<Place, String>,
        base: &TreeId,
        provision: Option<&TreeId>,
    ) -> Result<Self, Error> {
        let text = text_of(store, base)?;
        let loaded = |compiler, generation| Self {
            base: base.clone(),
            compiler,
            compilers: Arc::clone(compilers),
            place: place.as_ref().ok().cloned(),
            provision: provision.cloned(),
            shows: base.clone(),
            generation,
        };
        if let Ok(place) = place
            && let Some(kept) = compilers.shelf().and_then(|shelf| shelf.take(place))
            && kept.provision.as_ref() == provision
        {
            // Answers of the earlier task stay older than those of this one.
            let generation = Generation(kept.generation.0 + 1);
            compilers.renew(&*kept.compiler, place);
            if kept.compiler.rebase(Change { generation, files: text.clone() }) {
                return Ok(loaded(kept.compiler, generation));
            }
        }
        let compiler: Arc<dyn Compiler> = match place {
            Ok(place) => compilers.open(place),
            Err(reason) => Arc::new(Absent { reason: reason.clone() }),
        };
        let generation = Generation(1);
        compiler.push(Change { generation, files: text });
        Ok(loaded(compiler, generation))
    }

    /// Makes the compiler see a tree, by the texts in which it differs from what it saw last.
    pub fn show(&mut self, store: &Store, tree: &TreeId) -> Result<(Arc<dyn Compiler>, Generation), Error> {
        if self.shows != *tree {
            let generation = Generation(self.generation.0 + 1);
            let files = change_between(store, &self.shows, tree)?;
            self.compiler.push(Change { generation, files });
            self.generation = generation;
            self.shows = tree.clone();
        }
        Ok((Arc::clone(&self.compiler), self.generation))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Whoever panicked may have left a question half asked.
        if let Some(place) = self.place.take()
            && let Some(shelf) = self.compilers.shelf()
            && !std::thread::panicking()
            && self.compilers.release(&*self.compiler)
        {
            let compiler = Arc::clone(&self.compiler);
            shelf.keep(Kept { place, compiler, generation: self.generation, provision: self.provision.take() });
        }
    }
}

pub(crate) type Texts = Vec<(TreePath, Option<Arc<[u8]>>)>;

/// Every text of a tree.
pub(crate) fn text_of(store: &Store, tree: &TreeId) -> Result<Texts, Error> {
    let mut files = Vec::new();
    for (path, entry) in store.entries(tree)?.iter() {
        if let Some(text) = text(store, entry)? {
            files.push((path.clone(), Some(text)));
        }
    }
    Ok(files)
}

/// The texts in which one tree differs from another.
pub(crate) fn change_between(store: &Store, from: &TreeId, to: &TreeId) -> Result<Texts, Error> {
    let mut files = Vec::new();
    for file in worktree::published_files(store, from, to)? {
        let entry = store.entry(to, &file.path)?;
        let text = entry.map(|entry| text(store, &entry)).transpose()?.flatten();
        files.push((file.path, text));
    }
    Ok(files)
}

fn text(store: &Store, entry: &Entry) -> Result<Option<Arc<[u8]>>, Error> {
    if !matches!(entry.mode, Mode::File | Mode::Executable) {
        return Ok(None);
    }
    let bytes = store.blob(entry.blob)?;
    Ok((bytes.len() <= LARGEST_TEXT && !bytes.contains(&0)).then_some(bytes))
}
