//! Servers that call themselves compatible, and what each of them leaves out, adds or has otherwise.

use model::{ModelSettings, Panel, Wire};
use serde_json::{Value, json};
use support::model::{ScriptedModel, filtered, raw_call, refuse, say};
use task::port::{Arguments, ModelCall, Reply, Said, Stop};

use crate::home::*;
use crate::raw::{Raw, answer, chunks};

fn delta(delta: Value, finish: Option<&str>) -> Value {
    json!({"choices": [{"delta": delta, "finish_reason": finish}]})
}

#[track_caller]
fn reply(body: Vec<u8>) -> Reply {
    let server = Raw::start(vec![body]);
    ask(&panel(Wire::Openai, &server.url), &call("go")).0.unwrap()
}

fn tool_calls(reply: &Reply) -> Vec<(&str, &str, Arguments)> {
    let calls = reply.blocks.iter().filter_map(|said| match said {
        Said::ToolCall { id, name, arguments } => Some((id.as_str(), name.as_str(), arguments.clone())),
        _ => None,
    });
    calls.collect()
}

#[test]
fn calls_are_told_apart_by_whatever_there_is() {
    let function = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let cases = [
        // As the wire has it: interleaved, by number.
        vec![
            json!([{"index": 0, "id": "a", "function": function("one", json!("{\"pa"))}]),
            json!([{"index": 1, "id": "b", "function": function("two", json!(""))}]),
            json!([{"index": 0, "function": {"arguments": "th\":1}"}}, {"index": 1, "function": {"arguments": "{}"}}]),
        ],
        // Without numbers.
        vec![
            json!([{"id": "a", "function": function("one", json!("{\"path\""))}]),
            json!([{"function": {"arguments": ":1}"}}]),
            json!([{"id": "b", "function": function("two", json!("{}"))}]),
        ],
        // Every call has number 0, and the name comes with each part.
        vec![
            json!([{"index": 0, "id": "a", "function": function("one", json!("{\"path\""))}]),
            json!([{"index": 0, "id": "a", "function": function("one", json!(":1}"))}]),
            json!([{"index": 0, "id": "b", "function": function("two", json!("{}"))}]),
        ],
        // Objects in place of strings.
        vec![json!([
            {"index": 0, "id": "a", "function": function("one", json!({"path": 1}))},
            {"index": 1, "id": "b", "function": function("two", json!({}))},
        ])],
        // Without ids, numbers or reason; ids are made.
        vec![
            json!([{"function": function("one", json!("{\"path\":1}"))}]),
            json!([{"function": function("two", json!(null))}]),
        ],
        // The same id twice.
        vec![
            json!([{"index": 0, "id": "a", "function": function("one", json!("{\"path\":1}"))}]),
            json!([{"index": 1, "id": "a", "function": function("two", json!("{}"))}]),
        ],
    ];
    for (number, parts) in cases.into_iter().enumerate() {
        let mut stream: Vec<_> = parts.into_iter().map(|calls| delta(json!({"tool_calls": calls}), None)).collect();
        stream.push(delta(json!({}), Some(if number % 2 == 0 { "stop" } else { "tool_calls" })));
        let reply = reply(chunks(&stream));
        let calls = tool_calls(&reply);
        let [(one, "one", first), (two, "two", second)] = &calls[..] else { panic!("case {number}: {calls:?}") };
        assert_eq!(
            (first, second),
            (&Arguments::Read(json!({"path": 1})), &Arguments::Read(json!({}))),
            "case {number}"
        );
        assert!(!one.is_empty() && !two.is_empty() && one != two, "case {number}: {calls:?}");
        assert_eq!(reply.stop, Stop::ToolCalls, "case {number}");
    }
}

#[test]
fn an_id_of_an_earlier_turn_is_not_used_again() {
    let server = |id: &str| {
        let call = json!([{"index": 0, "id": id, "function": {"name": "read", "arguments": "{}"}}]);
        Raw::start(vec![chunks(&[delta(json!({"tool_calls": call}), Some("tool_calls"))])])
    };
    let mut asked = call("go");
    let first = ask(&panel(Wire::Openai, &server("call_0").url), &asked).0.unwrap();
    asked.messages.extend([kept(&first), results(&first, "ok")]);
    let second = ask(&panel(Wire::Openai, &server("call_0").url), &asked).0.unwrap();
    assert_eq!(tool_calls(&first)[0].0, "call_0");
    assert_ne!(tool_calls(&second)[0].0, "call_0");
}

