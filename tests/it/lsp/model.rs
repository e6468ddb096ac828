//! Tasks of a language model as an editor meets them: questions, a plan that is edited, guidance, an explanation, and
//! models that the editor lends. The model is scripted, everything else is real.

use std::fs;

use serde_json::{Value, json};
use support::model::{Rules, Script, ScriptedModel, call, hang};
use support::{Client, Editor, Project, assert_same};

use super::{Room, apply, create, line, report, until};
use crate::crash::text;

/// Its function is asked about in a comment.
fn project() -> Project {
    let project = Project::data("adds");
    let function = "export function sum";
    project.replace("sum.js", function, &format!("// understudy: say more about it\n{function}"));
    project.committed()
}

/// A project whose user has configured a provider, which this test plays.
fn room(script: impl Into<Script>) -> (Room, ScriptedModel) {
    let mut room = Room::of(project());
    room.understudy = room.understudy.with("SCRIPTED_KEY", Rules::KEY);
    let model = ScriptedModel::start_with(Rules::default().may_compact(), script);
    room.understudy.configure(&format!(
        "[model]\nuse = \"scripted/gpt-4.1\"\npatience = 2\n[model.providers.scripted]\nwire = \"openai\"\n\
         base_url = \"{}\"\nkey_env = \"SCRIPTED_KEY\"\nprices = \"openai\"\n",
        model.base_url()
    ));
    (room, model)
}

fn asks() -> Value {
    json!({ "questions": [
        { "text": "How many words?", "options": ["one", "two"] },
        { "text": "In which language?", "options": ["English", "Latin"] },
    ] })
}

fn plan() -> Value {
    json!({ "steps": [{ "id": "doc", "title": "Document it", "paths": ["sum.js"], "delivers": "a comment above `sum`" }] })
}

fn edit() -> Value {
    json!({ "edits": [{ "path": "sum.js", "old": "export function sum", "new": "/** Summa. */\nexport function sum" }] })
}

#[track_caller]
fn needs_you(editor: &Editor, id: &str, what: &str) -> Value {
    editor.poll(&format!("task {id} waits for {what}"), |editor| {
        let line = line(editor, id);
        assert!(line["verdict"].is_null(), "{line:#}");
        (line["status"] == "needs you" && line["waiting_for"] == what).then_some(line)
    })
}

