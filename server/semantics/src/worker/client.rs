//! The server's side: keeps the text, starts workers when they are needed and ends them when they are not.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use task::port::{Change, Generation};
use task::{Features, TreePath};

use super::process::Worker;
use super::reuse;
use super::wire::{Body, Order, Report};
use crate::load::{Facts, Tools, gather, survey};
use crate::questions::{Answers, Ask, Question, Reply, Texts};
use crate::text::PARSED_FILE_CAP;

/// Bytes of text in one frame.
const FRAME_BYTES: usize = 4 << 20;
/// Files that are no sources are sent up to this size each, and this much together: they are searched for names only.
const SEARCHED_FILE_CAP: usize = 1 << 20;
const SEARCHED_TOTAL_CAP: usize = 64 << 20;

/// Cargo is asked this often about one base before its failure counts as the answer: it may have waited for a build.
const GATHER_CAP: u32 = 3;

/// What a worker may use.
#[derive(Debug, Clone)]
pub struct WorkerLimits {
    /// For cargo in the sandbox, each command.
    pub cargo: Duration,
    /// For loading the tree into the compiler.
    pub load: Duration,
    /// For one question.
    pub question: Duration,
    /// A worker that holds more than this after an answer is ended.
    pub resident_bytes: u64,
    /// The kernel's limit on its memory; what would need more ends the worker in the middle.
    pub memory_bytes: u64,
    /// A worker that nobody asked for so long is ended.
    pub idle: Duration,
}

impl WorkerLimits {
    /// The same, with nothing taking longer than this.
    #[must_use]
    pub fn within(self, longest: Duration) -> Self {
        let (cargo, load, question) = (self.cargo.min(longest), self.load.min(longest), self.question.min(longest));
        WorkerLimits { cargo, load, question, ..self }
    }
}

impl Default for WorkerLimits {
    fn default() -> Self {
        WorkerLimits {
            cargo: Duration::from_secs(300),
            load: Duration::from_secs(120),
            question: Duration::from_secs(120),
            resident_bytes: 3 << 30,
            memory_bytes: 6 << 30,
            idle: Duration::from_secs(600),
        }
    }
}

/// The compiler of one workspace, in a worker process.
pub type Workspace = Answers<Client>;

impl Workspace {
    /// A compiler for the tree that is projected at `tools.place.tree`. Nothing is started before the first question.
    ///
    /// The first change that is pushed is the base and must hold the whole text of the projection.
    pub fn open(tools: Tools, features: Features, limits: WorkerLimits) -> Workspace {
        let (wake, sleeper) = mpsc::channel::<()>();
        let idle = limits.idle;
        let state = Arc::new(Mutex::new(State {
            tools,
            limits,
            facts: None,
            failed_gathers: 0,
            base: BTreeMap::new(),
            base_generation: None,
            changed: BTreeMap::new(),
            generation: Generation::default(),
            worker: None,
            without_macros: false,
            last_used: Instant::now(),
            questions: 0,
            has_failed: false,
        }));
        let watched = Arc::downgrade(&state);
        // Without the thread an idle worker stays until the workspace is closed: a loss of memory, not of answers.
        let _ = std::thread::Builder::new().name("compiler-idle".into()).spawn(move || {
            let pause = (idle / 4).max(Duration::from_millis(10));
            while sleeper.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                end_when_idle(&watched, idle);
            }
        });
        Answers(Client { features, state, _wake: wake })
    }
}

fn end_when_idle(state: &Weak<Mutex<State>>, idle: Duration) {
    let Some(state) = state.upgrade() else { return };
    // Busy is not idle.
    if let Ok(mut state) = state.try_lock()
        && state.last_used.elapsed() >= idle
    {
        state.worker = None;
    }
}

