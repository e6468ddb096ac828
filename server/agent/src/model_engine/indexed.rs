//! [`Indexed`]: the searchable text of a task, and which tree it shows.

use std::sync::Arc;

use task::TreeId;
use task::port::{Change, Generation, Retrieval, Retrieve};
use worktree::Store;

use crate::Error;
use crate::loaded::{change_between, text_of};

pub(crate) struct Indexed {
    retrieve: Arc<dyn Retrieve>,
    shows: Option<TreeId>,
    generation: Generation,
}

impl Indexed {
    pub fn new(retrieval: &dyn Retrieval) -> Self {
        Self { retrieve: retrieval.open(), shows: None, generation: Generation(0) }
    }

    /// The text of a tree, by what differs from what was shown last.
    pub fn show(&mut self, store: &Store, tree: &TreeId) -> Result<Arc<dyn Retrieve>, Error> {
        if self.shows.as_ref() != Some(tree) {
            let files = match &self.shows {
                Some(shown) => change_between(store, shown, tree)?,
                None => text_of(store, tree)?,
            };
            self.generation = Generation(self.generation.0 + 1);
            self.retrieve.push(Change { generation: self.generation, files });
            self.shows = Some(tree.clone());
        }
        Ok(Arc::clone(&self.retrieve))
    }
}

impl std::fmt::Debug for Indexed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Indexed").field("shows", &self.shows).finish_non_exhaustive()
    }
}
