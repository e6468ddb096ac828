//! What a report says of a history: who wrote which hunk, and how far each step is. The trees are those of two patches.

use agent::StepProgress;
use task::port::Lease;
use task::{AttemptId, Author, Conclusion, Engine, Event, Plan, Scope, Step, StepAction, StepId, TreeId, Wait};

use crate::home::Home;

const PROJECT: &str = "-- a.txt --\none\n-- b.txt --\ntwo\n";
const A: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+uno\n";
const B: &str = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-two\n+due\n";

/// The base of a patch and the tree that it makes of it.
fn trees(home: &Home, patch: &str) -> (TreeId, TreeId) {
    let id = home.walked(home.patch(patch));
    let report = home.take(&id).report(None).unwrap();
    (report.base.unwrap(), report.tree.unwrap())
}

fn step(id: &str, after: &[&str]) -> Step {
    Step {
        id: id.parse().unwrap(),
        title: format!("part {id}"),
        action: StepAction::Write { delivers: "it".into() },
        scope: Scope::default(),
        acceptance: Vec::new(),
        checks: Vec::new(),
        depends_on: after.iter().map(|id| id.parse().unwrap()).collect(),
        reasoning: String::new(),
        estimated_files: None,
    }
}

/// A task of a model that was written down by hand.
fn begun(home: &Home) -> Lease {
    let request = home.request("say it in Italian", Engine::Model, None);
    home.house.journal.begin(&request).unwrap().1.unwrap()
}

#[test]
fn hunks_that_the_compiler_mended_are_its_own() {
    let home = Home::new(PROJECT);
    let ((base, written), (_, mended)) = (trees(&home, A), trees(&home, &format!("{A}{B}")));
    let (lease, attempt, one) = (begun(&home), AttemptId(1), "one".parse::<StepId>().unwrap());
    let plan = Plan { id: "plan".parse().unwrap(), version: 1, revised_from: None, steps: vec![step("one", &[])] };
    for event in [
        Event::Snapshotted { base: base.clone(), candidate: None, limitations: Vec::new() },
        Event::PlanProposed { plan },
        Event::PlanApproved { version: 1, note: 0 },
        Event::AttemptStarted { attempt, from: base.clone(), configuration: None },
        Event::StepStarted { attempt, step: one.clone(), from: base },
        Event::Repaired { attempt, from: written, tree: mended.clone() },
        Event::StepEnded {
            attempt,
            step: one.clone(),
            tree: mended.clone(),
            done: true,
            outcome: "said".into(),
            files: Vec::new(),
        },
        Event::DiffReady { tree: mended, limitations: Vec::new(), ended: None, ran: 0 },
        Event::Concluded { conclusion: Conclusion::NotVerified { reasons: vec!["no check".into()] } },
    ] {
        home.house.journal.append(&lease, &event).unwrap();
    }
    let report = agent::report(&*home.house.journal, &home.house.state, &lease.task, None).unwrap();
    let hunks: Vec<_> =
        report.hunks.iter().map(|hunk| (hunk.path.to_string(), hunk.author, hunk.step.clone())).collect();
    let by = |path: &str, author| (path.to_owned(), author, Some(one.clone()));
    assert_eq!(hunks, [by("a.txt", Author::Model), by("b.txt", Author::Compiler)]);
    let plan = report.plan.unwrap();
    assert_eq!((plan.approved, plan.steps[0].status), (true, StepProgress::Done));
    assert_eq!(plan.steps[0].outcome.as_deref(), Some("said"));
}

#[test]
fn a_step_whose_ground_moved_is_stale_and_a_plan_that_waits_is_not_approved() {
    let home = Home::new(PROJECT);
    let (base, tree) = trees(&home, A);
    let (lease, attempt) = (begun(&home), AttemptId(1));
    let steps = vec![step("one", &[]), step("two", &["one"]), step("three", &["two"])];
    let plan = Plan { id: "plan".parse().unwrap(), version: 1, revised_from: None, steps };
    let id = |text: &str| text.parse::<StepId>().unwrap();
    let (wait, next) = (Wait::PlanApproval { version: 1 }, "approve-plan");
    let append = |event| home.house.journal.append(&lease, &event).unwrap();
    append(Event::Snapshotted { base: base.clone(), candidate: None, limitations: Vec::new() });
    append(Event::PlanProposed { plan });
    append(Event::Paused { wait });
    let report = || agent::report(&*home.house.journal, &home.house.state, &lease.task, None).unwrap();
    let waits = report();
    assert_eq!((waits.verdict.as_str(), waits.exit_code), ("needs an answer", 7));
    assert!(!waits.plan.unwrap().approved && waits.next[0].command.contains(next));
    append(Event::PlanApproved { version: 1, note: 0 });
    append(Event::AttemptStarted { attempt, from: base.clone(), configuration: None });
    append(Event::StepStarted { attempt, step: id("one"), from: base });
    let (done, files, outcome) = (true, Vec::new(), "done".to_owned());
    append(Event::StepEnded { attempt, step: id("one"), tree: tree.clone(), done, outcome, files });
    append(Event::StepStarted { attempt, step: id("two"), from: tree });
    append(Event::StepsStale { attempt, because: id("two"), steps: vec![id("one")] });
    let now = report();
    let status: Vec<_> = now.plan.unwrap().steps.iter().map(|step| step.status).collect();
    assert_eq!(status, [StepProgress::Stale, StepProgress::Running, StepProgress::Pending]);
    assert_eq!((now.verdict.as_str(), now.exit_code), ("in progress", 3));
}
