//! The loop: takes mail in order, changes the session, posts what follows. It never waits for a client, a disk or a task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use lsp_types::{MessageType, Url};
use serde_json::json;

use crate::act::{Crew, Done, Ended, Work};
use crate::beside::Reader;
use crate::client::{Facts, is_running};
use crate::code_actions;
use crate::desk::Order;
use crate::diagnostics;
use crate::entry::{Activity, Entry};
use crate::folders::{Folders, path_of};
use crate::hints::{self, Mapped};
use crate::leaving::Leaving;
use crate::lenses;
use crate::mail::{Mail, Mailbox, Refusal};
use crate::rooms::Rooms;
use crate::session::{Session, TELL, Watch};
use crate::transport::{Outbox, Outgoing};

pub struct Loop {
    pub session: Session,
    pub crew: Crew,
    /// The end of the output; without one nothing is written.
    pub leaving: Option<Leaving>,
}

/// Starts the loop on a thread of its own. The thread ends with the process, and ends it.
pub fn start(rooms: Arc<dyn Rooms>, mailbox: Mailbox, outbox: Outbox, mail: Receiver<Mail>, leaving: Leaving) {
    let crew = Crew { rooms, mailbox, outbox, facts: Facts::default(), reader: Reader::start() };
    let mut main = Loop { session: Session::default(), crew, leaving: Some(leaving) };
    let run = move || {
        loop {
            let next = match main.session.next_look() {
                None => mail.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => mail.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            // A fault in one mail is an error answer to whoever sent it; the session goes on.
            let handled = catch_unwind(AssertUnwindSafe(|| match next {
                Ok(mail) => main.take(mail),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => exit(1),
            }));
            let settled = catch_unwind(AssertUnwindSafe(|| main.settle()));
            if handled.and(settled).is_err() {
                main.crew.outbox.put(Outgoing::Log("something of ours failed while a message was handled".into()));
            }
        }
    };
    let started = std::thread::Builder::new().name("loop".into()).spawn(run);
    if started.is_err() {
        exit(task::ExitCode::Infrastructure as i32);
    }
}

/// Ends the process. Events are durable when they are told, and sandboxes die with their parent: nothing is left to do.
fn exit(code: i32) {
    std::process::exit(code);
}

impl Loop {
    pub fn take(&mut self, mail: Mail) {
        match mail {
            Mail::Initialize(params, reply) => {
                self.session.facts = Facts::of(&params);
                self.session.folders = Folders::of(&params);
                self.crew.facts = self.session.facts;
                self.session.lending.lends = params.initialization_options.as_ref().and_then(Facts::lends);
                if let Some(options) = &params.initialization_options {
                    self.crew.rooms.take_editor_settings(&options["understudy"]);
                }
                let _ = reply.send(Ok(self.session.facts.answer()));
            }
            Mail::Initialized => {
                self.crew.look_for_model();
                self.restore(self.session.folders.iter().map(|folder| folder.path.clone()).collect());
            }
            Mail::Opened(item) => {
                let path = self.session.documents.opened(item);
                self.text_changed(path);
            }
            Mail::Changed(params) => {
                let path = self.session.documents.changed(params, self.session.facts.encoding);
                self.text_changed(path);
            }
            Mail::Closed(uri) => {
                let path = self.session.documents.closed(&uri);
                self.text_changed(path);
            }
            Mail::Saved(uri) => self.saved(&uri),
            Mail::FoldersChanged(event) => {
                self.session.folders.changed(&event);
                let added = event.added.iter().filter_map(|folder| path_of(&folder.uri));
                let known =
                    added.filter_map(|path| self.session.folders.holding(&path).map(|folder| folder.path.clone()));
                self.restore(known.collect());
                self.session.stale.touch();
            }
            Mail::CodeActions(params, reply) => {
                // The settings may be others by now; that shows from the next time on.
                if code_actions::asked_for(&params) {
                    self.crew.look_for_model();
                }
                let _ = reply.send(Ok(code_actions::actions(&self.session, &params)));
            }
            Mail::CodeLenses(uri, reply) => {
                let _ = reply.send(Ok(lenses::lenses(&self.session, &uri)));
            }
            // Until earlier tasks are known, "there is none" would not be true.
            mail @ (Mail::Command(..) | Mail::Document(..)) if self.session.restoring > 0 => {
                self.session.held.push(mail)
            }
            Mail::Command(params, reply) => self.command(params, reply),
            Mail::Document(params, reply) => self.document(params, reply),
            Mail::ProgressCancelled(token) => {
                if let Some(task) = self.session.progresses.task(&token) {
                    self.cancel(&task, None);
                }
            }
            Mail::Shutdown(reply) => {
                self.session.shut_down = true;
                let _ = reply.send(Ok(()));
            }
            Mail::Exit | Mail::Gone => {
                if let Some(leaving) = &self.leaving {
                    leaving.leave();
                }
                exit(i32::from(!self.session.shut_down));
            }
            Mail::ProgressReady(token) => self.session.changed.extend(self.session.progresses.ready(&token)),
            Mail::NotShown(uri) => self.not_shown(&uri),
            Mail::Chosen(choice) => self.chosen(choice),
            Mail::ModelKnown(known) => self.session.model = Some(known),
            mail @ (Mail::Models(_)
            | Mail::ModelText(_)
            | Mail::Lends(_)
            | Mail::Lend { .. }
            | Mail::LendOver { .. }) => {
                self.session.lending.take(mail, &self.crew.outbox);
            }
            Mail::Told { loaded, reply } => self.told(*loaded, reply),
            Mail::Begun { act, task, state, turn } => {
                let reply = self.session.desk.begun(act, &task, turn);
                let entry = self
                    .session
                    .entries
                    .entry(task.clone())
                    .or_insert_with(|| Entry::new(task.clone(), (*state).clone()));
                entry.state = *state;
                entry.activity = Some(Activity::Waiting);
                self.session.changed.insert(task.clone());
                if let Some(reply) = reply {
                    let _ = reply.send(Ok(json!({ "task": task })));
                }
            }
            Mail::Cancellable { act, cancel } => self.session.desk.cancellable(act, cancel),
            Mail::News { act, news } => {
                let task = self.session.desk.running(act).and_then(|act| act.task.clone());
                if let Some(entry) = task.and_then(|task| self.session.entries.get_mut(&task))
                    && entry.hear(news)
                {
                    self.session.changed.insert(entry.id.clone());
                }
            }
            Mail::Ended(ended) => self.ended(*ended),
            Mail::Restored(loaded) => {
                for loaded in loaded {
                    // What happened since is newer than what was read.
                    let fresh = || Entry::new(loaded.id.clone(), loaded.state.clone());
                    let known = self.session.entries.contains_key(&loaded.id);
                    if !known {
                        let mut entry = fresh();
                        self.session.changed.insert(loaded.id.clone());
                        entry.load(loaded.clone());
                        self.session.entries.insert(loaded.id, entry);
                    }
                }
                self.session.stale.touch();
                self.session.restoring = self.session.restoring.saturating_sub(1);
                if self.session.restoring == 0 {
                    for mail in std::mem::take(&mut self.session.held) {
                        self.take(mail);
                    }
                }
            }
            Mail::Seen(loaded) => {
                self.session.looking = false;
                for loaded in loaded {
                    // One that is ours by now is known better.
                    let entry = self.session.entries.get_mut(&loaded.id);
                    let Some(entry) = entry.filter(|entry| entry.is_for_others()) else { continue };
                    self.session.changed.insert(loaded.id.clone());
                    self.session.stale.touch();
                    entry.load(loaded);
                }
            }
            Mail::FolderKnown { folder, top } => {
                self.session.folders.known(&folder, top);
                self.session.stale.touch();
            }
            Mail::Mapped(mapped) => {
                self.session.stale.mapping = false;
                self.session.hints = mapped.files.into_iter().collect();
                self.show_hints();
            }
            Mail::Documents { top, reply } => {
                let _ = reply.send(self.session.documents_below(&top));
            }
            Mail::Look { path, reply } => {
                let _ = reply.send(self.session.documents.get(&path).cloned());
            }
            Mail::Watch { path, unlike, deadline, reply } => {
                self.session.watches.push(Watch { path: path.clone(), unlike, deadline, reply });
                self.session.serve_watches(&path);
            }
        }
    }

    /// Learns of the tasks that these folders had before.
    fn restore(&mut self, folders: Vec<std::path::PathBuf>) {
        self.session.restoring += 1;
        self.crew.restore(folders);
    }

    fn text_changed(&mut self, path: Option<std::path::PathBuf>) {
        let Some(path) = path else { return };
        self.session.serve_watches(&path);
        if self.session.hints.contains_key(&path) {
            self.session.stale.touch();
        }
    }

    fn saved(&mut self, uri: &Url) {
        let Some(path) = path_of(uri) else { return };
        for entry in self.session.entries.values_mut() {
            let folder = self.session.folders.by_path(&entry.state.request.workspace);
            if folder.and_then(|folder| folder.tree_path(&path)).is_some_and(|path| entry.saved(&path)) {
                self.session.changed.insert(entry.id.clone());
            }
        }
    }

    fn ended(&mut self, ended: Ended) {
        let Ended { act, task, result, loaded } = ended;
        let running = self.session.desk.ended(act);
        let task = task.or_else(|| running.as_ref().and_then(|act| act.task.clone()));
        let cancelled = running.as_ref().is_some_and(|act| act.cancelled);
        let failed_check = result.is_err() && running.as_ref().is_some_and(|act| act.activity == Activity::Checking);
        let reply = running.and_then(|act| act.reply);
        if let (Ok(Done::Known), Some(task)) = (&result, &task)
            && self.session.entries.contains_key(task)
        {
            if let Some(reply) = reply {
                let _ = reply.send(Ok(json!({ "task": task })));
            }
            return;
        }
        if let Some(loaded) = loaded {
            let entry = self.session.entries.entry(loaded.id.clone());
            entry.or_insert_with(|| Entry::new(loaded.id.clone(), loaded.state.clone())).load(loaded);
        }
        if let (Some(task), Ok(Done::Forgotten)) = (&task, &result) {
            self.session.entries.remove(task);
        }
        let entry = task.as_ref().and_then(|task| self.session.entries.get_mut(task));
        let answer = match (&result, entry) {
            (Err(refusal), entry) => {
                // What is about no task has nothing else to show for it.
                let mut concerns_somebody = match &reply {
                    Some(reply) => !reply.is_closed(),
                    None => task.is_none() && !cancelled,
                };
                if let Some(entry) = entry {
                    // A check that made way for another one failed for nobody.
                    concerns_somebody |= match entry.activity {
                        Some(Activity::Checking) => !cancelled,
                        activity => activity == Some(Activity::Publishing),
                    };
                    entry.activity = None;
                    self.session.changed.insert(entry.id.clone());
                }
                if concerns_somebody {
                    self.crew.say_refusal(refusal);
                }
                Err(refusal.clone())
            }
            (Ok(done), Some(entry)) => {
                let walked =
                    matches!(entry.activity, Some(Activity::Walking | Activity::Waiting | Activity::Publishing));
                entry.activity = None;
                entry.settled(done);
                self.session.changed.insert(entry.id.clone());
                if walked {
                    self.crew.say_end(entry, done);
                }
                let line = entry.line();
                Ok(match done {
                    Done::Outcome { word, sentence, unsaved } => {
                        json!({ "outcome": word, "sentence": sentence, "unsaved": unsaved, "task": line })
                    }
                    Done::Known => json!({ "task": line.id }),
                    Done::Cancelled => json!({}),
                    _ => json!(line),
                })
            }
            (Ok(Done::Explained(explanation)), None) => Ok(explanation.clone()),
            (Ok(_), None) => Ok(json!({})),
        };
        if let Some(reply) = reply {
            let _ = reply.send(answer);
        }
        if let Some(task) = task {
            self.answer_cancelled(&task);
            // Answered while it walked, and too late to be taken up.
            self.go_on(&task);
            // One that failed would fail again, and one that was cancelled is not wanted.
            if !failed_check {
                self.check_what_is_kept(&task);
            }
        }
        self.session.stale.touch();
    }

    /// What is kept is checked as the tree it is, without being asked: an approval needs it.
    fn check_what_is_kept(&mut self, task: &task::TaskId) {
        let session = &mut self.session;
        let Some(entry) = session.entries.get(task) else { return };
        let line = entry.line();
        let unchecked = line.kept_verdict.is_none() && line.rejected > 0 && line.rejected < line.hunks;
        if entry.is_in_review() && unchecked && !entry.elsewhere && !session.desk.has_orders(task) {
            let folder = session.workspace(&entry.state.request.workspace);
            let work = Work::Check { revision: None };
            session.desk.order(Order { task: Some(task.clone()), folder, work, reply: None });
        }
    }

    fn answer_cancelled(&mut self, task: &task::TaskId) {
        if self.session.desk.on(task).is_some() {
            return;
        }
        let waiting = std::mem::take(&mut self.session.cancelling);
        for (cancelled, reply) in waiting {
            if cancelled == *task {
                let _ = reply.send(Ok(json!({})));
            } else {
                self.session.cancelling.push((cancelled, reply));
            }
        }
    }

    /// After each mail: starts what can start, and tells what has changed.
    pub fn settle(&mut self) {
        let now = Instant::now();
        if let Some(process) = self.session.facts.process
            && !is_running(process)
        {
            exit(1);
        }
        self.session.desk.follow_callers();
        for (act, task) in self.session.desk.start(&self.crew) {
            let activity = self.session.desk.running(act).map(|act| act.activity);
            if let Some(entry) = task.and_then(|task| self.session.entries.get_mut(&task)) {
                entry.activity = activity;
                self.session.changed.insert(entry.id.clone());
            }
        }
        for task in self.session.desk.turns() {
            if let Some(entry) = self.session.entries.get_mut(&task) {
                entry.activity = Some(Activity::Walking);
                self.session.changed.insert(task);
            }
        }
        self.session.expire_watches(now);
        if self.session.next_look_elsewhere(now).is_some_and(|at| at <= now) {
            self.session.looked = Some(now);
            let known = self.session.elsewhere().map(|entry| (entry.id.clone(), entry.glance()));
            self.session.looking = self.crew.look_again(known.collect());
        }
        if self.session.stale.due().is_some_and(|due| due <= now) {
            self.session.stale.taken();
            let wanted = self.session.wanted();
            let mailbox = self.crew.mailbox.clone();
            self.session.stale.mapping = self.crew.beside("hints", move || {
                // The next working out waits for this mail, so it comes whatever happens.
                let mapped = catch_unwind(AssertUnwindSafe(|| hints::map(wanted)));
                mailbox.post(Mail::Mapped(mapped.unwrap_or(Mapped { files: Vec::new() })));
            });
        }
        if !self.session.changed.is_empty() && self.session.told.is_none_or(|told| told + TELL <= now) {
            self.session.told = Some(now);
            for task in std::mem::take(&mut self.session.changed) {
                let Some(entry) = self.session.entries.get(&task) else { continue };
                let line = entry.line();
                self.session.progresses.show(&line, self.session.facts.progress, &self.crew.outbox);
                if self.session.facts.rich {
                    self.crew.outbox.put(Outgoing::TaskChanged(Box::new(line)));
                }
            }
        }
    }

    /// Diagnostics and lenses of a plain client follow the hints.
    fn show_hints(&mut self) {
        if self.session.facts.rich {
            return;
        }
        for params in diagnostics::news(&mut self.session) {
            self.crew.outbox.put(Outgoing::Diagnostics(params));
        }
        if self.session.facts.lenses && self.session.facts.refreshes_lenses {
            self.crew.outbox.put(Outgoing::RefreshLenses);
        }
    }

    fn not_shown(&self, uri: &Url) {
        if let Some(path) = path_of(uri) {
            self.crew.say(MessageType::INFO, &format!("written to {}", path.display()));
        }
    }
}

/// What a caller hears of a task that this session does not know.
pub fn unknown(task: &task::TaskId) -> Refusal {
    Refusal::Failed(format!(
        "no task {task} in a folder that is open here; `understudy tasks list` on the command line has all of them"
    ))
}
