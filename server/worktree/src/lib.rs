//! The room of trees: what the developer's text was (snapshot), what it could become (trees in a store of our own),
//! where checks see it (slots) and how approved bytes reach the developer's files (the file publisher).
//!
//! Git is an object format here, read and written through `git2` and by a pack writer of our own: nothing is checked
//! out, no status is asked, and nothing in the developer's `.git` is ever written. Every tree is named by its
//! [`task::TreeId`] and never changes; edits turn one tree into another in memory, and [`Store::keep`] makes one last.

mod beneath;
mod compare;
mod durable;
mod error;
mod git;
mod lines;
mod lock;
mod names;
mod patch;
mod publish;
mod rebase;
mod select;
mod slot;
mod snapshot;
mod stamps;
mod store;
mod unified;
mod words;
mod workspace;

pub use compare::{Authors, compare, published_files};
pub use error::Error;
pub use lines::{LineChange, line_changes};
pub use patch::{PatchError, apply_patch};
pub use publish::FilePublisher;
pub use rebase::{Rebased, rebase};
pub use select::{SelectError, select};
pub use slot::{Inspection, Projection, Slot};
pub use snapshot::{
    FreezeOptions, Frozen, Interrupt, Provisioned, Revision, freeze, freeze_revision, merge_base_with_head, provisioned,
};
pub use store::{ApplyError, BlobId, Entries, Entry, NewEntries, Store};
pub use unified::unified;
pub use words::changed_words;
pub use workspace::{Workspace, WorkspaceError, WorkspaceId};
