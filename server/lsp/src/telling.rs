//! Commands about tasks of a model become notes and orders: answers, another try, explanations.

use serde_json::{Value, json};
use task::{Engine, TaskId};

use crate::act::{Done, Work};
use crate::command::{AgainParams, AnswerParams, ExplainParams};
use crate::desk::Order;
use crate::entry::Loaded;
use crate::folders::path_of;
use crate::mail::{Refusal, Reply};
use crate::main_loop::{Loop, unknown};
use crate::notes::Tell;
use crate::rooms::Ask;

impl Loop {
    pub fn again(&mut self, params: AgainParams, reply: Reply<Value>) {
        let Some(entry) = self.session.entries.get(&params.task) else {
            return self.refuse(reply, unknown(&params.task));
        };
        let folder = self.session.workspace(&entry.state.request.workspace);
        let work = Work::Again { of: params.task, because: params.because };
        self.session.desk.order(Order { task: None, folder, work, reply: Some(reply) });
    }

    pub fn explain(&mut self, params: ExplainParams, reply: Reply<Value>) {
        let name = params.folder.or_else(|| params.uri.as_ref().map(ToString::to_string));
        let folder = match self.session.folders.named(name.as_deref()) {
            Ok(folder) => folder.clone(),
            Err(sentence) => return self.refuse(reply, Refusal::Failed(sentence)),
        };
        if params.question.trim().is_empty() {
            return self.refuse(reply, Refusal::BadParams("`question` says what is to be explained".into()));
        }
        let path = params.uri.as_ref().and_then(path_of).and_then(|path| folder.tree_path(&path));
        let at = path.map(|path| (path, params.line.map_or(1, |line| line.saturating_add(1))));
        let ask = Ask::about(folder.name(), params.question, Engine::Model);
        let workspace = self.session.workspace(&folder.name());
        let work = Work::Explain { ask: Box::new(ask), folder, at };
        let reply = if self.session.facts.waits_deaf {
            // The answer is a document, and what went wrong is a message.
            let _ = reply.send(Ok(Value::Null));
            None
        } else {
            Some(reply)
        };
        self.session.desk.order(Order { task: None, folder: workspace, work, reply });
    }

    pub fn tell(&self, task: TaskId, revision: Option<u64>, tell: Tell, reply: Reply<Value>) {
        if self.session.entries.contains_key(&task) {
            self.crew.tell(task, revision, tell, reply);
        } else {
            self.refuse(reply, unknown(&task));
        }
    }

    pub fn answer(&mut self, params: AnswerParams, reply: Reply<Value>) {
        let AnswerParams { task, revision, mut answers, question, asked } = params;
        let Some(entry) = self.session.entries.get_mut(&task) else { return self.refuse(reply, unknown(&task)) };
        if let Some(number) = question {
            let line = entry.line();
            let (Some(present), Some(answer)) = (line.asked, answers.pop()) else {
                return self.refuse(reply, Refusal::Failed(format!("task {task} asks nothing")));
            };
            if asked.as_ref().is_some_and(|asked| *asked != present) || !(1..=line.questions.len()).contains(&number) {
                return self.refuse(reply, Refusal::Stale(format!("task {task} asks something else by now")));
            }
            match entry.partial.take(&present, line.questions.len(), number, answer) {
                Some(all) => answers = all,
                None => {
                    self.crew.say_end(entry, &Done::Task);
                    self.session.stale.touch();
                    let _ = reply.send(Ok(json!(entry.line())));
                    return;
                }
            }
        }
        self.tell(task, Some(revision), Tell::Answers { answers, asked }, reply);
    }

    /// A note is in the journal: whoever walks the task takes it up, and where nobody does, an answer lets it go on.
    pub fn told(&mut self, loaded: Loaded, reply: Reply<Value>) {
        let task = loaded.id.clone();
        let walked = self.session.desk.on(&task).is_some();
        let Some(entry) = self.session.entries.get_mut(&task) else { return };
        // What walks here is known better than what was read beside it.
        if !walked {
            entry.load(loaded);
        }
        self.session.changed.insert(task.clone());
        self.session.stale.touch();
        let _ = reply.send(Ok(json!(entry.line())));
        self.go_on(&task);
    }

    /// Resumes a task whose questions or whose plan were answered while nobody walked it.
    pub fn go_on(&mut self, task: &TaskId) {
        let Some(entry) = self.session.entries.get_mut(task) else { return };
        if !self.session.desk.has_orders(task) && entry.goes_on() {
            let folder = entry.state.request.workspace.clone();
            let folder = self.session.workspace(&folder);
            self.session.desk.order(Order { task: Some(task.clone()), folder, work: Work::Resume, reply: None });
        }
    }
}
