//! The shapes of both wires.

use serde_json::{Value, json};
use support::model::{
    Block, Role, ScriptedModel, Wire, calls, context_overflow, filtered, refuse, say, status, thinking,
};

use crate::client::{ANTHROPIC, ask, chat, chat_request, gathered, receive, request, send};

#[test]
fn the_messages_api_streams_blocks_that_add_up() {
    let spoken = "A text that is longer than one delta, with letters like ä, ö and 日本語.";
    let model = ScriptedModel::start([thinking("First I look.")
        .say(spoken)
        .call("read", json!({"path": "src/lib.rs"}))
        .call("read", json!({}))]);
    let answer = ask(&model, &request(json!([{"role": "user", "content": "Rename it."}])));
    assert!(answer.head.contains("text/event-stream") && answer.whole);
    assert!(answer.text().starts_with("event: message_start\ndata: {\"type\":\"message_start\""));
    let events = answer.events();
    let (blocks, last, usage) = gathered(&events);
    assert_eq!(blocks[0]["thinking"], "First I look.");
    assert!(blocks[0]["signature"].as_str().unwrap().len() > 8);
    assert_eq!(blocks[1]["text"], spoken);
    assert_eq!(
        serde_json::from_str::<Value>(blocks[2]["partial_json"].as_str().unwrap()).unwrap()["path"],
        "src/lib.rs"
    );
    assert_eq!((&blocks[3]["name"], &blocks[3]["partial_json"]), (&json!("read"), &json!("{}")));
    assert_ne!(blocks[2]["id"], blocks[3]["id"]);
    assert_eq!(last["stop_reason"], "tool_use");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    let totals = model.totals();
    assert_eq!(usage["input_tokens"], totals.input);
    assert_eq!(usage["output_tokens"], totals.output);
    assert!(totals.input > 20 && totals.output > 20);
    model.assert_clean();
}

#[test]
fn chat_completions_stream_parallel_calls_and_usage_at_the_end() {
    let model =
        ScriptedModel::start([say("Both.").call("read", json!({"path": "a"})).call("read", json!({"path": "b"}))]);
    let answer = chat(&model, &chat_request(json!([{"role": "user", "content": "Read a and b."}])));
    let events = answer.events();
    assert_eq!(events.last().unwrap(), "[DONE]");
    let (mut said, mut args, mut finish) = (String::new(), [String::new(), String::new()], Value::Null);
    for chunk in &events[..events.len() - 2] {
        assert_eq!(chunk["usage"], Value::Null);
        let choice = &chunk["choices"][0];
        said += choice["delta"]["content"].as_str().unwrap_or_default();
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            args[call["index"].as_u64().unwrap() as usize] += call["function"]["arguments"].as_str().unwrap();
        }
        finish = choice["finish_reason"].clone();
    }
    assert_eq!(said, "Both.");
    assert_eq!(args, [r#"{"path":"a"}"#, r#"{"path":"b"}"#]);
    assert_eq!(finish, "tool_calls");
    let (usage, totals) = (&events[events.len() - 2]["usage"], model.totals());
    assert_eq!(usage["prompt_tokens"], totals.sent());
    assert_eq!(usage["completion_tokens"], totals.output);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 0);
    model.assert_clean();
}

#[test]
fn whole_answers_say_the_same() {
    let model = ScriptedModel::start([say("Yes.").call("read", json!({"path": "a"})).times(2)]);
    let mut asked = request(json!([{"role": "user", "content": "?"}]));
    asked["stream"] = false.into();
    let answer = ask(&model, &asked).json();
    assert_eq!(answer["content"][0]["text"], "Yes.");
    assert_eq!(answer["content"][1]["input"], json!({"path": "a"}));
    assert_eq!(answer["stop_reason"], "tool_use");
    let mut asked = chat_request(json!([{"role": "user", "content": "?"}]));
    asked["stream"] = false.into();
    let answer = chat(&model, &asked).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Yes.");
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], r#"{"path":"a"}"#);
    let output = model.usages().into_iter().map(|usage| usage.unwrap().output).collect::<Vec<_>>();
    assert_eq!(answer["usage"]["completion_tokens"], output[1]);
    model.assert_clean();
}

