//! [`Draft`]: a request before it has an id, limits and the files that the user allows. Every front fills one in.

use std::time::{SystemTime, UNIX_EPOCH};

use task::{Candidate, Engine, PlanPolicy, Request, RequestId, Scope, Source, Tool, Trigger, UnixMillis};

use crate::failure::Failure;
use crate::settings::Settings;

#[derive(Debug)]
pub struct Draft {
    pub source: Source,
    /// Absolute, without links.
    pub folder: String,
    pub description: String,
    pub engine: Engine,
    pub candidate: Option<Candidate>,
    pub acceptance_criteria: Vec<String>,
    /// Globs.
    pub paths: Vec<String>,
    pub tools: Vec<Tool>,
    /// Globs of secret-looking files that may be copied, besides those of the settings.
    pub allowed_files: Vec<String>,
    pub base_revision: Option<String>,
    pub trigger: Option<Trigger>,
    pub plan_policy: Option<PlanPolicy>,
    pub max_attempts: Option<u32>,
    pub timeout_seconds: Option<u64>,
    pub budget_microdollars: Option<u64>,
    pub max_tokens: Option<u64>,
    pub request_id: Option<String>,
}

impl Draft {
    /// The request, under a fresh id.
    ///
    /// # Errors
    /// Names the glob or the id that cannot be read.
    pub fn request(self, settings: &Settings) -> Result<Request, Failure> {
        let mut limits = settings.limits(self.engine);
        limits.max_attempts = self.max_attempts.unwrap_or(limits.max_attempts);
        limits.timeout_ms = self.timeout_seconds.map_or(limits.timeout_ms, |seconds| seconds.saturating_mul(1000));
        limits.budget_microdollars = self.budget_microdollars.or(limits.budget_microdollars);
        limits.max_tokens = self.max_tokens.or(limits.max_tokens);
        let request_id = self.request_id.as_ref().map(|id| id.parse::<RequestId>()).transpose()?;
        let scope = Scope::new(self.paths).map_err(|error| Failure::usage(error.to_string()))?;
        let allowed_files: Vec<String> = settings.allow_files.iter().cloned().chain(self.allowed_files).collect();
        Scope::new(allowed_files.clone()).map_err(|error| Failure::usage(error.to_string()))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Request {
            id: journal::fresh_id()?,
            request_id,
            source: self.source,
            source_url: None,
            workspace: self.folder,
            description: self.description,
            acceptance_criteria: self.acceptance_criteria,
            scope,
            tools: self.tools,
            allowed_files,
            base_revision: self.base_revision,
            engine: self.engine,
            candidate: self.candidate,
            trigger: self.trigger,
            constraints: Vec::new(),
            plan_policy: self.plan_policy.or(settings.plan).unwrap_or_default(),
            allowed_commands: settings.allow_commands.clone(),
            limits,
            created: UnixMillis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
        })
    }
}
