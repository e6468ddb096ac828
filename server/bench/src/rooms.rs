//! A house of its own for a measurement, and requests for it.

use std::path::Path;
use std::sync::Arc;

use agent::{Audience, Compilers, House, NoDocuments, NoRetrieval};
use journal::Journal;
use sandbox::{CancelToken, Sandbox};
use task::{Candidate, Engine, Limits, Request, Scope, Source, Tool, UnixMillis};

use crate::Failure;

pub fn house(state: &Path, compilers: &Arc<dyn Compilers>) -> Result<House, Failure> {
    let journal = Journal::open(state)?;
    Ok(House {
        journal: Arc::new(journal),
        state: state.canonicalize()?,
        sandbox: Sandbox::open().map_err(|error| error.to_string()),
        compilers: Arc::clone(compilers),
        model: Err("measurements ask no model".to_owned()),
        retrieval: Arc::new(NoRetrieval),
        redactor: task::Redactor::default(),
        documents: Arc::new(NoDocuments),
        audience: Audience::none(),
        cancel: CancelToken::new(),
    })
}

pub fn request(top: &Path, text: &str, engine: Engine, candidate: Option<Candidate>) -> Result<Request, Failure> {
    Ok(Request {
        id: journal::fresh_id()?,
        request_id: None,
        source: Source::CommandLine,
        source_url: None,
        workspace: top.to_str().ok_or("the temporary folder has no UTF-8 name")?.to_owned(),
        description: text.to_owned(),
        acceptance_criteria: Vec::new(),
        scope: Scope::default(),
        tools: Tool::ALL.to_vec(),
        allowed_files: Vec::new(),
        base_revision: None,
        engine,
        candidate,
        trigger: None,
        constraints: Vec::new(),
        plan_policy: task::PlanPolicy::default(),
        allowed_commands: Vec::new(),
        limits: Limits::default(),
        created: UnixMillis(0),
    })
}