#[test]
fn reasons_to_stop_have_the_names_of_their_wire() {
    let script = || {
        [
            say("a"),
            say("b").cut_off_at_length(),
            refuse("No."),
            filtered(),
            say("c").stop_reason("pause_turn"),
            say("d ".repeat(9000)),
        ]
    };
    let stops = |one: &dyn Fn() -> Value| (0..6).map(|_| one()).collect::<Vec<_>>();
    let model = ScriptedModel::start(script());
    let found = stops(&|| {
        let (_, last, _) = gathered(&ask(&model, &request(json!([{"role": "user", "content": "?"}]))).events());
        last["stop_reason"].clone()
    });
    assert_eq!(found, ["end_turn", "max_tokens", "refusal", "refusal", "pause_turn", "max_tokens"]);
    assert_eq!(model.usages()[5].unwrap().output, 1000, "no provider sends more than max_tokens");
    let model = ScriptedModel::start(script());
    let found = stops(&|| {
        let events = chat(&model, &chat_request(json!([{"role": "user", "content": "?"}]))).events();
        let refused = events.iter().any(|chunk| chunk["choices"][0]["delta"]["refusal"] == "No.");
        json!([events[events.len() - 3]["choices"][0]["finish_reason"], refused])
    });
    let expected = [
        ("stop", false),
        ("length", false),
        ("stop", true),
        ("content_filter", false),
        ("pause_turn", false),
        ("length", false),
    ];
    assert_eq!(found, expected.map(|(stop, refused)| json!([stop, refused])));
}

#[test]
fn errors_have_the_bodies_of_their_wire() {
    let model = ScriptedModel::start([
        status(429).retry_after(7),
        status(529),
        context_overflow(),
        status(429).error("insufficient_quota", "You exceeded your current quota."),
        context_overflow(),
    ]);
    let asked = request(json!([{"role": "user", "content": "?"}]));
    let limited = ask(&model, &asked);
    assert_eq!((limited.status, limited.json()["error"]["type"].as_str()), (429, Some("rate_limit_error")));
    assert!(limited.head.contains("retry-after: 7\r\n"));
    let overloaded = ask(&model, &asked);
    assert_eq!((overloaded.status, overloaded.json()["error"]["type"].as_str()), (529, Some("overloaded_error")));
    let long = ask(&model, &asked).json();
    assert!(long["error"]["message"].as_str().unwrap().starts_with("prompt is too long: "), "{long}");
    let asked = chat_request(json!([{"role": "user", "content": "?"}]));
    assert_eq!(chat(&model, &asked).json()["error"]["code"], "insufficient_quota");
    let long = chat(&model, &asked);
    assert_eq!((long.status, long.json()["error"]["code"].as_str()), (400, Some("context_length_exceeded")));
    assert_eq!(model.usages(), [None; 5]);
}

#[test]
fn a_closure_sees_both_wires_alike() {
    let model = ScriptedModel::start(support::model::Script::playing(|seen| {
        let results = seen.last_results();
        assert_eq!((results[0], results[1]), (("read", "one"), ("read", "two")));
        assert_eq!(seen.messages[1].role, Role::Assistant);
        assert_eq!(seen.messages[2].blocks[2], Block::Text("Go on.".to_owned()));
        assert_eq!((seen.messages.len(), seen.system.as_str(), seen.offers("read")), (3, "Be brief.", true));
        say(if seen.wire == Wire::Anthropic { "anthropic" } else { "openai" })
    }));
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let result = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let answer = ask(
        &model,
        &request(json!([
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": [call("x"), call("y")]},
            {"role": "user", "content": [result("x", "one"), result("y", "two"), {"type": "text", "text": "Go on."}]},
        ])),
    );
    assert_eq!(gathered(&answer.events()).0[0]["text"], "anthropic");
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let answer = chat(
        &model,
        &chat_request(json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": null, "tool_calls": [call("x"), call("y")]},
            {"role": "tool", "tool_call_id": "x", "content": "one"},
            {"role": "tool", "tool_call_id": "y", "content": "two"},
            {"role": "user", "content": "Go on."},
        ])),
    );
    assert!(answer.text().contains("openai"));
    model.assert_clean();
}

#[test]
fn tokens_are_counted_without_a_move() {
    let model = ScriptedModel::start([calls([("read", json!({})), ("read", json!({}))])]);
    let mut asked = request(json!([{"role": "user", "content": "?"}]));
    ask(&model, &asked);
    let body = asked.as_object_mut().unwrap();
    body.remove("stream");
    body.remove("max_tokens");
    let counted = receive(send(model.address(), "/v1/messages/count_tokens", &ANTHROPIC, asked.to_string().as_bytes()));
    assert_eq!(counted.unwrap().json()["input_tokens"], model.totals().sent());
    assert_eq!((model.requests(), model.counted(), model.left()), (1, 1, 0));
    model.assert_clean();
}
