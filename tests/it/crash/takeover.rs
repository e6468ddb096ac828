//! Two processes and one task: while the owner runs nobody else gets it, and an owner that was stopped finds itself
//! superseded.

use support::assert_same;

use super::{Middle, go, newly_waiting, resume, tasks, understudy, waiting_in, waiting_project};

#[test]
fn a_stopped_owner_is_superseded_and_can_do_nothing_any_more() {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let before = project.fingerprint();
    let old = Middle::of_a_prove(&understudy, &project, &patch);
    old.running.stop();

    let known = waiting_in(&understudy.state());
    let new = understudy.start(&project.path(), ["tasks", "resume", &old.id, "--json"]);
    go(&newly_waiting(&understudy, &known));
    let report = new.finish().ended_with(0).json();
    assert_eq!(report["verdict"], "verified");

    // Now the old one wakes up in the middle of its check, which could end well.
    old.go();
    old.running.go_on();
    let finished = old.running.finish().ended_with(5);
    assert!(finished.stderr.contains("was taken over by another process"), "{}", finished.stderr);
    let shown = understudy.run(&project.path(), ["tasks", "show", &old.id, "--json"]).json();
    assert_eq!(shown["verdict"], "verified");
    for key in ["tree", "checks", "executions", "plan", "publications", "usage"] {
        assert_eq!(shown[key], report[key], "{key}");
    }
    understudy.assert_nothing_left();
    assert_same(&before, &project.fingerprint());
}

#[test]
fn a_task_that_runs_is_nobody_elses() {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let before = project.fingerprint();
    let middle = Middle::of_a_prove(&understudy, &project, &patch);
    let owner = middle.running.id();
    let tree = "0".repeat(40);
    let others: [&[&str]; 6] = [
        &["tasks", "resume", &middle.id],
        &["tasks", "apply", &middle.id, "--tree", &tree],
        &["tasks", "apply", &middle.id, "--select", "0123456789abcdef"],
        &["tasks", "diff", &middle.id, "--select", "0123456789abcdef"],
        &["tasks", "undo", &middle.id],
        &["tasks", "purge", &middle.id],
    ];
    for arguments in others {
        let finished = understudy.run(&project.path(), arguments).ended_with(5);
        assert!(finished.stderr.contains(&owner.to_string()), "{arguments:?}: {}", finished.stderr);
    }
    let listed = tasks(&understudy, &project);
    assert_eq!(listed[0]["owner"], owner);
    assert!(listed[0]["status"].as_str().unwrap().starts_with("running, "), "{}", listed[0]);
    understudy.run(&project.path(), ["tasks", "show", &middle.id]).ended_with(0);

    middle.go();
    assert_eq!(middle.running.finish().ended_with(0).json()["verdict"], "verified");
    assert_eq!(resume(&understudy, &project, &middle.id).ended_with(0).json()["verdict"], "verified");
    understudy.assert_nothing_left();
    assert_same(&before, &project.fingerprint());
}

#[test]
fn two_tasks_in_one_workspace_do_not_wait_for_each_other() {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let one = Middle::of_a_prove(&understudy, &project, &patch);
    let other = Middle::of_a_prove(&understudy, &project, &patch);
    assert_ne!((&one.id, &one.folder), (&other.id, &other.folder));
    other.go();
    assert_eq!(other.running.finish().ended_with(0).json()["verdict"], "verified");
    one.go();
    assert_eq!(one.running.finish().ended_with(0).json()["verdict"], "verified");
}
