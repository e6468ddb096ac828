//! What the tests share: settings for a server on loopback, a ledger in memory, someone who waits.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use model::{Key, ModelSettings, Panel, Price, ProviderSettings, Settings, Wire};
use serde_json::json;
use support::model::Rules;
use task::Redactor;
use task::port::{
    Arguments, Block, CallId, Ledger, LedgerError, Message, Model, ModelCall, ModelError, Origin, Reply, Reservation,
    Role, Said, Spent, Stage, Told, ToolSpec, Waiting,
};

pub const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::Openai];

pub fn told(text: &str) -> Told {
    Told::new(Origin::Product, text, usize::MAX, &Redactor::default())
}

pub fn text(text: &str) -> Block {
    Block::Text { told: told(text), stable: false }
}

pub fn user(blocks: Vec<Block>) -> Message {
    Message { role: Role::User, blocks }
}

/// What a caller keeps of a reply.
pub fn kept(reply: &Reply) -> Message {
    let blocks = reply.blocks.iter().map(|said| match said {
        Said::Text(words) => text(words),
        Said::ToolCall { id, name, arguments } => {
            Block::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() }
        }
        Said::Thinking { wire, raw } => Block::Thinking { wire: wire.clone(), raw: raw.clone() },
    });
    Message { role: Role::Assistant, blocks: blocks.collect() }
}

/// A result for each call of a reply.
pub fn results(reply: &Reply, words: &str) -> Message {
    let results = reply.blocks.iter().filter_map(|said| match said {
        Said::ToolCall { id, .. } => Some(Block::ToolResult { id: id.clone(), told: told(words), failed: false }),
        _ => None,
    });
    user(results.collect())
}

