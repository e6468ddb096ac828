//! The line to a provider: one request, the bytes of one answer. Whoever waits is asked twenty times a second whether it
//! still wants to.

use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Client, Request, StatusCode};
use task::port::Waiting;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::error::SettingsError;

/// Clients and what drives them. Dropping it ends every connection.
#[derive(Debug)]
pub(crate) struct Line {
    /// Only `drop` takes it.
    runtime: Option<Runtime>,
    tls: Option<Client>,
    /// Without TLS there is only one's own machine and network, which no proxy of the outside world reaches.
    near: Client,
    idle: Duration,
}

/// Why bytes do not come.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Nothing was sent.
    Unreached(String),
    /// Nothing was sent, because whoever answered is not who it should be.
    Untrusted(String),
    /// The request was sent, at least in part.
    Lost(String),
    /// Too many of them.
    Flood,
    /// `Waiting::is_over` said so.
    Ended,
}

/// An answer, to be read to its end.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    line: &'a Line,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    response: reqwest::Response,
    left: usize,
}

const TICK: Duration = Duration::from_millis(50);
/// Bytes of one answer at most.
const MOST: usize = 64 * 1024 * 1024;
/// A body that only says why there is no answer.
const MOST_OF_ERROR: usize = 64 * 1024;
const LONGEST_ERROR: Duration = Duration::from_secs(10);

impl Line {
    pub(crate) fn new(connect: Duration, idle: Duration, needs_tls: bool) -> Result<Self, SettingsError> {
        // There may be one already; any of them will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            Client::builder()
                .user_agent(concat!("understudy/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(connect)
                // A header with a key must never follow a redirect.
                .redirect(reqwest::redirect::Policy::none())
        };
        let failed = |error: reqwest::Error| SettingsError::Client(chain(&error));
        // Without TLS the certificates of the machine need not be there.
        let near = builder().tls_certs_only([]).no_proxy().build().map_err(failed)?;
        let tls = if needs_tls { Some(builder().build().map_err(failed)?) } else { None };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| SettingsError::Client(error.to_string()))?;
        Ok(Self { runtime: Some(runtime), tls, near, idle })
    }

    pub(crate) fn client(&self, is_tls: bool) -> &Client {
        self.tls.as_ref().filter(|_| is_tls).unwrap_or(&self.near)
    }

    /// Sends a request and waits for the head of the answer, no longer than `most` where it is given.
    pub(crate) fn ask(
        &self,
        client: &Client,
        request: Request,
        most: Option<Duration>,
        waiting: &dyn Waiting,
    ) -> Result<Answer<'_>, Trouble> {
        let sending = client.execute(request);
        let response = self.wait(Box::pin(sending), most.unwrap_or(self.idle), waiting)?;
        let response = response.map_err(|error| {
            let words = chain(&error);
            match error.is_connect() || error.is_builder() {
                // Only as words, says the library that checks it.
                true if words.contains("certificate") => Trouble::Untrusted(words),
                true => Trouble::Unreached(words),
                false => Trouble::Lost(words),
            }
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer { line: self, status, headers, response, left: MOST })
    }

    /// The value of a future, unless it takes too long or nobody wants it any more.
    fn wait<F: Future + Unpin>(
        &self,
        mut future: F,
        most: Duration,
        waiting: &dyn Waiting,
    ) -> Result<F::Output, Trouble> {
        let Some(runtime) = &self.runtime else { return Err(Trouble::Ended) };
        let start = Instant::now();
        loop {
            if waiting.is_over() {
                return Err(Trouble::Ended);
            }
            match runtime.block_on(async { timeout(TICK, &mut future).await }) {
                Ok(value) => return Ok(value),
                Err(_) if start.elapsed() < most => {}
                Err(_) => return Err(Trouble::Lost(format!("no byte came for {} seconds", most.as_secs()))),
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Waiting for its thread is forbidden inside another runtime, and needless anywhere.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Answer<'_> {
    /// The next bytes; `None` at the end.
    pub(crate) fn next(&mut self, waiting: &dyn Waiting) -> Result<Option<Vec<u8>>, Trouble> {
        let bytes = self.line.wait(Box::pin(self.response.chunk()), self.line.idle, waiting)?;
        let bytes = bytes.map_err(|error| Trouble::Lost(chain(&error)))?;
        let Some(bytes) = bytes else { return Ok(None) };
        self.left = self.left.checked_sub(bytes.len()).ok_or(Trouble::Flood)?;
        Ok(Some(bytes.to_vec()))
    }

    /// The beginning of the body of an error, as far as it comes in time.
    pub(crate) fn error_body(mut self, waiting: &dyn Waiting) -> Result<Vec<u8>, Trouble> {
        let (mut body, start) = (Vec::new(), Instant::now());
        while body.len() < MOST_OF_ERROR && start.elapsed() < LONGEST_ERROR {
            match self.line.wait(Box::pin(self.response.chunk()), LONGEST_ERROR, waiting) {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Err(Trouble::Ended) => return Err(Trouble::Ended),
                // The status alone says enough.
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(MOST_OF_ERROR);
        Ok(body)
    }
}

/// An error with its causes, without the address.
fn chain(error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        words.push(next.to_string());
        cause = next.source();
    }
    words.dedup();
    if words.is_empty() { "the connection failed".to_owned() } else { words.join(": ") }
}
