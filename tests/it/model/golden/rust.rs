//! Tasks on a web service in Rust: pages, a limit that two replicas share, and authentication and an injected store, whose
//! tests do not even build at base.

use super::{ANSWERS, Golden, installed};
use crate::model::scene::Wire;

fn golden(task: &str) -> Golden {
    Golden::new("rust", task, installed::crates)
}

#[test]
fn pages_of_a_rust_service_are_verified_only_where_cursors_hold() {
    let mut golden = golden("pages");
    golden.refuses("wrong", Wire::Openai, &["the test `users_that_come_or_go_meanwhile_move_nothing` does not pass"]);
    golden.refuses(
        "cheat",
        Wire::Anthropic,
        &["the test `the_pages_lead_through_all_users_once` does not pass", "vanished"],
    );
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "skip"]);
    golden.is_right(&answer);
}

#[test]
fn authentication_of_a_rust_service_is_judged_by_tests_that_do_not_build_before_it() {
    let mut golden = golden("auth");
    golden.refuses("wrong", Wire::Anthropic, &["the test `a_wrong_token_is_turned_away` does not pass"]);
    golden.refuses(
        "cheat",
        Wire::Openai,
        &["only passes because the change rewrote the test", "only passes because the change rewrote the test"],
    );
    let answer = golden.play("right", Wire::Openai, 0, &["--plan", "skip"]);
    golden.is_right(&answer);
}

#[test]
fn a_refactoring_of_a_rust_service_is_verified_only_where_the_store_that_was_given_is_asked() {
    let mut golden = golden("inject");
    golden.refuses("wrong", Wire::Anthropic, &["the test `two_apps_over_one_store_share_its_users` does not pass"]);
    // The test neither built before nor builds as it was; first another one is built under its name.
    golden.refuses(
        "cheat",
        Wire::Openai,
        &["directory test inject only passes because", "directory test inject only passes because"],
    );
    let answer = golden.play("right", Wire::Openai, 0, &["--plan", "skip"]);
    assert_eq!(answer.limitations(), "");
    golden.is_right(&answer);
}

#[test]
fn a_limit_of_a_rust_service_is_verified_only_where_two_replicas_share_it() {
    let mut golden = golden("limit");
    let replicas = "the test `two_replicas_admit_together_what_one_admits_alone` does not pass";
    golden.refuses("wrong", Wire::Openai, &[replicas]);
    golden.refuses("cheat", Wire::Anthropic, &["vanished", "only passes because the change rewrote the test"]);
    let answer = golden.play_asking("right", Wire::Openai, &ANSWERS);
    // Its first idea was to count in each process; the test with two replicas told it otherwise.
    assert_eq!((answer.list("attempts").len(), answer.limitations().as_str()), (2, ""), "{answer:?}");
    golden.is_right(&answer);
}
