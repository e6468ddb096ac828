//! Whoever waits can stop at any moment, and is obeyed within 300 ms.

use std::time::{Duration, Instant};

use model::{Panel, Wire};
use support::model::{Cable, Move, ScriptedModel, hang, say, status};
use task::port::{Model, ModelError};

use crate::home::*;

const SOON: Duration = Duration::from_millis(300);

/// Begins a call, ends it once `ready` says that it hangs, and gives what it cost.
fn ended(panel: &Panel, ready: impl FnOnce(&std::sync::mpsc::Receiver<&'static str>)) -> Book {
    let (waiting, stop, news) = Impatient::new();
    std::thread::scope(|scope| {
        let asking = scope.spawn(move || {
            let mut book = Book::default();
            let result = panel.call(&call("go"), &mut book, &waiting);
            (result, book, Instant::now())
        });
        ready(&news);
        let start = Instant::now();
        stop.send(()).unwrap();
        let (result, book, end) = asking.join().unwrap();
        assert!(matches!(result, Err(ModelError::Ended)), "{result:?}");
        assert!(end - start < SOON, "{:?}", end - start);
        book.assert_settled();
        book
    })
}

#[test]
fn a_call_ends_while_the_provider_is_silent() {
    for wire in WIRES {
        let model = ScriptedModel::start([hang()]);
        let book = ended(&panel(wire, &model.base_url()), |_| model.wait_for_hang());
        // Nobody knows what the provider did: the worst is charged.
        assert_eq!(book.spent(1).output, book.reserved[0].output);
    }
}

#[test]
fn a_call_ends_in_the_middle_of_an_answer() {
    for wire in WIRES {
        let model = ScriptedModel::start([say("word ".repeat(500)).hangs_after(8)]);
        let book = ended(&panel(wire, &model.base_url()), |news| {
            assert_eq!(news.recv().unwrap(), "heard");
            model.wait_for_hang();
        });
        assert!(book.tokens() > 0 && !book.spent(1).reported);
    }
}

#[test]
fn a_call_ends_during_a_pause_and_costs_nothing() {
    let model = ScriptedModel::start([status(429).retry_after(15)]);
    let book = ended(&panel(Wire::Openai, &model.base_url()), |news| assert_eq!(news.recv().unwrap(), "paused"));
    assert_eq!(book.tokens(), 0);
}

#[test]
fn a_call_ends_while_nobody_counts_its_tokens() {
    let model = ScriptedModel::start([]);
    let cable = Cable::to(model.address());
    cable.silence();
    let panel = panel(Wire::Anthropic, &cable.base_url());
    let (waiting, stop, _news) = Impatient::new();
    stop.send(()).unwrap();
    let mut book = Book::default();
    assert!(matches!(panel.call(&call("go"), &mut book, &waiting), Err(ModelError::Ended)));
    assert!(book.reserved.is_empty());
}

#[test]
fn silence_for_too_long_is_a_death() {
    for (wire, silent) in [(Wire::Openai, hang()), (Wire::Anthropic, say("word ".repeat(90)).hangs_after(4))] {
        let silent: Move = silent;
        let model = ScriptedModel::start([silent, say("awake")]);
        let mut settings = settings(wire, &model.base_url());
        settings.idle_timeout = Some(1);
        let (reply, book) = ask(&Panel::new(&settings).unwrap(), &call("go"));
        assert_eq!(words(&reply.unwrap()), "awake");
        assert_eq!(book.spent(1).output, book.reserved[0].output);
    }
}
