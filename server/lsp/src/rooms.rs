//! [`Rooms`]: what the binary lends to the server, so that this crate knows no settings, no journal and no git.

use std::path::Path;
use std::sync::Arc;

use agent::{Audience, Documents, House};
use task::port::Publisher;
use task::{Candidate, Engine, PlanPolicy, Request, Trigger};

use crate::lent::Lent;

/// A task as an editor asks for it; what it leaves out comes from the settings.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The workspace folder, absolute.
    pub folder: String,
    pub description: String,
    pub engine: Engine,
    pub candidate: Option<Candidate>,
    pub acceptance_criteria: Vec<String>,
    /// Globs; nothing means every file.
    pub path_scope: Vec<String>,
    pub base_revision: Option<String>,
    pub trigger: Option<Trigger>,
    pub max_attempts: Option<u32>,
    pub timeout_seconds: Option<u64>,
    pub plan_policy: Option<PlanPolicy>,
    pub max_tokens: Option<u64>,
    pub budget_microdollars: Option<u64>,
    pub request_id: Option<String>,
}

impl Ask {
    /// With nothing but what it must have.
    pub fn about(folder: String, description: String, engine: Engine) -> Self {
        Self {
            folder,
            description,
            engine,
            candidate: None,
            acceptance_criteria: Vec::new(),
            path_scope: Vec::new(),
            base_revision: None,
            trigger: None,
            max_attempts: None,
            timeout_seconds: None,
            plan_policy: None,
            max_tokens: None,
            budget_microdollars: None,
            request_id: None,
        }
    }
}

/// The house and what goes with it. Every error is one sentence for people.
pub trait Rooms: Send + Sync {
    /// A house for one act. The journal behind it is shared; the cancel token is its own. `lent` are the models of the
    /// client, asked where the user's settings say so.
    ///
    /// # Errors
    /// When the state folder cannot be worked with.
    fn house(&self, audience: Audience, documents: Arc<dyn Documents>, lent: Lent) -> Result<House, String>;

    /// Whether a language model is configured.
    ///
    /// # Errors
    /// What to do about it when none is.
    fn model(&self, lent: &Lent) -> Result<(), String>;

    /// Settings the editor sent, used where neither a variable nor the user's file says something.
    fn take_editor_settings(&self, settings: &serde_json::Value);

    /// Our state folder.
    ///
    /// # Errors
    /// When there is none.
    fn state(&self) -> Result<std::path::PathBuf, String>;

    /// The request with a fresh id, limits and the files that the user allows.
    ///
    /// # Errors
    /// Names what in it cannot be taken.
    fn request(&self, ask: Ask) -> Result<Request, String>;

    /// Writes files of a workspace that no editor has open.
    ///
    /// # Errors
    /// When the workspace cannot be worked with.
    fn publisher(&self, house: &House, workspace: &str) -> Result<Box<dyn Publisher>, String>;

    /// What works here, what does not and how to mend it.
    fn doctor(&self, folder: Option<&Path>) -> String;
}