/// See [`Workspace::open`].
#[derive(Debug)]
pub struct Client {
    features: Features,
    state: Arc<Mutex<State>>,
    /// Its end is what the idle thread waits for.
    _wake: Sender<()>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) tools: Tools,
    pub(super) limits: WorkerLimits,
    /// What cargo said, or why it said nothing.
    facts: Option<Result<Arc<Facts>, String>>,
    failed_gathers: u32,
    pub(super) base: Texts,
    pub(super) base_generation: Option<Generation>,
    /// What differs from the base.
    pub(super) changed: BTreeMap<TreePath, Option<Arc<[u8]>>>,
    pub(super) generation: Generation,
    pub(super) worker: Option<Worker>,
    /// Set when a worker did not answer in time: a proc macro that never returns would hold up the next one too.
    without_macros: bool,
    pub(super) last_used: Instant,
    questions: u64,
    /// Whether it ever had no answer to give: it is no one that another task should get.
    pub(super) has_failed: bool,
}

impl Client {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker is running.
    pub fn is_running(&self) -> bool {
        self.lock().worker.is_some()
    }

    /// Asks cargo again and starts over with the present text as the base: after manifests, build scripts or proc
    /// macros changed, and the projection on disk shows it.
    pub fn reload(&self) {
        let mut state = self.lock();
        state.base = state.present();
        state.changed.clear();
        state.base_generation = Some(state.generation);
        state.facts = None;
        state.failed_gathers = 0;
        state.worker = None;
        state.without_macros = false;
    }

    /// The running worker, started and loaded if need be, for this question.
    fn worker<'a>(&self, state: &'a mut State, question: &Question) -> Result<&'a mut Worker, String> {
        if state.worker.is_none() {
            let started = self.start(state, question)?;
            state.worker = Some(started);
        }
        state.worker.as_mut().ok_or_else(|| "the compiler is not running".to_owned())
    }

    fn start(&self, state: &mut State, question: &Question) -> Result<Worker, String> {
        let base_generation = state.base_generation.ok_or("no text was pushed yet")?;
        if let Some(Err(reason)) = &state.facts
            && state.failed_gathers >= GATHER_CAP
        {
            return Err(reason.clone());
        }
        let mut worker = Worker::start(&state.tools, state.limits.memory_bytes, !state.without_macros)?;
        let mut searched = 0;
        send_files(&mut worker, &mut searched, state.base.iter().map(|(path, bytes)| (path, Some(bytes))))?;
        let facts = match &state.facts {
            Some(Ok(facts)) => Arc::clone(facts),
            _ => {
                let gathered = self.gather(state, base_generation, &mut worker, question);
                state.failed_gathers += u32::from(gathered.is_err());
                state.facts = Some(gathered.clone());
                gathered?
            }
        };
        let macros = worker.has_macros();
        worker.send(&Order::Load { facts: Box::new((*facts).clone()), generation: base_generation, macros })?;
        match worker.receive(Instant::now() + state.limits.load)? {
            Report::Loaded => {}
            Report::NotLoaded { reason } => return Err(reason),
            Report::Answered { .. } | Report::Rebased { .. } => {
                return Err("the compiler answered before it was asked".to_owned());
            }
        }
        if state.generation != base_generation || !state.changed.is_empty() {
            send_files(&mut worker, &mut searched, state.changed.iter().map(|(path, bytes)| (path, bytes.as_ref())))?;
            worker.send(&Order::Push { generation: state.generation })?;
        }
        Ok(worker)
    }

    /// Asks cargo; meanwhile the worker gets to know the standard library and looks into the question.
    fn gather(
        &self,
        state: &State,
        generation: Generation,
        worker: &mut Worker,
        question: &Question,
    ) -> Result<Arc<Facts>, String> {
        let State { tools, limits, .. } = state;
        let manifests: Vec<String> = state
            .base
            .keys()
            .filter(|path| path.file_name() == b"Cargo.toml")
            .filter_map(|path| path.to_str().map(str::to_owned))
            .collect();
        if let Some(facts) = survey(tools, &manifests, limits.cargo) {
            // A worker that is gone already is found out, with the reason, when it is to load.
            let expected = Some(Box::new(question.clone()));
            let _ = worker.send(&Order::Warm { facts: Box::new(facts), generation, expected });
        }
        let gathered = gather(tools, &manifests, self.features, limits.cargo);
        gathered.map(Arc::new).map_err(|error| error.to_string())
    }

    fn put(&self, state: &mut State, at: Generation, question: Question) -> Result<Reply, String> {
        state.questions += 1;
        let id = state.questions;
        let order = Order::Ask { id, at, question: question.clone() };
        let was_running = state.worker.is_some();
        let sent = self.worker(state, &question)?.send(&order);
        if let Err(reason) = sent {
            // One that ended between two questions took no question with it.
            if !was_running {
                return Err(reason);
            }
            state.worker = None;
            self.worker(state, &question)?.send(&order)?;
        }
        let (until, most) = (Instant::now() + state.limits.question, state.limits.resident_bytes);
        let worker = self.worker(state, &question)?;
        loop {
            match worker.receive(until)? {
                Report::Answered { id: answered, reply, resident_bytes } if answered == id => {
                    if resident_bytes > most {
                        state.worker = None;
                    }
                    return Ok(reply);
                }
                Report::Answered { .. } => {}
                Report::Loaded | Report::NotLoaded { .. } | Report::Rebased { .. } => {
                    return Err("the compiler's answer is out of turn".to_owned());
                }
            }
        }
    }
}

