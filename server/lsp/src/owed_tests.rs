//! The loop with a journal: tasks that need the developer, what is answered to them, and models that the client lends.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use agent::{Audience, Compilers, Documents, House, NoRetrieval, Place};
use journal::Journal;
use lsp_types::CodeActionTriggerKind;
use serde_json::{Value, json};
use support::Project;
use task::port::{Absent, Compiler, Journal as _, Note, Publisher};
use task::{
    Conclusion, Engine, Event, Limits, Plan, PlanPolicy, Question, Redactor, Request, Scope, Source, Step, StepAction,
    TaskId, Trigger, UnixMillis, Wait,
};

use crate::lent::Lent;
use crate::loop_tests::Bench;
use crate::mail::{Mail, Refusal};
use crate::rooms::{Ask, Rooms};
use crate::transport::Outgoing;

/// A house with a real journal, and nothing that works.
pub struct Home {
    project: Project,
    journal: Arc<Journal>,
    state: PathBuf,
}

struct NoCompiler;

impl Compilers for NoCompiler {
    fn open(&self, _: &Place) -> Arc<dyn Compiler> {
        Arc::new(Absent { reason: "tests have no compiler".into() })
    }
}

impl Rooms for Home {
    fn house(&self, audience: Audience, documents: Arc<dyn Documents>, _: Lent) -> Result<House, String> {
        let journal: Arc<Journal> = Arc::clone(&self.journal);
        Ok(House {
            journal,
            state: self.state.clone(),
            sandbox: Err("tests have no jail".into()),
            compilers: Arc::new(NoCompiler),
            model: Err("tests have no model".into()),
            retrieval: Arc::new(NoRetrieval),
            redactor: Redactor::default(),
            documents,
            audience,
            cancel: Default::default(),
        })
    }

    fn model(&self, _: &Lent) -> Result<(), String> {
        Ok(())
    }

    fn take_editor_settings(&self, _: &Value) {}

    fn state(&self) -> Result<PathBuf, String> {
        Ok(self.state.clone())
    }

    fn request(&self, _: Ask) -> Result<Request, String> {
        Err("no request".into())
    }

    fn publisher(&self, _: &House, _: &str) -> Result<Box<dyn Publisher>, String> {
        Err("no publisher".into())
    }

    fn doctor(&self, _: Option<&Path>) -> String {
        String::new()
    }
}

pub const TASK: &str = "page";

impl Home {
    pub fn new() -> Arc<Self> {
        let project = Project::new("-- src/lib.rs --\n// understudy: add paging\npub fn users() {}\n");
        let state = project.beside("state");
        let journal = Arc::new(Journal::open(&state).unwrap());
        let state = state.canonicalize().unwrap();
        Arc::new(Self { project, journal, state })
    }

    /// A task of a model that waits, and whose process is gone.
    fn waits(&self, wait: Wait) -> TaskId {
        let id: TaskId = TASK.parse().unwrap();
        let request = Request {
            id: id.clone(),
            request_id: None,
            source: Source::Editor,
            source_url: None,
            workspace: self.project.path().to_string_lossy().into_owned(),
            description: "add paging".into(),
            acceptance_criteria: Vec::new(),
            scope: Scope::default(),
            tools: Vec::new(),
            allowed_files: Vec::new(),
            base_revision: None,
            engine: Engine::Model,
            candidate: None,
            trigger: Some(Trigger {
                path: "src/lib.rs".parse().unwrap(),
                line: 1,
                text: "// understudy: add paging".into(),
            }),
            constraints: Vec::new(),
            plan_policy: PlanPolicy::Review,
            allowed_commands: Vec::new(),
            limits: Limits { max_tokens: Some(1000), ..Limits::default() },
            created: UnixMillis(1),
        };
        let (_, lease) = self.journal.begin(&request).unwrap();
        let lease = lease.unwrap();
        let step = Step {
            id: "1".parse().unwrap(),
            title: "Read the cursor".into(),
            action: StepAction::Write { delivers: "a cursor".into() },
            scope: Scope { paths: vec!["src/**".into()], symbols: Vec::new() },
            acceptance: Vec::new(),
            checks: Vec::new(),
            depends_on: Vec::new(),
            reasoning: String::new(),
            estimated_files: None,
        };
        let plan = Plan { id: "plan".parse().unwrap(), version: 1, revised_from: None, steps: vec![step] };
        for event in [Event::Admitted { notes: Vec::new() }, Event::PlanProposed { plan }, Event::Paused { wait }] {
            self.journal.append(&lease, &event).unwrap();
        }
        self.journal.release(&lease).unwrap();
        id
    }

    fn notes(&self) -> Vec<Note> {
        self.journal.notes(&TASK.parse().unwrap(), 0).unwrap().into_iter().map(|(_, note)| note).collect()
    }

