//! Scenes of the model engine: what a model does, and what comes of it.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use agent::{Audience, Error, Progress, Side, Walk};
use sandbox::Sandbox;
use serde_json::{Value, json};
use support::Project;
use support::cases::Case;
use support::model::{Rules, Script, ScriptedModel, Seen, call, calls, empty, raw_call, refuse, say, status};
use task::port::Note;
use task::{Conclusion, Engine, Event, Limits, PlanPolicy, Request, StopReason, TaskId, Trigger, Wait};

use crate::home::Home;

pub const CASES: &[Case] = &[
    (
        "a_right_change_is_verified_and_what_it_cost_is_known_to_the_token",
        a_right_change_is_verified_and_what_it_cost_is_known_to_the_token,
    ),
    (
        "a_wrong_change_comes_back_as_evidence_and_is_mended_after_a_diagnosis",
        a_wrong_change_comes_back_as_evidence_and_is_mended_after_a_diagnosis,
    ),
    ("a_claim_without_a_change_is_no_success", a_claim_without_a_change_is_no_success),
    (
        "a_test_that_vanishes_or_was_rewritten_counts_against_the_change",
        a_test_that_vanishes_or_was_rewritten_counts_against_the_change,
    ),
    (
        "a_test_that_the_approved_plan_names_may_change_and_that_is_said",
        a_test_that_the_approved_plan_names_may_change_and_that_is_said,
    ),
    ("a_plan_that_cannot_be_taken_is_not_heard_for_ever", a_plan_that_cannot_be_taken_is_not_heard_for_ever),
    ("the_same_failure_brings_one_hint_and_then_a_question", the_same_failure_brings_one_hint_and_then_a_question),
    (
        "questions_wait_and_their_answers_go_on_in_the_same_conversation",
        questions_wait_and_their_answers_go_on_in_the_same_conversation,
    ),
    (
        "a_provider_that_is_down_pauses_the_task_and_it_goes_on_when_it_is_back",
        a_provider_that_is_down_pauses_the_task_and_it_goes_on_when_it_is_back,
    ),
    (
        "what_a_model_does_wrong_is_answered_and_changes_nothing",
        what_a_model_does_wrong_is_answered_and_changes_nothing,
    ),
    (
        "a_stronger_model_has_its_turn_after_the_hint_within_its_own_allowance",
        a_stronger_model_has_its_turn_after_the_hint_within_its_own_allowance,
    ),
    ("a_rejection_binds_the_next_try", a_rejection_binds_the_next_try),
    ("the_base_is_checked_while_the_model_thinks", the_base_is_checked_while_the_model_thinks),
    ("the_comment_that_asked_a_model_goes_with_its_change", the_comment_that_asked_a_model_goes_with_its_change),
];

/// Nothing here takes so long.
const LONG: Duration = Duration::from_secs(60);
const OLD: &str = "  return all;\n";

pub struct Stage {
    pub home: Home,
    pub model: ScriptedModel,
}

impl Stage {
    pub fn new(script: impl Into<Script>) -> Self {
        Self::under(Rules::default(), script)
    }

    pub fn under(rules: Rules, script: impl Into<Script>) -> Self {
        let model = ScriptedModel::start_with(rules.forbid("/root/").may_compact(), script);
        let mut home = Home::of(Project::data("adds"));
        home.house.sandbox = Ok(Sandbox::open().unwrap());
        home.house.model = Ok(Arc::new(panel(&model)));
        Self { home, model }
    }

    pub fn request(&self, text: &str) -> Request {
        let limits = Limits {
            budget_microdollars: Some(500_000),
            max_tokens: Some(1_000_000),
            timeout_ms: 120_000,
            ..Limits::default()
        };
        Request { plan_policy: PlanPolicy::Skip, limits, ..self.home.request(text, Engine::Model, None) }
    }

    pub fn run(&self, request: Request) -> (TaskId, Conclusion) {
        let mut walk = Walk::begin(&self.home.house, request).unwrap().unwrap();
        let conclusion = walk.run().unwrap();
        (walk.id().clone(), conclusion)
    }

    pub fn resume(&self, id: &TaskId) -> Conclusion {
        Walk::resume(&self.home.house, id).unwrap().run().unwrap()
    }

