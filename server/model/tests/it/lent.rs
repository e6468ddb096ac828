//! Models that somebody else reaches, such as an editor: the same reservations, settlements and retries around them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::Metered;
use task::port::{
    Charge, FaultKind, Model, ModelCall, ModelError, Profile, RawFault, RawModel, RawReply, Said, Stage, Stop, Used,
    Waiting,
};

use crate::home::*;

type Answers = VecDeque<Result<RawReply, RawFault>>;

/// Answers from a list, and remembers how much room each answer had.
struct Editor {
    answers: Mutex<Answers>,
    asked: Arc<Mutex<Vec<u64>>>,
}

impl RawModel for Editor {
    fn profile(&self, _: Stage, escalated: bool) -> Option<Profile> {
        let name = "editor/some".to_owned();
        (!escalated).then(|| Profile { name, window: 8000, max_output: 1500, priced: true, identity: "editor".into() })
    }

    fn attempt(&self, call: &ModelCall, _: &dyn Waiting) -> Result<RawReply, RawFault> {
        self.asked.lock().unwrap().push(call.max_output);
        self.answers.lock().unwrap().pop_front().unwrap()
    }
}

fn metered(answers: impl Into<Answers>) -> (Metered, Arc<Mutex<Vec<u64>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let editor = Editor { answers: Mutex::new(answers.into()), asked: Arc::clone(&asked) };
    (Metered::around(Box::new(editor), Duration::from_secs(5)), asked)
}

fn said(used: Option<Used>) -> Result<RawReply, RawFault> {
    let blocks = vec![Said::ToolCall { id: String::new(), name: "read".into(), arguments: read("a") }];
    Ok(RawReply { blocks, stop: Stop::ToolCalls, model: "some".into(), used })
}

fn fault(kind: FaultKind, charge: Charge) -> Result<RawReply, RawFault> {
    Err(RawFault { why: "the editor is busy".into(), kind, charge })
}

#[test]
fn what_nobody_counts_is_charged_as_reserved_and_has_no_price() {
    let (model, asked) = metered([said(None)]);
    let mut book = Book::default();
    let reply = model.call(&call("go"), &mut book, &Listener::default()).unwrap();
    let worst = &book.reserved[0];
    assert_eq!((reply.spent.input, reply.spent.output), (worst.input, worst.output));
    assert_eq!((reply.spent.reported, reply.spent.microdollars, worst.microdollars), (false, None, None));
    assert_eq!(*asked.lock().unwrap(), [1500]);
    assert!(!model.profile(Stage::Code, false).unwrap().priced);
    // A call without an id gets one.
    assert!(matches!(&reply.blocks[0], Said::ToolCall { id, .. } if !id.is_empty()));
}

#[test]
fn a_passing_fault_is_asked_again_and_charged_as_it_says() {
    let used = Used { input: 30, output: 4, ..Used::default() };
    let passing = FaultKind::Passing { after: Some(Duration::from_millis(10)) };
    let (model, asked) = metered([
        fault(passing, Charge::Nothing),
        fault(passing, Charge::Unknown),
        fault(passing, Charge::Input(used)),
        said(Some(used)),
    ]);
    let mut book = Book::default();
    let listener = Listener::default();
    let reply = model.call(&call("go"), &mut book, &listener).unwrap();
    book.assert_settled();
    let worst = book.reserved[0].clone();
    let spent: Vec<_> = book.settled.values().map(|spent| (spent.input, spent.output, spent.reported)).collect();
    assert_eq!(spent, [(0, 0, false), (worst.input, worst.output, false), (30, worst.output, false), (30, 4, true)]);
    assert_eq!(reply.spent.tokens(), book.tokens());
    assert_eq!((asked.lock().unwrap().len(), listener.pauses.borrow().len()), (4, 3));
}

#[test]
fn other_faults_end_the_call() {
    for (kind, expected) in [
        (FaultKind::Overflow, "the conversation is longer than the model's window: the editor is busy"),
        (FaultKind::Refused, "the editor is busy"),
        (FaultKind::Ended, "the call was ended"),
    ] {
        let (model, asked) = metered([fault(kind, Charge::Nothing)]);
        let mut book = Book::default();
        let error = model.call(&call("go"), &mut book, &Listener::default()).unwrap_err();
        assert_eq!((error.to_string().as_str(), asked.lock().unwrap().len()), (expected, 1));
        assert_eq!((book.settled.len(), book.tokens()), (1, 0));
    }
    let (model, _) = metered([]);
    let hard = ModelCall { escalated: true, ..call("go") };
    let error = model.call(&hard, &mut Book::default(), &Listener::default()).unwrap_err();
    assert!(matches!(error, ModelError::Refused(_)));
}
