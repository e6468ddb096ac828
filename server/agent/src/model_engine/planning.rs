//! Stations 7 and 8 with a model: look around, propose a plan or ask, have it approved. Nothing is edited here.

use task::port::Stage;
use task::{Author, Conclusion, Event, Plan, PlanPolicy, Question, StopReason, Wait};

use super::talk::Talked;
use super::tools::{End, Seat};
use crate::{Error, plan, walk::Walk};

impl Walk<'_> {
    /// From the base to a plan that may be walked.
    pub(crate) fn plan_with_model(&mut self) -> Result<Option<Conclusion>, Error> {
        if self.state.request.plan_policy == PlanPolicy::Skip {
            let mut plan = plan::plan(&self.state.request)?;
            for step in &mut plan.steps {
                // What holds for every task needs no mention; what is named is looked up.
                step.acceptance.clone_from(&self.state.request.acceptance_criteria);
                if step.scope.paths.is_empty() {
                    step.scope.paths.push("**".to_owned());
                }
            }
            self.record(Event::PlanProposed { plan })?;
            return Ok(None);
        }
        let mut tree = self.base()?;
        let seat = Seat { stage: Stage::Plan, attempt: None, step: None };
        let number = self.conversation(&seat, |walk| walk.open_planning(&seat))?;
        self.house.audience.doing("planning");
        match self.talk(number, &seat, &mut tree)? {
            Talked::End(End::Plan(plan)) => {
                self.record(Event::PlanProposed { plan })?;
                Ok(None)
            }
            Talked::End(End::Asked(questions)) => self.wait_for(Wait::Answers { questions }).map(Some),
            Talked::End(_) => Err(Error::Sentence("a conversation about the plan ended without one".into())),
            Talked::Stuck(what) => Ok(Some(Conclusion::Stopped { reason: StopReason::NonProgress { what } })),
            Talked::Over(conclusion) => Ok(Some(conclusion)),
        }
    }

    /// Whether the plan that stands may be walked; else what the task waits for.
    pub(crate) fn approve_with_policy(&mut self) -> Result<Option<Conclusion>, Error> {
        let plan = self.plan()?;
        if self.state.request.plan_policy != PlanPolicy::Review {
            self.record(Event::PlanApproved { version: plan.version, note: 0 })?;
            return Ok(None);
        }
        self.wait_for(Wait::PlanApproval { version: plan.version }).map(Some)
    }

    /// Says what only the developer can give, once.
    pub(crate) fn wait_for(&mut self, wait: Wait) -> Result<Conclusion, Error> {
        if self.state.work.wait.as_ref() != Some(&wait) {
            self.record(Event::Paused { wait })?;
        }
        Ok(self.waiting())
    }

    /// What the task waits for, as the end of this process' work on it.
    pub(crate) fn waiting(&self) -> Conclusion {
        let question = match &self.state.work.wait {
            Some(Wait::Answers { questions }) => match questions.as_slice() {
                [only] => only.clone(),
                several => {
                    let texts: Vec<&str> = several.iter().map(|question| question.text.as_str()).collect();
                    Question { text: texts.join("\n"), ..Question::default() }
                }
            },
            Some(Wait::PlanApproval { version }) => Question {
                text: format!("version {version} of the plan waits for your approval"),
                options: Vec::new(),
                why: "nothing is edited before".to_owned(),
            },
            Some(Wait::Provider { sentence }) => Question { text: sentence.clone(), ..Question::default() },
            None => Question { text: "the task waits".to_owned(), ..Question::default() },
        };
        Conclusion::NeedsAnswer { question }
    }

    pub(crate) fn approve_plan(&mut self, version: u32, note: u64) -> Result<(), Error> {
        let fits = self.state.plan.as_ref().is_some_and(|plan| plan.version == version);
        if fits && self.state.work.wait == Some(Wait::PlanApproval { version }) {
            return Ok(self.record(Event::PlanApproved { version, note })?);
        }
        let why = format!("version {version} of the plan does not wait for an approval");
        Ok(self.record(Event::NoteDeclined { note, why })?)
    }

    /// The developer's own plan. It is approved by having been written, and like any plan it cannot widen the request.
    pub(crate) fn amend_plan(&mut self, plan: Plan, note: u64) -> Result<(), Error> {
        let faults = plan.faults();
        let newer = self.state.plan.as_ref().is_none_or(|present| plan.version > present.version);
        if !faults.is_empty() || !newer {
            let why = if newer { faults.join("; ") } else { "the plan was replaced meanwhile".to_owned() };
            return Ok(self.record(Event::NoteDeclined { note, why })?);
        }
        let version = plan.version;
        let because = "the developer wrote it".to_owned();
        self.record(Event::PlanRevised { plan, author: Author::User, because, note })?;
        Ok(self.record(Event::PlanApproved { version, note })?)
    }

    /// A plan that the model asks for in place of the present one.
    pub(crate) fn revise_plan(&mut self, plan: Plan, because: String) -> Result<Option<Conclusion>, Error> {
        self.record(Event::PlanRevised { plan, author: Author::Model, because, note: 0 })?;
        self.approve_with_policy()
    }
}
