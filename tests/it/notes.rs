//! What the developer tells a task from the command line, and what the command line tells them: questions, plans,
//! guidance, limits, a provider that is gone; and questions of the developer's own.

use std::fs;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use support::model::{Rules, Script, call, say};
use support::{Finished, Project, Running, wait_until};

use crate::model::scene::{Scene, Wire};
use crate::stage::Answer;

const TASK: &str = "make it add zero";

/// A scene whose project and environment hold a secret that no model may see.
fn scene_of(script: impl Into<Script>) -> Scene {
    let secret = "canary-secret-of-the-environment";
    let project = Project::data("adds");
    project.write("config.js", format!("export const token = '{secret}';\n"));
    let mut scene = Scene::with(project.committed(), script, Wire::Anthropic);
    scene.stage.understudy = scene.stage.understudy.with("SOME_API_TOKEN", secret);
    scene
}

fn heard(scene: &Scene, arguments: &[&str]) -> String {
    let finished = scene.stage.understudy.run(&scene.stage.project.path(), arguments);
    format!("{}{}", finished.text(), finished.stderr)
}

/// The tasks that wait, each with what for.
fn waiting(scene: &Scene) -> Vec<String> {
    let lines = scene.stage.understudy.run(&scene.stage.project.path(), ["tasks", "list", "--waiting", "--json"]);
    let lines = lines.ended_with(0).json();
    lines.as_array().unwrap().iter().map(|line| line["status"].as_str().unwrap().to_owned()).collect()
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "edits": [{ "path": "sum.js", "old": old, "new": new }] })
}

fn plan(steps: &[(&str, &str)]) -> Value {
    let step = |(id, after): &(&str, &str)| {
        let after: Vec<&str> = Some(*after).filter(|after| !after.is_empty()).into_iter().collect();
        json!({ "id": id, "title": format!("part {id}"), "paths": ["sum.js"], "delivers": "a part", "after": after })
    };
    json!({ "steps": steps.iter().map(step).collect::<Vec<_>>() })
}

#[track_caller]
fn next(answer: &Answer, part: &str) -> String {
    let commands = answer.list("next").iter().filter_map(|step| step["command"].as_str());
    commands.into_iter().find(|it| it.contains(part)).unwrap_or_else(|| panic!("no `{part}` in {answer:?}")).to_owned()
}

/// Runs the command at a terminal of its own, at which somebody types this.
fn at_terminal(scene: &Scene, arguments: &[&str], typed: &str) -> Finished {
    let state = scene.stage.understudy.state();
    let words = [env!("CARGO_BIN_EXE_understudy")].iter().chain(arguments).map(|word| format!("'{word}'"));
    let mut script = support::command("script");
    script.args(["--quiet", "--return", "--command", &words.collect::<Vec<_>>().join(" "), "/dev/null"]);
    script.current_dir(scene.stage.project.path()).env("UNDERSTUDY_STATE_DIR", &state);
    let home = state.ancestors().nth(2).unwrap();
    script.env("XDG_CONFIG_HOME", home.join("config")).env("HOME", home).env("SCRIPTED_KEY", Rules::KEY);
    Running::start(script).feed(typed.as_bytes())
}

#[test]
fn at_a_terminal_it_asks_there_and_goes_on() {
    let ask = || call("ask", json!({ "questions": [{ "text": "How many?", "options": ["one", "two"] }] }));
    let scene = scene_of([
        ask(),
        call("propose_plan", plan(&[("a", "")])).expect("-> two"),
        call("edit", edit("  return all;\n", "  return all + 0;\n")),
        call("done", json!({ "summary": "nothing more" })),
        ask(),
    ]);
    let said = at_terminal(&scene, &["run", "--plan", "review", TASK], "\n2\ny\n").ended_with(0).text();
    for part in [
        "2) two",
        "leaves it for later",
        "may change sum.js",
        "Carry out version 1 of the plan?",
        " step 1 of 1: part a",
        "the model says: nothing more",
        "verified",
    ] {
        assert!(said.contains(part), "{part} in:\n{said}");
    }
    // Whoever leaves it is told how to come back to it.
    let said = at_terminal(&scene, &["run", "--plan", "review", TASK], "\u{4}").ended_with(7).text();
    assert!(said.contains("understudy tasks answer") && said.contains("1) one"), "{said}");
    assert_eq!(waiting(&scene), ["needs an answer"]);
}

