//! One attempt at a provider over HTTP: request out, stream in, and what a failure may have cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Request};
use serde_json::Value;
use task::port::{Charge, FaultKind, ModelCall, RawFault, RawReply, Used, Waiting};

use crate::Price;
use crate::choice::Choice;
use crate::error::SettingsError;
use crate::fault::{Complaint, of_event, of_status};
use crate::line::{Answer, Line, Trouble};
use crate::settings::Wire;
use crate::source::Source;
use crate::sse::Reader;
use crate::wire::{Break, Collect, count};
use crate::{anthropic, openai};
use task::port::Profile;

/// A model at the other end of a line.
#[derive(Debug)]
pub(crate) struct Remote {
    choice: Choice,
    line: Arc<Line>,
    headers: HeaderMap,
    dialect: openai::Dialect,
    /// The provider has a place that counts tokens, as far as is known.
    counts: AtomicBool,
}

/// Counting is a convenience: nobody waits long for it.
const LONGEST_COUNT: Duration = Duration::from_secs(10);

impl Remote {
    pub(crate) fn new(choice: Choice, line: Arc<Line>) -> Result<Self, SettingsError> {
        let mut headers = choice.place.headers()?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let dialect = openai::Dialect::of(&choice.place);
        let counts = AtomicBool::new(choice.place.wire == Wire::Anthropic);
        Ok(Self { choice, line, headers, dialect, counts })
    }

    fn post<'a>(
        &'a self,
        path: &str,
        body: Vec<u8>,
        most: Option<Duration>,
        waiting: &dyn Waiting,
    ) -> Result<Answer<'a>, Trouble> {
        let place = &self.choice.place;
        let mut request = Request::new(Method::POST, place.url(path));
        *request.headers_mut() = self.headers.clone();
        let accept = if most.is_some() { "application/json" } else { "text/event-stream, application/json" };
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accept));
        *request.body_mut() = Some(body.into());
        self.line.ask(self.line.client(place.is_tls()), request, most, waiting)
    }

    fn fault(&self, trouble: Trouble, charge: Charge) -> RawFault {
        let place = format!("{}, {}", self.choice.place.shown(), self.choice.id);
        let passing = FaultKind::Passing { after: None };
        let (words, kind, charge) = match trouble {
            // No byte of the request left this machine.
            Trouble::Unreached(words) => (format!("cannot be reached: {words}"), passing, Charge::Nothing),
            Trouble::Untrusted(words) => (
                format!(
                    "its certificate is not trusted ({words}): check base_url, and the certificates of this machine"
                ),
                FaultKind::Refused,
                Charge::Nothing,
            ),
            // The request was sent; what the provider did with it nobody said.
            Trouble::Lost(words) => (format!("the answer broke off: {words}"), passing, charge),
            Trouble::Flood => ("the answer is larger than any answer".to_owned(), FaultKind::Refused, charge),
            Trouble::Ended => ("the call was ended".to_owned(), FaultKind::Ended, charge),
        };
        RawFault { why: self.choice.place.clean(&format!("{place}: {words}")), kind, charge }
    }

    /// Reads the stream, or an answer that came whole.
    fn read(&self, mut answer: Answer<'_>, waiting: &dyn Waiting) -> Result<RawReply, RawFault> {
        let mut collector: Box<dyn Collect> = match self.choice.place.wire {
            Wire::Anthropic => Box::new(anthropic::Collector::default()),
            Wire::Openai => Box::new(openai::Collector::default()),
        };
        let mut events = Reader::default();
        let mut body = Vec::new();
        let mut is_stream = None;
        let mut has_begun = false;
        let mut heard = |text: &str| waiting.heard(text);
        loop {
            let bytes = match answer.next(waiting) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                // The model had ended; only what stands behind the end is missing.
                Err(Trouble::Lost(_)) if collector.is_whole() => break,
                Err(trouble) => return Err(self.fault(trouble, charge(&*collector))),
            };
            if is_stream != Some(true) {
                body.extend_from_slice(&bytes);
                is_stream = is_stream.or(looks_like_stream(&body));
            }
            let new = match is_stream {
                Some(true) if !body.is_empty() => std::mem::take(&mut body),
                Some(true) => bytes,
                _ => continue,
            };
            let found = events.read(&new).map_err(|_| self.fault(Trouble::Flood, charge(&*collector)))?;
            for event in found {
                match collector.take(&event, &mut heard) {
                    Ok(true) => return Ok(collector.finish()),
                    Ok(false) => has_begun = true,
                    // What comes behind the end of an answer takes nothing from it.
                    Err(_) if collector.is_whole() => return Ok(collector.finish()),
                    Err(broken) => return Err(self.broken(broken, has_begun, &*collector)),
                }
            }
        }
        if is_stream != Some(true) {
            return self.read_whole(&body, collector, &mut heard);
        }
        if let Some(event) = events.rest() {
            collector.take(&event, &mut heard).map_err(|broken| self.broken(broken, has_begun, &*collector))?;
        }
        if collector.is_whole() {
            return Ok(collector.finish());
        }
        Err(self.fault(Trouble::Lost("the stream ended before the model had".to_owned()), charge(&*collector)))
    }

    /// A body without events: the JSON of servers that do not stream, or nothing that a model says.
    fn read_whole(
        &self,
        body: &[u8],
        mut collector: Box<dyn Collect>,
        heard: &mut dyn FnMut(&str),
    ) -> Result<RawReply, RawFault> {
        if body.is_empty() {
            return Err(self.fault(Trouble::Lost("nothing came".to_owned()), Charge::Unknown));
        }
        let Ok(json) = serde_json::from_str::<Value>(&String::from_utf8_lossy(body)) else {
            // A page of something that sits between, such as one that wants a password: no model was asked.
            let words = self.choice.place.clean(&Complaint::from_body(body).message);
            let why = format!(
                "{} answers for {} with what is no answer of a model ({words}): check base_url, and what is in between",
                self.choice.place.shown(),
                self.choice.id
            );
            return Err(RawFault { why, kind: FaultKind::Refused, charge: Charge::Nothing });
        };
        match collector.take_whole(&json, heard) {
            Ok(()) => Ok(collector.finish()),
            Err(broken) => Err(self.broken(broken, false, &*collector)),
        }
    }

    fn broken(&self, broken: Break, has_begun: bool, collector: &dyn Collect) -> RawFault {
        match broken {
            Break::Error(error) => of_event(&self.choice, &error, has_begun, charge(collector)),
            Break::Garbage => {
                self.fault(Trouble::Lost("something came that is no part of an answer".to_owned()), charge(collector))
            }
        }
    }
}

