//! What a provider's failure means: ask again, give up, or shorten the conversation; and what it may have cost.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;
use task::port::{Charge, FaultKind, RawFault};

use crate::choice::Choice;

/// What an error body says, as far as any wire says it.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    /// `type` and `code`, in lower case, one behind the other.
    code: String,
    pub(crate) message: String,
}

/// A longer pause than anybody means is a mistake.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

impl Complaint {
    pub(crate) fn from_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Value>(&text) {
            Ok(json) => Self::from_json(&json),
            Err(_) if text.trim_start().starts_with('<') => {
                Self { code: String::new(), message: "a page of HTML".to_owned() }
            }
            Err(_) => Self { code: String::new(), message: text.into_owned() },
        }
    }

    pub(crate) fn from_json(json: &Value) -> Self {
        // Google sends a list of one.
        let json = json.get(0).unwrap_or(json);
        let error = [&json["error"], &json["detail"], json].into_iter().find(|value| !value.is_null());
        let error = error.unwrap_or(json);
        let words = ["type", "code", "status"].iter().filter_map(|key| match &error[key] {
            Value::String(word) => Some(word.to_lowercase()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let message = error["message"].as_str().or(error.as_str()).map_or_else(|| error.to_string(), str::to_owned);
        Self { code: words.collect::<Vec<_>>().join(" "), message }
    }

    fn has(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| self.code.contains(word) || message.contains(word))
    }

    /// Every server has words of its own for it.
    fn is_overflow(&self) -> bool {
        self.has(&[
            "context_length_exceeded",
            "exceed_context_size",
            "request_too_large",
            "prompt is too long",
            "exceed context limit",
            "maximum context length",
            "context window",
            "context length",
            "available context size",
            "maximum prompt length",
        ])
    }

    /// Without money asking again does not help, whatever the status says.
    fn is_unpaid(&self) -> bool {
        self.has(&["insufficient_quota", "insufficient_credits", "billing", "credit balance", "insufficient balance"])
    }

    fn is_busy(&self) -> bool {
        self.has(&["overloaded", "rate_limit", "rate limit", "unavailable", "429", "503", "529"])
    }
}

/// A status that is no success. No model has begun to answer then, and providers charge for answers: it costs nothing.
/// The exceptions are 504 and 524, with which something in between says that it stopped waiting for a model which may
/// well have been working.
pub(crate) fn of_status(choice: &Choice, status: StatusCode, headers: &HeaderMap, complaint: &Complaint) -> RawFault {
    let number = status.as_u16();
    let charge = if matches!(number, 504 | 524) { Charge::Unknown } else { Charge::Nothing };
    let place = choice.place.shown();
    let words = choice.place.clean(&complaint.message);
    let (model, key_env) = (&choice.id, choice.place.key_env.as_deref().unwrap_or("key_env"));
    let refused = |why: String| RawFault { why, kind: FaultKind::Refused, charge };
    if complaint.is_overflow() || number == 413 {
        return RawFault { why: format!("{place}, {model}: {words}"), kind: FaultKind::Overflow, charge };
    }
    if complaint.is_unpaid() || number == 402 {
        return refused(format!(
            "{place} answers that the account has no credit left: {words}. Add some there, or use another provider"
        ));
    }
    match number {
        300..=399 => {
            let target = headers.get(LOCATION).and_then(|target| target.to_str().ok()).unwrap_or("nowhere");
            refused(format!(
                "{place} sends requests for {model} on to {}: if that is right, set it as base_url; nothing was sent there",
                choice.place.clean(target)
            ))
        }
        408 | 409 | 425 | 429 | 500..=599 => RawFault {
            why: format!("{place}, {model}: status {number}: {words}"),
            kind: FaultKind::Passing { after: retry_after(headers, SystemTime::now()) },
            charge,
        },
        401 | 403 if !choice.place.has_key() => {
            let name = choice.place.key_env.clone().unwrap_or_else(|| {
                format!("a variable that key_env below [model.providers.{}] names", choice.place.name)
            });
            refused(format!(
                "{place} asks for a key for {model}, and none was sent ({number}: {words}): put one into {name}, its key file or the keyring"
            ))
        }
        401 | 403 => refused(format!(
            "{place} does not take the key for {model} ({number}: {words}): put a valid one into {key_env} or the keyring"
        )),
        404 => refused(format!(
            "{place} does not know {model} ({words}): check the model's id, and whether base_url is right"
        )),
        _ => refused(format!(
            "{place} does not take the request for {model} ({number}: {words}): check the settings of this model"
        )),
    }
}

/// An error in the middle of a stream. Before anything was said, "overloaded" is the place in the queue that a status
/// would have told of, and costs nothing; everything else may have been work.
pub(crate) fn of_event(choice: &Choice, error: &Value, has_begun: bool, charge: Charge) -> RawFault {
    let complaint = Complaint::from_json(error);
    let words = choice.place.clean(&complaint.message);
    let why = format!("{}, {}: {words}", choice.place.shown(), choice.id);
    let charge = if complaint.is_busy() && !has_begun { Charge::Nothing } else { charge };
    let kind = if complaint.is_overflow() {
        FaultKind::Overflow
    } else if complaint.is_unpaid() || complaint.has(&["invalid_request", "authentication", "permission"]) {
        FaultKind::Refused
    } else {
        FaultKind::Passing { after: None }
    };
    RawFault { why, kind, charge }
}

/// Seconds, or a date. OpenAI has a finer field beside it.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let number: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    let fine = text("retry-after-ms").and_then(|text| seconds(text, 0.001));
    let wait = fine.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        seconds(text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            // A date that has passed is now.
            Some(date.duration_since(now).unwrap_or_default())
        })
    });
    wait.map(|wait| wait.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;

    fn choice() -> Choice {
        let settings = Settings::default().with_keys(|_, _| Some("s3cret-key".to_owned()));
        Choice::new(&settings, "openai/gpt-5", task::port::Stage::Code).unwrap()
    }

    fn fault(status: u16, body: &str) -> RawFault {
        let status = StatusCode::from_u16(status).unwrap();
        of_status(&choice(), status, &HeaderMap::new(), &Complaint::from_body(body.as_bytes()))
    }

    #[test]
    fn each_status_has_its_consequence() {
        let passing = FaultKind::Passing { after: None };
        for (status, body, kind, charge) in [
            (429, r#"{"error":{"message":"slow down","type":"rate_limit"}}"#, passing, Charge::Nothing),
            (429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, FaultKind::Refused, Charge::Nothing),
            (500, "", passing, Charge::Nothing),
            (503, "<html>busy</html>", passing, Charge::Nothing),
            (504, "gateway", passing, Charge::Unknown),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#, passing, Charge::Nothing),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
                FaultKind::Overflow,
                Charge::Nothing,
            ),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
                FaultKind::Overflow,
                Charge::Nothing,
            ),
            (429, r#"[{"error":{"message":"x","status":"RESOURCE_EXHAUSTED"}}]"#, passing, Charge::Nothing),
            (413, "", FaultKind::Overflow, Charge::Nothing),
            (400, r#"{"detail":"odd"}"#, FaultKind::Refused, Charge::Nothing),
            (401, r#"{"error":"bad key"}"#, FaultKind::Refused, Charge::Nothing),
            (404, "{}", FaultKind::Refused, Charge::Nothing),
            (302, "", FaultKind::Refused, Charge::Nothing),
        ] {
            let fault = fault(status, body);
            assert_eq!((fault.kind, fault.charge), (kind, charge), "{status} {body}: {}", fault.why);
        }
    }

    #[test]
    fn a_sentence_names_provider_host_model_and_remedy_but_no_key() {
        let why = fault(401, r#"{"error":{"message":"Incorrect API key: s3cret-key"}}"#).why;
        for word in ["openai", "api.openai.com", "gpt-5", "OPENAI_API_KEY"] {
            assert!(why.contains(word), "{why}");
        }
        assert!(!why.contains("s3cret"), "{why}");
    }

    #[test]
    fn a_key_that_was_not_sent_is_not_called_wrong() {
        let settings = "[providers.near]\nbase_url = \"http://127.0.0.1:9/v1\"";
        let settings: Settings = toml::from_str(settings).unwrap();
        let choice = Choice::new(&settings, "near/some", task::port::Stage::Code).unwrap();
        let complaint = Complaint::from_body(br#"{"error":"who are you?"}"#);
        let why = of_status(&choice, StatusCode::UNAUTHORIZED, &HeaderMap::new(), &complaint).why;
        for part in ["none was sent", "key_env below [model.providers.near]", "who are you?"] {
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let date = httpdate::fmt_http_date(now + Duration::from_secs(90));
        for (name, text, wait) in [
            ("retry-after", "7", Some(7000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after", date.as_str(), Some(90_000)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(0)),
            ("retry-after-ms", "1500", Some(1500)),
            ("retry-after", "-3", None),
            ("retry-after", "soon", None),
            ("retry-after", "99999999999", Some(86_400_000)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(text).unwrap());
            assert_eq!(retry_after(&headers, now), wait.map(Duration::from_millis), "{name}: {text}");
        }
    }

    #[test]
    fn an_error_in_a_stream_is_charged_once_something_was_said() {
        let error = json!({"error": {"type": "overloaded_error", "message": "Overloaded"}});
        let early = of_event(&choice(), &error, false, Charge::Unknown);
        assert_eq!((early.kind, early.charge), (FaultKind::Passing { after: None }, Charge::Nothing));
        assert_eq!(of_event(&choice(), &error, true, Charge::Unknown).charge, Charge::Unknown);
        let bad = json!({"error": {"type": "invalid_request_error", "message": "x"}});
        assert_eq!(of_event(&choice(), &bad, false, Charge::Unknown).kind, FaultKind::Refused);
    }
}
