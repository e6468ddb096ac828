//! Each thing that is wrong with a request is named.

use serde_json::{Value, json};
use support::model::{Rules, Script, ScriptedModel, call, raw_call, redacted_thinking, say, thinking};

use crate::client::{ANTHROPIC, ask, chat, chat_request, gathered, receive, request, send};

/// What a strict server says to one request of the Messages API.
fn violations(asked: &Value) -> String {
    let model = ScriptedModel::start([say("ok")]);
    ask(&model, asked);
    model.violations().join("\n")
}

#[track_caller]
fn names(found: &str, expected: &str) {
    assert!(found.contains(expected), "`{expected}` is not in:\n{found}");
}

#[test]
fn calls_and_results_belong_together() {
    let user = json!({"role": "user", "content": "?"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let with = |calls: Value, results: Value| {
        violations(&request(
            json!([user, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]),
        ))
    };
    assert_eq!(with(json!([call("a"), call("b")]), json!([result("b"), result("a")])), "");
    names(&with(json!([call("a"), call("b")]), json!([result("a")])), "the call b has no result");
    names(&with(json!([call("a")]), json!([result("a"), result("a")])), "the result a answers no call");
    names(&with(json!([call("a")]), json!([result("b")])), "the result b answers no call");
    let late = with(json!([call("a")]), json!([{"type": "text", "text": "x"}, result("a")]));
    names(&late, "a tool_result behind other blocks");
    let open = violations(&request(json!([user, {"role": "assistant", "content": [call("a")]}])));
    names(&open, "the call a has no result");
    names(&open, "the last message is the assistant's");
}

#[test]
fn shapes_that_the_messages_api_refuses_are_named() {
    let user = json!({"role": "user", "content": "?"});
    let with = |change: &dyn Fn(&mut Value)| {
        let mut asked = request(json!([user]));
        change(&mut asked);
        violations(&asked)
    };
    assert_eq!(with(&|_| {}), "");
    names(&with(&|asked| asked["messages"] = json!([user, user])), "roles must alternate");
    names(&with(&|asked| asked["messages"][0]["role"] = "system".into()), "message 0 has the role \"system\"");
    names(&with(&|asked| asked["messages"][0]["content"] = "".into()), "a block of text without text");
    names(&with(&|asked| drop(asked.as_object_mut().unwrap().remove("max_tokens"))), "max_tokens is missing");
    names(&with(&|asked| asked["max_tokens"] = 64_001.into()), "at most 64000");
    names(&with(&|asked| asked["temperature"] = json!(1.5)), "temperature is 1.5");
    names(&with(&|asked| asked["thinking"] = json!({"type": "enabled", "budget_tokens": 2000})), "below max_tokens");
    names(&with(&|asked| asked["tools"][0]["name"] = "read file".into()), "`read file` is no name");
    let mark = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    names(&with(&|asked| asked["system"] = json!(vec![&mark; 5])), "5 blocks carry cache_control");
}

#[test]
fn shapes_that_chat_completions_refuse_are_named() {
    let violations = |messages: Value| {
        let model = ScriptedModel::start([say("ok")]);
        chat(&model, &chat_request(messages));
        model.violations().join("\n")
    };
    let (user, system) = (json!({"role": "user", "content": "?"}), json!({"role": "system", "content": "!"}));
    assert_eq!(violations(json!([system, user])), "");
    names(&violations(json!([user, system])), "message 1 has the role \"system\" behind `user`");
    names(&violations(json!([user, user])), "message 1 has the role \"user\" behind `user`");
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
    names(&violations(json!([user, result])), "the result a answers no call");
    names(&violations(json!([user, {"role": "assistant", "content": null}, user])), "message 1 is empty");
}

#[test]
fn keys_and_forbidden_texts_are_found_wherever_they_are() {
    let model = ScriptedModel::start_with(Rules::default().forbid("canary/ü"), [say("ok").times(9)]);
    model.forbid("/home/dev");
    let body = request(json!([{"role": "user", "content": "in /home/dev it is"}])).to_string();
    let escaped = request(json!([{"role": "user", "content": "?"}])).to_string().replace('?', "canary\\/\\u00fc");
    let clean = request(json!([{"role": "user", "content": "?"}])).to_string();
    let sent = |headers: &[(&str, &str)], body: &str| {
        let before = model.violations().len();
        let answer = receive(send(model.address(), "/v1/messages", headers, body.as_bytes())).unwrap();
        (answer.status, model.violations()[before..].join("\n"))
    };
    names(&sent(&ANTHROPIC, &body).1, "`/home/dev`, which is forbidden");
    names(&sent(&ANTHROPIC, &escaped).1, "`canary/ü`, which is forbidden");
    let chatty = [&ANTHROPIC[..], &[("user-agent", "/home/dev")]].concat();
    names(&sent(&chatty, &clean).1, "`/home/dev`, which is forbidden");
    let both = [&ANTHROPIC[..], &[("authorization", "Bearer x")]].concat();
    names(&sent(&both, &clean).1, "the header authorization has no business here");
    names(&sent(&ANTHROPIC, &clean.replace('?', Rules::KEY)).1, "the key stands in the body");
    let (status, found) = sent(&[("x-api-key", "other"), ANTHROPIC[1], ANTHROPIC[2]], &clean);
    assert_eq!(status, 401);
    names(&found, "the header x-api-key is Some(\"other\")");
    let (status, found) = sent(&ANTHROPIC, "{\"model\": ");
    assert_eq!(status, 400);
    names(&found, "the body is no JSON");
    assert_eq!(sent(&ANTHROPIC, &clean), (200, String::new()));
}

#[test]
fn a_server_of_ones_own_wants_no_key() {
    let model = ScriptedModel::start_with(Rules::default().without_key(), [say("ok")]);
    let asked = chat_request(json!([{"role": "user", "content": "?"}])).to_string();
    let kind = ("content-type", "application/json");
    let answer = receive(send(model.address(), "/v1/chat/completions", &[kind], asked.as_bytes())).unwrap();
    assert_eq!((answer.status, model.violations()), (200, vec![]));
    receive(send(model.address(), "/v1/chat/completions", &[kind, ("authorization", "Bearer x")], asked.as_bytes()));
    names(&model.violations().join("\n"), "the header authorization is Some(\"Bearer x\"), not None");
}

#[test]
fn bodies_have_a_cap() {
    let model = ScriptedModel::start_with(Rules::default().body(2000), [say("ok")]);
    assert_eq!(ask(&model, &request(json!([{"role": "user", "content": "x".repeat(2000)}]))).status, 413);
    names(&model.violations().join("\n"), "at most 2000 may be sent");
    assert_eq!(model.requests(), 0);
}

#[test]
fn what_was_sent_stays() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let said = json!({"role": "assistant", "content": "ok"});
    let play = |rules: Rules, requests: &[Value]| {
        let model = ScriptedModel::start_with(rules, [say("ok").times(usize::MAX)]);
        requests.iter().for_each(|asked| drop(ask(&model, asked)));
        (model.violations().join("\n"), model.rewrites())
    };
    let first = request(json!([user("Task.")]));
    let second = request(json!([user("Task."), said, user("And?")]));
    let third = request(json!([user("Task."), said, user("And?"), said, user("More?")]));
    let forked = request(json!([user("Task."), said, user("Or?")]));
    let all = [first.clone(), second.clone(), second.clone(), third.clone(), forked, first.clone()];
    assert_eq!(play(Rules::default(), &all), (String::new(), 0), "repeats, forks and a new start are no rewrites");
    let rewritten = request(json!([user("Task."), said, user("(short)"), said, user("More?")]));
    let (found, rewrites) = play(Rules::default(), &[first.clone(), second.clone(), rewritten.clone()]);
    names(&found, "request 3: block 2 of the messages differs from request 2");
    assert_eq!(rewrites, 1);
    assert_eq!(
        play(Rules::default().may_compact(), &[first.clone(), second.clone(), rewritten.clone()]),
        (String::new(), 1)
    );
    let stable = || Rules::default().may_compact().stable_prefix(4000);
    assert_eq!(play(stable(), &[first.clone(), second.clone()]).0, "");
    let found = play(stable(), &[first.clone(), second.clone(), rewritten]).0;
    names(&found, "request 3: the stable prefix changed since request 2");
    names(&play(Rules::default(), &[first.clone(), third]).0, "skips an answer after request 1");
    let mut other = second;
    other["system"] = "Be  brief.".into();
    names(&play(Rules::default().may_compact(), &[first, other]).0, "tools, system or the first message changed");
}

#[test]
fn a_text_at_the_end_may_grow() {
    let (user, said) =
        (|text: &str| json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "ok"}));
    let model = ScriptedModel::start([say("ok").times(4)]);
    for last in ["And?", "And?\n\nPlease.", "Or?"] {
        chat(&model, &chat_request(json!([user("Task."), said, user(last)])));
    }
    assert_eq!(model.violations().len(), 1, "only `Or?` is another text");
}

