//! A provider that dies and comes back, and a network that is cut.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use support::model::{Cable, ScriptedModel, hang, say};

use crate::client::{ANTHROPIC, Answer, ask, receive, request, send};

fn body() -> Vec<u8> {
    request(json!([{"role": "user", "content": "?"}])).to_string().into_bytes()
}

fn through(address: SocketAddr) -> Option<Answer> {
    receive(send(address, "/v1/messages", &ANTHROPIC, &body()))
}

fn is_refused(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

#[test]
fn a_killed_server_refuses_and_a_revived_one_goes_on() {
    let model = ScriptedModel::start([say("one"), hang(), say("two"), say("three")]);
    let address = model.address();
    assert!(through(address).unwrap().text().contains("one"));
    for said in ["two", "three"] {
        let waiting = (said == "two").then(|| {
            let stream = send(address, "/v1/messages", &ANTHROPIC, &body());
            model.wait_for_hang();
            stream
        });
        model.kill();
        model.kill();
        assert!(is_refused(address));
        assert!(waiting.is_none_or(|stream| receive(stream).is_none()), "what hung has ended");
        model.revive();
        model.revive();
        assert!(through(address).unwrap().text().contains(said));
    }
    assert_eq!(model.requests(), 4);
    model.assert_clean();
}

#[test]
fn one_connection_carries_several_requests() {
    let model = ScriptedModel::start([say("one"), say("two")]);
    let mut stream = send(model.address(), "/v1/messages", &ANTHROPIC, &body());
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut until_end = || {
        let mut lines = String::new();
        while !lines.ends_with("\n0\r\n\r\n") && reader.read_line(&mut lines).unwrap() > 0 {}
        lines
    };
    assert!(until_end().contains("one"));
    // In chunks, and with a connection that ends behind it.
    let mut request = String::from("POST /messages HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n");
    request.extend(ANTHROPIC.map(|(name, value)| format!("{name}: {value}\r\n")));
    let text = String::from_utf8(body()).unwrap();
    let (one, two) = text.split_at(30);
    request += &format!("\r\n1e\r\n{one}\r\n{:x};x=y\r\n{two}\r\n0\r\n\r\n", two.len());
    stream.write_all(request.as_bytes()).unwrap();
    assert!(until_end().contains("two"));
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    model.assert_clean();
}

#[test]
fn what_is_no_http_is_answered_and_named() {
    for bytes in [&b"EHLO mail\r\n\r\n"[..], b"POST /v1/messages HTTP/1.1\r\ncontent-length: many\r\n\r\n", b"\xff\r\n"]
    {
        let model = ScriptedModel::start([say("never")]);
        let mut stream = TcpStream::connect(model.address()).unwrap();
        stream.write_all(bytes).unwrap();
        assert_eq!(receive(stream).unwrap().status, 400);
        assert_eq!(model.violations().len(), 1);
    }
}

#[test]
fn a_cut_cable_ends_connections_and_a_plugged_one_takes_them() {
    let model = ScriptedModel::start([hang(), say("again")]);
    let cable = Cable::to(model.address());
    let stream = send(cable.address(), "/v1/messages", &ANTHROPIC, &body());
    model.wait_for_hang();
    cable.cut();
    assert!(is_refused(cable.address()));
    assert!(receive(stream).is_none());
    cable.plug();
    assert!(through(cable.address()).unwrap().text().contains("again"));
    assert_eq!(cable.base_url(), format!("http://{}", cable.address()));
    model.assert_clean();
}

#[test]
fn a_silent_cable_holds_back_what_then_arrives() {
    let model = ScriptedModel::start([say("late").hangs()]);
    let cable = Cable::to(model.address());
    let stream = send(cable.address(), "/v1/messages", &ANTHROPIC, &body());
    model.wait_for_hang();
    cable.silence();
    model.release();
    let (told, heard) = mpsc::channel();
    let receiving = std::thread::spawn(move || told.send(receive(stream)));
    assert!(heard.recv_timeout(Duration::from_millis(100)).is_err(), "nothing gets through");
    cable.plug();
    assert!(heard.recv().unwrap().unwrap().text().contains("late"));
    receiving.join().unwrap().unwrap();
}

#[test]
fn a_silent_cable_can_be_cut() {
    let model = ScriptedModel::start([say("one")]);
    let cable = Cable::to(model.address());
    cable.silence();
    let stream = send(cable.address(), "/v1/messages", &ANTHROPIC, &body());
    cable.cut();
    assert!(receive(stream).is_none());
    assert_eq!(model.requests(), 0);
    ask(&model, &request(json!([{"role": "user", "content": "?"}])));
}