    fn count(&self, id: &TaskId, is: impl Fn(&Event) -> bool) -> usize {
        self.home.events(id).iter().filter(|event| is(event)).count()
    }
}

fn panel(model: &ScriptedModel) -> model::Panel {
    panel_with(model, None)
}

fn panel_with(model: &ScriptedModel, escalation: Option<&str>) -> model::Panel {
    let provider = model::ProviderSettings {
        wire: Some(model::Wire::Anthropic),
        base_url: Some(model.base_url()),
        key: Some(model::Key::new(Rules::KEY)),
        prices: Some("anthropic".into()),
        ..model::ProviderSettings::default()
    };
    let settings = model::Settings {
        common: Some("scripted/claude-sonnet-4-5".into()),
        providers: [("scripted".to_owned(), provider)].into(),
        escalation: escalation.map(str::to_owned),
        patience: Some(1),
        ..model::Settings::default()
    };
    model::Panel::new(&settings).unwrap()
}

pub fn edit(old: &str, new: &str) -> Value {
    json!({ "edits": [{ "path": "sum.js", "old": old, "new": new }] })
}

fn a_right_change_is_verified_and_what_it_cost_is_known_to_the_token() {
    let stage = Stage::new([
        say("I look first.").call("read", json!({ "path": "sum.js" })),
        call("edit", edit(OLD, "  return all + 0;\n")).if_result("read"),
        call("done", json!({ "summary": "adds nothing" })).if_result("edit"),
    ]);
    let (id, conclusion) = stage.run(stage.request("make it add zero"));
    assert_eq!(conclusion, Conclusion::Verified);
    stage.model.assert_clean();
    let walk = stage.home.take(&id);
    assert_eq!(walk.state().work.accounts.tokens(), stage.model.totals().sent() + stage.model.totals().output);
    assert_eq!(stage.count(&id, |event| matches!(event, Event::CallReserved { .. })), 3);
}

