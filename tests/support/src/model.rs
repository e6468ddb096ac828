//! A language model that a test plays: a real HTTP server with server-sent events, on loopback, in this process.
//!
//! It speaks the Messages API of Anthropic (`/v1/messages`, `/v1/messages/count_tokens`) and chat completions of
//! OpenAI and its kin (`/v1/chat/completions`), streamed or whole, and `/v1/models`. A [`Script`] says what it answers.
//! Every request is checked against the wire and against [`Rules`]; what is wrong is a violation, and a server that is
//! dropped with violations nobody asked for panics. [`usage`] says how tokens are counted.
//!
//! ```
//! use serde_json::json;
//! use support::model::{Rules, ScriptedModel, call, say, status};
//!
//! let model = ScriptedModel::start_with(
//!     Rules::default().forbid("canary-secret").may_compact(),
//!     [
//!         status(429).retry_after(0),
//!         say("I look first.").call("read", json!({"path": "src/lib.rs"})),
//!         call("done", json!({})).if_result("read").expect("pub fn").usage_factor(1.5),
//!     ],
//! );
//! let url = model.base_url();
//! // ... run what is tested against `url`, with the key `Rules::KEY` ...
//! assert_eq!(model.totals().sent(), 0);
//! assert_eq!(model.left(), 3);
//! model.assert_clean();
//! # drop(url);
//! ```

mod anthropic;
mod audit;
mod beginnings;
mod cable;
mod conversation;
mod door;
mod http;
mod moves;
mod openai;
mod parse;
mod reply;
mod rules;
mod script;
mod seen;
mod serve;
pub mod usage;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

pub use beginnings::{
    call, calls, context_overflow, empty, filtered, garbage, hang, page, raw_call, redacted_thinking, refuse, say,
    status, thinking,
};
pub use cable::Cable;
pub use moves::Move;
pub use rules::Rules;
pub use script::Script;
pub use seen::{Block, Message, Role, Seen, Wire};
pub use usage::Usage;

use door::Door;
use serve::{Shared, State};

/// How long a test waits for something that is about to happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. Dropping it ends its connections and threads.
#[derive(Debug)]
pub struct ScriptedModel {
    shared: Arc<Shared>,
    door: Option<Door>,
}

impl ScriptedModel {
    /// With the strict rules.
    pub fn start(script: impl Into<Script>) -> Self {
        Self::start_with(Rules::default(), script)
    }

    pub fn start_with(rules: Rules, script: impl Into<Script>) -> Self {
        let shared = Arc::new(Shared::new(rules, script.into()));
        let own = Arc::clone(&shared);
        Self { shared, door: Some(Door::open(move |stream| own.serve(stream))) }
    }

    pub fn address(&self) -> SocketAddr {
        self.door().address()
    }

    /// `http://127.0.0.1:PORT`. The paths of both wires are known with and without `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// How many requests for an answer came, whatever came of them.
    pub fn requests(&self) -> usize {
        self.shared.state().seen.len()
    }

    /// How many times tokens were counted.
    pub fn counted(&self) -> usize {
        self.shared.state().counted
    }

    pub fn seen(&self) -> Vec<Arc<Seen>> {
        self.shared.state().seen.clone()
    }

    /// For each request, the last usage that was sent to its client; none where there was none.
    pub fn usages(&self) -> Vec<Option<Usage>> {
        self.shared.state().usages.clone()
    }

    /// The sum of `usages`.
    pub fn totals(&self) -> Usage {
        let mut totals = Usage::default();
        self.usages().into_iter().flatten().for_each(|usage| totals += usage);
        totals
    }

    /// What was asked, a line for each request: for whoever has to find out why a scenario went another way.
    pub fn transcript(&self) -> String {
        let line = |(seen, usage): (&Arc<Seen>, Option<Usage>)| {
            let last: String = seen.last_text().chars().take(200).collect();
            let usage = usage.map_or("no usage".to_owned(), |usage| format!("{usage:?}"));
            format!(
                "{} {:?} {}, {} messages: {last:?} ({usage})\n",
                seen.number,
                seen.wire,
                seen.model,
                seen.messages.len()
            )
        };
        self.seen().iter().zip(self.usages()).map(line).collect()
    }

    /// How often the messages of a conversation were rewritten.
    pub fn rewrites(&self) -> usize {
        self.shared.state().audit.conversations.rewrites
    }

    /// Moves of a list that were not made.
    pub fn left(&self) -> usize {
        self.shared.script.lock().unwrap_or_else(PoisonError::into_inner).left()
    }

    /// From here on this text may stand in no request.
    pub fn forbid(&self, text: impl Into<String>) {
        self.shared.state().forbidden.push(text.into());
    }

    /// What was wrong with the requests so far, in sentences.
    pub fn violations(&self) -> Vec<String> {
        let mut state = self.shared.state();
        state.asked = true;
        state.violations.clone()
    }

    /// # Panics
    /// When there are violations.
    #[track_caller]
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "requests were wrong:\n{}\n\n{}", violations.join("\n"), self.transcript());
    }

    /// Lets go on whatever hangs now.
    pub fn release(&self) {
        for waiting in self.shared.state().hanging.drain(..) {
            rustix::io::write(&*waiting, &1_u64.to_ne_bytes()).unwrap();
        }
    }

    /// # Panics
    /// When no answer hangs within a minute.
    #[track_caller]
    pub fn wait_for_hang(&self) {
        self.wait("an answer hangs", |state| !state.hanging.is_empty());
    }

    /// # Panics
    /// When so many requests do not come within a minute.
    #[track_caller]
    pub fn wait_for_requests(&self, number: usize) {
        self.wait(&format!("{number} requests came"), |state| state.seen.len() >= number);
    }

    /// As if the provider's machine had died: every connection ends, new ones are refused.
    pub fn kill(&self) {
        self.door().shut();
    }

    /// Takes connections again, at the same address, with what is left of the script.
    pub fn revive(&self) {
        self.door().reopen();
    }

    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&State) -> bool) {
        let waiting = |state: &mut State| !condition(state);
        let waited = self.shared.changed.wait_timeout_while(self.shared.state(), PATIENCE, waiting);
        let (state, late) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        assert!(!late.timed_out(), "waited in vain until {what}");
    }

    fn door(&self) -> &Door {
        self.door.as_ref().unwrap()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.door = None;
        let asked = self.shared.state().asked;
        if !asked && !std::thread::panicking() {
            self.assert_clean();
        }
    }
}
