//! Streams that die, at every event: repeated as a whole, never half used, and charged.

use model::Wire;
use serde_json::json;
use support::model::{Move, ScriptedModel, garbage, say};
use task::port::{Model, ModelError, Said, Stop};

use crate::home::*;

fn whole() -> Move {
    say("I look.").call("read", json!({"path": "a"}))
}

/// How the stream of `whole` can end early, with the number of its events.
const TROUBLES: [fn(Move, usize) -> Move; 3] = [Move::dies_after, Move::ends_after, Move::fails_after];

/// Events until nothing is left to be said on either wire: whoever has them has the answer.
fn events_until_whole(wire: Wire) -> usize {
    match wire {
        // message_start, ping, three for text, four for the call, message_delta.
        Wire::Anthropic => 10,
        // role, text, call, arguments, finish.
        Wire::Openai => 5,
    }
}

#[test]
fn a_stream_that_dies_is_repeated_as_a_whole_whatever_had_come() {
    for wire in WIRES {
        let most = events_until_whole(wire);
        // The pauses are what takes time: all of them at once.
        std::thread::scope(|scope| {
            for (kind, trouble) in TROUBLES.into_iter().enumerate() {
                for events in 0..=most + 2 {
                    scope.spawn(move || {
                        let place = format!("{wire:?}, trouble {kind} after {events} events");
                        let model = ScriptedModel::start([trouble(whole(), events), whole()]);
                        let (mut book, listener) = (Book::default(), Listener::default());
                        let reply = panel(wire, &model.base_url()).call(&call("go"), &mut book, &listener);
                        let reply = reply.unwrap_or_else(|error| panic!("{place}: {error}"));
                        let calls = reply.blocks.iter().filter(|said| matches!(said, Said::ToolCall { .. }));
                        assert_eq!(
                            (reply.blocks.len(), calls.count(), &reply.stop),
                            (2, 1, &Stop::ToolCalls),
                            "{place}"
                        );
                        book.assert_settled();
                        // An answer that was not whole is none, one that was is not asked for again.
                        assert_eq!(book.reserved.len(), if events < most { 2 } else { 1 }, "{place}");
                        if book.reserved.len() == 2 {
                            let (dead, worst) = (book.spent(1), &book.reserved[0]);
                            // Overloaded before the first word is a status that came late.
                            let free = kind == 2 && events == 0;
                            assert!(free || dead.output == worst.output, "{place}: {dead:?}");
                            assert!(!dead.reported && (dead.tokens() == 0) == free, "{place}: {dead:?}");
                            assert_eq!(reply.spent.tokens(), book.tokens(), "{place}");
                        }
                        // Nothing costs less than what the provider says it used.
                        assert!(book.tokens() >= model.totals().sent() + model.totals().output, "{place}");
                    });
                }
            }
        });
    }
}

#[test]
fn input_that_was_counted_before_the_death_is_charged_as_counted() {
    let model = ScriptedModel::start([whole().dies_after(4), whole()]);
    let (reply, book) = ask(&panel(Wire::Anthropic, &model.base_url()), &call("go"));
    reply.unwrap();
    let (counted, dead) = (model.usages()[0].unwrap(), book.spent(1));
    assert_eq!((dead.input, dead.output), (counted.input, book.reserved[0].output));
    assert!(dead.input < book.reserved[0].input);
}

#[test]
fn garbage_is_no_answer() {
    for wire in WIRES {
        let model = ScriptedModel::start([garbage(), say("better")]);
        let (reply, book) = ask(&panel(wire, &model.base_url()), &call("go"));
        assert_eq!((words(&reply.unwrap()), book.reserved.len()), ("better", 2));
    }
}

#[test]
fn streams_that_always_die_do_not_eat_the_budget_for_ever() {
    let model = ScriptedModel::start([whole().dies_after(3).times(usize::MAX)]);
    let (reply, book) = ask(&panel(Wire::Openai, &model.base_url()), &call("go"));
    assert!(matches!(reply, Err(ModelError::Unavailable(_))));
    assert_eq!((model.requests(), book.reserved.len()), (5, 5));
}

#[test]
fn each_attempt_needs_room_in_the_budget() {
    let model = ScriptedModel::start([whole().dies_after(3).times(usize::MAX)]);
    let mut book = Book { most_tokens: Some(10_000), ..Book::default() };
    let error = panel(Wire::Openai, &model.base_url()).call(&call("go"), &mut book, &Listener::default()).unwrap_err();
    assert!(matches!(error, ModelError::Budget(_)), "{error}");
    assert!(model.requests() >= 2 && book.tokens() <= 10_000);
    book.assert_settled();
}
