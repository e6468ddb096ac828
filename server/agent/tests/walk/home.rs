//! A developer's project, a house to work on it, and requests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agent::{Audience, Compilers, Documents, House, NoDocuments, NoRetrieval, Place, Walk};
use journal::Journal;
use sandbox::CancelToken;
use support::Project;
use task::port::{Absent, Compiler};
use task::{
    Candidate, Engine, Event, HunkId, Limits, Redactor, Request, Scope, Source, TaskId, Tool, TreePath, UnixMillis,
};
use worktree::{FilePublisher, Store, Workspace};

pub struct Home {
    pub project: Project,
    pub house: House,
}

/// There is no compiler.
struct NoCompiler;

impl Compilers for NoCompiler {
    fn open(&self, _: &Place) -> Arc<dyn Compiler> {
        Arc::new(Absent { reason: "tests have no compiler".into() })
    }
}

/// Documents as an editor has them open.
#[derive(Default)]
pub struct Desk(Mutex<Vec<(TreePath, Vec<u8>)>>);

impl Desk {
    pub fn types(&self, path: &str, text: &str) {
        *self.0.lock().unwrap() = vec![(tree_path(path), text.as_bytes().to_vec())];
    }
}

impl Documents for Desk {
    fn open(&self, _: &Path) -> Vec<(TreePath, Vec<u8>)> {
        self.0.lock().unwrap().clone()
    }
}

pub fn tree_path(text: &str) -> TreePath {
    text.parse().unwrap()
}

impl Home {
    /// A committed project of these files, and a house without a jail.
    pub fn new(archive: &str) -> Self {
        Self::of(Project::new(archive))
    }

    pub fn of(project: Project) -> Self {
        let project = project.committed();
        let state = project.beside("state");
        let house = House {
            journal: Arc::new(Journal::open(&state).unwrap()),
            state: state.canonicalize().unwrap(),
            sandbox: Err("tests have no jail".into()),
            compilers: Arc::new(NoCompiler),
            model: Err("no language model is configured".into()),
            retrieval: Arc::new(NoRetrieval),
            redactor: Redactor::default(),
            documents: Arc::new(NoDocuments),
            audience: Audience::none(),
            cancel: CancelToken::new(),
        };
        Self { project, house }
    }

    pub fn folder(&self) -> PathBuf {
        self.project.path().canonicalize().unwrap()
    }

    pub fn request(&self, text: &str, engine: Engine, candidate: Option<Candidate>) -> Request {
        Request {
            id: journal::fresh_id().unwrap(),
            request_id: None,
            source: Source::Editor,
            source_url: None,
            workspace: self.folder().to_str().unwrap().to_owned(),
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
        }
    }

    /// A request to prove a patch.
    pub fn patch(&self, patch: &str) -> Request {
        let artifact = self.house.journal.put_artifact(patch.as_bytes()).unwrap();
        self.request("prove a patch", Engine::Patch, Some(Candidate::Patch { artifact }))
    }

    /// Walks a request to its end.
    pub fn walked(&self, request: Request) -> TaskId {
        let mut walk = Walk::begin(&self.house, request).unwrap().unwrap();
        walk.run().unwrap();
        walk.id().clone()
    }

    pub fn take(&self, id: &TaskId) -> Walk<'_> {
        Walk::take(&self.house, id).unwrap()
    }

    pub fn events(&self, id: &TaskId) -> Vec<Event> {
        let records = self.house.journal.records(id).unwrap();
        records.into_iter().map(|record| record.event.unwrap()).collect()
    }

    pub fn publisher(&self) -> FilePublisher {
        let workspace = Workspace::open(&self.folder(), &self.house.state).unwrap();
        let store = Arc::new(Store::open(&workspace).unwrap());
        FilePublisher::new(workspace, store)
    }
}

/// The ids of the hunks of the diff under review, in its order.
pub fn hunks(walk: &Walk<'_>) -> Vec<HunkId> {
    walk.report(None).unwrap().hunks.into_iter().map(|hunk| hunk.id).collect()
}

pub fn one(hunk: &HunkId) -> BTreeSet<HunkId> {
    [hunk.clone()].into()
}
