//! `understudy lsp`: the language server, with the rooms that the command line has too.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::lsp::{Ask, Lent, Rooms};
use agent::{Audience, Compilers, Documents, House};
use sandbox::{CancelToken, Sandbox};
use serde_json::Value;
use task::port::Publisher;
use task::{Request, Source, Tool};

use super::{apply, doctor};
use crate::compilers::lasting_compilers;
use crate::draft::Draft;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::{models, wiring};

/// Serves one client; the number is the exit status.
pub fn lsp() -> i32 {
    ::lsp::serve(Arc::new(EditorRooms::default()))
}

/// Opens everything when it is first needed: a server starts in a moment and costs nothing while nothing is asked.
#[derive(Default)]
struct EditorRooms {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    journal: Option<Arc<journal::Journal>>,
    sandbox: Option<Sandbox>,
    compilers: Option<Arc<dyn Compilers>>,
    editor: Value,
}

impl EditorRooms {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The settings as they are now: a changed file needs no restart.
    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::load()?;
        settings.fill_in(&self.kept().editor)?;
        Ok(settings)
    }

    fn open(&self, audience: Audience, documents: Arc<dyn Documents>, lent: Option<Lent>) -> Result<House, Failure> {
        let settings = self.settings()?;
        let state = settings.state_folder()?;
        let mut kept = self.kept();
        let journal = match &kept.journal {
            Some(journal) => Arc::clone(journal),
            None => Arc::clone(kept.journal.insert(Arc::new(journal::Journal::open(&state)?))),
        };
        // A jail that was missing is looked for again: somebody may have mended the machine.
        let sandbox = match &kept.sandbox {
            Some(sandbox) => Ok(sandbox.clone()),
            None => {
                Sandbox::open().map(|sandbox| kept.sandbox.insert(sandbox).clone()).map_err(|error| error.to_string())
            }
        };
        let compilers = Arc::clone(kept.compilers.get_or_insert_with(lasting_compilers));
        drop(kept);
        let house = wiring::house(journal, &state, sandbox, compilers, audience, documents, CancelToken::new())?;
        let mut house = models::open(&settings).furnish(house);
        if let (Some(lent), Some(patience)) = (lent, models::lent(&settings)) {
            house.model = if lent.is_there() {
                Ok(Arc::new(model::Metered::around(Box::new(lent), patience)))
            } else {
                Err("the settings name the models of the editor, and this one lends none at present".to_owned())
            };
        }
        Ok(house)
    }
}

impl Rooms for EditorRooms {
    fn house(&self, audience: Audience, documents: Arc<dyn Documents>, lent: Lent) -> Result<House, String> {
        self.open(audience, documents, Some(lent)).map_err(|failure| failure.sentence)
    }

    fn model(&self, lent: &Lent) -> Result<(), String> {
        let house = self.house(Audience::none(), Arc::new(agent::NoDocuments), lent.clone())?;
        house.model.map(drop)
    }

    fn take_editor_settings(&self, settings: &Value) {
        self.kept().editor = settings.clone();
    }

    fn state(&self) -> Result<PathBuf, String> {
        let state = self.settings().and_then(|settings| Ok(settings.state_folder()?));
        state.map_err(|failure| failure.sentence)
    }

    fn request(&self, ask: Ask) -> Result<Request, String> {
        let draft = Draft {
            source: Source::Editor,
            folder: ask.folder,
            description: ask.description,
            engine: ask.engine,
            candidate: ask.candidate,
            acceptance_criteria: ask.acceptance_criteria,
            paths: ask.path_scope,
            tools: Tool::ALL.to_vec(),
            allowed_files: Vec::new(),
            base_revision: ask.base_revision,
            trigger: ask.trigger,
            plan_policy: ask.plan_policy,
            max_attempts: ask.max_attempts,
            timeout_seconds: ask.timeout_seconds,
            budget_microdollars: ask.budget_microdollars,
            max_tokens: ask.max_tokens,
            request_id: ask.request_id,
        };
        let request = self.settings().and_then(|settings| draft.request(&settings));
        request.map_err(|failure| failure.sentence)
    }

    fn publisher(&self, house: &House, workspace: &str) -> Result<Box<dyn Publisher>, String> {
        match apply::publisher(house, workspace) {
            Ok(publisher) => Ok(Box::new(publisher)),
            Err(failure) => Err(failure.sentence),
        }
    }

    fn doctor(&self, folder: Option<&Path>) -> String {
        match self.open(Audience::none(), Arc::new(agent::NoDocuments), None) {
            // An editor shows no colours of a terminal.
            Ok(house) => anstream::adapter::strip_str(&doctor::text(&doctor::findings(&house, folder))).to_string(),
            Err(failure) => failure.sentence,
        }
    }
}
