//! No budget is exceeded by one token, whatever a provider reports.

use model::{Panel, Wire};
use proptest::prelude::*;
use serde_json::json;
use support::model::{Move, Rules, ScriptedModel, call as tool, garbage, say, status};
use task::port::{Model, ModelCall, ModelError};

use crate::home::*;

#[test]
fn without_usage_the_reservation_is_charged() {
    for wire in WIRES {
        let model = ScriptedModel::start([say("x").no_usage()]);
        let (reply, book) = ask(&panel(wire, &model.base_url()), &call("go"));
        let (spent, worst) = (reply.unwrap().spent, &book.reserved[0]);
        assert_eq!((spent.input, spent.output, spent.reported), (worst.input, worst.output, false));
        assert_eq!(spent.microdollars, worst.microdollars);
    }
}

#[test]
fn the_worst_case_is_the_count_of_the_provider_or_ours_by_its_ratio() {
    let model = ScriptedModel::start_with(Rules::default(), [say("x")]);
    let (_, book) = ask(&panel(Wire::Anthropic, &model.base_url()), &call("go"));
    let sent = model.usages()[0].unwrap().sent();
    assert_eq!(book.reserved[0].input, (sent as f64 * 1.01).ceil() as u64);
    assert_eq!(model.counted(), 1);

    // Without that place it is asked once and never again.
    let rules = Rules::default().without_count().may_compact();
    let model = ScriptedModel::start_with(rules, [say("x").usage_factor(1.2), say("y").usage_factor(1.4), say("z")]);
    let panel = panel(Wire::Anthropic, &model.base_url());
    let mut book = Book::default();
    for _ in 0..3 {
        panel.call(&call("go"), &mut book, &Listener::default()).unwrap();
    }
    let counted = book.reserved[0].counted;
    let ratio = |call: usize| model.usages()[call].unwrap().sent() as f64 / counted as f64;
    let allowed = [1.5, ratio(0).max(1.0), ratio(0).max(ratio(1)).max(1.0)]
        .map(|ratio| ((counted as f64 * ratio).ceil() * 1.05).ceil() as u64);
    assert_eq!(book.reserved.iter().map(|worst| worst.input).collect::<Vec<_>>(), allowed);
}

#[test]
fn a_smaller_answer_is_asked_for_before_giving_up() {
    for (tokens, output) in [(6000, Some(4000)), (3500, Some(2000)), (1800, Some(1024)), (900, None)] {
        let model = ScriptedModel::start([say("x").times(usize::MAX)]);
        let mut book = Book { most_tokens: Some(tokens), ..Book::default() };
        let panel = panel(Wire::Openai, &model.base_url());
        let result = panel.call(&call("go"), &mut book, &Listener::default());
        match output {
            Some(output) => {
                result.unwrap();
                assert_eq!(model.seen()[0].max_tokens, Some(output));
            }
            None => {
                assert!(matches!(result, Err(ModelError::Budget(_))), "{result:?}");
                assert_eq!(model.requests(), 0, "nothing was sent");
            }
        }
    }
}

#[test]
fn a_model_without_a_price_has_tokens_only() {
    let model = ScriptedModel::start([say("x")]);
    let mut settings = settings(Wire::Openai, &model.base_url());
    settings.common = Some("here/anything".into());
    let panel = Panel::new(&settings).unwrap();
    assert!(!panel.profile(task::port::Stage::Code, false).unwrap().priced);
    let (reply, book) = ask(&panel, &call("go"));
    assert_eq!((reply.unwrap().spent.microdollars, book.reserved[0].microdollars), (None, None));
}

fn moves() -> impl Strategy<Value = Move> {
    let good = ("[a-z {}\\n\"]{0,400}", 0.5..1.5f64, any::<bool>()).prop_map(|(words, factor, calls)| {
        let said = if calls { tool("read", json!({ "path": words })) } else { say(words + "x") };
        said.usage_factor(factor)
    });
    prop_oneof![
        6 => good.clone(),
        1 => good.clone().prop_map(Move::no_usage),
        1 => (good, 0..6usize).prop_map(|(said, events)| said.dies_after(events)),
        1 => Just(garbage()),
        1 => Just(status(429).retry_after(0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_a_provider_reports_never_exceeds_the_budget(
        script in prop::collection::vec(moves(), 1..8),
        wire in prop::sample::select(&WIRES[..]),
        counts in any::<bool>(),
        // What a conversation grows by need not be like what it began with.
        file in "[ -~\n\t]{1,40}",
        size in 1..300usize,
        tokens in 3_000..80_000u64,
        microdollars in 4_000..120_000u64,
    ) {
        let rules = if counts { Rules::default().count_factor(1.5) } else { Rules::default().without_count() };
        let model = ScriptedModel::start_with(rules, script.into_iter().chain([say("end").times(usize::MAX)]).collect::<Vec<_>>());
        let mut settings = settings(wire, &model.base_url());
        settings.patience = Some(1);
        let panel = Panel::new(&settings).unwrap();
        let mut book = Book { most_tokens: Some(tokens), most_microdollars: Some(microdollars), ..Book::default() };
        let mut asked: ModelCall = call("Do it: fn main() { println!(\"{}\", 1 + 1); }\n");
        for _ in 0..10 {
            match panel.call(&asked, &mut book, &Listener::default()) {
                Ok(reply) => {
                    let results = results(&reply, &file.repeat(size));
                    asked.messages.push(kept(&reply));
                    asked.messages.push(if results.blocks.is_empty() { user(vec![text("Go on.")]) } else { results });
                }
                Err(ModelError::Budget(_) | ModelError::Unavailable(_)) => break,
                Err(other) => panic!("{other}"),
            }
            // What the ledger says, and what the provider would bill.
            let billed = model.totals().sent() + model.totals().output;
            prop_assert!(book.tokens() <= tokens, "{} of {tokens} tokens: {book:#?}", book.tokens());
            prop_assert!(billed <= book.tokens(), "{billed} billed, {} settled", book.tokens());
            prop_assert!(book.microdollars() <= microdollars);
        }
        prop_assert_eq!(book.reserved.len(), book.settled.len());
        let worst = book.reserved.iter().zip(book.settled.values());
        for (worst, spent) in worst {
            prop_assert!(spent.tokens() - spent.output <= worst.input, "{worst:?} {spent:?}");
            prop_assert!(spent.output <= worst.output && spent.microdollars <= worst.microdollars);
        }
        model.assert_clean();
    }
}
