//! Wires the rooms together into one house.

use std::path::Path;
use std::sync::Arc;

use agent::{Audience, Compilers, Documents, House, NoDocuments};
use journal::Journal;
use sandbox::{CancelToken, Sandbox};
use worktree::{Workspace, WorkspaceError};

use crate::compilers::compilers;
use crate::failure::Failure;
use crate::render::Live;
use crate::settings::Settings;

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    Terminal,
    Json,
}

/// A house with the settings it was built from.
pub struct Opened {
    pub house: House,
    pub settings: Settings,
}

/// Opens a house for work on a folder. A folder that cannot be worked on is refused before anything is made.
pub fn open_on(front: Front, folder: &str) -> Result<Opened, Failure> {
    let settings = Settings::load()?;
    match Workspace::open(Path::new(folder), &settings.state_folder()?) {
        // About a state folder that cannot be written the journal says more.
        Ok(_) | Err(WorkspaceError::Other(_)) => open_with(settings, front),
        Err(error) => Err(agent::Error::from(error).into()),
    }
}

/// Opens the journal and finds the jail. A machine without a jail still has a house: what needs one says why it cannot.
pub fn open(front: Front) -> Result<Opened, Failure> {
    open_with(Settings::load()?, front)
}

fn open_with(settings: Settings, front: Front) -> Result<Opened, Failure> {
    let state = settings.state_folder()?;
    let journal = Arc::new(Journal::open(&state)?);
    let audience = Live::audience(front == Front::Json);
    let sandbox = Sandbox::open().map_err(|error| error.to_string());
    let house = house(journal, &state, sandbox, compilers(), audience, Arc::new(NoDocuments), CancelToken::new())?;
    Ok(Opened { house, settings })
}

/// One house from its rooms; the journal has made the state folder.
pub fn house(
    journal: Arc<Journal>,
    state: &Path,
    sandbox: Result<Sandbox, String>,
    compilers: Arc<dyn Compilers>,
    audience: Audience,
    documents: Arc<dyn Documents>,
    cancel: CancelToken,
) -> Result<House, Failure> {
    let state = state
        .canonicalize()
        .map_err(|error| Failure::infrastructure(format!("{} cannot be opened: {error}", state.display())))?;
    let model = Err("no language model is configured".to_owned());
    let (retrieval, redactor) = (Arc::new(semantics::TextRetrieval), task::Redactor::default());
    Ok(House { journal, state, sandbox, compilers, model, retrieval, redactor, documents, audience, cancel })
}

/// Cancels the token when the developer presses Ctrl-C, once; a second time ends the process as usual.
pub fn cancel_on_interrupt(cancel: &CancelToken) {
    let cancel = cancel.clone();
    // A handler that cannot be set leaves the usual behaviour: the process ends, and the task can be resumed.
    let _ = ctrlc::set_handler(move || {
        if cancel.is_cancelled() {
            std::process::exit(task::ExitCode::Cancelled as i32);
        }
        cancel.cancel();
    });
}
