//! What of a request counts as cached.

use serde_json::{Value, json};
use support::model::{Rules, ScriptedModel, Usage, say};

use crate::client::{ask, chat, chat_request, request};

fn words(number: usize) -> String {
    "some words of a long request, ".repeat(number)
}

/// The wire takes the role's whole history each time.
fn turns(first: &str, answers: usize) -> Vec<Value> {
    let mut turns = vec![json!({"role": "user", "content": first})];
    for _ in 0..answers {
        turns.push(json!({"role": "assistant", "content": "ok"}));
        turns.push(json!({"role": "user", "content": format!("Go on. {}", words(20))}));
    }
    turns
}

#[test]
fn chat_completions_find_what_was_sent_before() {
    let model = ScriptedModel::start([say("ok").times(3)]);
    for answers in 0..3 {
        chat(&model, &chat_request(turns(&words(400), answers).into()));
    }
    let usages: Vec<Usage> = model.usages().into_iter().map(Option::unwrap).collect();
    assert_eq!(usages[0].cached, 0);
    for pair in usages.windows(2) {
        let known = pair[0].sent();
        assert!(pair[1].cached.is_multiple_of(128) && pair[1].cached <= known && pair[1].cached + 129 > known);
        assert!(pair[1].sent() > known);
    }
    model.assert_clean();
}

#[test]
fn short_requests_are_not_cached() {
    let model = ScriptedModel::start([say("ok").times(2)]);
    for answers in 0..2 {
        chat(&model, &chat_request(turns("?", answers).into()));
    }
    assert_eq!(model.totals().cached, 0);
}

fn marked(mut turns: Vec<Value>) -> Value {
    let last = turns.last_mut().unwrap();
    last["content"] = json!([{"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}]);
    request(turns.into())
}

#[test]
fn the_messages_api_reads_only_what_was_marked() {
    let model = ScriptedModel::start([say("ok").times(4)]);
    ask(&model, &request(turns(&words(400), 0).into()));
    ask(&model, &marked(turns(&words(400), 0)));
    ask(&model, &marked(turns(&words(400), 1)));
    ask(&model, &request(turns(&words(400), 2).into()));
    let usages: Vec<Usage> = model.usages().into_iter().map(Option::unwrap).collect();
    assert_eq!((usages[0].cached, usages[0].cache_written), (0, 0));
    assert_eq!((usages[1].cached, usages[1].input), (0, usages[0].input - usages[1].cache_written));
    assert_eq!(usages[2].cached, usages[1].cache_written);
    assert!(usages[2].cache_written > 100 && usages[2].input <= 1);
    assert_eq!((usages[3].cached, usages[3].cache_written), (0, 0), "nothing is read without a mark");
    model.assert_clean();
}

#[test]
fn another_model_or_another_tool_finds_nothing() {
    let model = ScriptedModel::start_with(Rules::default().cache(16, 16), [say("ok").times(3)]);
    let mut asked = marked(turns(&words(20), 0));
    ask(&model, &asked);
    asked["model"] = "small".into();
    ask(&model, &asked);
    asked["tools"][0]["description"] = "Reads one file.".into();
    ask(&model, &asked);
    assert_eq!(model.totals().cached, 0);
    assert_eq!(model.violations().len(), 1, "the tools changed within the conversation of `small`");
}

#[test]
fn reported_usage_can_differ_from_what_it_is() {
    let report = Usage { input: 5, cached: 4, cache_written: 3, output: 2 };
    let model = ScriptedModel::start([
        say("word ".repeat(40)),
        say("word ".repeat(40)).usage_factor(1.5),
        say("a").no_usage(),
        say("a").usage(report),
    ]);
    let asked = request(json!([{"role": "user", "content": "?"}]));
    (0..4).for_each(|_| drop(ask(&model, &asked)));
    let usages = model.usages();
    let (one, more) = (usages[0].unwrap(), usages[1].unwrap());
    assert_eq!((more.input, more.output), ((one.input * 3).div_ceil(2), (one.output * 3).div_ceil(2)));
    assert_eq!((usages[2], usages[3]), (None, Some(report)));
    let mut totals = one;
    totals += more;
    totals += report;
    assert_eq!(model.totals(), totals);
}
