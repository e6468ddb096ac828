//! What a test can set about the server.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};
use support::model::{Rules, ScriptedModel, say};

use crate::client::{ANTHROPIC, Answer, ask, chat, chat_request, receive, request, send};

fn asked() -> Value {
    request(json!([{"role": "user", "content": "?"}]))
}

fn count(model: &ScriptedModel) -> Answer {
    let body = asked().to_string();
    receive(send(model.address(), "/v1/messages/count_tokens", &ANTHROPIC, body.as_bytes())).unwrap()
}

#[test]
fn a_window_is_exceeded_without_a_move() {
    let model = ScriptedModel::start_with(Rules::default().window(1010), [say("ok")]);
    let long = ask(&model, &asked());
    assert_eq!(long.status, 400);
    let message = long.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("prompt is too long: 10") && message.ends_with(" tokens > 1010 maximum"), "{message}");
    let long = chat(&model, &chat_request(json!([{"role": "user", "content": "?"}])));
    assert_eq!(long.json()["error"]["code"], "context_length_exceeded");
    let mut shorter = asked();
    shorter["max_tokens"] = 900.into();
    assert_eq!((ask(&model, &shorter).status, model.requests(), model.left()), (200, 3, 0));
    model.assert_clean();
}

#[test]
fn only_named_models_answer_and_are_listed() {
    let model = ScriptedModel::start_with(Rules::default().models(["small", "tiny"]), [say("ok")]);
    assert_eq!(ask(&model, &asked()).json()["error"]["type"], "not_found_error");
    let unknown = chat(&model, &chat_request(json!([{"role": "user", "content": "?"}])));
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_str()), (404, Some("model_not_found")));
    assert_eq!((model.requests(), model.left()), (0, 1));
    let list = |headers: &str| {
        let mut stream = TcpStream::connect(model.address()).unwrap();
        stream.write_all(format!("GET /v1/models HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
        receive(stream).unwrap().json()
    };
    let openai = list(&format!("authorization: Bearer {}\r\n", Rules::KEY));
    assert_eq!((&openai["object"], &openai["data"][1]["id"]), (&json!("list"), &json!("tiny")));
    let anthropic = list(&format!("x-api-key: {}\r\nanthropic-version: 2023-06-01\r\n", Rules::KEY));
    assert_eq!((&anthropic["data"][0]["id"], &anthropic["has_more"]), (&json!("small"), &json!(false)));
    model.assert_clean();
}

#[test]
fn the_count_may_be_absent_or_wrong() {
    let model = ScriptedModel::start_with(Rules::default().without_count(), []);
    assert_eq!((count(&model).status, model.counted()), (404, 0));
    model.assert_clean();
    let model = ScriptedModel::start_with(Rules::default().count_factor(0.5), [say("ok")]);
    ask(&model, &asked());
    assert_eq!(count(&model).json()["input_tokens"], model.totals().sent().div_ceil(2));
}

#[test]
fn an_answer_may_be_continued_where_that_is_allowed() {
    let begun = request(json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": "I was"}]));
    let model = ScriptedModel::start_with(Rules::default().may_prefill(), [say(" saying.")]);
    ask(&model, &begun);
    model.assert_clean();
}

#[test]
fn what_is_no_endpoint_of_a_model_is_named() {
    let model = ScriptedModel::start([]);
    let answer = receive(send(model.address(), "/v2/messages", &ANTHROPIC, asked().to_string().as_bytes())).unwrap();
    assert_eq!(answer.status, 404);
    assert_eq!(model.violations(), ["POST /v2/messages is no endpoint of a model"]);
}
