//! [`House`]: what every task of a process shares.

use std::path::PathBuf;
use std::sync::Arc;

use sandbox::{CancelToken, Sandbox};
use task::port::{Compiler, Journal};

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

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("state", &self.state).finish_non_exhaustive()
    }
}
