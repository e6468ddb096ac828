//! What passes is waited for, as long as patience lasts; what does not pass is said at once.

use std::time::{Duration, Instant, SystemTime};

use model::{Panel, Wire};
use support::model::{Cable, Rules, Script, ScriptedModel, context_overflow, say, status};
use task::port::{Model, ModelError};

use crate::home::*;

#[test]
fn a_busy_provider_is_asked_again_after_the_time_it_names() {
    for wire in WIRES {
        let model = ScriptedModel::start([status(429).retry_after(1), status(529), say("at last")]);
        let (mut book, listener) = (Book::default(), Listener::default());
        let reply = panel(wire, &model.base_url()).call(&call("go"), &mut book, &listener).unwrap();
        assert_eq!(words(&reply), "at last");
        let seen = model.seen();
        assert!(seen[1].at - seen[0].at >= Duration::from_secs(1));
        assert_eq!(seen[0].body, seen[2].body);
        // Three reservations; a status that is no answer costs nothing.
        assert_eq!(book.reserved.len(), 3);
        assert_eq!((book.spent(1).tokens(), book.spent(2).microdollars), (0, Some(0)));
        assert_eq!(&reply.spent.tokens(), &book.tokens());
        let pauses = listener.pauses.borrow();
        assert!(pauses[0].0.contains("429") && pauses[0].1 >= Duration::from_secs(1), "{pauses:?}");
    }
}

#[test]
fn a_date_is_as_good_as_seconds() {
    // Dates have no fractions: this one is at least a second away.
    let model = ScriptedModel::start(Script::playing(|seen| match seen.number {
        1 => status(503).retry_after(httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2))),
        _ => say("x"),
    }));
    ask(&panel(Wire::Openai, &model.base_url()), &call("go")).0.unwrap();
    let seen = model.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_millis(900));
}

#[test]
fn a_storm_ends_when_patience_does() {
    for wire in WIRES {
        let model = ScriptedModel::start([status(429).times(usize::MAX)]);
        let mut settings = settings(wire, &model.base_url());
        settings.patience = Some(2);
        let (mut book, listener) = (Book::default(), Listener::default());
        let start = Instant::now();
        let error = Panel::new(&settings).unwrap().call(&call("go"), &mut book, &listener).unwrap_err();
        assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
        assert!(start.elapsed() < Duration::from_secs(4));
        assert!(model.requests() >= 2 && book.tokens() == 0);
        book.assert_settled();
        let paused: Duration = listener.pauses.borrow().iter().map(|(_, wait)| *wait).sum();
        assert!(u128::from(listener.asked.into_inner()) >= paused.as_millis() / 100, "asked ten times a second");
    }
}

#[test]
fn a_pause_beyond_patience_is_not_begun() {
    let model = ScriptedModel::start([status(429).retry_after(3600)]);
    let start = Instant::now();
    let error = ask(&panel(Wire::Anthropic, &model.base_url()), &call("go")).0.unwrap_err().to_string();
    assert!(error.contains("3600 seconds") && error.contains("127.0.0.1"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_fallback_is_asked_when_the_first_cannot_be() {
    let rules = || Rules::default().models(["scripted", "other"]);
    let first = ScriptedModel::start_with(rules(), [status(503).times(usize::MAX)]);
    let second = ScriptedModel::start_with(rules(), [say("here"), say("again")]);
    let mut settings = settings(Wire::Anthropic, &first.base_url());
    let other = crate::home::settings(Wire::Openai, &second.base_url());
    settings.providers.insert("there".into(), other.providers["here"].clone());
    settings.fallback = Some("there/other".into());
    settings.patience = Some(1);
    let panel = Panel::new(&settings).unwrap();
    let (mut book, listener) = (Book::default(), Listener::default());
    let reply = panel.call(&call("go"), &mut book, &listener).unwrap();
    assert_eq!((words(&reply), reply.model.as_str()), ("here", "other"));
    let last = listener.pauses.borrow().last().unwrap().0.clone();
    assert!(last.contains("there/other is asked instead"), "{last}");
    // The next call does not wait for the first one again.
    let asked = first.requests();
    assert_eq!(words(&panel.call(&call("go on"), &mut book, &listener).unwrap()), "again");
    assert_eq!(first.requests(), asked);
    assert!(panel.profile(task::port::Stage::Code, false).unwrap().identity.contains("fallback: wire=openai"));
}

#[test]
fn the_fallback_is_asked_when_the_first_takes_no_key() {
    let rules = || Rules::default().models(["scripted", "other"]);
    let first = ScriptedModel::start_with(rules(), [status(401)]);
    let second = ScriptedModel::start_with(rules(), [say("here")]);
    let mut settings = settings(Wire::Anthropic, &first.base_url());
    let other = crate::home::settings(Wire::Openai, &second.base_url());
    settings.providers.insert("there".into(), other.providers["here"].clone());
    settings.fallback = Some("there/other".into());
    let panel = Panel::new(&settings).unwrap();
    let (mut book, listener) = (Book::default(), Listener::default());
    assert_eq!(words(&panel.call(&call("go"), &mut book, &listener).unwrap()), "here");
    let last = listener.pauses.borrow().last().unwrap().0.clone();
    assert!(last.contains("there/other is asked instead"), "{last}");
}

#[test]
fn a_provider_that_comes_back_is_found_again() {
    for wire in WIRES {
        let model = ScriptedModel::start([say("one"), say("two")]);
        let cable = Cable::to(model.address());
        let panel = panel(wire, &cable.base_url());
        ask(&panel, &call("go")).0.unwrap();
        cable.cut();
        let (waiting, _stop, news) = Impatient::new();
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let (mut book, waiting) = (Book::default(), waiting);
                let reply = panel.call(&call("go on"), &mut book, &waiting);
                (reply, book)
            });
            assert_eq!(news.recv().unwrap(), "paused");
            cable.plug();
            let (reply, book) = asking.join().unwrap();
            assert_eq!(words(&reply.unwrap()), "two");
            // A connection that was never made costs nothing.
            assert!(book.reserved.len() >= 2 && book.spent(book.reserved.len() as u64).reported);
            book.assert_settled();
        });
    }
}

#[test]
fn a_conversation_that_is_too_long_is_named_so() {
    for wire in WIRES {
        let model = ScriptedModel::start([context_overflow()]);
        let panel = panel(wire, &model.base_url());
        let error = ask(&panel, &call("go")).0.unwrap_err();
        assert!(matches!(error, ModelError::Overflow(_)), "{error}");
        // What cannot fit is not even sent.
        let (reply, book) = ask(&panel, &call(&"word ".repeat(120_000)));
        assert!(matches!(reply, Err(ModelError::Overflow(why)) if why.contains("100000 of here/scripted")));
        assert_eq!((model.requests(), book.reserved.len()), (1, 0));
    }
}

#[test]
fn what_settings_have_wrong_is_said_with_the_remedy() {
    for wire in WIRES {
        let rules = Rules::default().key("another").models(["known"]);
        let model = ScriptedModel::start_with(rules, []);
        let error = ask(&panel(wire, &model.base_url()), &call("go")).0.unwrap_err().to_string();
        assert!(error.contains("here (127.0.0.1) does not take the key for scripted"), "{error}");
        assert!(!error.contains(Rules::KEY), "{error}");
        model.violations();
        let model = ScriptedModel::start_with(Rules::default().models(["known"]), []);
        let error = ask(&panel(wire, &model.base_url()), &call("go")).0.unwrap_err();
        assert!(matches!(&error, ModelError::Refused(why) if why.contains("does not know scripted")), "{error}");
    }
}
