//! `$/progress`: one token for each task that something happens to, made when it begins and ended when it ends.

use std::collections::BTreeMap;

use lsp_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressEnd,
    WorkDoneProgressReport,
};
use task::TaskId;

use crate::line::{Status, TaskLine};
use crate::transport::{Outbox, Outgoing};

/// The running ones.
#[derive(Debug, Default)]
pub struct Progresses {
    last: u64,
    by_task: BTreeMap<TaskId, Progress>,
}

#[derive(Debug)]
struct Progress {
    token: ProgressToken,
    /// The client has made it.
    ready: bool,
    begun: bool,
    said: (String, Option<u32>),
}

impl Progresses {
    /// Says how a task stands. `able` is whether the client shows progress at all.
    pub fn show(&mut self, line: &TaskLine, able: bool, outbox: &Outbox) {
        let active = matches!(line.status, Status::Waiting | Status::Running | Status::Checking | Status::Publishing);
        if !active {
            self.end(line, outbox);
            return;
        }
        if !able {
            return;
        }
        let last = &mut self.last;
        let progress = self.by_task.entry(line.id.clone()).or_insert_with(|| {
            *last += 1;
            let token = ProgressToken::String(format!("understudy/{}/{last}", line.id));
            outbox.put(Outgoing::CreateProgress(token.clone()));
            Progress { token, ready: false, begun: false, said: Default::default() }
        });
        if !progress.ready {
            return;
        }
        let message = match line.status {
            Status::Waiting => "waits for another task of this workspace".to_owned(),
            _ => line.doing.clone(),
        };
        let percentage = (line.total > 0).then(|| (line.done.min(line.total) * 100 / line.total) as u32);
        let said = (message, percentage);
        if progress.begun && progress.said == said {
            return;
        }
        let value = if progress.begun {
            WorkDoneProgress::Report(WorkDoneProgressReport {
                cancellable: Some(true),
                message: Some(said.0.clone()),
                percentage,
            })
        } else {
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: line.title.clone(),
                cancellable: Some(true),
                message: Some(said.0.clone()),
                percentage,
            })
        };
        progress.begun = true;
        progress.said = said;
        put(outbox, &progress.token, value);
    }

    pub fn ready(&mut self, token: &ProgressToken) -> Option<TaskId> {
        let (task, progress) = self.by_task.iter_mut().find(|(_, progress)| progress.token == *token)?;
        progress.ready = true;
        Some(task.clone())
    }

    pub fn task(&self, token: &ProgressToken) -> Option<TaskId> {
        self.by_task.iter().find(|(_, progress)| progress.token == *token).map(|(task, _)| task.clone())
    }

    fn end(&mut self, line: &TaskLine, outbox: &Outbox) {
        let Some(progress) = self.by_task.remove(&line.id) else { return };
        if progress.begun {
            let end = WorkDoneProgressEnd { message: line.verdict.clone() };
            put(outbox, &progress.token, WorkDoneProgress::End(end));
        }
    }
}

fn put(outbox: &Outbox, token: &ProgressToken, value: WorkDoneProgress) {
    let value = ProgressParamsValue::WorkDone(value);
    outbox.put(Outgoing::Progress(ProgressParams { token: token.clone(), value }));
}
