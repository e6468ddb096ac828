//! Answers that go wrong on their way.

use std::time::Duration;

use serde_json::json;
use support::model::{ScriptedModel, empty, garbage, hang, page, raw_call, say};

use crate::client::{ANTHROPIC, Answer, ask, chat, chat_request, gathered, receive, request, send};

fn asked() -> serde_json::Value {
    request(json!([{"role": "user", "content": "?"}]))
}

fn one(made: support::model::Move) -> Answer {
    let model = ScriptedModel::start([made]);
    ask(&model, &asked())
}

#[test]
fn a_stream_dies_after_so_many_events() {
    let model = ScriptedModel::start([say("Some words that are said.").dies_after(4)]);
    let answer = ask(&model, &asked());
    assert_eq!((answer.whole, answer.events().len()), (false, 4));
    let usage = model.totals();
    assert!(usage.input > 0 && usage.output == 1, "the first event has told the input");
    let model = ScriptedModel::start([say("Some words that are said.").dies_after(4)]);
    let answer = chat(&model, &chat_request(json!([{"role": "user", "content": "?"}])));
    assert_eq!((answer.whole, answer.events().len()), (false, 4));
    assert_eq!(model.usages(), [None]);
}

#[test]
fn a_stream_ends_or_fails_early() {
    let ended = one(say("Some words.").ends_after(3));
    assert_eq!((ended.whole, ended.events().len()), (true, 3));
    let failed = one(say("Some words.").fails_after(2));
    assert!(failed.text().contains("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\""));
}

#[test]
fn garbage_is_no_event() {
    let answer = one(garbage());
    assert!(answer.whole && std::str::from_utf8(&answer.body).is_err());
    assert!(one(page()).text().starts_with("<!doctype html>"));
}

#[test]
fn broken_arguments_and_silence_arrive_as_scripted() {
    let broken = "{\"path\": \"src/l";
    let (blocks, last, _) = gathered(&one(raw_call("edit", broken).cut_off_at_length()).events());
    assert_eq!((&blocks[0]["partial_json"], &last["stop_reason"]), (&json!(broken), &json!("max_tokens")));
    let (blocks, last, usage) = gathered(&one(empty()).events());
    assert_eq!((blocks.len(), &last["stop_reason"], &usage["output_tokens"]), (0, &json!("end_turn"), &json!(1)));
    let (blocks, ..) = gathered(&one(empty().call_as("same", "read", "{}").call_as("same", "read", "{}")).events());
    assert_eq!((&blocks[0]["id"], &blocks[1]["id"]), (&json!("same"), &json!("same")));
}

#[test]
fn a_stream_in_parts_says_the_same() {
    let (whole, parts) =
        (one(say("日本語 ".repeat(30))), one(say("日本語 ".repeat(30)).chopped().slow(Duration::from_millis(1))));
    assert_eq!(whole.text(), parts.text());
}

#[test]
fn what_hangs_goes_on_when_it_is_released() {
    let model = ScriptedModel::start([hang(), say("late").hangs_after(1)]);
    for _ in 0..2 {
        let stream = send(model.address(), "/v1/messages", &ANTHROPIC, asked().to_string().as_bytes());
        model.wait_for_hang();
        model.release();
        assert!(receive(stream).unwrap().whole);
    }
    assert_eq!((model.left(), model.violations().len()), (0, 0));
}

#[test]
fn a_client_that_leaves_ends_the_waiting() {
    let model = ScriptedModel::start([hang().times(2)]);
    drop(send(model.address(), "/v1/messages", &ANTHROPIC, asked().to_string().as_bytes()));
    model.wait_for_requests(1);
    let stream = send(model.address(), "/v1/messages", &ANTHROPIC, asked().to_string().as_bytes());
    model.wait_for_requests(2);
    model.wait_for_hang();
    // Only the second one is left to be ended by the server, whose threads have all ended when it is dropped.
    drop(model);
    assert!(receive(stream).is_none());
}

#[test]
fn connections_are_bounded() {
    let model = ScriptedModel::start([hang().times(usize::MAX)]);
    let body = asked().to_string();
    let waiting: Vec<_> = (0..64).map(|_| send(model.address(), "/v1/messages", &ANTHROPIC, body.as_bytes())).collect();
    model.wait_for_requests(64);
    let extra = std::net::TcpStream::connect(model.address()).unwrap();
    assert!(receive(extra).is_none());
    assert_eq!(model.violations(), ["a connection was one too many"]);
    drop(waiting);
}
