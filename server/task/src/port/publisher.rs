//! The last step into the developer's files.

use crate::{PublicationEnd, PublishedFile};

/// Why nothing could be said about a publication.
#[derive(Debug, thiserror::Error)]
#[error("the workspace cannot be {what}: {source}")]
pub struct PublishError {
    pub what: String,
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Writes approved files. The editor does it over LSP, the file publisher by temporary file and rename.
pub trait Publisher {
    /// Writes every file that still is as `before` says, and reads back. A file already at `after` counts as done, so the
    /// same call finishes a publication that was cut short. `fence` is asked before the first write and before each file.
    ///
    /// # Errors
    /// When the workspace cannot even be read; everything else is an end.
    fn publish(&self, files: &[PublishedFile], fence: &dyn Fn() -> bool) -> Result<PublicationEnd, PublishError>;
}