#[test]
fn a_task_asks_is_answered_after_a_restart_has_its_plan_edited_and_is_steered() {
    let (room, model) = room([
        call("ask", asks()),
        call("propose_plan", plan()).expect("Latin").expect("be brief"),
        call("edit", edit()).expect("one word will do"),
        call("done", json!({ "summary": "documented" })),
        call("propose_plan", plan()).expect("too solemn").expect("no Latin"),
    ]);
    let before = room.fingerprint();
    let mut editor = room.editor(Client::neovim);
    let request = json!({ "description": "document sum", "engine": "model", "plan": "review",
        "limits": { "max_tokens": 900_000, "budget_usd": 0.4 } });
    let id = create(&editor, request);
    let waiting = needs_you(&editor, &id, "answers");
    assert_eq!(waiting["questions"][1]["options"], json!(["English", "Latin"]), "{waiting:#}");
    let usage = &waiting["usage"];
    assert_eq!((&usage["max_tokens"], &usage["max_microdollars"]), (&json!(900_000), &json!(400_000)));
    assert!(usage["tokens"].as_u64() > Some(0) && usage["microdollars"].as_u64() > Some(0), "{usage}");
    // Nobody works on it, and a server that begins anew shows it all the same.
    editor.restart(&room.understudy);
    let waiting = needs_you(&editor, &id, "answers");
    let revision = waiting["revision"].clone();
    editor.command("understudy.task.steer", json!({ "task": id, "text": "be brief" }));
    let answer =
        |asked: &Value| json!({ "task": id, "revision": revision, "answers": ["two", "Latin"], "asked": asked });
    let (code, sentence) = editor.refused("understudy.task.answer", answer(&json!("0123456789abcdef")));
    assert_eq!(code, -32801, "{sentence}");
    editor.command("understudy.task.answer", answer(&waiting["asked"]));

    let waiting = needs_you(&editor, &id, "plan");
    assert_eq!(waiting["plan"]["steps"], json!([{ "id": "doc", "title": "Document it", "status": "pending" }]));
    let opened = editor.command("understudy.plan.open", json!({ "task": id }));
    let document = fs::read_to_string(text(&opened["path"])).unwrap();
    assert!(document.contains("> **Asked:** In which language?\n> **Answered:** Latin\n"), "{document}");
    let edited = document.replace("a comment above `sum`", "a comment above `sum`: one word will do");
    let approve = |text: &str| json!({ "task": id, "revision": waiting["revision"], "version": 1, "text": text });
    let (code, sentence) = editor.refused("understudy.plan.approve", approve(&edited.replace("## doc", "## do c")));
    assert!(code == -32602 && sentence.contains("line ") && sentence.contains("`do c`"), "{code}: {sentence}");
    editor.command("understudy.plan.approve", approve(&edited));

    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["status"], &seen["verdict"]), (&json!("review"), &json!("verified")), "{seen:#}");
    assert_eq!(
        seen["plan"],
        json!({ "version": 2, "steps": [{ "id": "doc", "title": "Document it", "status": "done" }] })
    );
    assert_same(&before, &room.fingerprint());
    // It went on three times, and was never told of as one that somebody has to resume.
    let lines = editor.transcript();
    let statuses = lines.iter().map(|(_, message)| &message["params"]["status"]).filter(|status| status.is_string());
    let statuses: Vec<&Value> = statuses.collect();
    assert!(statuses.len() > 3 && !statuses.contains(&&json!("interrupted")), "{statuses:?}");

    // What was rejected and why binds another try.
    let hunk = report(&editor, &id)["hunks"][0]["id"].clone();
    let verdict = |line: &Value, reason: Value| json!({ "task": id, "revision": line["revision"], "hunks": [hunk], "reason": reason });
    let rejected = editor.command("understudy.hunk.reject", verdict(&seen, json!("too solemn")));
    let again = editor.command("understudy.task.again", json!({ "task": id, "because": ["no Latin"] }));
    let second = text(&again["task"]);
    needs_you(&editor, &second, "plan");
    editor.command("understudy.task.cancel", json!({ "task": second }));
    editor.command("understudy.hunk.keep", verdict(&rejected, Value::Null));

    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    assert!(room.project.text("sum.js").contains("/** Summa. */"));
    model.assert_clean();
    room.quit(editor);
}

#[test]
fn a_plain_client_answers_and_approves_at_the_comment_that_asked() {
    let (room, model) = room([
        call("ask", json!({ "questions": [{ "text": "How many words?", "options": ["one", "two"] }] })),
        call("propose_plan", plan()).expect("two"),
        call("edit", edit()),
        call("done", json!({ "summary": "documented" })),
    ]);
    let editor = room.editor(Client::helix);
    editor.open("sum.js");
    let titles = editor.poll("a model is known", |editor| {
        let titles = editor.titles("sum.js", "understudy: say");
        titles.iter().any(|title| title.ends_with("with a model")).then_some(titles)
    });
    assert!(titles.contains(&"Understudy: do `say more about it` with a model".to_owned()), "{titles:?}");
    let mut request = editor.actions("sum.js", "understudy: say").remove(0)["command"]["arguments"][0].clone();
    request["plan"] = json!("review");
    let id = create(&editor, request);
    needs_you(&editor, &id, "answers");
    let told = editor.wait("what is asked stands at the comment", |desk| {
        let waiting = desk.all_diagnostics().filter(|(_, it)| it["code"] == "needs you");
        waiting.map(|(path, it)| (path.to_owned(), it.clone())).next()
    });
    assert_eq!((told.0, &told.1["range"]["start"]["line"]), (editor.path("sum.js"), &json!(0)));
    assert!(text(&told.1["message"]).contains("How many words?"), "{}", told.1);
    editor.take("sum.js", "understudy: say", "Answer \"say more about it\": two").unwrap();
    needs_you(&editor, &id, "plan");
    editor.take("sum.js", "understudy: say", "Open the plan").unwrap();
    editor.wait("the plan is shown", |desk| {
        let shown = desk.said("window/showDocument");
        shown.iter().any(|it| text(&it["uri"]).ends_with(".plan-1.md")).then_some(())
    });
    editor.take("sum.js", "understudy: say", "Approve the plan (version 1, 1 step)").unwrap();
    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["status"], &seen["verdict"]), (&json!("review"), &json!("verified")), "{seen:#}");
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    editor.forget_typed();
    assert!(editor.text("sum.js").contains("/** Summa. */\nexport function sum"), "{}", editor.text("sum.js"));
    model.assert_clean();
    room.quit(editor);
}

