//! The server, the provider and the network die, at each of the places where it matters. The task goes on where it was,
//! and the ledger is right to the token: what was settled is what was reported, and a call whose end nobody saw stays
//! charged at its reservation.

use serde_json::{Value, json};
use support::model::{Cable, Move, Script, Seen, call};
use support::{Project, assert_same, wait_until};

use super::scene::{Scene, Wire};
use crate::crash::{newest, text};

const RUN: [&str; 7] = ["run", "--engine", "model", "--plan", "skip", "say nothing twice", "--json"];

/// What the model does follows from what it was told last, so that a call that is repeated has the same answer. Its first
/// change is wrong: there are two attempts, with a diagnosis between them.
fn plays(seen: &Seen) -> Move {
    let edit = |old: &str, new: &str| call("edit", json!({ "edits": [{ "path": "sum.js", "old": old, "new": new }] }));
    let results = seen.last_results();
    let again = seen.messages.iter().any(|message| format!("{message:?}").contains("The attempt before failed"));
    match (results.first().map(|(tool, _)| *tool), again) {
        (Some("edit"), _) => call("done", json!({ "summary": "said once" })),
        (Some("read"), _) => edit("return all;", "return all + 1;"),
        (_, false) => call("read", json!({ "path": "sum.js" })),
        (_, true) if seen.says("# Stage: diagnosing") => {
            call("diagnose", json!({ "cause": "one too many", "fix": "less" }))
        }
        (_, true) => edit("return all + 1;", "return all + 0;"),
    }
}

fn scene(wire: Wire) -> Scene {
    Scene::with(Project::data("adds").committed(), Script::playing(plays), wire)
}

fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The ledger against what the provider reported: settled calls to the token, and for each call that is open at most the
/// one that its process sent before it died.
fn agrees(scene: &Scene, report: &Value) {
    let usage = &report["usage"];
    let open = usage["open"].as_array().unwrap();
    let reserved: u64 = open.iter().map(|it| tokens(&it["input"]) + tokens(&it["output"])).sum();
    let settled = tokens(&usage["tokens"]) - reserved;
    let reported: Vec<u64> = scene.model.usages().iter().flatten().map(|usage| usage.sent() + usage.output).collect();
    let all: u64 = reported.iter().sum();
    assert!(open.len() <= 1, "{usage}");
    let lost = all.checked_sub(settled).unwrap_or_else(|| panic!("more is settled than was reported: {usage}"));
    let one = open.len() == 1 && reported.contains(&lost);
    assert!(lost == 0 || one, "{lost} tokens are not accounted for\n{usage}\n{}", scene.model.transcript());
    assert!(lost <= reserved, "a call may not cost more than was reserved for it");
}

/// Dies at an event and goes on.
fn dies_at(point: &str, wire: Wire) {
    let scene = scene(wire);
    let (project, understudy) = (&scene.stage.project, &scene.stage.understudy);
    let before = project.fingerprint();
    let crash = [("UNDERSTUDY_CRASH_AT", point)];
    let died = understudy.start_with(&project.path(), RUN, &crash).finish();
    assert_eq!(died.signal(), Some(9), "{point}: {}", died.stderr);
    understudy.assert_nothing_left();
    let id = newest(understudy, project);
    let report = understudy.run(&project.path(), ["tasks", "resume", &id, "--json"]).ended_with(0).json();
    assert_eq!(report["verdict"], "verified", "{point}: {report}");
    assert!(text(&report["diff"]).contains("+  return all + 0;"), "{point}: {report}");
    agrees(&scene, &report);
    scene.model.assert_clean();
    assert_same(&before, &project.fingerprint());
}

/// The names of the events of a run that nothing disturbs.
fn kinds() -> Vec<String> {
    let scene = scene(Wire::Anthropic);
    let report = scene.stage.ask_any(&RUN[..RUN.len() - 1]).report;
    assert_eq!(report["verdict"], "verified", "{}", scene.model.transcript());
    agrees(&scene, &report);
    let journal = journal::Journal::open(&scene.stage.understudy.state()).unwrap();
    let id = text(&report["task"]["id"]).parse().unwrap();
    let records = task::port::Journal::records(&journal, &id).unwrap();
    records.into_iter().map(|record| record.event.unwrap().kind()).collect()
}

