//! The loop between a task and the models that the client lends.

use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;
use task::Redactor;
use task::port::{FaultKind, ModelCall, Origin, RawModel as _, Said, Stage, Told, Waiting};

use crate::loop_tests::Bench;
use crate::owed_tests::{Home, TASK, rich};
use crate::transport::Outgoing;

/// Somebody who waits for a model until told otherwise.
struct Patient<'a>(&'a dyn Fn() -> bool);

impl Waiting for Patient<'_> {
    fn is_over(&self) -> bool {
        (self.0)()
    }

    fn heard(&self, _: &str) {}

    fn paused(&self, _: &str, _: Duration) {}
}

fn call() -> ModelCall {
    ModelCall {
        task: TASK.parse().unwrap(),
        stage: Stage::Explain,
        escalated: false,
        system: Told::new(Origin::Product, "be brief", 100, &Redactor::default()),
        tools: Vec::new(),
        messages: Vec::new(),
        max_output: 100,
    }
}

#[test]
fn a_model_of_the_client_is_asked_and_a_late_answer_is_dropped() {
    let home = Home::new();
    let mut bench = home.bench(rich());
    let lent = bench.main.crew.lent();
    let asked = |bench: &mut Bench| {
        let mut found = None;
        bench.until(|bench| {
            while let Ok(outgoing) = bench.outgoing.try_recv() {
                if let Outgoing::Model(params, pieces) = outgoing {
                    found = Some((params, pieces));
                }
            }
            found.is_some()
        });
        found.unwrap()
    };
    let (over, is_over) = channel::<()>();
    let other = lent.clone();
    let first = std::thread::spawn(move || {
        let profile = other.profile(Stage::Explain, false).unwrap();
        assert_eq!((profile.name.as_str(), profile.priced), ("editor/lent", false));
        assert!(other.profile(Stage::Explain, true).is_none());
        other.attempt(&call(), &Patient(&|| false))
    });
    let (params, pieces) = asked(&mut bench);
    assert_eq!((&params["id"], &params["system"], &params["max_output"]), (&json!(1), &json!("be brief"), &json!(100)));
    let answer = json!({"blocks": [{"kind": "text", "text": "yes"}], "usage": {"input": 3, "output": 1}});
    pieces.send(crate::lent::Piece::Done(Ok(answer))).unwrap();
    let reply = first.join().unwrap().unwrap();
    assert_eq!((&reply.blocks[..], reply.used.unwrap().output), (&[Said::Text("yes".into())][..], 1));

    let second = std::thread::spawn(move || lent.attempt(&call(), &Patient(&|| is_over.try_recv().is_ok())));
    let (_, pieces) = asked(&mut bench);
    over.send(()).unwrap();
    assert_eq!(second.join().unwrap().unwrap_err().kind, FaultKind::Ended);
    let mut told = Vec::new();
    bench.until(|bench| {
        while let Ok(outgoing) = bench.outgoing.try_recv() {
            if let Outgoing::ModelOver(over) = outgoing {
                told.push(over.id);
            }
        }
        !told.is_empty()
    });
    assert_eq!(told, [2]);
    assert!(pieces.send(crate::lent::Piece::Done(Ok(json!({})))).is_err(), "nobody waits for it");
}
