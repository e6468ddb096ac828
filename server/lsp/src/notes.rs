//! What the developer tells a task: answers, the yes to its plan, guidance, more of its limits. It becomes a note in the
//! journal, which whoever walks the task takes up; where nobody does, an answer lets it go on here.

use std::path::{Path, PathBuf};

use agent::House;
use serde_json::{Value, json};
use task::port::Note;
use task::{Answer, Limits, Plan, State, TaskId, Wait};

use crate::act::{Crew, failed};
use crate::entry::Loaded;
use crate::limits::LimitParams;
use crate::mail::{Mail, Refusal, Reply};
use crate::owed;

/// One thing to tell.
#[derive(Debug)]
pub enum Tell {
    /// One for each question; to what was asked, where the caller says it.
    Answers {
        answers: Vec<String>,
        asked: Option<String>,
    },
    /// The plan as it is, with this text in its place, or with what stands in its document.
    Approve {
        version: u32,
        text: Option<String>,
        document: bool,
    },
    Steer {
        text: String,
    },
    Raise {
        limits: LimitParams,
    },
}

impl Crew {
    /// Posts a note, durably, and tells the loop.
    pub fn tell(&self, task: TaskId, revision: Option<u64>, tell: Tell, reply: Reply<Value>) {
        let crew = self.clone();
        self.reader.put(move || {
            let house = crew.house();
            let told = house.and_then(|house| {
                let state = agent::state_of(&*house.journal, &task).map_err(failed)?;
                if let Some(seen) = revision
                    && seen != state.revision
                {
                    return Err(Refusal::Stale(format!(
                        "task {task} changed since you looked: it is at revision {}, not {seen}; look at it again",
                        state.revision
                    )));
                }
                let note = crew.note(&house, &state, tell)?;
                house.journal.post(&task, &note).map_err(|error| Refusal::Failed(error.to_string()))?;
                Loaded::load(&house, &task).map_err(failed)
            });
            match told {
                Ok(loaded) => crew.mailbox.post(Mail::Told { loaded: Box::new(loaded), reply }),
                Err(refusal) => {
                    crew.say_refusal(&refusal);
                    let _ = reply.send(Err(refusal));
                }
            }
        });
    }

    fn note(&self, house: &House, state: &State, tell: Tell) -> Result<Note, Refusal> {
        let id = &state.request.id;
        if state.conclusion.is_some() {
            return Err(Refusal::Failed(format!("task {id} has ended; ask for a new one")));
        }
        match tell {
            Tell::Answers { answers, asked } => {
                let Some(wait @ Wait::Answers { questions }) = &state.work.wait else {
                    return Err(Refusal::Failed(format!("task {id} asks nothing")));
                };
                if asked.is_some() && asked != owed::asked(wait) {
                    return Err(Refusal::Stale(format!("task {id} asks something else by now; look at it again")));
                }
                if answers.len() != questions.len() {
                    return Err(Refusal::BadParams(format!(
                        "task {id} asks {} questions, and {} answers came",
                        questions.len(),
                        answers.len()
                    )));
                }
                if answers.iter().any(|answer| answer.trim().is_empty()) {
                    return Err(Refusal::BadParams("an answer says something".into()));
                }
                let answered = questions.iter().zip(answers);
                let answers = answered.map(|(question, text)| Answer { question: question.text.clone(), text });
                Ok(Note::Answer { answers: answers.collect() })
            }
            Tell::Approve { version, text, document } => {
                let plan = state
                    .plan
                    .as_ref()
                    .filter(|plan| plan.version == version && state.work.wait == Some(Wait::PlanApproval { version }));
                let Some(plan) = plan else {
                    return Err(Refusal::Stale(format!(
                        "version {version} of the plan of task {id} does not wait for a yes; look at it again"
                    )));
                };
                let text = match text {
                    None if document => self.edited(house, state, version)?,
                    text => text,
                };
                approval(plan, text.as_deref())
            }
            Tell::Steer { text } if text.trim().is_empty() => Err(Refusal::BadParams("guidance says something".into())),
            Tell::Steer { text } => Ok(Note::Steer { text }),
            Tell::Raise { limits } => raised(&state.request.limits, &limits).map(|limits| Note::RaiseLimits { limits }),
        }
    }

