//! A task of 25 files as a graph of 25 steps that breaks at the fifteenth: what was done and still holds is never done
//! again, as the journal shows.
//!
//! Each module adds its number to what those give that it builds upon. 3 rests on 2 and 1, 4 to 14 on 3, one after the
//! other, and 15 on 14; those lie in `core`. In `app`, 16 to 20 rest on 15, and 21 to 25 on 2, one after the other.

mod modules;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::json;
use support::model::{Move, Script, Seen, call};
use task::{Event, StepId};

use super::events::events;
use super::scene::{Scene, Wire};
use modules::{BROKEN, MODULES, after, golden, path, project, stub, sum, test_name};

/// What is wrong at first: 15 adds one too many. The manner in which that comes to light and is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Each step has the tests of its package run.
    AtOnce,
    /// No step has anything run, so that it shows when all is done.
    AtTheEnd,
    /// At once; and what mends 15 changes the file of 3, too.
    ReachingBack,
    /// At once: nothing is written at all, and its test fails as it did before.
    LeftOut,
    /// At the end, for 16 gives one less and passes its own test with that.
    MadeUpFor,
}

impl Manner {
    fn plays(self, seen: &Seen) -> Move {
        let last = seen.last_text();
        if last.contains("# Stage: planning") {
            let steps: Vec<_> = (1..=MODULES).map(|number| self.step(number)).collect();
            return call("propose_plan", json!({ "steps": steps }));
        }
        if last.contains("# Stage: diagnosing") {
            return call("diagnose", json!({ "cause": "15 adds one too many", "fix": "add what is meant" }));
        }
        if seen.last_results().iter().any(|(tool, _)| *tool == "edit") {
            return call("done", json!({ "summary": "written" }));
        }
        let number = last.split("# Stage: coding, step ").nth(1).and_then(|rest| rest.lines().next());
        let number: usize = number.unwrap().parse().unwrap();
        let again = last.contains("The attempt before failed");
        if self == Self::LeftOut && number == BROKEN && !again {
            return call("done", json!({ "summary": "it was written before" }));
        }
        let wrong = match number {
            BROKEN if self != Self::LeftOut => "m14() + 16",
            16 if self == Self::MadeUpFor => "m15() + 15",
            _ => "",
        };
        let (old, new) = match (wrong, again) {
            ("", _) => (stub(number), sum(number)),
            (_, false) => (stub(number), wrong.to_owned()),
            (_, true) => (wrong.to_owned(), sum(number)),
        };
        let mut edits = vec![json!({ "path": path(number), "old": old, "new": new })];
        if again && self == Self::ReachingBack {
            edits.push(json!({ "path": path(3), "old": sum(3), "new": OTHERWISE }));
        }
        call("edit", json!({ "edits": edits }))
    }

    fn step(self, number: usize) -> serde_json::Value {
        let after: Vec<String> = after(number).iter().map(ToString::to_string).collect();
        let package = if number <= BROKEN { "core" } else { "app" };
        let is_checked = match self {
            Self::AtOnce | Self::LeftOut | Self::ReachingBack => true,
            Self::AtTheEnd => false,
            Self::MadeUpFor => number == 16,
        };
        let checks = if is_checked { vec![format!("node --test in {package}")] } else { Vec::new() };
        let mut paths = vec![path(number)];
        if number == BROKEN && self == Self::ReachingBack {
            paths.push(path(3));
        }
        json!({
            "id": number.to_string(), "title": format!("write m{number}"), "paths": paths, "delivers": "the sum",
            "acceptance": [format!("test {} passes", test_name(number))], "checks": checks, "after": after,
        })
    }
}

/// What 3 gives after a repair that reaches back.
const OTHERWISE: &str = "3 + m1() + m2()";

/// What the journal says about each step, in order.
struct Told {
    events: Vec<Event>,
}

impl Told {
    /// How often each step was begun.
    fn begun(&self) -> BTreeMap<usize, usize> {
        self.count(|event| match event {
            Event::StepStarted { step, .. } => Some(step),
            _ => None,
        })
    }

    /// How often the checks of each step were looked at.
    fn checked(&self) -> BTreeMap<usize, usize> {
        self.count(|event| match event {
            Event::StepChecked { step, .. } => Some(step),
            _ => None,
        })
    }

    fn count(&self, of: impl Fn(&Event) -> Option<&StepId>) -> BTreeMap<usize, usize> {
        let mut counted = BTreeMap::new();
        for step in self.events.iter().filter_map(of) {
            *counted.entry(step.as_str().parse().unwrap()).or_default() += 1;
        }
        counted
    }