#[test]
fn what_the_command_line_answers_is_seen_by_the_editor() {
    let (room, model) = room([
        call("ask", json!({ "questions": [{ "text": "How many words?", "options": ["one", "two"] }] })),
        call("edit", edit()).expect("two"),
        call("done", json!({ "summary": "documented" })),
    ]);
    let editor = room.editor(Client::vscode);
    let id = create(&editor, json!({ "description": "document sum", "engine": "model", "plan": "skip" }));
    needs_you(&editor, &id, "answers");
    room.understudy.run(&room.project.path(), ["tasks", "answer", &id, "two"]).ended_with(0);
    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["status"], &seen["verdict"]), (&json!("review"), &json!("verified")), "{seen:#}");
    assert_eq!(apply(&editor, &id)["outcome"], "applied");
    model.assert_clean();
    room.quit(editor);
}

#[test]
fn a_question_about_code_is_answered_with_its_lines_and_can_be_taken_back() {
    let cited = json!({ "text": "It adds.", "citations": [{ "path": "sum.js", "first_line": 4, "last_line": 4 }] });
    let (room, model) = room([call("answer", cited).expect("What does sum do?"), hang()]);
    let before = room.fingerprint();
    let editor = room.editor(Client::vscode);
    let uri = json!(format!("file://{}", editor.path("sum.js").display()));
    let question = json!({ "question": "What does sum do?", "uri": uri, "line": 1 });
    let answer = editor.command("understudy.explain", question.clone());
    assert_eq!(answer["text"], "It adds.", "{answer:#}");
    let citation = &answer["citations"][0];
    assert_eq!((&citation["uri"], &citation["first_line"]), (&uri, &json!(4)), "{answer:#}");
    assert!(text(&citation["text"]).contains("all += number"), "{answer:#}");
    // A provider that hangs holds nobody who has gone.
    let asked = editor.send_command("understudy.explain", question);
    editor.poll("the provider was asked", |_| (model.requests() > 1).then_some(()));
    editor.cancel(asked);
    assert!(editor.answer(asked).is_err());
    assert_eq!(editor.command("understudy.task.list", json!({})), json!([]));
    assert_same(&before, &room.fingerprint());
    room.quit(editor);
}

/// What an editor's model says follows from what it was told last.
fn lent(asked: &Value) -> Value {
    let messages = asked["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["blocks"].as_array().unwrap();
    let results: Vec<&Value> = last.iter().filter(|block| block["kind"] == "tool_result").collect();
    let said = |name: &str, arguments: Value| json!({ "kind": "tool_call", "id": format!("c{}", messages.len()), "name": name, "arguments": arguments });
    let block = match results.first() {
        Some(result) if result["failed"] == false => said("done", json!({ "summary": "documented" })),
        _ => said("edit", edit()),
    };
    json!({ "blocks": [{ "kind": "text", "text": "Here." }, block], "model": "small", "usage": { "input": 100, "output": 10 } })
}

#[test]
fn a_model_that_the_editor_lends_does_the_work_where_the_user_says_so() {
    let room = Room::of(project());
    let request = json!({ "description": "document sum", "engine": "model", "plan": "skip" });
    let none = room.editor(Client::neovim);
    room.understudy.configure("[model]\nuse = \"editor\"\n");
    let (_, sentence) = none.refused("understudy.task.create", request.clone());
    assert!(sentence.contains("lends none"), "{sentence}");
    room.quit(none);

    let editor = room.editor(|folder| Client { model: Some(lent), ..Client::vscode(folder) });
    let id = create(&editor, request);
    let seen = until(&editor, &id, &["review", "ended"]);
    assert_eq!((&seen["status"], &seen["verdict"]), (&json!("review"), &json!("verified")), "{seen:#}");
    assert_eq!((&seen["usage"]["tokens"], &seen["usage"]["microdollars"]), (&json!(220), &Value::Null));
    room.quit(editor);
}
