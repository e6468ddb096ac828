//! SIGKILL around every event of a task.

use serde_json::Value;
use support::{Project, Understudy, assert_same};

use super::{KILLED, newest, resume, tasks, text, understudy, with_patch};

/// More events than a task can have; a switch that does nothing would never get here.
const MANY: usize = 60;

/// What a task came to that nobody disturbed.
fn undisturbed(understudy: &Understudy, project: &Project, arguments: &[&str]) -> Value {
    understudy.run(&project.path(), arguments).ended_with(0).json()
}

/// Runs the command with the switch that kills it; `None` when it came to its end.
fn crash(understudy: &Understudy, project: &Project, arguments: &[&str], point: &str) -> Option<Value> {
    let crash = [("UNDERSTUDY_CRASH_AT", point)];
    let finished = understudy.start_with(&project.path(), arguments, &crash).finish();
    if finished.signal() == KILLED {
        understudy.assert_nothing_left();
        return None;
    }
    Some(finished.ended_with(0).json())
}

#[track_caller]
fn assert_same_end(goal: &Value, report: &Value, when: &str) {
    for key in ["verdict", "base", "tree", "diff", "hunks", "limitations", "exit_code"] {
        if key != "hunks" || goal["task"]["engine"] == report["task"]["engine"] {
            assert_eq!(goal[key], report[key], "{key} of a task killed {when}");
        }
    }
    assert_eq!(goal["checks"], report["checks"], "checks of a task killed {when}");
}

/// A task for each event, killed right before it is durable or right after, then resumed.
fn killed_at_each_event(side: &str, name: &str, change: impl FnOnce(&Project), arguments: &[&str]) {
    let (project, patch) = with_patch(name, change);
    let arguments: Vec<&str> = arguments.iter().map(|word| if *word == "PATCH" { &patch } else { *word }).collect();
    let understudy = understudy();
    let before = project.fingerprint();
    let goal = undisturbed(&understudy, &project, &arguments);
    let mut known = 1;
    for number in 1..MANY {
        let when = format!("{side} event {number}");
        if crash(&understudy, &project, &arguments, &format!("{side}:{number}")).is_some() {
            assert!(number > 10, "a task has more events than {number}");
            assert_same(&before, &project.fingerprint());
            return;
        }
        let listed = tasks(&understudy, &project);
        if listed.len() == known {
            assert_eq!(when, "before event 1", "only a request that is not durable is forgotten");
            continue;
        }
        known += 1;
        assert_eq!(listed.len(), known);
        let (newest, status) = (&listed[0], text(&listed[0]["status"]));
        assert_eq!(newest["owner"], Value::Null, "killed {when}");
        let ended = !newest["verdict"].is_null();
        assert!(ended == (status == "concluded") && ended != status.starts_with("interrupted, "), "{when}: {newest}");
        assert!(!ended || newest["verdict"] == goal["verdict"], "killed {when}: {newest}");
        let report = resume(&understudy, &project, newest["id"].as_str().unwrap()).ended_with(0).json();
        assert_same_end(&goal, &report, &when);
        assert_eq!(tasks(&understudy, &project).len(), known, "resuming starts no task");
        assert_same(&before, &project.fingerprint());
    }
    panic!("the command was killed at every one of {MANY} events");
}

const PROVE: [&str; 4] = ["prove", "--patch", "PATCH", "--json"];
const FIX: [&str; 3] = ["run", "fix warnings", "--json"];

fn change(project: &Project) {
    project.replace("src/lib.rs", "let mut sum", "let sum");
}

#[test]
fn a_prove_killed_before_any_event_goes_on_to_the_same_end() {
    killed_at_each_event("before", "warns", change, &PROVE);
}

#[test]
fn a_prove_killed_after_any_event_goes_on_to_the_same_end() {
    killed_at_each_event("after", "warns", change, &PROVE);
}

#[test]
fn a_fix_killed_before_any_event_goes_on_to_the_same_end() {
    killed_at_each_event("before", "warns", |_| {}, &FIX);
}

/// From a cold start, so that no receipt of another task helps: whoever takes over dies in turn after one event more.
#[test]
fn a_fix_whose_every_owner_dies_after_its_first_step_still_gets_to_the_same_end() {
    let (project, _) = with_patch("warns", |_| {});
    let goal = undisturbed(&understudy(), &project, &FIX);
    let understudy = understudy();
    let before = project.fingerprint();
    assert!(crash(&understudy, &project, &FIX, "after:1").is_none());
    let id = newest(&understudy, &project);
    let arguments = ["tasks", "resume", &id, "--json"];
    let (mut seen, mut further) = (String::new(), 2);
    for owner in 2..MANY {
        let status = text(&tasks(&understudy, &project)[0]["status"]);
        // The first event of whoever takes over says so; one that only begins an attempt anew gets one event more.
        further = if status == seen { further + 1 } else { 2 };
        seen = status;
        if let Some(report) = crash(&understudy, &project, &arguments, &format!("after:{further}")) {
            assert!(owner > 8, "only {owner} owners had to die");
            assert_same_end(&goal, &report, "again and again");
            assert_same(&before, &project.fingerprint());
            return;
        }
        assert_same(&before, &project.fingerprint());
    }
    panic!("{MANY} owners came to no end; the task is {seen}");
}
