//! [`House`]: what every task of a process shares.

use std::path::PathBuf;
use std::sync::Arc;

use sandbox::{CancelToken, Sandbox};
use task::Redactor;
use task::TreePath;
use task::port::{Answer, Change, Compiler, Excerpt, GateProblem, Item, Journal, Model, Query, Retrieval, Retrieve};

use crate::documents::Documents;
use crate::progress::Audience;
use crate::shelf::Shelf;
use crate::site::Place;

/// The rooms with effects, and who listens.
pub struct House {
    pub journal: Arc<dyn Journal>,
    /// Our state folder.
    pub state: PathBuf,
    /// The jail, or why there is none together with the remedy.
    pub sandbox: Result<Sandbox, String>,
    pub compilers: Arc<dyn Compilers>,
    /// Language models, or why there is none together with the remedy.
    pub model: Result<Arc<dyn Model>, String>,
    /// Where each task's searchable text comes from.
    pub retrieval: Arc<dyn Retrieval>,
    /// What stands before every text that a model is sent.
    pub redactor: Redactor,
    /// Text in editors that was perhaps not saved.
    pub documents: Arc<dyn Documents>,
    pub audience: Audience,
    /// Ends whatever runs.
    pub cancel: CancelToken,
}

/// Where compilers come from: `semantics` in the product. There is always one; the absent one says why it knows nothing.
pub trait Compilers: Send + Sync {
    /// A compiler without any text.
    fn open(&self, place: &Place) -> Arc<dyn Compiler>;

    /// Where compilers wait for the next task, in a process that has more than one.
    fn shelf(&self) -> Option<&Shelf> {
        None
    }

    /// Frees a compiler from its task, whose cancellation is not to end it any more. Answers whether it can serve
    /// another one, which one that ever failed to answer cannot.
    fn release(&self, _compiler: &dyn Compiler) -> bool {
        false
    }

    /// Binds a compiler to another task: that task's cancellation ends it, and its remaining time counts.
    fn renew(&self, _compiler: &dyn Compiler, _place: &Place) {}
}

/// Finds nothing and says so: for processes that ask no model.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRetrieval;

const NOT_INDEXED: &str = "nothing is indexed here";

impl Retrieval for NoRetrieval {
    fn open(&self) -> Arc<dyn Retrieve> {
        Arc::new(*self)
    }
}

impl Retrieve for NoRetrieval {
    fn push(&self, _: Change) {}

    fn search(&self, _: &Query) -> Answer<Vec<Excerpt>> {
        Answer::Unknown { reason: NOT_INDEXED.to_owned() }
    }

    fn outline(&self, _: &TreePath) -> Answer<Vec<Item>> {
        Answer::Unknown { reason: NOT_INDEXED.to_owned() }
    }

    fn definitions(&self, _: &str) -> Answer<Vec<Item>> {
        Answer::Unknown { reason: NOT_INDEXED.to_owned() }
    }

    fn syntax(&self, _: &TreePath, _: &[u8]) -> Answer<Vec<GateProblem>> {
        Answer::Unknown { reason: NOT_INDEXED.to_owned() }
    }
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("state", &self.state).finish_non_exhaustive()
    }
}