#[test]
fn usage_in_any_place_is_found() {
    let said = delta(json!({"content": "x"}), Some("stop"));
    for (usage, expected) in [
        (
            json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}),
            (6, 4, 3),
        ),
        (json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}), (6, 4, 3)),
        // Thinking beside the answer.
        (json!({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 20}), (10, 0, 10)),
        (json!({"prompt_tokens": 10.0, "completion_tokens": null, "total_tokens": 12}), (10, 0, 2)),
    ] {
        let mut last = json!({"choices": []});
        last["usage"] = usage;
        let spent = reply(chunks(&[said.clone(), last])).spent;
        assert_eq!(
            (spent.input, spent.cache_read, spent.output, spent.reported),
            (expected.0, expected.1, expected.2, true)
        );
    }
    for usage in [json!(null), json!({}), json!({"prompt_tokens": 0, "completion_tokens": 0})] {
        let mut last = json!({"choices": []});
        last["usage"] = usage;
        assert!(!reply(chunks(&[said.clone(), last])).spent.reported);
    }
}

#[test]
fn reasoning_goes_back_with_the_calls_that_it_led_to() {
    let calls = json!([
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}},
        {"index": 1, "id": "b", "function": {"name": "read", "arguments": "{}"}, "extra_content": {"sign": "s"}},
    ]);
    let complaint = json!({"error": {"message": "property 'reasoning_content' is not supported"}}).to_string();
    let server = Raw::start(vec![
        chunks(&[
            delta(json!({"reasoning_content": "First ", "reasoning": "First "}), None),
            delta(json!({"reasoning_content": "this."}), None),
            delta(json!({ "tool_calls": calls }), Some("tool_calls")),
        ]),
        chunks(&[delta(json!({"reasoning": "Then that.", "content": "Done."}), Some("stop"))]),
        answer("400 Bad Request", "", complaint),
        chunks(&[delta(json!({"content": "Fine."}), Some("stop"))]),
    ]);
    let panel = panel(Wire::Openai, &server.url);
    let mut asked = call("go");
    let first = ask(&panel, &asked).0.unwrap();
    asked.messages.extend([kept(&first), results(&first, "ok")]);
    let second = ask(&panel, &asked).0.unwrap();
    asked.messages.extend([kept(&second), user(vec![text("More.")])]);
    ask(&panel, &asked).0.unwrap();
    let sent: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect();
    for request in [1, 2] {
        let message = &sent[request]["messages"][2];
        assert_eq!(message["reasoning_content"], "First this.");
        assert_eq!(message["tool_calls"][1]["extra_content"], json!({"sign": "s"}));
        assert!(message["tool_calls"][0].get("extra_content").is_none());
    }
    // Behind an answer, and at a server that does not want it, it is left out.
    assert!(sent[2]["messages"][4].get("reasoning").is_none());
    assert!(sent[3]["messages"][2].get("reasoning_content").is_none());
}

