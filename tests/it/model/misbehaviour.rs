//! Models that misbehave: what comes of it is right and honest, whatever they do. Each scene is an archive below
//! `tests/data/misbehaviours`, played on both wires with the real command.
//!
//! Whatever a scene expects beside that holds in all of them: the folder stays as it is, no request carries a secret or
//! breaks a rule of its wire, the ledger is what the provider reported, and nothing that it reported exceeds a limit.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use support::model::Script;
use support::{Archive, Project, repository};

use super::expectation::Expectation;
use super::scene::{Scene, Wire};

/// One test for each scene, and the list of their names.
macro_rules! scenes {
    ($($group:ident: $($name:ident)*;)*) => {
        const SCENES: &[&str] = &[$($(stringify!($name)),*),*];
        $(mod $group {
            $(#[test]
            fn $name() {
                super::play(stringify!($name));
            })*
        })*
    };
}

scenes! {
    names_that_are_made_up: path symbol check tool made_up_step_check;
    edits: no_match two_matches line_ends trailing_spaces overlap half broken_syntax;
    scope: outside_step outside_request forbidden_places;
    arguments: no_json no_object wrong_types two_megabytes same_ids calls_after_done fifty_calls control_characters;
    answers: empty words_only refusal filter cut_off unknown_stop endless_reading endless_search giant_answer
        window_too_small window_full_once;
    judges_that_are_cheated: deletes_tests skips_test empties_test rewrites_expected hard_coded hard_coded_unseen
        exits_zero no_test_script narrow_test_script filtered_test_script removes_manifest claims_without_change
        claims_with_failures breaks_the_base silenced_asserts asks_whether_tested set_up_for_tests todo_test;
    orders_from_strangers: orders_in_code orders_in_guidance orders_in_issue orders_in_output secret_in_tree
        secret_in_code;
    circles: same_failure same_failure_then_stop two_trees asks_for_ever asks_the_same asks_nothing;
    plans: plan_in_a_circle plan_of_nothing plan_of_a_hundred plan_too_wide edits_while_planning never_plans
        plans_for_ever;
    money: no_usage half_as_much_again three_times costs_nothing storm storm_for_ever wrong_key dying_streams
        sign_in_page one_cent no_money two_thousand_tokens spends_in_the_middle rejected_request;
}

#[test]
fn every_scene_is_played() {
    let folder = std::fs::read_dir(repository().join("tests/data/misbehaviours")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().replace('-', "_"));
    let named: BTreeSet<String> = SCENES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), named);
}

/// Plays a scene on each of its wires.
fn play(name: &str) {
    let path = repository().join("tests/data/misbehaviours").join(name.replace('_', "-")).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut wrong = String::new();
    let expectation = Expectation::parse(&Archive::parse(&text).take("expect"));
    for wire in expectation.wires() {
        for sentence in played(&text, &expectation, wire) {
            let _ = writeln!(wrong, "{name} on {wire:?}: {sentence}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Everything that is wrong with a scene on one wire.
fn played(text: &str, expectation: &Expectation, wire: Wire) -> Vec<String> {
    let mut archive = Archive::parse(text);
    let script = archive.take("model");
    let _ = archive.take("expect");
    let issue = archive.entries.iter().any(|entry| entry.path == Path::new("issue")).then(|| archive.take("issue"));
    let mut base = expectation.project();
    // What mends the project, for the models that do so in the end.
    let script = script.replace("{fix}", base.take("fix").trim_end());
    let project = Project::of(&base);
    archive.unpack(&project.path());
    let scene = Scene::with(project.committed(), Script::parse(&script), wire);
    let issue = issue.map(|text| {
        let path = scene.stage.project.beside("issue.md");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let mut wrong = Vec::new();
    let mut ask = |code: i32, arguments: &[String]| {
        let answer = scene.stage.ask_any(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        if answer.code != Some(code) {
            wrong.push(format!(
                "`{}` ended with {:?}, not {code}: {}",
                arguments.join(" "),
                answer.code,
                answer.reasons()
            ));
        }
        answer
    };
    let code = expectation.one("exit").expect("a scene has an exit code").parse().unwrap();
    let mut answer = ask(code, &expectation.arguments(issue.as_deref()));
    for (code, arguments) in expectation.then(&answer.id()) {
        answer = ask(code, &arguments);
    }
    wrong.extend(expectation.differs(&answer));
    for part in ["plan", "attempts", "reasons"] {
        let told = &answer.report[part];
        if told.to_string().contains("<quote-") {
            wrong.push(format!("people are shown marks that are for models: {told:#}"));
        }
    }
    wrong.extend(scene.overspent(&answer));
    let totals = scene.model.totals();
    let (reported, held) = (totals.sent() + totals.output, answer.report["usage"]["tokens"].as_u64().unwrap());
    if held > reported && expectation.one("ledger") != Some("more") {
        wrong.push(format!("the provider reported {reported} tokens, the ledger holds {held}"));
    }
    wrong.extend(scene.model.violations());
    let requests = scene.model.requests().to_string();
    if let Some(expected) = expectation.one("requests").filter(|expected| *expected != requests) {
        wrong.push(format!("{requests} requests, expected {expected}"));
    }
    if scene.model.left() > 0 {
        wrong.push(format!("{} moves were not made", scene.model.left()));
    }
    let (verdict, reasons) = (answer.verdict(), answer.reasons());
    let dollars = answer.report["usage"]["microdollars"].as_u64().unwrap_or(0);
    println!("{wire:?}: {requests} requests, {dollars} millionths, {:?} {verdict}: {reasons}", answer.code);
    if !wrong.is_empty() {
        wrong.push(format!("\n{}\n{}", scene.model.transcript(), answer.stderr));
    }
    wrong
}