/// What an answer that broke off costs: input once it was counted, and output up to its maximum.
fn charge(collector: &dyn Collect) -> Charge {
    collector.used().map_or(Charge::Unknown, |used: Used| Charge::Input(used))
}

/// Whether a body consists of events; `None` while it could be either. Content types are not to be relied on.
fn looks_like_stream(body: &[u8]) -> Option<bool> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body).trim_ascii_start();
    let begins = ["data", "event", "id", "retry", ":"];
    if begins.iter().any(|word| body.starts_with(word.as_bytes())) {
        return Some(true);
    }
    let may_become = begins.iter().any(|word| word.as_bytes().starts_with(body));
    (!may_become).then_some(false)
}

impl Source for Remote {
    fn profile(&self) -> Profile {
        self.choice.profile()
    }

    fn price(&self) -> Option<&Price> {
        self.choice.price.as_ref()
    }

    /// By the provider's own place for it. Whatever goes wrong there, the call itself will say so.
    fn count(&self, call: &ModelCall, waiting: &dyn Waiting) -> Option<u64> {
        if !self.counts.load(Relaxed) {
            return None;
        }
        let body = anthropic::count_body(&self.choice, call);
        let answer = self.post("messages/count_tokens", body, Some(LONGEST_COUNT), waiting).ok()?;
        let status = answer.status;
        let body = answer.error_body(waiting).ok()?;
        if matches!(status.as_u16(), 404 | 405 | 501) {
            self.counts.store(false, Relaxed);
        }
        let json: Value = serde_json::from_slice(&body).ok().filter(|_| status.is_success())?;
        count(&json, "/input_tokens").filter(|tokens| *tokens > 0)
    }

    fn attempt(&self, call: &ModelCall, max_output: u64, waiting: &dyn Waiting) -> Result<RawReply, RawFault> {
        loop {
            let (path, body) = match self.choice.place.wire {
                Wire::Anthropic => ("messages", anthropic::body(&self.choice, call, max_output)),
                Wire::Openai => ("chat/completions", openai::body(&self.choice, &self.dialect, call, max_output)),
            };
            let answer = self.post(path, body, None, waiting);
            let answer = answer.map_err(|trouble| self.fault(trouble, Charge::Unknown))?;
            if answer.status.is_success() {
                let mut reply = self.read(answer, waiting)?;
                if reply.model.is_empty() {
                    reply.model.clone_from(&self.choice.id);
                }
                return Ok(reply);
            }
            let (status, headers) = (answer.status, answer.headers.clone());
            let body = answer.error_body(waiting).map_err(|trouble| self.fault(trouble, Charge::Nothing))?;
            let complaint = Complaint::from_body(&body);
            let fault = of_status(&self.choice, status, &headers, &complaint);
            // A refusal costs nothing, so asking in other words stays within the reservation.
            let is_wording = matches!(status.as_u16(), 400 | 422) && fault.kind == FaultKind::Refused;
            if !(is_wording && self.choice.place.wire == Wire::Openai && self.dialect.learn(&complaint.message)) {
                return Err(fault);
            }
        }
    }
}
