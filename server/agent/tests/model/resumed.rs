//! A process may die after any fact. Whoever takes the task over knows only what the journal says, comes to the same end,
//! and asks the model for nothing that was said already.

use serde_json::json;
use support::cases::Case;
use support::model::{Move, Rules, Script, Seen, call};
use task::port::Role;
use task::{Conclusion, Event, PlanPolicy, Request, TaskId};

use crate::scenes::{Stage, edit};

/// Tasks that go on at the same time.
const BESIDE: usize = 4;

pub const CASES: &[Case] = &[
    ("a_task_goes_on_after_each_of_its_facts", a_task_goes_on_after_each_of_its_facts),
    (
        "a_plan_of_several_steps_goes_on_after_each_of_its_facts",
        a_plan_of_several_steps_goes_on_after_each_of_its_facts,
    ),
];

/// What the model does follows from what it was told last. Its first change is wrong.
fn plays(seen: &Seen) -> Move {
    let again = seen.messages.iter().any(|message| format!("{message:?}").contains("The attempt before failed"));
    match (seen.last_results().first(), again) {
        (Some(_), _) => call("done", json!({ "summary": "said once" })),
        (None, false) => call("edit", edit("return all;", "return all + 1;")),
        (None, true) if seen.says("# Stage: diagnosing") => {
            call("diagnose", json!({ "cause": "one too many", "fix": "less" }))
        }
        (None, true) => call("edit", edit("return all + 1;", "return all + 0;")),
    }
}

/// A plan, and its two steps; the second changes what the first has written.
fn plays_steps(seen: &Seen) -> Move {
    let step = |id: &str, after: &[&str]| json!({ "id": id, "title": id, "paths": ["sum.js"], "delivers": id, "after": after });
    match seen.last_results().first() {
        Some(_) => call("done", json!({ "summary": "said" })),
        None if seen.says("# Stage: planning") => {
            call("propose_plan", json!({ "steps": [step("one", &[]), step("two", &["one"])] }))
        }
        None if seen.says("coding, step one") => call("edit", edit("return all;", "return all + 0;")),
        None => call("edit", edit("return all + 0;", "return 0 + all;")),
    }
}

/// A task of another process, which died after these facts.
fn interrupted(stage: &Stage, request: &Request, facts: &[Event]) -> TaskId {
    let journal = &stage.home.house.journal;
    let request = Request { id: journal::fresh_id().unwrap(), ..request.clone() };
    let (id, lease) = journal.begin(&request).unwrap();
    let lease = lease.unwrap();
    for event in &facts[1..] {
        journal.append(&lease, event).unwrap();
    }
    journal.release(&lease).unwrap();
    id
}

fn a_task_goes_on_after_each_of_its_facts() {
    goes_on_after_each_fact(plays, PlanPolicy::Skip);
}

fn a_plan_of_several_steps_goes_on_after_each_of_its_facts() {
    let facts = goes_on_after_each_fact(plays_steps, PlanPolicy::Auto);
    assert!(facts.iter().any(|event| matches!(event, Event::StepsStale { .. })));
}

/// The facts of a task to whose end every process comes, whenever the one before died.
fn goes_on_after_each_fact(plays: fn(&Seen) -> Move, plan_policy: PlanPolicy) -> Vec<Event> {
    // Each task that goes on has messages of the whole one, and a mark of its own.
    let rules = Rules::default().conversation(|seen| seen.number.to_string());
    let stage = Stage::under(rules, Script::playing(plays));
    let request = Request { plan_policy, ..stage.request("make it add zero") };
    let (whole, conclusion) = stage.run(request.clone());
    assert_eq!(conclusion, Conclusion::Verified, "{}", stage.model.transcript());
    let facts = stage.home.events(&whole);
    let goes_on_after = |died: usize| {
        let (before, after) = facts.split_at(died);
        let id = interrupted(&stage, &request, before);
        let (end, last) = (stage.resume(&id), before.last().unwrap().kind());
        assert_eq!(end, Conclusion::Verified, "after fact {died}, {last}");
        let is_call = |event: &&Event| matches!(event, Event::CallReserved { .. });
        let is_reply = |event: &&Event| matches!(event, Event::Spoke { role: Role::Assistant, .. });
        let calls = stage.home.events(&id)[died..].iter().filter(is_call).count();
        assert_eq!(calls, after.iter().filter(is_reply).count(), "calls after fact {died}, {last}");
    };
    std::thread::scope(|scope| {
        for first in 1..=BESIDE {
            let dies = (first..facts.len()).step_by(BESIDE);
            scope.spawn(|| dies.for_each(&goes_on_after));
        }
    });
    stage.model.assert_clean();
    facts
}