pub fn call(words: &str) -> ModelCall {
    ModelCall {
        task: "t1".parse().unwrap(),
        stage: Stage::Code,
        escalated: false,
        system: told("You change code."),
        tools: vec![ToolSpec {
            name: "read".into(),
            description: "Reads a file.".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        messages: vec![user(vec![Block::Text { told: told(words), stable: true }])],
        max_output: 4000,
    }
}

/// Settings whose only model is at this address. It costs a dollar for a million tokens in and two for one out.
pub fn settings(wire: Wire, url: &str) -> Settings {
    let provider = ProviderSettings {
        wire: Some(wire),
        base_url: Some(url.into()),
        key: Some(Key::new(Rules::KEY)),
        ..ProviderSettings::default()
    };
    let model = ModelSettings {
        provider: "here".into(),
        model: "scripted".into(),
        window: Some(100_000),
        max_output: Some(8000),
        price: Some(Price { input: 1.0, output: 2.0, cache_read: Some(0.1), cache_write: Some(1.25) }),
        ..ModelSettings::default()
    };
    Settings {
        common: Some("mine".into()),
        providers: BTreeMap::from([("here".into(), provider)]),
        models: BTreeMap::from([("mine".into(), model)]),
        patience: Some(20),
        ..Settings::default()
    }
}

pub fn panel(wire: Wire, url: &str) -> Panel {
    Panel::new(&settings(wire, url)).unwrap()
}

/// A ledger with a cap on tokens, dollars, or none.
#[derive(Debug, Default)]
pub struct Book {
    pub most_tokens: Option<u64>,
    pub most_microdollars: Option<u64>,
    pub reserved: Vec<Reservation>,
    pub settled: BTreeMap<CallId, Spent>,
    /// Reservations that were refused.
    pub refused: usize,
}

impl Book {
    pub fn tokens(&self) -> u64 {
        self.total(|worst| worst.input + worst.output, Spent::tokens)
    }

    pub fn microdollars(&self) -> u64 {
        self.total(|worst| worst.microdollars.unwrap_or(0), |spent| spent.microdollars.unwrap_or(0))
    }

    fn total(&self, open: impl Fn(&Reservation) -> u64, done: impl Fn(&Spent) -> u64) -> u64 {
        let calls = (1..).zip(&self.reserved);
        calls.map(|(id, worst)| self.settled.get(&CallId(id)).map_or_else(|| open(worst), &done)).sum()
    }

    pub fn spent(&self, call: u64) -> &Spent {
        &self.settled[&CallId(call)]
    }

    /// Every reservation has its settlement.
    #[track_caller]
    pub fn assert_settled(&self) {
        assert_eq!(self.reserved.len(), self.settled.len(), "{self:?}");
    }
}

impl Ledger for Book {
    fn reserve(&mut self, worst: &Reservation) -> Result<CallId, LedgerError> {
        let tokens = self.tokens() + worst.input + worst.output;
        let microdollars = self.microdollars() + worst.microdollars.unwrap_or(0);
        if self.most_tokens.is_some_and(|most| tokens > most)
            || self.most_microdollars.is_some_and(|most| microdollars > most)
        {
            self.refused += 1;
            return Err(LedgerError::Exceeds("the budget is used up".into()));
        }
        self.reserved.push(worst.clone());
        Ok(CallId(self.reserved.len() as u64))
    }

    fn settle(&mut self, call: CallId, spent: &Spent) -> Result<(), LedgerError> {
        assert!(self.settled.insert(call, *spent).is_none(), "{call:?} is settled twice");
        Ok(())
    }

    fn worst_ratio(&self, model: &str) -> Option<f64> {
        let calls = (1..).zip(&self.reserved).filter(|(_, worst)| worst.model == model);
        let spent = calls.filter_map(|(id, worst)| Some((self.settled.get(&CallId(id))?, worst)));
        let reported = spent.filter(|(spent, _)| spent.reported);
        reported.map(|(spent, worst)| (spent.tokens() - spent.output) as f64 / worst.counted as f64).reduce(f64::max)
    }
}

/// Someone who waits, until told otherwise.
#[derive(Debug, Default)]
pub struct Listener {
    pub over: AtomicBool,
    /// How often it was asked.
    pub asked: AtomicU64,
    pub heard: RefCell<String>,
    pub pauses: RefCell<Vec<(String, Duration)>>,
}

impl Waiting for Listener {
    fn is_over(&self) -> bool {
        self.asked.fetch_add(1, SeqCst);
        self.over.load(SeqCst)
    }

    fn heard(&self, text: &str) {
        self.heard.borrow_mut().push_str(text);
    }

    fn paused(&self, why: &str, wait: Duration) {
        self.pauses.borrow_mut().push((why.to_owned(), wait));
    }
}

/// One who stops waiting when the other end of the channel says so, and tells what happens.
#[derive(Debug)]
pub struct Impatient {
    stop: Receiver<()>,
    pub news: Sender<&'static str>,
    over: AtomicBool,
}

impl Impatient {
    pub fn new() -> (Self, Sender<()>, Receiver<&'static str>) {
        let ((stop, stopped), (news, told)) = (channel(), channel());
        (Self { stop: stopped, news, over: AtomicBool::new(false) }, stop, told)
    }
}

impl Waiting for Impatient {
    fn is_over(&self) -> bool {
        if self.stop.try_recv().is_ok() {
            self.over.store(true, SeqCst);
        }
        self.over.load(SeqCst)
    }

    fn heard(&self, _: &str) {
        let _ = self.news.send("heard");
    }

    fn paused(&self, _: &str, _: Duration) {
        let _ = self.news.send("paused");
    }
}

/// One call with a ledger without limits; every reservation must be settled afterwards.
#[track_caller]
pub fn ask(panel: &Panel, call: &ModelCall) -> (Result<Reply, ModelError>, Book) {
    let mut book = Book::default();
    let reply = panel.call(call, &mut book, &Listener::default());
    book.assert_settled();
    (reply, book)
}

/// The words of a reply that has nothing else.
#[track_caller]
pub fn words(reply: &Reply) -> &str {
    match &reply.blocks[..] {
        [Said::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

pub fn read(path: &str) -> Arguments {
    Arguments::Read(json!({ "path": path }))
}
