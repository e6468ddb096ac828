//! Tasks on an Express API: authentication, pages, injected dependencies, and a limit that two replicas share.

use super::{ANSWERS, Golden, installed};
use crate::model::scene::Wire;

fn golden(task: &str) -> Golden {
    Golden::new("express", task, installed::express)
}

#[test]
fn authentication_is_verified_only_where_nobody_comes_in_without_a_token() {
    let mut golden = golden("auth");
    golden.refuses("wrong", Wire::Openai, &["the test `a wrong token is turned away` does not pass"]);
    golden.refuses(
        "cheat",
        Wire::Anthropic,
        &["only passes because the change rewrote the test", "the test `a wrong token is turned away` does not pass"],
    );
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "auto"]);
    let changed = "only passes because the change rewrote the test, whose file the request or the approved plan names";
    assert!(answer.limitations().contains(changed), "{}", answer.limitations());
    golden.is_right(&answer);
}

#[test]
fn pages_are_verified_only_where_cursors_hold_while_users_come_and_go() {
    let mut golden = golden("pages");
    golden.refuses(
        "wrong",
        Wire::Anthropic,
        &["the test `users that come or go meanwhile move nothing` does not pass"],
    );
    golden.refuses(
        "cheat",
        Wire::Openai,
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
    golden.refuses(
        "wrong",
        Wire::Openai,
        &["the test `users join when the clock that was given says so` does not pass"],
    );
    golden.refuses("cheat", Wire::Anthropic, &["vanished", "only passes because the change rewrote the test"]);
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "auto"]);
    golden.is_right(&answer);
}

#[test]
fn a_limit_is_verified_only_where_two_replicas_share_it() {
    let mut golden = golden("limit");
    let replicas = "two replicas admit together what one admits alone";
    golden.refuses("wrong", Wire::Anthropic, &[format!("the test `{replicas}` does not pass").as_str()]);
    golden.refuses("cheat", Wire::Openai, &["vanished", "only passes because the change rewrote the test"]);
    let answer = golden.play_asking("right", Wire::Anthropic, &ANSWERS);
    // Its first idea was to count in each process; the test with two replicas told it otherwise.
    assert_eq!(answer.list("attempts").len(), 2, "{answer:?}");
    golden.is_right(&answer);
}