#[test]
fn a_test_says_what_one_conversation_is() {
    let asked = |tool: &str| {
        let mut asked = request(json!([{"role": "user", "content": "Task."}]));
        asked["tools"][0]["name"] = tool.into();
        asked
    };
    let play = |rules: Rules| {
        let model = ScriptedModel::start_with(rules, [say("ok").times(2)]);
        ["plan", "read"].iter().for_each(|tool| drop(ask(&model, &asked(tool))));
        model.violations()
    };
    names(&play(Rules::default()).join("\n"), "tools, system or the first message changed");
    assert!(play(Rules::default().conversation(|seen| seen.tools.concat())).is_empty());
}

#[test]
fn what_no_wire_takes_comes_back_as_something_else() {
    let script = Script::playing(|seen| match seen.messages.len() {
        1 => raw_call("read", "{\"pa")
            .raw_call("no tool", "[1]")
            .call_as("x", "read", "{\"a\":1}")
            .call_as("x", "read", "{}"),
        _ => say("ok"),
    });
    let model = ScriptedModel::start(script);
    let user = json!({"role": "user", "content": "?"});
    let (blocks, _, _) = gathered(&ask(&model, &request(json!([user]))).events());
    let call = |at: usize, name: &str, input: Value| json!({"type": "tool_use", "id": blocks[at]["id"], "name": name, "input": input});
    let result = |at: usize| json!({"type": "tool_result", "tool_use_id": blocks[at]["id"], "content": "x"});
    let back = |calls: Value, results: Value| {
        let before = model.violations().len();
        ask(
            &model,
            &request(json!([user, {"role": "assistant", "content": calls}, {"role": "user", "content": results}])),
        );
        model.violations()[before..].join("\n")
    };
    let odd = json!([
        call(0, "read", json!({"malformed": "x"})),
        call(1, "no_tool", json!({})),
        call(2, "read", json!({"a": 1}))
    ]);
    assert_eq!(back(odd, json!([result(0), result(1), result(2)])), "");
    assert_eq!(back(json!([call(3, "read", json!({}))]), json!([result(3)])), "");
    names(&back(json!([call(3, "read", json!({"a": 2}))]), json!([result(3)])), "came back as read {\"a\":2}");
}

