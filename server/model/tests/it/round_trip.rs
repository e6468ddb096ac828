//! Conversations on both wires: what is sent, what comes back, and what stays the same from turn to turn.

use model::{ModelSettings, Panel, Thinking, Wire};
use serde_json::{Value, json};
use support::model::{Rules, ScriptedModel, call as calls, say, thinking};
use task::Redactor;
use task::port::{Arguments, Block, Model, Origin, Role, Said, Spent, Stage, Stop, Told};

use crate::home::*;

fn thoughtful(wire: Wire, url: &str) -> Panel {
    let mut settings = settings(wire, url);
    if wire == Wire::Anthropic {
        let mine = settings.models.remove("mine").unwrap();
        settings.models.insert("mine".into(), ModelSettings { thinking: Some(Thinking::Budget(1024)), ..mine });
    }
    Panel::new(&settings).unwrap()
}

#[test]
fn a_conversation_goes_through_tools_and_thinking_and_comes_back_unchanged() {
    for wire in WIRES {
        let model = ScriptedModel::start([
            thinking("Where is it?\n").say("I look.").call("read", json!({"path": "src/é.rs"})).call("read", json!({})),
            calls("read", json!({"path": "b"})).expect("fn main"),
            say("Done.").chopped(),
        ]);
        let panel = thoughtful(wire, &model.base_url());
        let mut call = call("Find it.");
        let (reply, _) = ask(&panel, &call);
        let reply = reply.unwrap();
        assert_eq!((reply.stop.clone(), reply.model.as_str()), (Stop::ToolCalls, "scripted"));
        let said: Vec<_> = reply.blocks.iter().filter(|said| !matches!(said, Said::Thinking { .. })).collect();
        assert_eq!(said[0], &Said::Text("I look.".into()));
        assert!(
            matches!(said[1], Said::ToolCall { name, arguments, .. } if name == "read" && *arguments == read("src/é.rs"))
        );
        assert!(matches!(said[2], Said::ToolCall { arguments: Arguments::Read(none), .. } if *none == json!({})));
        assert_eq!(reply.blocks.len() - said.len(), 1);
        call.messages.extend([kept(&reply), results(&reply, "fn main() {}")]);
        let (second, _) = ask(&panel, &call);
        let second = second.unwrap();
        call.messages.extend([kept(&second), results(&second, "nothing")]);
        let (last, book) = ask(&panel, &call);
        let last = last.unwrap();
        assert_eq!((words(&last), &last.stop), ("Done.", &Stop::End));
        assert!(last.spent.reported && book.spent(1) == &last.spent);
        model.assert_clean();
        assert_eq!(model.left(), 0);
    }
}

#[test]
fn what_was_used_is_settled_to_the_token_caches_apart() {
    for wire in WIRES {
        let model = ScriptedModel::start([say("One."), say("Two."), say("Three.")]);
        let panel = panel(wire, &model.base_url());
        let mut call = call(&"All of this stays. ".repeat(800));
        for turn in 0..3 {
            let (reply, book) = ask(&panel, &call);
            let reply = reply.unwrap();
            let usage = model.usages()[turn].unwrap();
            let spent = Spent {
                input: usage.input,
                cache_read: usage.cached,
                cache_written: usage.cache_written,
                output: usage.output,
                // A dollar for a million is a microdollar each.
                microdollars: Some(
                    (usage.input * 100 + usage.cached * 10 + usage.cache_written * 125 + usage.output * 200)
                        .div_ceil(100),
                ),
                reported: true,
            };
            assert_eq!(book.spent(1), &spent);
            let sent = usage.sent();
            let share = usage.cached * 100 / sent;
            assert!(turn == 0 || share > 90, "turn {turn}: {share} % of {sent} tokens came from the cache");
            call.messages.extend([kept(&reply), user(vec![text("Go on.")])]);
        }
        model.assert_clean();
    }
}

#[test]
fn equal_calls_are_equal_bytes_and_longer_ones_begin_with_them() {
    for wire in WIRES {
        let model =
            ScriptedModel::start([calls("read", json!({"z": 1, "a": [2.5, null]})), say("a"), say("a"), say("b")]);
        let url = model.base_url();
        let mut call = call("Begin.");
        let (first, _) = ask(&panel(wire, &url), &call);
        let first = first.unwrap();
        call.messages.extend([kept(&first), results(&first, "ok")]);
        // Another process makes the same bytes.
        let (one, _) = ask(&panel(wire, &url), &call);
        ask(&panel(wire, &url), &call).0.unwrap();
        call.messages.extend([kept(&one.unwrap()), user(vec![text("More.")])]);
        ask(&panel(wire, &url), &call).0.unwrap();
        let seen = model.seen();
        assert_eq!(seen[1].body, seen[2].body);
        let bare = |at: usize| {
            let text = String::from_utf8(seen[at].body.clone()).unwrap();
            let text = text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            text[..text.rfind("],\"max_").unwrap()].to_owned()
        };
        for (shorter, longer) in [(0, 1), (1, 3)] {
            assert!(bare(longer).starts_with(&bare(shorter)), "{}\n{}", bare(longer), bare(shorter));
        }
        // The order of keys is the model's, not the alphabet's.
        assert!(bare(1).contains("\"z\":1,\"a\":[2.5,null]") || bare(1).contains("\\\"z\\\":1,\\\"a\\\":[2.5,null]"));
    }
}