impl Ask for Client {
    fn push(&self, change: Change) {
        let mut state = self.lock();
        let state = &mut *state;
        state.last_used = Instant::now();
        state.generation = change.generation;
        if state.base_generation.is_none() {
            state.base_generation = Some(change.generation);
            state.base.extend(change.files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))));
            return;
        }
        if let Some(worker) = &mut state.worker {
            let files = change.files.iter().map(|(path, bytes)| (path, bytes.as_ref()));
            let sent = send_files(worker, &mut 0, files)
                .and_then(|()| worker.send(&Order::Push { generation: change.generation }));
            if sent.is_err() {
                state.worker = None;
            }
        }
        state.changed.extend(change.files);
    }

    fn rebase(&self, base: Change) -> bool {
        reuse::rebase(&mut self.lock(), base)
    }

    fn ask(&self, at: Generation, question: Question) -> Reply {
        let mut state = self.lock();
        state.last_used = Instant::now();
        if at != state.generation {
            let (has, asked) = (state.generation.0, at.0);
            return Reply::Unknown(format!(
                "the compiler has the text of generation {has}, the question is about {asked}"
            ));
        }
        let answer = self.put(&mut state, at, question);
        state.last_used = Instant::now();
        // Among them is the panic of the compiler that the worker contained.
        state.has_failed |= matches!(answer, Ok(Reply::Unknown(_)));
        answer.unwrap_or_else(|reason| {
            // Whatever state it is in, the next question gets a new one.
            let ended = state.worker.take();
            state.has_failed = true;
            state.without_macros |= ended.is_some_and(|worker| worker.has_timed_out());
            Reply::Unknown(reason)
        })
    }
}

/// Sends files in frames of bounded size.
pub(super) fn send_files<'a>(
    worker: &mut Worker,
    searched: &mut usize,
    files: impl Iterator<Item = (&'a TreePath, Option<&'a Arc<[u8]>>)>,
) -> Result<(), String> {
    let mut frame = Vec::new();
    let mut weight = 0;
    for (path, bytes) in files {
        let source = path.file_name().ends_with(b".rs") || path.file_name().ends_with(b".md");
        let cap = if source { PARSED_FILE_CAP } else { SEARCHED_FILE_CAP.min(SEARCHED_TOTAL_CAP - *searched) };
        let body = Body::new(bytes.map(|bytes| &**bytes), cap);
        if !source {
            *searched += body.weight();
        }
        weight += body.weight();
        frame.push((path.clone(), body));
        if weight >= FRAME_BYTES {
            worker.send(&Order::Files(std::mem::take(&mut frame)))?;
            weight = 0;
        }
    }
    if frame.is_empty() { Ok(()) } else { worker.send(&Order::Files(frame)) }
}