#[test]
fn a_task_waits_for_answers_and_for_its_plan_and_goes_on_with_each() {
    let scene = scene_of([
        call(
            "ask",
            json!({ "questions": [
                { "text": "How many?", "options": ["one", "two"], "why": "it decides what is added" },
                { "text": "Which name?", "options": [] },
            ] }),
        ),
        call("propose_plan", plan(&[("a", ""), ("b", "a")])).expect("-> two").expect("a name of mine"),
        call("edit", edit("  return all;\n", "  return all + 0;\n")),
        call("done", json!({ "summary": "the first part" })),
        call("edit", edit("let all = 0;", "let all = 0 + 0;")),
        call("done", json!({ "summary": "the second part" })),
    ]);
    let stage = &scene.stage;
    let asked = stage.ask(7, &["run", "--plan", "review", TASK]);
    let id = asked.id();
    assert_eq!(
        (asked.verdict().as_str(), asked.report["waiting"]["for"].as_str()),
        ("needs an answer", Some("answers"))
    );
    assert_eq!(next(&asked, "answer"), format!("understudy tasks answer {id} ANSWER ANSWER"));
    assert_eq!(waiting(&scene), ["needs an answer"]);
    let shown = heard(&scene, &["tasks", "show", &id]);
    for part in ["1. How many?", "it decides what is added", "2) two", "2. Which name?"] {
        assert!(shown.contains(part), "{part} in:\n{shown}");
    }
    for (answers, part) in [(&["one"][..], "asks 2 questions"), (&["one", " "], "answer 2 is empty")] {
        let words = [&["tasks", "answer", &id][..], answers].concat();
        let said = heard(&scene, &words);
        assert!(said.contains(part), "{said}");
    }
    assert!(heard(&scene, &["tasks", "approve-plan", &id]).contains("waits for answers"));

    // Two processes: what was answered is taken up by whoever goes on.
    stage.say(0, &["tasks", "answer", &id, "2", "a name of mine", "--no-run"], b"");
    assert!(waiting(&scene).is_empty(), "it waits for nobody any more");
    assert!(heard(&scene, &["tasks", "list"]).contains("needs an answer (given)"));
    let given = heard(&scene, &["tasks", "show", &id]);
    for part in ["what you said counts when the task goes on", "How many? two", &format!("tasks resume {id}")] {
        assert!(given.contains(part) && !given.contains("tasks answer"), "{part} in:\n{given}");
    }
    let planned = stage.ask(7, &["tasks", "resume", &id]);
    assert_eq!(planned.report["answers"][0], json!({ "question": "How many?", "text": "two" }));
    assert_eq!(planned.report["plan"]["approved"], false);
    let shown = heard(&scene, &["tasks", "show", &id]);
    for part in ["may change sum.js", "giving it back approves it and begins the work"] {
        assert!(shown.contains(part), "{part} in:\n{shown}");
    }
    assert_eq!(waiting(&scene), ["plan waits"]);
    assert!(heard(&scene, &["tasks", "answer", &id, "x"]).contains("approve-plan"));
    let other = stage.understudy.run(&stage.project.path(), ["tasks", "approve-plan", &id, "--version", "7"]);
    assert!(other.ended_with(7).stderr.contains("version 1 of the plan waits"));

    let document = heard(&scene, &["tasks", "plan", &id]);
    assert!(document.contains("## a: part a") && document.contains("## b: part b"), "{document}");
    let file = stage.project.beside("plan.md");
    let name = file.to_str().unwrap();
    fs::write(&file, document.replace("part b", "\u{202E}")).unwrap();
    assert!(heard(&scene, &["tasks", "plan", &id, "--amend", "/nowhere"]).contains("cannot be read"));
    fs::write(&file, document.replace("## b:", "## a:")).unwrap();
    let said = heard(&scene, &["tasks", "plan", &id, "--amend", name]);
    assert!(said.contains("error:") && !said.contains("panicked"), "{said}");
    fs::write(&file, document.replace("part b", "the rest of it")).unwrap();
    let done = stage.say(0, &["tasks", "plan", &id, "--amend", name], b"");
    done.says("verified", "");

    let plan = &done.report["plan"];
    assert_eq!((&plan["version"], &plan["revised_from"]), (&json!(2), &json!(1)));
    assert_eq!((&plan["revised_by"]["author"], &plan["approved"]), (&json!("user"), &json!(true)));
    assert_eq!(plan["steps"][1]["title"], "the rest of it");
    for step in plan["steps"].as_array().unwrap() {
        assert_eq!((&step["status"], &step["cost"]["calls"]), (&json!("done"), &json!(2)), "{step}");
    }
    let usage = &done.report["usage"];
    assert_eq!(usage["tokens"].as_u64().unwrap(), scene.model.totals().sent() + scene.model.totals().output);
    assert_eq!((&usage["calls"], &usage["open"]), (&json!(6), &json!([])));
    assert!(usage["microdollars"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(usage["models"][0]["model"], "scripted/claude-sonnet-4-5");
    assert!(done.report["attempts"][0]["configuration"].is_string(), "{:#}", done.report["attempts"]);
    for (hunk, step) in done.list("hunks").iter().zip(["b", "b"]) {
        let of = (&hunk["author"], &hunk["step"], &hunk["model"]);
        assert_eq!(of, (&json!("model"), &json!(step), &json!("scripted/claude-sonnet-4-5")));
    }
    assert!(waiting(&scene).is_empty());
    assert!(heard(&scene, &["tasks", "answer", &id, "x"]).contains("has ended: verified"));
    let shown = heard(&scene, &["tasks", "show", &id]);
    for part in ["plan, version 2, in place of version 1", "✓ 1. part a", "6 calls", "of $0.50", "from the cache"] {
        assert!(shown.contains(part), "{part} in:\n{shown}");
    }
    scene.model.assert_clean();
}

#[test]
fn a_waiting_task_takes_guidance_and_more_room_but_never_less() {
    let scene = scene_of([
        call("ask", json!({ "questions": [{ "text": "How many?", "options": ["one", "two"] }] })),
        call("edit", edit("  return all;\n", "  return all + 0;\n")).expect("keep it short"),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    let stage = &scene.stage;
    let id = stage.ask(7, &["run", "--plan", "skip", "--budget-usd", "0.25", "--max-tokens", "400000", TASK]).id();
    for (flag, value, part) in [
        ("--budget-usd", "0.25", "$0.25 already"),
        ("--max-tokens", "1000", "400,000 tokens already"),
        ("--timeout", "60", "600 s already"),
        ("--max-attempts", "3", "3 attempts already"),
    ] {
        let said = heard(&scene, &["tasks", "raise", &id, flag, value]);
        assert!(said.contains(part) && said.contains("only ever raised"), "{said}");
    }
    for words in [&["raise", &id, "--budget-usd", "0.75", "--max-attempts", "5"][..], &["steer", &id, "keep it short"]]
    {
        let said = heard(&scene, &[&["tasks"], words].concat());
        for part in ["waits for 1 answer", &format!("tasks answer {id} ANSWER"), "next turn"] {
            assert!(said.contains(part) && !said.contains("resume"), "{part} in:\n{said}");
        }
    }
    let shown = stage.ask(0, &["tasks", "show", &id]).report;
    assert_eq!(shown["task"]["limits"]["budget_microdollars"], 750_000, "what is raised is shown at once");
    assert_eq!(shown["steering"], json!(["keep it short"]));
    let done = stage.ask(0, &["tasks", "answer", &id, "one"]);
    done.says("verified", "");
    let limits = &done.report["task"]["limits"];
    assert_eq!((&limits["budget_microdollars"], &limits["max_tokens"]), (&json!(750_000), &json!(400_000)));
    assert_eq!((&limits["max_attempts"], &limits["timeout_ms"]), (&json!(5), &json!(600_000)));
    assert_eq!(done.report["steering"], json!(["keep it short"]));
    assert!(heard(&scene, &["tasks", "raise", &id, "--timeout", "9000"]).contains("has ended"));
    scene.model.assert_clean();
}

#[test]
fn a_task_that_runs_hears_what_another_terminal_says() {
    let (go, gone) = channel::<()>();
    let scene = scene_of(Script::playing(move |seen| match seen.number {
        1 => {
            gone.recv().unwrap();
            call("edit", edit("  return all;\n", "  return all + 0;\n"))
        }
        _ => call("done", json!({ "summary": "nothing more" })).expect("mind the gap"),
    }));
    let folder = scene.stage.project.path();
    let running = scene.stage.understudy.start(&folder, ["run", "--plan", "skip", "--json", TASK]);
    wait_until("the model is asked", Duration::from_secs(60), || scene.model.requests() == 1);
    let lines = scene.stage.understudy.run(&folder, ["tasks", "list", "--json"]).json();
    let id = lines[0]["id"].as_str().unwrap();
    assert_eq!(lines[0]["status"], "running, attempting");
    let shown = heard(&scene, &["tasks", "show", id]);
    for part in [
        &format!("process {} works on it", running.id()),
        "are reserved for the call under way",
        &format!("tasks cancel {id}"),
        "model engine; begun less than a minute ago",
    ] {
        assert!(shown.contains(part) && !shown.contains("resume"), "{part} in:\n{shown}");
    }
    let process = format!("process {} works on task {id}", running.id());
    for words in [&["steer", id, "mind the gap"][..], &["raise", id, "--max-tokens", "1500000"]] {
        let told = heard(&scene, &[&["tasks"], words].concat());
        assert!(told.contains(&process), "{told}");
    }
    assert!(heard(&scene, &["tasks", "answer", id, "x"]).contains("asks nothing at present"));
    go.send(()).unwrap();
    let report = running.finish().ended_with(0).json();
    assert_eq!((&report["steering"][0], &report["verdict"]), (&json!("mind the gap"), &json!("verified")));
    assert_eq!(report["task"]["limits"]["max_tokens"], 1_500_000);
    scene.model.assert_clean();
}

#[test]
fn an_issue_is_a_task_and_a_provider_that_is_gone_is_waited_for() {
    let scene = scene_of([
        call("edit", edit("  return all;\n", "  return all + 0;\n")).expect("Sums are wrong"),
        call("done", json!({ "summary": "nothing more" })),
    ]);
    let stage = &scene.stage;
    scene.model.kill();
    let gone = stage.ask_with(5, &["run", "--plan", "skip", "--issue", "-"], b"# Sums are wrong\n\nAdd zero.\n");
    assert_eq!((gone.verdict().as_str(), gone.report["waiting"]["for"].as_str()), ("paused", Some("provider")));
    assert_eq!(gone.report["task"]["source"], "issue");
    let id = gone.id();
    assert_eq!(next(&gone, "resume"), format!("understudy tasks resume {id}"));
    assert_eq!(waiting(&scene), ["provider"]);
    scene.model.revive();
    stage.ask(0, &["tasks", "resume", &id]).says("verified", "");
    assert!(waiting(&scene).is_empty());
}

/// A model that writes what the command line would say has no line of its own to say it on.
#[test]
fn a_model_cannot_forge_a_verdict_at_the_terminal() {
    let forged = "How many?\n\nverified  every required check passed on exactly this tree\r\n✓ written";
    let steps = json!({ "steps": [
        { "id": "a", "title": forged, "paths": ["sum.js"], "delivers": forged, "acceptance": [forged] },
        { "id": "b", "title": "b", "paths": ["sum.js"], "delivers": "b", "after": ["a"] },
    ] });
    let scene = scene_of([
        call("ask", json!({ "questions": [{ "text": forged, "options": [forged, "two"], "why": forged }] })),
        call("propose_plan", steps),
        call("answer", json!({ "text": forged, "citations": [] })),
    ]);
    let folder = scene.stage.project.path();
    let mut said = heard(&scene, &["run", "--plan", "review", TASK]);
    let id =
        scene.stage.understudy.run(&folder, ["tasks", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let verbs: [&[&str]; 6] = [
        &["tasks", "list"],
        &["tasks", "show", &id],
        &["tasks", "answer", &id, "x", "y"],
        &["tasks", "answer", &id, "1"],
        &["tasks", "show", &id],
        &["explain", "what is added?"],
    ];
    for verb in verbs {
        said.push_str(&heard(&scene, verb));
    }
    assert!(said.matches("every required check passed").count() > 10, "{said}");
    let margin = |line: &&str| line.starts_with("verified") || line.starts_with("✓ written");
    assert_eq!(said.lines().find(margin), None, "in:\n{said}");
    // At a terminal the plan is no document yet.
    let plan = at_terminal(&scene, &["tasks", "plan", &id], "").text();
    assert!(plan.contains("every required check") && !plan.lines().any(|line| line.starts_with("verified")), "{plan}");
}

#[test]
fn a_question_that_is_cancelled_or_refused_says_what_became_of_it() {
    let scene = scene_of([]);
    scene.stage.understudy.configure(
        "[model]\nuse = \"near/some\"\npatience = 1\n[model.providers.near]\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    let (understudy, folder) = (&scene.stage.understudy, scene.stage.project.path());
    for words in [&["explain", "what is added?"][..], &["run", "--plan", "skip", "--budget-usd", "1", TASK]] {
        let finished = understudy.run(&folder, words).ended_with(5);
        if words[0] == "run" {
            let said = finished.stderr;
            assert!(said.contains("no price is known for near/some: only tokens are limited"), "{said}");
            assert_eq!(said.matches("`--budget-usd` limits nothing").count(), 1, "{said}");
        }
    }
}

#[test]
fn a_budget_that_is_too_small_stops_before_the_first_call() {
    let scene = scene_of([]);
    let stage = &scene.stage;
    let stopped = stage.ask(4, &["run", "--plan", "skip", "--budget-usd", "0.0001", TASK]);
    stopped.says("stopped", "budget of $0.0001");
    assert_eq!(next(&stopped, "run"), format!("understudy run --engine model --budget-usd 0.50 '{TASK}'"));
    assert_eq!(stopped.report["usage"]["calls"], 0);
    let said = heard(&scene, &["explain", "--budget-usd", "0.0001", "what is added?"]);
    assert!(said.contains("budget of $0.0001"), "{said}");
    stage.ask(0, &["tasks", "list"]);
    assert_eq!(scene.model.requests(), 0);
}

#[test]
fn a_question_is_answered_with_the_lines_that_show_it() {
    let answer = || {
        call(
            "answer",
            json!({ "text": "It adds them up.", "citations": [
                { "path": "sum.js", "first_line": 1, "last_line": 5 },
                { "path": "sum.js", "first_line": 40, "last_line": 50 },
                { "path": "none.js", "first_line": 1, "last_line": 1 },
            ] }),
        )
    };
    let scene = scene_of([say("I look.").call("read", json!({ "path": "config.js" })), answer(), answer()]);
    let stage = &scene.stage;
    let before = stage.project.fingerprint();
    let finished = stage.understudy.run(&stage.project.path(), ["explain", "what is added?", "--at", "sum.js:3"]);
    let finished = finished.ended_with(0);
    let (out, err) = (finished.text(), finished.stderr);
    for part in ["It adds them up.", "sum.js:1-5", "let all = 0;"] {
        assert!(out.contains(part), "{part} in:\n{out}");
    }
    assert!(err.matches("warning:").count() == 2 && err.contains("sum.js has no lines 40-50"), "{err}");
    assert!(err.contains("claude-sonnet-4-5") && err.contains('$'), "{err}");

    let explained = stage.understudy.run(&stage.project.path(), ["explain", "--json", "what is added?"]);
    let explained = explained.ended_with(0).json();
    assert_eq!(explained["citations"][0]["path"], "sum.js");
    assert_eq!(explained["unfounded"].as_array().unwrap().len(), 2);
    assert!(explained["spent"]["microdollars"].as_u64().unwrap() > 0);
    support::assert_same(&before, &stage.project.fingerprint());
    assert_eq!(heard(&scene, &["tasks", "list", "--json"]).trim(), "[]");
    scene.model.assert_clean();
}