#[test]
fn thinking_and_calls_come_back_as_they_were_sent() {
    let model = ScriptedModel::start(Script::playing(|seen| match seen.messages.len() {
        1 => thinking("Hm.").call("read", json!({"path": "a"})),
        _ => say("ok"),
    }));
    let user = json!({"role": "user", "content": "?"});
    let (blocks, _, _) = gathered(&ask(&model, &request(json!([user]))).events());
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": blocks[0]["signature"]});
    let called = json!({"type": "tool_use", "id": blocks[1]["id"], "name": "read", "input": {"path": "a"}});
    let result = json!({"type": "tool_result", "tool_use_id": blocks[1]["id"], "content": "x"});
    let back = |content: Value| {
        let before = model.violations().len();
        ask(
            &model,
            &request(json!([user, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}])),
        );
        model.violations()[before..].join("\n")
    };
    assert_eq!(back(json!([thought, called])), "");
    names(&back(json!([called])), "came back without the thinking before it");
    let mut other = thought.clone();
    other["thinking"] = "Hm".into();
    names(&back(json!([other, called])), "a block of thinking was changed or invented");
    let mut other = called.clone();
    other["input"]["path"] = "b".into();
    names(&back(json!([thought, other])), "was sent as read {\"path\":\"a\"} and came back as read {\"path\":\"b\"}");
}

#[test]
fn hidden_thinking_comes_back_too() {
    let model = ScriptedModel::start([redacted_thinking().call("read", json!({})), say("ok").times(2)]);
    let user = json!({"role": "user", "content": "?"});
    let (blocks, _, _) = gathered(&ask(&model, &request(json!([user]))).events());
    assert_eq!(blocks[0]["type"], "redacted_thinking");
    let called = json!({"type": "tool_use", "id": blocks[1]["id"], "name": "read", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": blocks[1]["id"], "content": "x"});
    let back = |content: Value| {
        let messages = json!([user, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]);
        ask(&model, &request(messages));
        model.violations().join("\n")
    };
    assert_eq!(back(json!([blocks[0], called])), "");
    names(&back(json!([called])), "came back without the thinking before it");
}

#[test]
#[should_panic = "max_tokens is missing"]
fn violations_that_nobody_asked_for_are_a_panic() {
    let model = ScriptedModel::start([call("read", json!({}))]);
    ask(&model, &json!({"model": "large", "messages": [{"role": "user", "content": "?"}]}));
}