#[test]
fn at_most_four_marks_say_what_to_cache() {
    let model = ScriptedModel::start([say("x")]);
    let mut call = call("first");
    for turn in 0..6 {
        call.messages.push(task::port::Message { role: Role::Assistant, blocks: vec![text("well")] });
        let mut blocks = vec![text("a"), text("b"), text("c")];
        if turn < 3 {
            blocks[1] = Block::Text { told: told("stays"), stable: true };
        }
        call.messages.push(user(blocks));
    }
    ask(&panel(Wire::Anthropic, &model.base_url()), &call).0.unwrap();
    let json = &model.seen()[0].json;
    let marked = |value: &Value| value.get("cache_control").is_some();
    assert!(marked(&json["system"][0]) && !json["tools"].as_array().unwrap().iter().any(marked));
    let mut marks = Vec::new();
    for (at, message) in json["messages"].as_array().unwrap().iter().enumerate() {
        let blocks = message["content"].as_array().unwrap().iter().enumerate();
        marks.extend(blocks.filter(|(_, block)| marked(block)).map(|(block, _)| (at, block)));
    }
    assert_eq!(marks, [(6, 1), (10, 2), (12, 2)]);
    model.assert_clean();
}

#[test]
fn what_a_provider_would_refuse_is_not_sent() {
    for wire in WIRES {
        let model = ScriptedModel::start([say("fine")]);
        let odd = "functions.read file:0";
        let mut call = call("go");
        call.system = told("");
        call.messages.push(user(vec![text("  \n"), text("again")]));
        call.messages.push(task::port::Message {
            role: Role::Assistant,
            blocks: vec![
                text(""),
                Block::Thinking { wire: "elsewhere".into(), raw: json!({"secret": true}) },
                Block::ToolCall { id: odd.into(), name: odd.into(), arguments: Arguments::Malformed("{\"a".into()) },
            ],
        });
        let failed = Block::ToolResult { id: odd.into(), told: told("no such tool"), failed: true };
        call.messages.push(user(vec![text("behind"), failed]));
        ask(&panel(wire, &model.base_url()), &call).0.unwrap();
        model.assert_clean();
        let body = String::from_utf8(model.seen()[0].body.clone()).unwrap();
        assert!(!body.contains("secret") && body.contains("malformed"), "{body}");
    }
}

#[test]
fn thinking_is_left_out_where_the_wire_would_not_take_it() {
    let model = ScriptedModel::start([say("one"), say("two"), say("three")]);
    let panel = thoughtful(Wire::Anthropic, &model.base_url());
    let mut asked = call("go");
    ask(&panel, &asked).0.unwrap();
    // Room for an answer, but not for thinking beside it.
    ask(&panel, &task::port::ModelCall { max_output: 1500, ..call("small") }).0.unwrap();
    // Another model began this turn.
    let call = Block::ToolCall { id: "c1".into(), name: "read".into(), arguments: read("a") };
    asked.messages.push(task::port::Message { role: Role::Assistant, blocks: vec![call] });
    let result = Block::ToolResult { id: "c1".into(), told: told("text"), failed: false };
    asked.messages.push(user(vec![result]));
    ask(&panel, &asked).0.unwrap();
    let thinks: Vec<bool> = model.seen().iter().map(|seen| seen.json.get("thinking").is_some()).collect();
    assert_eq!(thinks, [true, false, false]);
    model.assert_clean();
}

#[test]
fn text_is_heard_as_it_comes() {
    for wire in WIRES {
        let words = "A long answer, word by word, with ümläuts and 🦀 in it. ".repeat(20);
        let model = ScriptedModel::start([say(words.clone()).chopped()]);
        let (mut book, listener) = (Book::default(), Listener::default());
        panel(wire, &model.base_url()).call(&call("go"), &mut book, &listener).unwrap();
        assert_eq!(*listener.heard.borrow(), words);
    }
}

#[test]
fn stages_and_escalation_have_models_of_their_own() {
    let model = ScriptedModel::start_with(
        Rules::default().models(["scripted", "quick", "strong"]),
        [say("a").if_model("quick"), say("b").if_model("strong"), say("c").if_model("scripted")],
    );
    let mut settings = settings(Wire::Openai, &model.base_url());
    settings.escalation = Some("here/strong".into());
    settings.stages.entry(Stage::Summarise).or_default().first = Some("here/quick".into());
    let panel = Panel::new(&settings).unwrap();
    let plain = call("go");
    let summary = task::port::ModelCall { stage: Stage::Summarise, ..plain.clone() };
    let hard = task::port::ModelCall { escalated: true, ..plain.clone() };
    for (call, model, priced) in [(&summary, "quick", false), (&hard, "strong", false), (&plain, "scripted", true)] {
        let profile = panel.profile(call.stage, call.escalated).unwrap();
        assert_eq!((profile.name, profile.priced), (format!("here/{model}"), priced));
        let (reply, book) = ask(&panel, call);
        assert_eq!(reply.unwrap().model, model);
        assert_eq!((book.reserved[0].escalated, book.reserved[0].microdollars.is_some()), (call.escalated, priced));
    }
    settings.escalation = None;
    let panel = Panel::new(&settings).unwrap();
    assert_eq!(panel.profile(Stage::Code, true), None);
    assert!(ask(&panel, &hard).0.unwrap_err().to_string().contains("escalation"));
}

#[test]
fn secrets_and_home_stay_here() {
    for wire in WIRES {
        let rules = Rules::default().forbid("/home/somebody").forbid("hunter2hunter2");
        let model = ScriptedModel::start_with(rules, [say("x")]);
        let redactor = Redactor::new(["hunter2hunter2".to_owned()], Some("/home/somebody".to_owned()));
        let told = Told::new(Origin::Output, "at /home/somebody/app: hunter2hunter2", 1000, &redactor);
        let mut call = call("look");
        call.messages.push(user(vec![Block::Text { told, stable: false }]));
        ask(&panel(wire, &model.base_url()), &call).0.unwrap();
        model.assert_clean();
    }
}