#[test]
fn an_answer_may_come_whole() {
    let body = json!({"model": "m", "choices": [{"finish_reason": "tool_calls", "message": {
        "content": [{"type": "text", "text": "Well. "}], "reasoning_content": "hm",
        "tool_calls": [{"function": {"name": "read", "arguments": {"path": "a"}}}, {"function": {"name": "read"}}],
    }}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let reply = reply(answer("200 OK", "content-type: application/json\r\n", body.to_string()));
    assert_eq!(reply.blocks[1], Said::Text("Well. ".into()));
    assert_eq!((tool_calls(&reply).len(), reply.stop, reply.spent.input), (2, Stop::ToolCalls, 5));

    let body = json!({"type": "message", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Well."}], "usage": {"input_tokens": 5, "output_tokens": 2}});
    let count = answer("404 Not Found", "", "");
    let server = Raw::start(vec![count, answer("200 OK", "content-type: text/plain\r\n", body.to_string())]);
    let (reply, _) = ask(&panel(Wire::Anthropic, &server.url), &call("go"));
    assert_eq!(words(&reply.unwrap()), "Well.");
}

#[test]
fn a_stream_may_have_a_wrong_type_and_no_end() {
    let stream = format!("data: {}", delta(json!({"content": "x\u{0}y"}), Some("stop")));
    let reply = reply(answer("200 OK", "content-type: text/html\r\n", stream));
    assert_eq!(words(&reply), "x\u{0}y");
}

#[test]
fn text_of_another_encoding_is_no_reason_to_fail() {
    let mut bytes =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"caf\xe9\"},\"finish_reason\":\"stop\"}]}\n\n".to_vec();
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    assert_eq!(words(&reply(crate::raw::stream(bytes))), "caf\u{fffd}");
}

#[test]
fn words_that_a_server_does_not_know_are_left_out() {
    let ok = || chunks(&[delta(json!({"content": "x"}), Some("stop"))]);
    let complaint = |words: &str| answer("400 Bad Request", "", json!({"error": {"message": words}}).to_string());
    let unknown =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let server = Raw::start(vec![
        complaint(unknown),
        complaint("Unrecognized request argument supplied: stream_options"),
        complaint("Unknown parameter: reasoning_effort"),
        ok(),
        ok(),
    ]);
    let mut settings = settings(Wire::Openai, &server.url);
    let mine = settings.models.remove("mine").unwrap();
    settings.models.insert("mine".into(), ModelSettings { effort: Some("low".into()), ..mine });
    let panel = Panel::new(&settings).unwrap();
    let (reply, book) = ask(&panel, &call("go"));
    reply.unwrap();
    // Refusals cost nothing, so asking in other words needs no other reservation.
    assert_eq!(book.reserved.len(), 1);
    ask(&panel, &call("go")).0.unwrap();
    let last = server.requests().pop().unwrap();
    assert!(last.contains("max_completion_tokens") && !last.contains("stream_options") && !last.contains("effort"));
    // A complaint about what was not sent is no reason to ask for ever.
    let server = Raw::start(vec![complaint(unknown), complaint(unknown)]);
    ask(&crate::home::panel(Wire::Openai, &server.url), &call("go")).0.unwrap_err();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn refusals_filters_and_lengths_are_what_they_are_on_both_wires() {
    for wire in WIRES {
        let model = ScriptedModel::start([
            refuse("I will not."),
            filtered(),
            say("word ".repeat(4000)).call("read", json!({})),
            raw_call("read", "{\"path\": \"a\", \"text\": \"never ends").cut_off_at_length(),
            raw_call("read", "{path: 1}"),
            say(""),
        ]);
        let panel = panel(wire, &model.base_url());
        let mut replies = (0..6).map(|_| ask(&panel, &ModelCall { max_output: 1000, ..call("go") }).0.unwrap());
        let refused = replies.next().unwrap();
        assert_eq!((words(&refused), &refused.stop), ("I will not.", &Stop::Refusal));
        assert_eq!(replies.next().unwrap().stop, Stop::Refusal);
        assert_eq!(replies.next().unwrap().stop, Stop::Length);
        let cut = replies.next().unwrap();
        assert!(matches!(&tool_calls(&cut)[..], [(_, _, Arguments::Malformed(text))] if text.ends_with("never ends")));
        assert_eq!(cut.stop, Stop::Length);
        let malformed = replies.next().unwrap();
        assert_eq!(tool_calls(&malformed)[0].2, Arguments::Malformed("{path: 1}".into()));
        let silent = replies.next().unwrap();
        assert_eq!((silent.blocks, silent.stop), (Vec::new(), Stop::End));
    }
}

#[test]
fn the_other_wire_has_its_own_strangers() {
    let stream = |end: Value| {
        let start = json!({"model": "m", "usage": {"input_tokens": 50, "output_tokens": 1}});
        let tool = json!({"type": "tool_use", "id": "a.b", "name": "read", "input": {"path": "at once"}});
        let events = [
            json!({"type": "message_start", "message": start}),
            json!({"type": "something_new", "index": 7}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "x"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "server_note", "text": "hm"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": tool}),
            json!({"type": "content_block_stop", "index": 2}),
            end,
            json!({"type": "message_stop"}),
        ];
        let lines: String = events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect();
        crate::raw::stream(lines)
    };
    let delta = |usage: Value| json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    for (end, reported) in [
        // Without a count at the end, the one at the start is a beginning.
        (json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}), None),
        (delta(json!(null)), None),
        (delta(json!({"output_tokens": 9})), Some((50, 9))),
        (delta(json!({"input_tokens": 60, "cache_read_input_tokens": null, "output_tokens": 9})), Some((60, 9))),
    ] {
        let server = Raw::start(vec![answer("404 Not Found", "", ""), stream(end)]);
        let (reply, book) = ask(&panel(Wire::Anthropic, &server.url), &call("go"));
        let reply = reply.unwrap();
        let thought = json!({"type": "redacted_thinking", "data": "x"});
        assert_eq!(reply.blocks[0], Said::Thinking { wire: "anthropic".into(), raw: thought });
        assert_eq!(tool_calls(&reply), [("a.b", "read", read("at once"))]);
        assert_eq!((reply.blocks.len(), &reply.stop), (2, &Stop::ToolCalls));
        let worst = &book.reserved[0];
        let expected = reported.unwrap_or((worst.input, worst.output));
        assert_eq!(
            (reply.spent.input, reply.spent.output, reply.spent.reported),
            (expected.0, expected.1, reported.is_some())
        );
    }
}
