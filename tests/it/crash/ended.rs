//! The process of a running task is ended: by the developer, by the system, by SIGKILL. Whatever ran for it is gone at once.

use std::time::{Duration, Instant};

use support::{Running, assert_same, command};

use super::{Middle, resume, tasks, understudy, waiting_project};

/// Far above what ending takes and far below what the check would.
const SOON: Duration = Duration::from_secs(20);

/// Ends a task in the middle of a check and answers with what stood on its standard output.
fn end(how: impl FnOnce(&Running, &dyn Fn(&[&str]))) {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let before = project.fingerprint();
    let middle = Middle::of_a_prove(&understudy, &project, &patch);
    let began = Instant::now();
    how(&middle.running, &|verb| {
        let words = ["tasks"].iter().chain(verb).copied().chain([middle.id.as_str()]);
        understudy.run(&project.path(), words).ended_with(0);
    });
    let report = middle.running.finish().ended_with(6).json();
    assert!(began.elapsed() < SOON, "it took {:?}", began.elapsed());
    assert_eq!(report["verdict"], "cancelled");
    assert!(report["diff"].as_str().unwrap().contains("+    7 * 6"), "what was reached is handed over: {report}");
    understudy.assert_nothing_left();
    assert_eq!(tasks(&understudy, &project)[0]["verdict"], "cancelled");
    assert_eq!(resume(&understudy, &project, &middle.id).ended_with(6).json()["verdict"], "cancelled");
    assert_same(&before, &project.fingerprint());
}

#[test]
fn a_task_is_cancelled_from_another_process() {
    end(|_, tasks| tasks(&["cancel"]));
}

#[test]
fn control_c_cancels_a_task() {
    end(|running, _| running.interrupt());
}

/// The task is not cancelled by this: nobody said that its work is no longer wanted.
fn dies_and_goes_on(name: &str) {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let before = project.fingerprint();
    let middle = Middle::of_a_prove(&understudy, &project, &patch);
    let mut kill = command("kill");
    kill.args(["-s", name, &middle.running.id().to_string()]);
    Running::start(kill).finish().ended_with(0);
    understudy.assert_nothing_left();
    let listed = tasks(&understudy, &project);
    assert!(listed[0]["status"].as_str().unwrap().starts_with("interrupted, "), "{}", listed[0]);
    middle.go();
    assert_eq!(resume(&understudy, &project, &middle.id).ended_with(0).json()["verdict"], "verified");
    understudy.assert_nothing_left();
    assert_same(&before, &project.fingerprint());
}

#[test]
fn nothing_that_runs_survives_a_killed_process_and_the_task_goes_on() {
    dies_and_goes_on("KILL");
}

#[test]
fn nothing_that_runs_survives_when_the_system_shuts_down_and_the_task_goes_on() {
    dies_and_goes_on("TERM");
}

/// Whether whoever started these tests has them outlive their terminal, as `nohup` does: children inherit that.
fn hangups_mean_nothing_here() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() & 1 == 1
}

#[test]
fn nothing_that_runs_survives_a_closed_terminal_and_the_task_goes_on() {
    if hangups_mean_nothing_here() {
        return;
    }
    dies_and_goes_on("HUP");
}

#[test]
fn an_interrupted_task_is_cancelled_without_going_on() {
    let (project, patch) = waiting_project();
    let understudy = understudy();
    let middle = Middle::of_a_prove(&understudy, &project, &patch);
    middle.running.kill();
    drop(middle.running.finish());
    understudy.run(&project.path(), ["tasks", "cancel", &middle.id]).ended_with(0);
    assert_eq!(resume(&understudy, &project, &middle.id).ended_with(6).json()["verdict"], "cancelled");
    let again = understudy.run(&project.path(), ["tasks", "cancel", &middle.id]).ended_with(0);
    assert!(again.text().contains("has ended already"), "{}", again.text());
}
