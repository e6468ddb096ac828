//! The commands of clients become orders, reads, or refusals.

use lsp_types::ExecuteCommandParams;
use serde_json::{Value, json};
use task::{Candidate, Engine, TaskId};

use crate::act::Work;
use crate::choices::Choice;
use crate::command::{ApplyParams, Command, CreateParams, DocumentParams};
use crate::desk::Order;
use crate::entry::{Activity, Entry};
use crate::mail::{Refusal, Reply};
use crate::main_loop::{Loop, unknown};
use crate::notes::Tell;
use crate::read::Read;
use crate::rooms::Ask;

impl Loop {
    pub fn command(&mut self, params: ExecuteCommandParams, reply: Reply<Value>) {
        let command = match Command::read(params) {
            Ok(command) => command,
            Err(refusal) => return self.refuse(reply, refusal),
        };
        match command {
            Command::Create(params) => self.create(*params, reply),
            Command::List(params) => self.list(params.folder.as_deref(), reply),
            Command::Get(params) => {
                self.read(params.task.clone(), Read::Report { task: params.task, tree: params.tree }, reply)
            }
            Command::Receipt(params) => {
                self.read(params.task.clone(), Read::Receipt { task: params.task, check: params.check }, reply);
            }
            Command::Compare(params) => {
                self.read(params.task.clone(), Read::Compare { task: params.task, check: params.check }, reply);
            }
            Command::Again(params) => self.again(params, reply),
            Command::Explain(params) => self.explain(params, reply),
            Command::OpenPlan(params) => self.read(params.task.clone(), Read::Plan { task: params.task }, reply),
            Command::Answer(params) => self.answer(params, reply),
            Command::ApprovePlan(params) => {
                let tell = Tell::Approve { version: params.version, text: params.text, document: params.document };
                self.tell(params.task, Some(params.revision), tell, reply);
            }
            Command::Steer(params) => self.tell(params.task, None, Tell::Steer { text: params.text }, reply),
            Command::Raise(params) => match params.limits.sound() {
                Ok(()) => self.tell(params.task, None, Tell::Raise { limits: params.limits }, reply),
                Err(refusal) => self.refuse(reply, refusal),
            },
            Command::Review(params) => self.read(params.task.clone(), Read::Review { task: params.task }, reply),
            Command::Doctor => {
                let folder = self.session.folders.iter().next().map(|folder| folder.path.clone());
                self.crew.read(Read::Doctor { folder }, reply);
            }
            Command::Cancel(params) => self.cancel(&params.task, Some(reply)),
            Command::Resume(params) => self.order(&params.task, |_| Ok(Work::Resume), reply),
            Command::Purge(params) => self.order(&params.task, |_| Ok(Work::Purge), reply),
            Command::Reject(params) => {
                self.make_way(&params.task);
                let (revision, reason) = (params.revision, params.reason);
                let hunks = params.hunks.into_iter().collect();
                self.order(&params.task, |_| Ok(Work::Reject { revision, hunks, reason }), reply);
            }
            Command::Keep(params) => {
                self.make_way(&params.task);
                let (revision, hunks) = (params.revision, params.hunks.into_iter().collect());
                self.order(&params.task, |_| Ok(Work::Keep { revision, hunks }), reply);
            }
            Command::Check(params) => {
                let work = Work::Check { revision: Some(params.revision) };
                self.order(&params.task, |_| Ok(work), reply);
            }
            Command::CheckAgain(params) => {
                let work = Work::CheckAgain { revision: params.revision };
                self.order(&params.task, |_| Ok(work), reply);
            }
            Command::Apply(params) => self.apply(params, reply),
            Command::Undo(params) => {
                let folder =
                    self.session.entries.get(&params.task).and_then(|entry| self.session.folder_of(entry)).cloned();
                let revision = params.revision;
                let work = |entry: &Entry| Ok(Work::Undo { revision, folder: folder.ok_or_else(|| closed(entry))? });
                self.order(&params.task, work, reply);
            }
        }
    }

    pub fn refuse(&self, reply: Reply<Value>, refusal: Refusal) {
        self.crew.say_refusal(&refusal);
        let _ = reply.send(Err(refusal));
    }

