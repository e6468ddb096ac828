//! Scripts as lists, as closures and as text.

use serde_json::json;
use support::model::{Script, ScriptedModel, say};

use crate::client::{ask, chat, chat_request, gathered, request};

const TEXT: &str = r#"
# A plan, then an edit.
> pagination
think: Where is it?
say: I look first.
call read {"path": "src/users.js"}

>
if-text: lines
call edit {"path": "src/users.js", "edits": [{"at": 1}]}
with /edits/0/old <<END
  return users;

END
with new <<END
  if (a << 2) {
    "two lines"
END

> anything
if-tool: absent
say: never

>
status: 503
error: busy Too many of you.
retry-after: 0
times: 2

>
raw-call edit {"path": "src
cut-off
usage-factor: 1.5
"#;

#[test]
fn a_text_describes_moves() {
    let model = ScriptedModel::start(Script::parse(TEXT));
    let asked = |text: &str| ask(&model, &request(json!([{"role": "user", "content": text}])));
    let (blocks, ..) = gathered(&asked("Add pagination to /users.").events());
    assert_eq!((&blocks[0]["thinking"], &blocks[1]["text"]), (&json!("Where is it?"), &json!("I look first.")));
    assert_eq!(blocks[2]["partial_json"], r#"{"path":"src/users.js"}"#);
    let (blocks, ..) = gathered(&asked("three lines").events());
    let args: serde_json::Value = serde_json::from_str(blocks[0]["partial_json"].as_str().unwrap()).unwrap();
    assert_eq!(args["edits"][0], json!({"at": 1, "old": "  return users;\n"}));
    assert_eq!(args["new"], "  if (a << 2) {\n    \"two lines\"");
    let busy = asked("?");
    assert_eq!((busy.status, busy.json()["error"]["message"].as_str()), (503, Some("Too many of you.")));
    assert_eq!(asked("?").status, 503);
    let (blocks, last, _) = gathered(&asked("?").events());
    assert_eq!((&blocks[0]["partial_json"], &last["stop_reason"]), (&json!(r#"{"path": "src"#), &json!("max_tokens")));
    assert_eq!(model.left(), 1);
    let transcript = model.transcript();
    assert!(
        transcript.starts_with("1 Anthropic large, 1 messages: \"Add pagination to /users.\" (Usage {"),
        "{transcript}"
    );
    assert_eq!(transcript.matches("(no usage)").count(), 2);
    model.assert_clean();
}

#[test]
fn what_nobody_wants_to_read_is_described_by_its_length() {
    let script = ">\ncall edit {}\nlong /new 300000\nid: same\nunbounded\ntimes: ever\n";
    let model = ScriptedModel::start(Script::parse(script));
    for _ in 0..2 {
        let (blocks, last, _) = gathered(&ask(&model, &request(json!([{"role": "user", "content": "?"}]))).events());
        assert_eq!((blocks[0]["id"].as_str(), &last["stop_reason"]), (Some("same"), &json!("tool_use")));
        assert!(blocks[0]["partial_json"].as_str().unwrap().len() > 300_000);
    }
    let most = model.seen()[0].max_tokens.unwrap();
    assert_eq!((model.left(), model.usages()[0].unwrap().output), (0, most));
}

#[test]
#[should_panic = "line 3 of the script, `sya: hello`: no such line is known here"]
fn a_mistyped_line_is_named() {
    Script::parse("\n>\nsya: hello\n");
}

#[test]
#[should_panic = "line 2 of the script, `call edit {`: no JSON"]
fn arguments_are_read_when_the_script_is() {
    Script::parse(">\ncall edit {\n");
}

#[test]
fn guards_look_further_down_the_list() {
    let script = [
        say("to small").if_model("small"),
        say("after reading").if_result("read"),
        say("with tools").if_tool("read"),
        say("at last").expect("never said"),
    ];
    let model = ScriptedModel::start(script);
    let text = |asked| gathered(&ask(&model, &asked).events()).0[0]["text"].as_str().unwrap().to_owned();
    let user = json!({"role": "user", "content": "?"});
    assert_eq!(text(request(json!([user]))), "with tools");
    let call = json!({"type": "tool_use", "id": "x", "name": "read", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "x", "content": "one"});
    let read = json!([user, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]);
    assert_eq!(text(request(read)), "after reading");
    model.assert_clean();
    assert_eq!(text(request(json!([user]))), "at last");
    assert_eq!(model.violations(), ["request 3: the script expected `never said` in the last message"]);
    assert_eq!(model.left(), 1);
}

#[test]
fn a_request_behind_the_end_of_the_script_is_a_violation() {
    let model = ScriptedModel::start([]);
    let answer = chat(&model, &chat_request(json!([{"role": "user", "content": "?"}])));
    assert_eq!(answer.status, 400);
    assert_eq!(model.violations(), ["request 1: the script has no move for it"]);
}

#[test]
fn a_closure_that_panics_is_a_violation() {
    let model = ScriptedModel::start(Script::playing(|seen| panic!("unexpected: {}", seen.last_text())));
    let stream = crate::client::send(
        model.address(),
        "/v1/messages",
        &crate::client::ANTHROPIC,
        request(json!([{"role": "user", "content": "?"}])).to_string().as_bytes(),
    );
    assert!(crate::client::receive(stream).is_none());
    assert_eq!(model.violations(), ["the script panicked: unexpected: ?"]);
}
