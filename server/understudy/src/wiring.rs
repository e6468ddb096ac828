//! Wires the rooms together into one house.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::{Audience, Compilers, Documents, House, NoDocuments};
use journal::Journal;
use sandbox::{CancelToken, Sandbox};
use worktree::{Workspace, WorkspaceError};

use crate::compilers::compilers;
use crate::failure::Failure;
use crate::models::{self, Models};
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
    let models = models::open(&settings);
    open_with(settings, models, front, Some(folder))
}

/// Opens the journal and finds the jail. A machine without a jail still has a house: what needs one says why it cannot.
pub fn open(front: Front) -> Result<Opened, Failure> {
    let settings = Settings::load()?;
    let models = models::open(&settings);
    open_with(settings, models, front, None)
}

/// The same with settings that were read and models that were found already.
pub fn open_with(settings: Settings, models: Models, front: Front, folder: Option<&str>) -> Result<Opened, Failure> {
    let state = settings.state_folder()?;
    match folder.map(|folder| Workspace::open(Path::new(folder), &state)) {
        // About a state folder that cannot be written the journal says more.
        None | Some(Ok(_) | Err(WorkspaceError::Other(_))) => {}
        Some(Err(error)) => return Err(agent::Error::from(error).into()),
    }
    let journal = Arc::new(Journal::open(&state)?);
    let audience = Live::audience(front == Front::Json);
    let sandbox = Sandbox::open().map_err(|error| error.to_string());
    let house = house(journal, &state, sandbox, compilers(), audience, Arc::new(NoDocuments), CancelToken::new())?;
    Ok(Opened { house: models.furnish(house), settings })
}

/// One house from its rooms, without models; the journal has made the state folder.
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
    let model = Err("this process asks no language model".to_owned());
    let (retrieval, redactor) = (Arc::new(semantics::TextRetrieval), task::Redactor::default());
    Ok(House { journal, state, sandbox, compilers, model, retrieval, redactor, documents, audience, cancel })
}

/// Whether the developer is being asked something, so that nothing runs that Ctrl-C could end.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Reads what the developer answers; Ctrl-C meanwhile leaves the task waiting.
pub fn while_asking<T>(read: impl FnOnce() -> T) -> T {
    ASKING.store(true, Ordering::SeqCst);
    let answer = read();
    ASKING.store(false, Ordering::SeqCst);
    answer
}

/// Cancels the token when the developer presses Ctrl-C, once; a second time ends the process as usual.
pub fn cancel_on_interrupt(cancel: &CancelToken) {
    let cancel = cancel.clone();
    // A handler that cannot be set leaves the usual behaviour: the process ends, and the task can be resumed.
    let _ = ctrlc::set_handler(move || {
        if ASKING.load(Ordering::SeqCst) {
            anstream::eprintln!("\nthe task waits; `understudy tasks list --waiting` names it");
            std::process::exit(task::ExitCode::NeedsAnswer as i32);
        }
        if cancel.is_cancelled() {
            std::process::exit(task::ExitCode::Cancelled as i32);
        }
        cancel.cancel();
    });
}