    /// A task that somebody asks for.
    fn create(&mut self, params: CreateParams, reply: Reply<Value>) {
        match self.asked(params) {
            Ok((ask, patch, instead)) => {
                let folder = self.session.workspace(&ask.folder);
                let work = Work::Create { ask: Box::new(ask), patch, instead };
                self.session.desk.order(Order { task: None, folder, work, reply: Some(reply) });
            }
            Err(refusal) => self.refuse(reply, refusal),
        }
    }

    /// What is asked, the patch it comes with, and why the compiler does not take it where a model is to.
    fn asked(&self, params: CreateParams) -> Result<(Ask, Option<String>, Option<String>), Refusal> {
        let bad = |sentence: &str| Err(Refusal::BadParams(sentence.to_owned()));
        let folder = self.session.folders.named(params.folder.as_deref()).map_err(Refusal::Failed)?.name();
        let changes = [params.branch.is_some(), params.patch.is_some(), params.worktree];
        let mut instead = None;
        let (engine, candidate, description) = match changes.iter().filter(|given| **given).count() {
            0 => {
                let parsed = agent::grammar::parse(&params.description).map_err(|error| refusal(&error));
                let engine = match (params.engine, parsed) {
                    (Some(Engine::Patch), _) => return bad("`patch` is the engine of a change that is to be proved"),
                    (Some(Engine::Model), _) if params.description.trim().is_empty() => {
                        return bad("`description` says what is to be done");
                    }
                    (Some(Engine::Model), _) => Engine::Model,
                    (_, Ok(_)) => Engine::Compiler,
                    (Some(Engine::Compiler), Err(refusal)) => return Err(Refusal::Failed(refusal)),
                    (None, Err(refusal)) if params.description.trim().is_empty() => {
                        return Err(Refusal::Failed(refusal));
                    }
                    (None, Err(refusal)) => {
                        instead = Some(refusal);
                        Engine::Model
                    }
                };
                (engine, None, params.description)
            }
            1 if params.engine.is_some_and(|engine| engine != Engine::Patch) => {
                return bad("a change that is there is proved by the patch engine alone");
            }
            1 => {
                let (candidate, says) = match (params.branch, params.worktree) {
                    (Some(name), _) => (Some(Candidate::Branch { name: name.clone() }), format!("prove branch {name}")),
                    (None, true) => (Some(Candidate::Worktree), "prove the working tree against HEAD".to_owned()),
                    // The act knows the patch by its digest once it is kept.
                    (None, false) => (None, "prove a patch against the working tree".to_owned()),
                };
                (Engine::Patch, candidate, says)
            }
            _ => return bad("`branch`, `patch` and `worktree` are three different changes: name one of them"),
        };
        params.limits.sound()?;
        let ask = Ask {
            candidate,
            acceptance_criteria: params.acceptance_criteria,
            path_scope: params.path_scope,
            base_revision: params.base_revision,
            trigger: params.trigger,
            max_attempts: params.limits.max_iterations,
            timeout_seconds: params.limits.timeout_seconds,
            plan_policy: params.plan,
            max_tokens: params.limits.max_tokens,
            budget_microdollars: params.limits.budget_microdollars(),
            request_id: params.request_id,
            ..Ask::about(folder, description, engine)
        };
        Ok((ask, params.patch, instead))
    }

    /// An option of a question was chosen in a message; what comes of it is said as one.
    pub fn chosen(&mut self, choice: Choice) {
        let (reply, _) = tokio::sync::oneshot::channel();
        let (command, arguments) = (choice.command.to_owned(), vec![choice.argument]);
        self.command(ExecuteCommandParams { command, arguments, ..ExecuteCommandParams::default() }, reply);
    }