/// Two places for each kind of event that only tasks with a model have: the first and the last of it.
#[test]
fn a_killed_process_costs_no_turn_and_no_token_that_nobody_charged() {
    let kinds = kinds();
    let own = ["call_reserved", "call_settled", "spoke", "step_started", "step_ended", "attempt_ended"];
    for (number, kind) in own.iter().enumerate() {
        let first = kinds.iter().position(|it| it == kind).unwrap() + 1;
        let last = kinds.iter().rposition(|it| it == kind).unwrap() + 1;
        let wire = if number % 2 == 0 { Wire::Anthropic } else { Wire::Openai };
        dies_at(&format!("before:{first}"), wire);
        dies_at(&format!("after:{last}"), wire);
    }
}

#[test]
#[ignore = "takes minutes: a command for whoever changes how tasks with a model go on"]
fn a_killed_process_goes_on_from_every_event() {
    for number in 1..=kinds().len() {
        for side in ["before", "after"] {
            // Before the request is written there is no task to go on with.
            if (side, number) != ("before", 1) {
                dies_at(&format!("{side}:{number}"), Wire::Anthropic);
            }
        }
    }
}

/// The provider answers nothing any more while a call is open, and the process that waits is killed.
#[test]
fn a_process_killed_while_the_model_thinks_charges_the_call_and_asks_again() {
    let mut asked = 0;
    let hangs_once = move |seen: &Seen| {
        asked += 1;
        if asked == 2 { support::model::hang() } else { plays(seen) }
    };
    let scene = Scene::with(Project::data("adds").committed(), Script::playing(hangs_once), Wire::Anthropic);
    let (project, understudy) = (&scene.stage.project, &scene.stage.understudy);
    let running = understudy.start(&project.path(), RUN);
    scene.model.wait_for_hang();
    running.kill();
    drop(running.finish());
    scene.model.release();
    let id = newest(understudy, project);
    let report = understudy.run(&project.path(), ["tasks", "resume", &id, "--json"]).ended_with(0).json();
    assert_eq!(report["verdict"], "verified");
    assert_eq!(report["usage"]["open"].as_array().unwrap().len(), 1, "{report}");
    scene.model.assert_clean();
}

/// The network goes while the model answers: the task waits, says so, and goes on when it is back.
#[test]
fn a_network_that_is_cut_pauses_the_task() {
    let mut asked = 0;
    let hangs_once = move |seen: &Seen| {
        asked += 1;
        if asked == 2 { plays(seen).hangs_after(2) } else { plays(seen) }
    };
    let scene = Scene::with(Project::data("adds").committed(), Script::playing(hangs_once), Wire::Openai);
    let cable = Cable::to(scene.model.address());
    scene.configure(&cable.base_url(), Wire::Openai);
    let (project, understudy) = (&scene.stage.project, &scene.stage.understudy);
    let running = understudy.start(&project.path(), RUN);
    scene.model.wait_for_hang();
    cable.cut();
    let waits = running.finish().ended_with(5).json();
    assert_eq!(waits["waiting"]["for"], "provider", "{waits}");
    assert!(waits["next"].to_string().contains("tasks resume"), "{waits}");
    let id = newest(understudy, project);
    cable.plug();
    let report = understudy.run(&project.path(), ["tasks", "resume", &id, "--json"]).ended_with(0).json();
    assert_eq!(report["verdict"], "verified");
    scene.model.assert_clean();
}

/// Ctrl-C while the model thinks: acknowledged at once, what was reached is handed over.
#[test]
fn a_cancelled_call_ends_the_task_at_once() {
    let scene = Scene::with(Project::data("adds").committed(), [support::model::hang()], Wire::Anthropic);
    let (project, understudy) = (&scene.stage.project, &scene.stage.understudy);
    let running = understudy.start(&project.path(), RUN);
    scene.model.wait_for_hang();
    running.interrupt();
    let report = running.finish().ended_with(6).json();
    assert_eq!(report["verdict"], "cancelled");
    wait_until("nothing is left", std::time::Duration::from_secs(20), || {
        support::leftovers(&understudy.marker()).is_empty()
    });
    scene.model.assert_clean();
}