    pub fn bench(self: &Arc<Self>, options: Value) -> Bench {
        let root = self.project.path().to_string_lossy().into_owned();
        let mut bench = Bench::in_rooms(Arc::clone(self) as Arc<dyn Rooms>, options, &[&root]);
        bench.main.take(Mail::Initialized);
        bench.until(|bench| bench.main.session.restoring == 0 && bench.main.session.model.is_some());
        bench
    }
}

pub fn rich() -> Value {
    json!({"understudy": {"protocol": 1, "models": true}})
}

fn two_questions() -> Wait {
    let question = |text: &str, options: &[&str]| Question {
        text: text.into(),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        why: String::new(),
    };
    Wait::Answers { questions: vec![question("Which page size?", &["20", "50"]), question("Which order?", &["by id"])] }
}

fn line(bench: &mut Bench) -> Value {
    bench.command("understudy.task.list", json!({})).unwrap()[0].take()
}

#[test]
fn a_task_that_needs_the_developer_is_shown_after_a_restart_and_goes_on_when_it_is_answered() {
    let home = Home::new();
    home.waits(two_questions());
    let mut bench = home.bench(rich());
    let shown = line(&mut bench);
    assert_eq!((&shown["status"], &shown["waiting_for"]), (&json!("needs you"), &json!("answers")));
    assert_eq!(shown["questions"][1]["text"], "Which order?");
    assert_eq!(shown["plan"]["steps"][0], json!({"id": "1", "title": "Read the cursor", "status": "pending"}));
    assert_eq!(shown["next"], json!(["answer", "cancel", "steer", "raise"]));
    let revision = shown["revision"].clone();
    let mut answer = |more: Value| {
        let mut argument = json!({"task": TASK, "revision": revision, "answers": ["20", "by id"]});
        argument.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bench.command("understudy.task.answer", argument)
    };
    assert!(matches!(answer(json!({"revision": 77})), Err(Refusal::Stale(_))));
    assert!(matches!(answer(json!({"asked": "else"})), Err(Refusal::Stale(_))));
    assert!(matches!(answer(json!({"answers": ["20"]})), Err(Refusal::BadParams(_))));
    assert!(matches!(answer(json!({"answers": ["20", " "]})), Err(Refusal::BadParams(_))));
    assert_eq!(home.notes(), []);
    answer(json!({"asked": shown["asked"]})).unwrap();
    let [Note::Answer { answers }] = &home.notes()[..] else { panic!("{:?}", home.notes()) };
    assert_eq!((answers[1].question.as_str(), answers[1].text.as_str()), ("Which order?", "by id"));
    // It went on once, by itself, whatever came of it without a model.
    let resumed = |home: &Home| {
        let records = home.journal.records(&TASK.parse().unwrap()).unwrap();
        records.iter().filter(|record| matches!(record.event, Ok(Event::Resumed { .. }))).count()
    };
    bench.until(|bench| bench.main.session.desk.is_idle());
    assert_eq!(resumed(&home), 1);
    assert_ne!(line(&mut bench)["waiting_for"], "answers");
}

#[test]
fn what_others_do_to_a_task_is_seen_whether_or_not_they_are_at_work_when_it_is_looked_at() {
    let home = Home::new();
    let id = home.waits(two_questions());
    let mut bench = home.bench(rich());
    let is = |bench: &mut Bench, status: &str| line(bench)["status"] == status;
    assert!(is(&mut bench, "needs you"));
    let others = |event: Event| {
        let lease = home.journal.acquire(&id).unwrap();
        home.journal.append(&lease, &event).unwrap();
        home.journal.release(&lease).unwrap();
    };
    others(Event::Answered { answers: Vec::new(), note: 1 });
    bench.until(|bench| is(bench, "interrupted"));
    others(Event::Concluded { conclusion: Conclusion::Cancelled });
    bench.until(|bench| is(bench, "ended"));
    assert_eq!(bench.main.session.next_look_elsewhere(Instant::now()), None);
}

#[test]
fn a_plain_client_answers_one_question_after_the_other_at_the_comment_of_the_task() {
    let home = Home::new();
    home.waits(two_questions());
    let mut bench = home.bench(json!({}));
    let path = home.project.path().join("src/lib.rs").to_string_lossy().into_owned();
    bench.open(&path, "// understudy: add paging\npub fn users() {}\n");
    let titles = bench.titles(&path, 0, CodeActionTriggerKind::AUTOMATIC);
    let answers: Vec<&String> = titles.iter().filter(|title| title.contains("Answer")).collect();
    assert_eq!(answers, ["Understudy: Answer \"add paging\": 20", "Understudy: Answer \"add paging\": 50"]);
    let shown = line(&mut bench);
    let answer = |number: u32, text: &str| json!({"task": TASK, "revision": shown["revision"], "asked": shown["asked"], "question": number, "answers": [text]});
    bench.command("understudy.task.answer", answer(1, "50")).unwrap();
    assert_eq!(home.notes(), []);
    let titles = bench.titles(&path, 0, CodeActionTriggerKind::AUTOMATIC);
    assert!(titles.contains(&"Understudy: Answer \"add paging\": by id".to_owned()), "{titles:?}");
    let mut asked = Vec::new();
    while let Ok(outgoing) = bench.outgoing.try_recv() {
        if let Outgoing::Choose(params, choices) = outgoing {
            asked.push((params.message, choices));
        }
    }
    let (message, mut choices) = asked.pop().unwrap();
    assert!(message.contains("Which order?") && message.contains("understudy tasks answer page"), "{message}");
    bench.main.take(Mail::Chosen(choices.remove(0)));
    bench.until(|_| !home.notes().is_empty());
    let [Note::Answer { answers }] = &home.notes()[..] else { panic!("{:?}", home.notes()) };
    let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(texts, ["50", "by id"]);
    bench.until(|bench| bench.main.session.desk.is_idle());
}

