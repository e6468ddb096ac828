//! A house of its own for a measurement, and requests for it.

use std::path::Path;
use std::sync::Arc;

use agent::{Audience, Compilers, House, Place};
use journal::Journal;
use sandbox::{CancelToken, Sandbox};
use semantics::{WorkerLimits, Workspace};
use task::port::Compiler;
use task::{Candidate, Engine, Features, Limits, Request, Scope, Source, Tool, UnixMillis};

use crate::Failure;

pub fn house(state: &Path) -> Result<House, Failure> {
    let journal = Journal::open(state)?;
    Ok(House {
        journal: Arc::new(journal),
        state: state.canonicalize()?,
        sandbox: Sandbox::open().map_err(|error| error.to_string()),
        compilers: Arc::new(Workers),
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
        limits: Limits::default(),
        created: UnixMillis(0),
    })
}

/// The compiler of a place, as a worker in the jail.
pub fn compiler(place: &Place) -> Workspace {
    let tools = semantics::Tools {
        sandbox: place.sandbox.clone(),
        place: semantics::Place {
            tree: place.shadow.clone(),
            target: place.work.clone(),
            toolchain: place.toolchain.root.clone(),
            cargo_home: place.cargo_home.clone(),
        },
        cargo: place.cargo.clone(),
        cancel: place.cancel.clone(),
    };
    Workspace::open(tools, Features::All, WorkerLimits::default())
}

struct Workers;

impl Compilers for Workers {
    fn open(&self, place: &Place) -> Arc<dyn Compiler> {
        Arc::new(compiler(place))
    }
}