    fn list(&self, folder: Option<&str>, reply: Reply<Value>) {
        let folder = match folder.map(|name| self.session.folders.named(Some(name))).transpose() {
            Ok(folder) => folder.map(|folder| folder.name()),
            Err(sentence) => return self.refuse(reply, Refusal::Failed(sentence)),
        };
        let mut entries: Vec<&Entry> = self.session.entries.values().collect();
        entries.retain(|entry| folder.as_ref().is_none_or(|folder| *folder == entry.state.request.workspace));
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.state.request.created));
        let lines: Vec<_> = entries.into_iter().map(Entry::line).collect();
        let _ = reply.send(Ok(json!(lines)));
    }

    fn read(&self, task: TaskId, read: Read, reply: Reply<Value>) {
        if self.session.entries.contains_key(&task) {
            self.crew.read(read, reply);
        } else {
            self.refuse(reply, unknown(&task));
        }
    }

    pub fn document(&self, params: DocumentParams, reply: Reply<Value>) {
        let task = params.uri.split('/').nth(1).and_then(|task| task.parse::<TaskId>().ok());
        match task.filter(|task| !self.session.entries.contains_key(task)) {
            Some(other) => self.refuse(reply, unknown(&other)),
            None => self.crew.read(Read::Document { uri: params.uri }, reply),
        }
    }

    fn order(&mut self, task: &TaskId, work: impl FnOnce(&Entry) -> Result<Work, Refusal>, reply: Reply<Value>) {
        let Some(entry) = self.session.entries.get(task) else { return self.refuse(reply, unknown(task)) };
        match work(entry) {
            Ok(work) => {
                let folder = self.session.workspace(&entry.state.request.workspace);
                let early = self.session.facts.waits_deaf && matches!(work, Work::Apply { .. } | Work::Undo { .. });
                let reply = if early {
                    // What came of it is said as a message.
                    let _ = reply.send(Ok(Value::Null));
                    None
                } else {
                    Some(reply)
                };
                self.session.desk.order(Order { task: Some(task.clone()), folder, work, reply });
            }
            Err(refusal) => self.refuse(reply, refusal),
        }
    }

    fn apply(&mut self, params: ApplyParams, reply: Reply<Value>) {
        let folder = self.session.entries.get(&params.task).and_then(|entry| self.session.folder_of(entry)).cloned();
        let consent = params.consent.iter().map(|path| literal(path)).collect();
        let approval = agent::Approval { tree: params.tree, unverified: params.unverified, consent };
        let revision = params.revision;
        let work = |entry: &Entry| Ok(Work::Apply { revision, approval, folder: folder.ok_or_else(|| closed(entry))? });
        self.order(&params.task, work, reply);
    }

    /// A verdict makes the check of an older selection needless.
    fn make_way(&mut self, task: &TaskId) {
        for order in self.session.desk.withdraw_checks(task) {
            if let Some(reply) = order.reply {
                let _ = reply.send(Err(Refusal::Failed("another verdict came before this check began".into())));
            }
        }
        if let Some((act, running)) = self.session.desk.on(task)
            && running.activity == Activity::Checking
        {
            self.session.desk.cancel(act);
        }
    }

    /// Ends a task: what runs of it, or the review that waits.
    pub fn cancel(&mut self, task: &TaskId, reply: Option<Reply<Value>>) {
        for order in self.session.desk.withdraw(task) {
            if let Some(reply) = order.reply {
                let _ = reply.send(Err(Refusal::Failed("the task was cancelled before this began".into())));
            }
        }
        match (self.session.desk.on(task), reply) {
            (Some((act, _)), reply) => {
                self.session.desk.cancel(act);
                self.session.cancelling.extend(reply.map(|reply| (task.clone(), reply)));
            }
            (None, Some(reply)) => self.order(task, |_| Ok(Work::Cancel), reply),
            (None, None) => {}
        }
    }
}

fn closed(entry: &Entry) -> Refusal {
    let folder = task::printable(&entry.state.request.workspace);
    Refusal::Failed(format!("the folder {folder} is not open here any more; open it to write there"))
}

/// A path as a glob that means nothing else.
fn literal(path: &str) -> String {
    let escape = |character: char| match character {
        '*' | '?' | '[' | ']' | '{' | '}' => format!("[{character}]"),
        '\\' => "\\\\".to_owned(),
        other => other.to_string(),
    };
    path.chars().map(escape).collect()
}

/// All that the compiler engine takes, in one line; of a form that was meant and is not right, what is wrong with it.
fn refusal(error: &agent::grammar::GrammarError) -> String {
    if let agent::grammar::GrammarError::Malformed { .. } = error {
        return error.to_string();
    }
    let forms: Vec<String> = agent::grammar::FORMS.iter().map(|(form, _)| format!("`{form}`")).collect();
    format!("{error}. It takes {}.", forms.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_consent_means_itself() {
        let scope = task::Scope::new(vec![literal("a[1]{x}*.rs")]).unwrap();
        assert!(scope.admits(&"a[1]{x}*.rs".parse().unwrap()).unwrap());
        assert!(!scope.admits(&"a1x9.rs".parse().unwrap()).unwrap());
    }
}
