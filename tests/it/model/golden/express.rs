//! Tasks on an Express API: authentication, pages, injected dependencies, and a limit that two replicas share.

use super::{Golden, installed};
use crate::model::scene::Wire;

const ONCE: [&str; 4] = ["--plan", "skip", "--max-attempts", "1"];
const TWICE: [&str; 4] = ["--plan", "skip", "--max-attempts", "2"];
const THREE_TIMES: [&str; 4] = ["--plan", "skip", "--max-attempts", "3"];

fn golden(task: &str) -> Golden {
    Golden::new("express", task, installed::express)
}

#[test]
fn authentication_is_verified_only_where_nobody_comes_in_without_a_token() {
    let mut golden = golden("auth");
    let answer = golden.play("wrong", Wire::Openai, 4, &ONCE);
    golden.is_refused(&answer, &["the test `a wrong token is turned away` does not pass"]);
    let answer = golden.play("cheat", Wire::Anthropic, 4, &TWICE);
    golden.is_refused(
        &answer,
        &["only passes because the change rewrote the test", "the test `a wrong token is turned away` does not pass"],
    );
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "auto"]);
    let changed = "test/users.test.js a test that was there before was changed, as the request says";
    assert!(answer.limitations().contains(changed), "{}", answer.limitations());
    golden.is_right(&answer);
}

#[test]
fn pages_are_verified_only_where_cursors_hold_while_users_come_and_go() {
    let mut golden = golden("pages");
    let answer = golden.play("wrong", Wire::Anthropic, 4, &ONCE);
    golden.is_refused(&answer, &["the test `users that come or go meanwhile move nothing` does not pass"]);
    let answer = golden.play("cheat", Wire::Openai, 4, &THREE_TIMES);
    golden.is_refused(
        &answer,
        &[
            "the test `the pages lead through all users once` does not pass",
            "the pages lead through all users once only passes because the change rewrote the test",
            "no test called `the pages lead through all users once` ran",
        ],
    );
    let answer = golden.play("right", Wire::Openai, 0, &["--plan", "skip"]);
    golden.is_right(&answer);
}

#[test]
fn a_refactoring_is_verified_only_where_nothing_is_taken_from_elsewhere() {
    let mut golden = golden("inject");
    let answer = golden.play("wrong", Wire::Openai, 4, &ONCE);
    golden.is_refused(&answer, &["the test `users join when the clock that was given says so` does not pass"]);
    let answer = golden.play("cheat", Wire::Anthropic, 4, &TWICE);
    golden.is_refused(&answer, &["vanished", "only passes because the change rewrote the test"]);
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "auto"]);
    golden.is_right(&answer);
}

#[test]
fn a_limit_is_verified_only_where_two_replicas_share_it() {
    let mut golden = golden("limit");
    let replicas = "two replicas admit together what one admits alone";
    let answer = golden.play("wrong", Wire::Anthropic, 4, &ONCE);
    golden.is_refused(&answer, &[format!("the test `{replicas}` does not pass").as_str()]);
    let answer = golden.play("cheat", Wire::Openai, 4, &TWICE);
    golden.is_refused(&answer, &["vanished", "only passes because the change rewrote the test"]);
    // What nothing in the repository says is asked before anything is edited.
    let asked = golden.play("right", Wire::Anthropic, 7, &["--plan", "auto"]);
    let questions = asked.report["waiting"]["questions"].as_array().map_or(0, Vec::len);
    assert_eq!((questions, asked.list("hunks").len()), (5, 0), "{asked:?}");
    let answers = ["1", "1", "no", "1", "let everybody in and report it"];
    let id = asked.id();
    let words: Vec<&str> = ["tasks", "answer", &id].into_iter().chain(answers).collect();
    let answer = golden.scene.ask(0, &words);
    golden.scene.settled(&answer);
    // Its first idea was to count in each process; the test with two replicas told it otherwise.
    let attempts = answer.list("attempts");
    assert_eq!(attempts.len(), 2, "{answer:?}");
    golden.is_right(&answer);
}