    /// The document of a plan as the editor has it, else the disk; `None` where nobody opened it.
    fn edited(&self, house: &House, state: &State, version: u32) -> Result<Option<String>, Refusal> {
        let path = plan_path(house, state, version)?;
        let look = self.mailbox.ask(|reply| Mail::Look { path: path.clone(), reply }).flatten();
        if let Some(look) = look {
            return Ok(Some(look.text.to_string()));
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Refusal::Failed(format!("{} cannot be read: {error}", path.display()))),
        }
    }

    /// Writes the plan as a document, once: what stands in it later is the developer's.
    pub fn open_plan(&self, house: &House, task: &TaskId) -> Result<Value, Refusal> {
        let state = agent::state_of(&*house.journal, task).map_err(failed)?;
        let Some(plan) = &state.plan else {
            return Err(Refusal::Failed(format!("task {task} has no plan yet")));
        };
        let path = plan_path(house, &state, plan.version)?;
        if !path.exists() {
            let questions = owed::questions(state.work.wait.as_ref());
            let text = agent::plan_document(&state.request.description, plan, questions, &state.work.answers);
            let written = std::fs::write(&path, text);
            written.map_err(|error| Refusal::Failed(format!("{} cannot be written: {error}", path.display())))?;
        }
        self.open(&path);
        Ok(json!({ "path": path, "version": plan.version }))
    }
}

fn approval(plan: &Plan, text: Option<&str>) -> Result<Note, Refusal> {
    let Some(text) = text else { return Ok(Note::ApprovePlan { version: plan.version }) };
    let amended = agent::read_plan(text, plan)
        .map_err(|faults| Refusal::BadParams(format!("the plan cannot be taken: {}", faults.replace('\n', "; "))))?;
    Ok(if amended.steps == plan.steps {
        Note::ApprovePlan { version: plan.version }
    } else {
        Note::AmendPlan { plan: amended }
    })
}

/// The limits with more of what is named. Nothing falls: a lower one would be no raise.
fn raised(limits: &Limits, params: &LimitParams) -> Result<Limits, Refusal> {
    let more = |now: Option<u64>, wanted: Option<u64>| match (now, wanted) {
        (Some(now), Some(wanted)) => Some(now.max(wanted)),
        (now, None) => now,
        // What has no limit has more than any.
        (None, Some(_)) => None,
    };
    let raised = Limits {
        max_attempts: limits.max_attempts.max(params.max_iterations.unwrap_or(0)),
        timeout_ms: limits.timeout_ms.max(params.timeout_seconds.unwrap_or(0).saturating_mul(1000)),
        max_tokens: more(limits.max_tokens, params.max_tokens),
        budget_microdollars: more(limits.budget_microdollars, params.budget_microdollars()),
        ..limits.clone()
    };
    if raised == *limits {
        return Err(Refusal::BadParams("none of these limits is above what the task has".into()));
    }
    Ok(raised)
}

fn plan_path(house: &House, state: &State, version: u32) -> Result<PathBuf, Refusal> {
    let request = &state.request;
    let folder = agent::documents_folder(Path::new(&request.workspace), &house.state).map_err(failed)?;
    Ok(folder.join(format!("{}.plan-{version}.md", request.id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_raised_and_never_lowered() {
        let limits = Limits { max_tokens: Some(1000), budget_microdollars: Some(500_000), ..Limits::default() };
        let params = |max_tokens, budget_usd| LimitParams { max_tokens, budget_usd, ..LimitParams::default() };
        let more = raised(&limits, &params(Some(2000), Some(0.1))).unwrap();
        assert_eq!((more.max_tokens, more.budget_microdollars), (Some(2000), Some(500_000)));
        assert!(raised(&limits, &params(Some(1000), Some(0.5))).is_err());
        let unlimited = Limits { max_tokens: None, ..limits };
        assert!(raised(&unlimited, &params(Some(5), None)).is_err());
    }
}
