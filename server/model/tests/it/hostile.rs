//! Servers, and machines in between, that answer with anything but an answer.

use model::{Panel, Wire};
use support::model::{Rules, ScriptedModel, page};
use task::port::{Model, ModelError};

use crate::home::*;
use crate::raw::{Raw, answer, stream};

/// One attempt, without patience for a second.
fn once(wire: Wire, url: &str) -> (ModelError, Book) {
    let mut settings = settings(wire, url);
    settings.patience = Some(0);
    let (reply, book) = ask(&Panel::new(&settings).unwrap(), &call("go"));
    (reply.unwrap_err(), book)
}

#[test]
fn a_key_never_follows_a_redirect() {
    let target = Raw::start(vec![answer("200 OK", "", "")]);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("location: {}/v1/elsewhere\r\n", target.url);
        let server = Raw::start(vec![answer(status, &location, "")]);
        let (error, book) = once(Wire::Openai, &server.url);
        assert!(
            matches!(&error, ModelError::Refused(why) if why.contains("elsewhere") && why.contains("base_url")),
            "{error}"
        );
        assert_eq!((server.requests().len(), book.tokens()), (1, 0));
    }
    assert_eq!(target.requests(), Vec::<String>::new());
}

#[test]
fn a_page_is_no_answer_and_costs_nothing() {
    for wire in WIRES {
        let model = ScriptedModel::start([page()]);
        let (error, book) = once(wire, &model.base_url());
        assert!(matches!(&error, ModelError::Refused(why) if why.contains("a page of HTML")), "{error}");
        assert_eq!(book.tokens(), 0);
    }
}

#[test]
fn errors_in_any_words_are_said_shortly_and_without_the_key() {
    let key = Rules::KEY;
    for (body, words) in [
        ("plain words".to_owned(), "plain words"),
        (format!("<html>{key}</html>"), "a page of HTML"),
        (format!("{{\"message\": \"you sent {key}\"}}"), "you sent [secret left out]"),
        ("\u{1b}[2Jnothing\0".to_owned(), "\\u{1b}[2Jnothing"),
        ("{\"error\": {\"message\": 3}}".to_owned(), "{\"message\":3}"),
        ("x".repeat(1_000_000), "xxx…"),
    ] {
        let server = Raw::start(vec![answer("418 Teapot", "", &body)]);
        let (error, _) = once(Wire::Openai, &server.url);
        let error = error.to_string();
        assert!(error.contains(words) && !error.contains(key) && error.len() < 700, "{error}");
    }
    let server = Raw::start(vec![answer("500 Oops", "", b"\xff\xfe")]);
    let (error, book) = once(Wire::Openai, &server.url);
    assert!(matches!(error, ModelError::Unavailable(_)) && book.tokens() == 0, "{error}");
}

#[test]
fn floods_are_left_unread() {
    let line = [b"data: ".to_vec(), vec![b'x'; 17 * 1024 * 1024]].concat();
    let comments = b": keep waiting\n".repeat(70 * 1024 * 1024 / 15);
    for flood in [line, comments] {
        let server = Raw::start(vec![stream(flood)]);
        let (error, book) = once(Wire::Openai, &server.url);
        assert!(matches!(&error, ModelError::Refused(why) if why.contains("larger than any answer")), "{error}");
        assert_eq!(book.spent(1).output, book.reserved[0].output);
    }
}

#[test]
fn bytes_that_are_no_http_are_a_lost_answer() {
    for bytes in [&b"SSH-2.0-OpenSSH\r\n"[..], b"", b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ndata: {}"] {
        let server = Raw::start(vec![bytes.to_vec()]);
        let (error, book) = once(Wire::Openai, &server.url);
        assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
        assert!(book.tokens() > 0, "the request was sent: {error}");
    }
}

#[test]
fn events_of_another_shape_are_a_lost_answer_and_never_the_end_of_the_process() {
    let shapes = ["\"thinking\"", "3", "null", "[]", "{}", "{\"type\": 7, \"text\": [], \"thinking\": {}}"];
    for block in shapes {
        for kind in ["text_delta", "input_json_delta", "thinking_delta", "signature_delta"] {
            let events = format!(
                "data: {{\"type\": \"message_start\", \"message\": {{\"usage\": {{\"input_tokens\": 18446744073709551615, \"cache_read_input_tokens\": 18446744073709551615}}}}}}\n\n\
                 data: {{\"type\": \"content_block_start\", \"index\": 0, \"content_block\": {block}}}\n\n\
                 data: {{\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {{\"type\": \"{kind}\", \"thinking\": \"x\", \"signature\": 1}}}}\n\n"
            );
            let server = Raw::start(vec![stream(events)]);
            let (error, _) = once(Wire::Anthropic, &server.url);
            assert!(matches!(error, ModelError::Unavailable(_)), "{block} {kind}: {error}");
        }
    }
}

#[test]
fn nobody_there_costs_nothing() {
    let url = Raw::start(Vec::new()).url.clone();
    let (error, book) = once(Wire::Openai, &url);
    assert!(matches!(&error, ModelError::Unavailable(why) if why.contains("cannot be reached")), "{error}");
    assert_eq!(book.tokens(), 0);
}

#[test]
fn a_key_is_never_sent_where_tls_is_not_what_it_should_be() {
    let server = Raw::start(vec![stream("data: [DONE]\n\n")]);
    let mut settings = settings(Wire::Openai, &server.url.replace("http:", "https:"));
    (settings.patience, settings.connect_timeout) = (Some(0), Some(1));
    let (reply, book) = ask(&Panel::new(&settings).unwrap(), &call("go"));
    let error = reply.unwrap_err();
    assert!(matches!(&error, ModelError::Unavailable(why) if why.contains("cannot be reached")), "{error}");
    assert_eq!((book.tokens(), server.requests()), (0, Vec::new()));
}

#[test]
fn a_word_for_stopping_that_nobody_knows_is_passed_on() {
    for wire in WIRES {
        let model = ScriptedModel::start([support::model::say("x").stop_reason("sunset")]);
        let (reply, _) = ask(&panel(wire, &model.base_url()), &call("go"));
        assert_eq!(reply.unwrap().stop, task::port::Stop::Other("sunset".into()));
    }
}

#[test]
fn debug_and_errors_show_no_key() {
    let settings = settings(Wire::Openai, "http://127.0.0.1:9");
    let panel = Panel::new(&settings).unwrap();
    let shown = format!("{settings:?} {panel:?} {:?}", panel.profile(task::port::Stage::Code, false));
    assert!(!shown.contains(Rules::KEY), "{shown}");
}