fn a_wrong_change_comes_back_as_evidence_and_is_mended_after_a_diagnosis() {
    let stage = Stage::new([
        call("edit", edit(OLD, "  return all + 1;\n")),
        call("done", json!({ "summary": "one more" })),
        call("diagnose", json!({ "cause": "one too many", "fix": "add nothing" })).expect("adds"),
        call("edit", edit("all + 1", "all + 0")).expect("one too many"),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    let (id, conclusion) = stage.run(stage.request("make it add zero"));
    assert_eq!(conclusion, Conclusion::Verified);
    assert_eq!(stage.count(&id, |event| matches!(event, Event::AttemptStarted { .. })), 2);
    stage.model.assert_clean();
}

fn a_claim_without_a_change_is_no_success() {
    let stage = Stage::new([call("done", json!({ "summary": "all done" }))]);
    let (_, conclusion) = stage.run(stage.request("make it add zero"));
    assert!(
        matches!(&conclusion, Conclusion::Stopped { reason: StopReason::NonProgress { what } } if what.contains("changed nothing")),
        "{conclusion:?}"
    );
}

fn a_test_that_vanishes_or_was_rewritten_counts_against_the_change() {
    let cheat = json!({ "edits": [
        { "path": "sum.js", "old": OLD, "new": "  return all + 1;\n" },
        { "path": "sum.test.js", "old": "6", "new": "7" },
    ] });
    let stage =
        Stage::new([call("edit", cheat), call("done", json!({ "summary": "done" })), refuse("no more").times(9)]);
    let (_, conclusion) = stage.run(stage.request("make it add zero"));
    assert!(!matches!(conclusion, Conclusion::Verified), "{conclusion:?}");
    let stage = Stage::new([
        calls([("delete", json!({ "path": "sum.test.js" })), ("edit", edit(OLD, "  return 7;\n"))]),
        call("done", json!({ "summary": "done" })),
        refuse("no more").times(9),
    ]);
    let (_, conclusion) = stage.run(stage.request("make it add zero"));
    assert!(!matches!(conclusion, Conclusion::Verified), "{conclusion:?}");
}

fn a_test_that_the_approved_plan_names_may_change_and_that_is_said() {
    let changes = json!({ "edits": [
        { "path": "sum.js", "old": OLD, "new": "  return all + 1;\n" },
        { "path": "sum.test.js", "old": "6", "new": "7" },
    ] });
    let step = json!({ "id": "1", "title": "t", "paths": ["sum.js", "sum.test.js"], "delivers": "d" });
    let stage = Stage::new([
        call("propose_plan", json!({ "steps": [step] })),
        call("edit", changes),
        call("done", json!({ "summary": "one more" })),
    ]);
    let request = Request { plan_policy: PlanPolicy::Review, ..stage.request("make it add one") };
    let (id, _) = stage.run(request);
    stage.home.house.journal.post(&id, &Note::ApprovePlan { version: 1 }).unwrap();
    assert_eq!(stage.resume(&id), Conclusion::Verified);
    let report = stage.home.take(&id).report(None).unwrap();
    let said = format!("{:?}", report.limitations);
    assert!(said.contains("adds only passes because the change rewrote the test"), "{said}");
}

fn a_plan_that_cannot_be_taken_is_not_heard_for_ever() {
    let step = json!({ "id": "1", "title": "t", "paths": ["sum.js"], "delivers": "d", "checks": ["made up"] });
    let stage = Stage::new([call("propose_plan", json!({ "steps": [step] })).times(9)]);
    let (_, conclusion) = stage.run(Request { plan_policy: PlanPolicy::Auto, ..stage.request("make it add zero") });
    let Conclusion::Stopped { reason: StopReason::NonProgress { what } } = &conclusion else {
        panic!("{conclusion:?}")
    };
    assert!(what.contains("4 times") && what.contains("there is no check `made up`; there are "), "{what}");
    assert_eq!(stage.model.requests(), 4);
    // A file that the request does not let change is refused where it is planned.
    let step = json!({ "id": "1", "title": "t", "paths": ["other.js"], "delivers": "d" });
    let stage = Stage::new([call("propose_plan", json!({ "steps": [step] })).times(9)]);
    let scope = task::Scope::new(vec!["sum.js".into()]).unwrap();
    let request = Request { plan_policy: PlanPolicy::Auto, scope, ..stage.request("make it add zero") };
    let (_, conclusion) = stage.run(request);
    assert!(format!("{conclusion:?}").contains("permits changes of sum.js only"), "{conclusion:?}");
}

fn the_same_failure_brings_one_hint_and_then_a_question() {
    let fails = || {
        Script::playing(move |seen| {
            let number = seen.number;
            if seen.says("call `diagnose`") && seen.last_results().is_empty() {
                return call("diagnose", json!({ "cause": "unknown", "fix": "unknown" }));
            }
            if seen.last_results().iter().any(|(tool, _)| *tool == "edit") {
                return call("done", json!({ "summary": "tried" }));
            }
            call(
                "edit",
                json!({ "edits": [{ "path": "sum.js", "old": "export function sum(numbers) {\n", "new": format!("export function sum(numbers) {{\n  if (numbers) return {number} - {number};\n") }] }),
            )
        })
    };
    let stage = Stage::new(fails());
    let (id, conclusion) = stage.run(stage.request("make it add zero"));
    let Conclusion::NeedsAnswer { question } = &conclusion else { panic!("{conclusion:?}") };
    assert!(question.text.contains("3 times"), "{question:?}");
    assert_eq!(stage.count(&id, |event| matches!(event, Event::Nudged { .. })), 1);
    let answers = vec![task::Answer { question: question.text.clone(), text: question.options[0].clone() }];
    stage.home.house.journal.post(&id, &Note::Answer { answers }).unwrap();
    let conclusion = stage.resume(&id);
    assert!(matches!(conclusion, Conclusion::Stopped { reason: StopReason::NonProgress { .. } }), "{conclusion:?}");
    assert!(stage.home.take(&id).state().tree.is_some());

    // Whoever lets it go on has it try once more, although the attempts are used up.
    let stage = Stage::new(fails());
    let (id, conclusion) = stage.run(stage.request("make it add zero"));
    let Conclusion::NeedsAnswer { question } = &conclusion else { panic!("{conclusion:?}") };
    let answers = vec![task::Answer { question: question.text.clone(), text: question.options[1].clone() }];
    stage.home.house.journal.post(&id, &Note::Answer { answers }).unwrap();
    let conclusion = stage.resume(&id);
    assert!(!matches!(conclusion, Conclusion::Verified), "{conclusion:?}");
    assert_eq!(stage.count(&id, |event| matches!(event, Event::AttemptStarted { .. })), 4);
}

fn questions_wait_and_their_answers_go_on_in_the_same_conversation() {
    let stage = Stage::new([
        call("ask", json!({ "questions": [{ "text": "How many?", "options": ["one", "two"] }] })),
        call("propose_plan", json!({ "steps": [{ "id": "1", "title": "t", "paths": ["sum.js"], "delivers": "d" }] }))
            .expect("-> two"),
        call("edit", edit(OLD, "  return all + 0;\n")),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    let request = Request { plan_policy: PlanPolicy::Auto, ..stage.request("make it add some") };
    let (id, conclusion) = stage.run(request);
    assert!(matches!(conclusion, Conclusion::NeedsAnswer { .. }), "{conclusion:?}");
    assert!(matches!(stage.home.take(&id).state().work.wait, Some(Wait::Answers { .. })));
    let answers = vec![task::Answer { question: "How many?".into(), text: "two".into() }];
    stage.home.house.journal.post(&id, &Note::Answer { answers }).unwrap();
    assert_eq!(stage.resume(&id), Conclusion::Verified);
    stage.model.assert_clean();
}

fn a_provider_that_is_down_pauses_the_task_and_it_goes_on_when_it_is_back() {
    let stage = Stage::new([
        call("edit", edit(OLD, "  return all + 0;\n")),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    stage.model.kill();
    let mut walk = Walk::begin(&stage.home.house, stage.request("make it add zero")).unwrap().unwrap();
    let error = walk.run().unwrap_err();
    assert!(matches!(error, Error::Paused(_)), "{error:?}");
    let id = walk.id().clone();
    drop(walk);
    stage.model.revive();
    assert_eq!(stage.resume(&id), Conclusion::Verified);
}

fn what_a_model_does_wrong_is_answered_and_changes_nothing() {
    let stage = Stage::new([
        raw_call("edit", "{\"edits\": [").expect("make it"),
        call("bash", json!({ "command": "rm -rf /" })).expect("no JSON object"),
        call("edit", edit("return nothing;", "x")).expect("there is no tool `bash`"),
        call("edit", json!({ "edits": [{ "path": "src/sum.js", "old": "a", "new": "b" }] }))
            .expect("does not stand there"),
        empty().expect("near it are:").expect("sum.js"),
        status(500),
        call("edit", edit(OLD, "  return all + 0;\n")),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    let (_, conclusion) = stage.run(stage.request("make it add zero"));
    stage.model.assert_clean();
    assert!(matches!(conclusion, Conclusion::Verified), "{conclusion:?}");
}

/// The usual model fails the same way twice; after the hint the stronger one is asked, as far as its allowance goes.
fn a_stronger_model_has_its_turn_after_the_hint_within_its_own_allowance() {
    for (allowance, by_the_stronger) in [(400_000, true), (1, false)] {
        let mut stage = Stage::new(Script::playing(move |seen| {
            if seen.says("# Stage: diagnosing") && seen.last_results().is_empty() {
                return call("diagnose", json!({ "cause": "unknown", "fix": "unknown" }));
            }
            if seen.last_results().iter().any(|(tool, _)| *tool == "edit") {
                return call("done", json!({ "summary": "tried" }));
            }
            let first = "export function sum(numbers) {\n";
            let line = if seen.model.contains("opus") {
                "  if (numbers.length > 0) return numbers.reduce((a, b) => a + b);\n".to_owned()
            } else {
                format!("  if (numbers) return {0} - {0};\n", seen.number)
            };
            call("edit", json!({ "edits": [{ "path": "sum.js", "old": first, "new": format!("{first}{line}") }] }))
        }));
        stage.home.house.model = Ok(Arc::new(panel_with(&stage.model, Some("scripted/claude-opus-4-5"))));
        let request = stage.request("make it add zero");
        let limits = Limits { escalation_microdollars: Some(allowance), max_attempts: 5, ..request.limits.clone() };
        let (id, conclusion) = stage.run(Request { limits, ..request });
        let asked = stage.model.seen().iter().any(|seen| seen.model.contains("opus"));
        assert_eq!(asked, by_the_stronger, "{conclusion:?}");
        assert_eq!(conclusion == Conclusion::Verified, by_the_stronger, "{}", stage.model.transcript());
        let escalated = stage.count(&id, |event| matches!(event, Event::CallReserved { worst, .. } if worst.escalated));
        assert_eq!(escalated > 0, by_the_stronger);
        stage.model.assert_clean();
    }
}

fn a_rejection_binds_the_next_try() {
    let stage = Stage::new([
        call("edit", edit(OLD, "  return all + 0;\n")),
        call("done", json!({ "summary": "nothing more" })),
        call("edit", edit(OLD, "  return all - 0;\n")).expect("because additions of nothing confuse"),
        call("done", json!({ "summary": "nothing less" })),
    ]);
    let (id, conclusion) = stage.run(stage.request("make it add zero"));
    assert_eq!(conclusion, Conclusion::Verified);
    let mut walk = stage.home.take(&id);
    let hunk = crate::home::hunks(&walk).remove(0);
    walk.reject(&[hunk].into(), Some("additions of nothing confuse")).unwrap();
    walk.give_back().unwrap();
    let constraints = agent::rejections(&*stage.home.house.journal, &stage.home.house.state, &id).unwrap();
    assert!(constraints[0].contains("+  return all + 0;"), "{constraints:?}");
    let (_, conclusion) = stage.run(Request { constraints, ..stage.request("make it add zero") });
    assert_eq!(conclusion, Conclusion::Verified);
    stage.model.assert_clean();
}

fn the_base_is_checked_while_the_model_thinks() {
    let (ended, checked) = mpsc::channel();
    let checked = Arc::new(Mutex::new(checked));
    let (waits, mut turn) = (Arc::clone(&checked), 0);
    let mut stage = Stage::new(Script::playing(move |_: &Seen| {
        turn += 1;
        match turn {
            1 if waits.lock().unwrap().recv_timeout(LONG).is_err() => refuse("nothing was checked"),
            1 => call("edit", edit(OLD, "  return all + 0;\n")),
            _ => call("done", json!({ "summary": "adds nothing" })),
        }
    }));
    stage.home.house.audience = Audience::new(move |news| {
        if matches!(news, Progress::CheckEnded { side: Side::Base, cached: false, .. }) {
            let _ = ended.send(());
        }
    });
    let (_, conclusion) = stage.run(stage.request("make it add zero"));
    assert_eq!(conclusion, Conclusion::Verified);
    assert!(checked.lock().unwrap().try_recv().is_err(), "the base is checked once");
}

fn the_comment_that_asked_a_model_goes_with_its_change() {
    for (moves, left) in [(true, false), (false, true)] {
        let edits = if moves { vec![call("edit", edit(OLD, "  return all + 0;\n"))] } else { Vec::new() };
        let done = call("done", json!({ "summary": "adds nothing" }));
        let stage = Stage::new(edits.into_iter().chain([done.clone(), done]).collect::<Vec<_>>());
        let comment = "// understudy: make it add zero";
        let text = format!("{comment}\n{}", stage.home.project.text("sum.js"));
        stage.home.project.write("sum.js", &text);
        let path = "sum.js".parse::<task::TreePath>().unwrap();
        let trigger = Some(Trigger { path: path.clone(), line: 1, text: comment.to_owned() });
        let (id, conclusion) = stage.run(Request { trigger, ..stage.request("make it add zero") });
        assert_eq!(conclusion == Conclusion::Verified, moves, "{conclusion:?}");
        let walk = stage.home.take(&id);
        let tree = walk.state().tree.clone().unwrap();
        let file = agent::file_of(&*stage.home.house.journal, &stage.home.house.state, &id, &tree, &path);
        let file = String::from_utf8(file.unwrap().unwrap()).unwrap();
        assert_eq!(file.contains("understudy:"), left, "{file}");
    }
}