#[test]
fn a_plan_is_approved_as_it_is_or_as_its_document_was_edited() {
    for (edit, amended) in [("", false), ("Read the cursor", true)] {
        let home = Home::new();
        home.waits(Wait::PlanApproval { version: 1 });
        let mut bench = home.bench(json!({}));
        let shown = line(&mut bench);
        assert_eq!((&shown["waiting_for"], &shown["next"][0]), (&json!("plan"), &json!("approve_plan")));
        let opened = bench.command("understudy.plan.open", json!(TASK)).unwrap();
        let path = opened["path"].as_str().unwrap().to_owned();
        let document = std::fs::read_to_string(&path).unwrap();
        assert!(document.contains("## 1: Read the cursor"), "{document}");
        let edited = document.replace(edit, if edit.is_empty() { "" } else { "Read the new cursor" });
        // The editor's text counts, saved or not; opening the document again leaves it alone.
        bench.open(&path, &edited);
        std::fs::write(&path, "saved by somebody").unwrap();
        bench.command("understudy.plan.open", json!(TASK)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "saved by somebody");
        let mut approve = |version: u32, more: Value| {
            let mut argument = json!({"task": TASK, "revision": shown["revision"], "version": version});
            argument.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            bench.command("understudy.plan.approve", argument)
        };
        assert!(matches!(approve(2, json!({})), Err(Refusal::Stale(_))));
        let bad = approve(1, json!({"text": "# Plan, version 1\n\n## 1: A\n"})).unwrap_err();
        assert!(bad.sentence().contains("line 3: step 1 may change nothing"), "{}", bad.sentence());
        assert_eq!(home.notes(), []);
        approve(1, json!({"document": true})).unwrap();
        match (&home.notes()[..], amended) {
            ([Note::ApprovePlan { version: 1 }], false) => {}
            ([Note::AmendPlan { plan }], true) => assert_eq!(plan.steps[0].title, "Read the new cursor"),
            (other, _) => panic!("{other:?}"),
        }
        bench.until(|bench| bench.main.session.desk.is_idle());
    }
}

#[test]
fn guidance_and_limits_are_notes_that_let_nothing_go_on() {
    let home = Home::new();
    home.waits(two_questions());
    let mut bench = home.bench(rich());
    bench.command("understudy.task.steer", json!({"task": TASK, "text": "by id, please"})).unwrap();
    assert!(bench.command("understudy.task.steer", json!({"task": TASK, "text": " "})).is_err());
    bench.command("understudy.task.raise", json!({"task": TASK, "limits": {"max_tokens": 5000}})).unwrap();
    assert!(bench.command("understudy.task.raise", json!({"task": TASK, "limits": {"max_tokens": 10}})).is_err());
    assert!(bench.command("understudy.task.raise", json!({"task": TASK, "limits": {"max_iterations": 11}})).is_err());
    let [Note::Steer { text }, Note::RaiseLimits { limits }] = &home.notes()[..] else { panic!("{:?}", home.notes()) };
    assert_eq!((text.as_str(), limits.max_tokens), ("by id, please", Some(5000)));
    assert_eq!(line(&mut bench)["status"], "needs you");
    assert!(bench.main.session.desk.is_idle());
}

#[test]
fn a_model_explains_and_mends_where_it_is_asked_for() {
    let home = Home::new();
    let mut bench = home.bench(json!({}));
    let path = home.project.path().join("src/lib.rs").to_string_lossy().into_owned();
    bench.open(&path, "// understudy: add paging\npub fn users() {}\n");
    let title = "Understudy: do `add paging` with a model".to_owned();
    assert!(bench.titles(&path, 0, CodeActionTriggerKind::AUTOMATIC).contains(&title));
    let explain = "Understudy: explain `fn`".to_owned();
    assert!(bench.titles(&path, 1, CodeActionTriggerKind::INVOKED).contains(&explain));
    assert!(!bench.titles(&path, 1, CodeActionTriggerKind::AUTOMATIC).contains(&explain));
    let refused = bench.command("understudy.explain", json!("What is users?")).unwrap_err();
    assert!(refused.sentence().contains("no request"), "{}", refused.sentence());
}