    /// The steps whose results stopped holding, with the step because of which.
    fn stale(&self) -> Vec<(usize, Vec<usize>)> {
        let number = |id: &StepId| id.as_str().parse::<usize>().unwrap();
        let stale = self.events.iter().filter_map(|event| match event {
            Event::StepsStale { because, steps, .. } => {
                let mut steps: Vec<usize> = steps.iter().map(number).collect();
                steps.sort_unstable();
                Some((number(because), steps))
            }
            _ => None,
        });
        stale.collect()
    }

    /// How often the whole was judged.
    fn finals(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Checked { .. })).count()
    }

    /// How often commands of the project were really run for steps of these numbers after results had become stale.
    fn ran_after_stale(&self, steps: &RangeInclusive<usize>) -> u32 {
        let after = self.events.iter().skip_while(|event| !matches!(event, Event::StepsStale { .. }));
        let ran = after.map(|event| match event {
            Event::StepChecked { step, ran, .. } if steps.contains(&step.as_str().parse().unwrap()) => *ran,
            _ => 0,
        });
        ran.sum()
    }
}

/// The task from its request to its end: verified, and what is handed over is all modules as they should be.
fn played(manner: Manner) -> Told {
    let script = Script::playing(move |seen| manner.plays(seen));
    let scene = Scene::with(project(), script, Wire::Anthropic);
    let answer = scene.run(0, &["--plan", "auto", "--budget-usd", "5", "write all modules"]);
    answer.says("verified", "");
    scene.stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()], b"");
    for number in 1..=MODULES {
        let otherwise = manner == Manner::ReachingBack && number == 3;
        let sum = if otherwise { OTHERWISE.to_owned() } else { sum(number) };
        assert_eq!(scene.stage.project.text(path(number)), golden(number, &sum));
    }
    let told = Told { events: events(&scene, &answer) };
    // The last thing that was judged is the tree that is handed over, as a whole.
    let last = told.events.iter().rev().find_map(|event| match event {
        Event::Checked { tree, judgement: Some(judgement), .. } => Some((tree.to_string(), judgement.verified)),
        _ => None,
    });
    assert_eq!(last, Some((answer.tree(), true)));
    told
}

fn times(counts: &[(RangeInclusive<usize>, usize)]) -> BTreeMap<usize, usize> {
    counts.iter().flat_map(|(steps, times)| steps.clone().map(|step| (step, *times))).collect()
}

#[test]
fn a_step_that_breaks_is_done_again_and_none_before_it() {
    let told = played(Manner::AtOnce);
    assert_eq!(told.begun(), times(&[(1..=14, 1), (15..=15, 2), (16..=25, 1)]));
    assert_eq!(told.checked(), times(&[(1..=14, 1), (15..=15, 2), (16..=24, 1)]), "the last step's are the final ones");
    assert_eq!(told.stale(), []);
}

#[test]
fn a_step_is_not_done_while_a_test_that_it_owes_fails_as_before() {
    let told = played(Manner::LeftOut);
    assert_eq!(told.begun(), times(&[(1..=14, 1), (15..=15, 2), (16..=25, 1)]));
    assert_eq!(told.finals(), 1);
}

#[test]
fn what_rests_on_a_step_that_is_done_again_is_looked_at_again_and_nothing_else_is() {
    let told = played(Manner::AtTheEnd);
    assert_eq!(told.begun(), times(&[(1..=14, 1), (15..=15, 2), (16..=25, 1)]));
    assert_eq!(told.stale(), [(15, (16..=20).collect())]);
    assert_eq!(told.finals(), 2);
}

#[test]
fn a_repair_that_reaches_back_has_everything_checked_again_that_rests_on_what_it_changed() {
    let told = played(Manner::ReachingBack);
    assert_eq!(told.begun(), times(&[(1..=14, 1), (15..=15, 2), (16..=25, 1)]), "nothing is written again");
    assert_eq!(told.stale(), [(15, (3..=14).collect())]);
    assert_eq!(told.checked(), times(&[(1..=2, 1), (3..=14, 2), (15..=15, 2), (16..=24, 1)]));
    // One run of the package's tests on the tree as it is now speaks for all of them.
    assert_eq!(told.ran_after_stale(&(3..=14)), 0, "15 has had the same tests run on the same tree");
}

#[test]
fn of_what_rests_on_a_repair_only_that_is_written_again_which_no_longer_holds() {
    let told = played(Manner::MadeUpFor);
    assert_eq!(told.begun(), times(&[(1..=14, 1), (15..=16, 2), (17..=25, 1)]));
    assert_eq!(told.stale(), [(15, (16..=20).collect())]);
    assert_eq!(told.checked(), times(&[(16..=16, 3)]), "when written, after the repair of 15, when written again");
    assert_eq!(told.finals(), 2);
}
