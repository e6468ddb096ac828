//! One connection of the scripted model: requests are admitted, checked, and answered as the script says.

use std::any::Any;
use std::io::{self, BufReader, ErrorKind};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use serde_json::{Value, json};

use super::audit::{Audit, carries};
use super::moves::{Failure, FailureKind, Move, Report, Trouble};
use super::reply::{Part, Reply, Stop, cut, output};
use super::usage::{Caches, Usage};
use super::{Rules, Script, Seen, Wire, anthropic, http, openai};

const JSON: &str = "application/json";

/// What the threads of all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) rules: Rules,
    pub(super) script: Mutex<Script>,
    state: Mutex<State>,
    pub(super) changed: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) seen: Vec<Arc<Seen>>,
    /// What each of them was told last about its usage.
    pub(super) usages: Vec<Option<Usage>>,
    pub(super) counted: usize,
    pub(super) violations: Vec<String>,
    /// Whether the test knows all of them.
    pub(super) asked: bool,
    pub(super) forbidden: Vec<String>,
    pub(super) audit: Audit,
    /// One for each connection that waits to be released.
    pub(super) hanging: Vec<Arc<OwnedFd>>,
    caches: Caches,
}

impl Shared {
    pub(super) fn new(rules: Rules, script: Script) -> Self {
        let state = State {
            seen: Vec::new(),
            usages: Vec::new(),
            counted: 0,
            violations: Vec::new(),
            asked: true,
            forbidden: rules.forbidden.clone(),
            audit: Audit::default(),
            hanging: Vec::new(),
            caches: rules.caches.clone(),
        };
        Self { rules, script: Mutex::new(script), state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn violate(&self, violation: String) {
        let mut state = self.state();
        state.violations.push(violation);
        state.asked = false;
    }

    pub(super) fn serve(&self, stream: Option<TcpStream>) {
        let Some(stream) = stream else { return self.violate("a connection was one too many".to_owned()) };
        let _ = stream.set_nodelay(true);
        let Ok(mut out) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        loop {
            let request = match http::read(&mut reader) {
                Ok(Some(request)) => request,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    self.violate(format!("a request is no HTTP that a model understands: {error}"));
                    let _ = http::answer(&mut out, 400, &[], "text/plain", "This is no HTTP/1.1.\n");
                    return;
                }
                _ => return,
            };
            let last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            match catch_unwind(AssertUnwindSafe(|| self.answer(request, &mut out))) {
                Ok(Ok(true)) if !last => {}
                Ok(_) => return,
                Err(panic) => return self.violate(format!("the script panicked: {}", words(&*panic))),
            }
        }
    }

    /// False when the connection is to end.
    fn answer(&self, request: http::Request, out: &mut TcpStream) -> io::Result<bool> {
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        let wire = if request.header("anthropic-version").is_some() { Wire::Anthropic } else { Wire::OpenAi };
        match (request.method.as_str(), path.strip_prefix("/v1").unwrap_or(&path)) {
            ("POST", "/messages") => self.exchange(Wire::Anthropic, request, out),
            ("POST", "/chat/completions") => self.exchange(Wire::OpenAi, request, out),
            ("POST", "/messages/count_tokens") if self.rules.counts => self.count(request, out),
            ("POST", "/messages/count_tokens") => {
                refuse(Wire::Anthropic, out, 404, "There is no endpoint that counts tokens.")
            }
            ("GET", "/models") => match self.admit(wire, &request) {
                Ok(()) => http::answer(out, 200, &[], JSON, &models(wire, &self.rules).to_string()),
                Err((status, reason)) => refuse(wire, out, status, &reason),
            },
            (method, _) => {
                self.violate(format!("{method} {path} is no endpoint of a model"));
                refuse(wire, out, 404, "There is no such endpoint.")
            }
        }
        .map(|()| true)
        .or_else(|error| if error.kind() == ErrorKind::ConnectionAborted { Ok(false) } else { Err(error) })
    }

    /// The key, the headers, and what may stand nowhere.
    fn admit(&self, wire: Wire, request: &http::Request) -> Result<(), (u16, String)> {
        let label = format!("{} {}", request.method, request.path);
        let (own, other) = match wire {
            Wire::Anthropic => ("x-api-key", "authorization"),
            Wire::OpenAi => ("authorization", "x-api-key"),
        };
        let key = self.rules.key.as_deref();
        let wanted = key.map(|key| if wire == Wire::OpenAi { format!("Bearer {key}") } else { key.to_owned() });
        let stray = |(name, value): &(String, String)| {
            name == other || (name != own && key.is_some_and(|key| value.contains(key)))
        };
        for (name, _) in request.headers.iter().filter(|header| stray(header)) {
            self.violate(format!("{label}: the header {name} has no business here"));
        }
        let forbidden = self.state().forbidden.clone();
        for text in forbidden {
            let json = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
            if request.path.contains(&text) || carries(&text, &request.headers, &request.body, &json) {
                self.violate(format!("{label}: it carries `{text}`, which is forbidden"));
            }
        }
        if key.is_some_and(|key| String::from_utf8_lossy(&request.body).contains(key)) {
            self.violate(format!("{label}: the key stands in the body"));
        }
        if request.body.len() > self.rules.body {
            let size = request.body.len();
            self.violate(format!("{label}: the body has {size} bytes, at most {} may be sent", self.rules.body));
            return Err((413, "Request exceeds the maximum size".to_owned()));
        }
        if request.method == "POST" && !request.header("content-type").is_some_and(|kind| kind.starts_with(JSON)) {
            self.violate(format!("{label}: the content type is not {JSON}"));
        }
        if wire == Wire::Anthropic && request.header("anthropic-version").is_none() {
            self.violate(format!("{label}: the header anthropic-version is missing"));
            return Err((400, "anthropic-version: header is required".to_owned()));
        }
        if request.header(own) != wanted.as_deref() {
            self.violate(format!("{label}: the header {own} is {:?}, not {wanted:?}", request.header(own)));
            return Err((401, "invalid key".to_owned()));
        }
        Ok(())
    }

    /// The request's JSON, if it is one that a model would look at.
    fn body(&self, wire: Wire, request: &http::Request) -> Result<Value, (u16, String)> {
        self.admit(wire, request)?;
        let json: Value = serde_json::from_slice(&request.body).map_err(|error| {
            self.violate(format!("POST {}: the body is no JSON: {error}", request.path));
            (400, format!("The body is not valid JSON: {error}"))
        })?;
        let model = json["model"].as_str().unwrap_or_default();
        if !self.rules.models.is_empty() && !self.rules.models.iter().any(|known| known == model) {
            return Err((404, format!("model: {model}")));
        }
        Ok(json)
    }

    fn count(&self, request: http::Request, out: &mut TcpStream) -> io::Result<()> {
        let json = match self.body(Wire::Anthropic, &request) {
            Ok(json) => json,
            Err((status, reason)) => return refuse(Wire::Anthropic, out, status, &reason),
        };
        let input = Usage { input: anthropic::parse(&json).pieces.tokens(), ..Usage::default() };
        self.state().counted += 1;
        let counted = json!({"input_tokens": input.times(self.rules.count_factor).input});
        http::answer(out, 200, &[], JSON, &counted.to_string())
    }

    fn exchange(&self, wire: Wire, request: http::Request, out: &mut TcpStream) -> io::Result<()> {
        let json = match self.body(wire, &request) {
            Ok(json) => json,
            Err((status, reason)) => return refuse(wire, out, status, &reason),
        };
        // The script stays locked from the number to the move, so that moves are made in the order of the numbers.
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.take(wire, request, json);
        let tokens = seen.pieces.tokens() + seen.max_tokens.unwrap_or(0);
        if let Some(window) = self.rules.window.filter(|window| tokens > *window) {
            drop(script);
            return http::answer(out, 400, &[], JSON, &overflow(wire, tokens, window).to_string());
        }
        let next = script.next(&seen);
        drop(script);
        let Some((made, missing)) = next else {
            self.violate(format!("request {}: the script has no move for it", seen.number));
            return refuse(wire, out, 400, "The script has no move for this request.");
        };
        for fault in missing {
            self.violate(format!("request {}: {fault}", seen.number));
        }
        self.make(made, &seen, out)
    }

    /// Numbers and checks a request.
    fn take(&self, wire: Wire, request: http::Request, json: Value) -> Arc<Seen> {
        let mut state = self.state();
        let seen = Arc::new(Seen::new(state.seen.len() + 1, wire, request, json));
        let faults = state.audit.faults(&seen, &self.rules);
        state.asked &= faults.is_empty();
        state.violations.extend(faults.iter().map(|fault| format!("request {}: {fault}", seen.number)));
        state.seen.push(Arc::clone(&seen));
        state.usages.push(None);
        self.changed.notify_all();
        seen
    }

    fn make(&self, mut made: Move, seen: &Seen, out: &mut TcpStream) -> io::Result<()> {
        if made.hangs {
            self.hang(out)?;
        }
        if let Some(failure) = &made.failure {
            return fail(failure, seen, out);
        }
        let reply = self.reply(&mut made, seen);
        if !seen.stream {
            if matches!(made.trouble, Some((_, Trouble::Dies))) {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            self.report(seen, reply.usage);
            let whole = if seen.wire == Wire::Anthropic { anthropic::whole(&reply) } else { openai::whole(&reply) };
            return http::answer(out, 200, &[], JSON, &whole.to_string());
        }
        let frames = match seen.wire {
            Wire::Anthropic => anthropic::frames(&reply),
            Wire::OpenAi => openai::frames(&reply, seen.json["stream_options"]["include_usage"] == true),
        };
        let mut events = http::Events::start(out, made.chopped)?;
        let trouble = made.trouble.map(|(at, trouble)| (at.min(frames.len()), trouble));
        for index in 0..=frames.len() {
            match trouble.filter(|(at, _)| *at == index).map(|(_, trouble)| trouble) {
                None => {}
                Some(Trouble::Dies) => return Err(ErrorKind::ConnectionAborted.into()),
                Some(Trouble::Hangs) => self.hang(events.socket())?,
                Some(Trouble::Ends) => break,
                Some(Trouble::Fails) => {
                    events.send(overloaded(seen.wire).as_bytes())?;
                    break;
                }
                Some(Trouble::Garbage) => {
                    events.send(
                        b"event: oops\ndata: {\"type\": \"mess\ndata \xff\xfe\n\n: \n\ndata: [1, {}]\n\n<html>\n\n",
                    )?;
                    break;
                }
            }
            let Some(frame) = frames.get(index) else { break };
            if let Some(pace) = made.pace {
                pause(events.socket(), pace)?;
            }
            if frame.usage.is_some() {
                self.report(seen, frame.usage);
            }
            events.send(frame.bytes.as_bytes())?;
        }
        events.finish()
    }

    fn report(&self, seen: &Seen, usage: Option<Usage>) {
        self.state().usages[seen.number - 1] = usage;
    }

    /// Ids, signatures, the cut at `max_tokens`, and the usage.
    fn reply(&self, made: &mut Move, seen: &Seen) -> Reply {
        let prefix = if seen.wire == Wire::Anthropic { "toolu" } else { "call" };
        for (index, part) in made.parts.iter_mut().enumerate() {
            match part {
                Part::Call { id, .. } if id.is_empty() => *id = format!("{prefix}_{:05}_{index}", seen.number),
                Part::Thinking { signature, text } => {
                    *signature = format!("EqQB+{:05}/{index}/{:08x}==", seen.number, text.len());
                }
                _ => {}
            }
        }
        let most = seen.max_tokens.unwrap_or(u64::MAX);
        let calls = made.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        let usual = if calls { Stop::Call } else { Stop::End };
        let stop = if !made.unbounded && cut(&mut made.parts, most) {
            Stop::Length
        } else {
            made.stop.take().unwrap_or(usual)
        };
        let mut state = self.state();
        state.audit.sent(seen.wire, &made.parts);
        let input = state.caches.charge(seen.wire, &seen.model, &seen.pieces);
        let usage = Usage { output: output(&mut made.parts).min(most), ..input };
        let usage = match made.report {
            Report::Nothing => None,
            Report::Exactly(usage) => Some(usage),
            Report::Times(factor) => {
                let usage = usage.times(factor);
                Some(Usage { output: usage.output.min(most), ..usage })
            }
        };
        Reply { number: seen.number, model: seen.model.clone(), parts: std::mem::take(&mut made.parts), stop, usage }
    }

    /// Waits until the test releases it. An error when the client or the server ended the connection meanwhile.
    fn hang(&self, stream: &TcpStream) -> io::Result<()> {
        let released = Arc::new(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?);
        self.state().hanging.push(Arc::clone(&released));
        self.changed.notify_all();
        let mut watched = [PollFd::new(stream, PollFlags::RDHUP), PollFd::new(&*released, PollFlags::IN)];
        let polled = rustix::event::poll(&mut watched, None);
        let is_released = !watched[1].revents().is_empty();
        self.state().hanging.retain(|other| !Arc::ptr_eq(other, &released));
        polled?;
        if is_released { Ok(()) } else { Err(ErrorKind::ConnectionAborted.into()) }
    }
}

/// An error when the connection ended meanwhile.
fn pause(stream: &TcpStream, pace: std::time::Duration) -> io::Result<()> {
    let pace = Timespec::try_from(pace).map_err(|_| ErrorKind::InvalidInput)?;
    match rustix::event::poll(&mut [PollFd::new(stream, PollFlags::RDHUP)], Some(&pace))? {
        0 => Ok(()),
        _ => Err(ErrorKind::ConnectionAborted.into()),
    }
}

fn fail(failure: &Failure, seen: &Seen, out: &mut TcpStream) -> io::Result<()> {
    let headers: Vec<_> = failure.retry_after.iter().map(|value| ("retry-after", value.clone())).collect();
    let (kind, body) = match failure.kind {
        FailureKind::Page => ("text/html", "<!doctype html><title>Sign in</title><p>Sign in to go on.".to_owned()),
        FailureKind::Overflow => {
            let tokens = seen.pieces.tokens();
            (JSON, overflow(seen.wire, tokens, tokens.saturating_sub(1)).to_string())
        }
        FailureKind::Error => (JSON, error(seen.wire, failure.status, failure.code.as_deref(), &failure.message)),
    };
    http::answer(out, failure.status, &headers, kind, &body)
}

fn refuse(wire: Wire, out: &mut TcpStream, status: u16, message: &str) -> io::Result<()> {
    http::answer(out, status, &[], JSON, &error(wire, status, None, message))
}

fn error(wire: Wire, status: u16, code: Option<&str>, message: &str) -> String {
    match wire {
        Wire::Anthropic => anthropic::error(status, message).to_string(),
        Wire::OpenAi => openai::error(status, code, message).to_string(),
    }
}

fn overloaded(wire: Wire) -> String {
    let data = error(wire, 529, None, "Overloaded");
    if wire == Wire::Anthropic { format!("event: error\ndata: {data}\n\n") } else { format!("data: {data}\n\n") }
}

fn overflow(wire: Wire, tokens: u64, window: u64) -> Value {
    match wire {
        Wire::Anthropic => anthropic::overflow(tokens, window),
        Wire::OpenAi => openai::overflow(tokens, window),
    }
}

fn models(wire: Wire, rules: &Rules) -> Value {
    let usual = ["scripted".to_owned()];
    let names = if rules.models.is_empty() { &usual[..] } else { &rules.models };
    let one = |name: &String| match wire {
        Wire::Anthropic => {
            json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"})
        }
        Wire::OpenAi => json!({"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "tests"}),
    };
    let data: Vec<_> = names.iter().map(one).collect();
    match wire {
        Wire::Anthropic => json!({"data": data, "has_more": false, "first_id": names.first(), "last_id": names.last()}),
        Wire::OpenAi => json!({"object": "list", "data": data}),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}
