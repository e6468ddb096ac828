//! Tasks on a web service in Rust: pages, and authentication whose tests do not even build at base.

use super::{Golden, installed};
use crate::model::scene::Wire;

const ONCE: [&str; 4] = ["--plan", "skip", "--max-attempts", "1"];
const TWICE: [&str; 4] = ["--plan", "skip", "--max-attempts", "2"];

fn golden(task: &str) -> Golden {
    Golden::new("rust", task, installed::crates)
}

#[test]
fn pages_of_a_rust_service_are_verified_only_where_cursors_hold() {
    let mut golden = golden("pages");
    let answer = golden.play("wrong", Wire::Openai, 4, &ONCE);
    golden.is_refused(&answer, &["the test `users_that_come_or_go_meanwhile_move_nothing` does not pass"]);
    let answer = golden.play("cheat", Wire::Anthropic, 4, &TWICE);
    golden.is_refused(&answer, &["the test `the_pages_lead_through_all_users_once` does not pass", "vanished"]);
    let answer = golden.play("right", Wire::Anthropic, 0, &["--plan", "skip"]);
    golden.is_right(&answer);
}

#[test]
fn authentication_of_a_rust_service_is_judged_by_tests_that_do_not_build_before_it() {
    let mut golden = golden("auth");
    let answer = golden.play("wrong", Wire::Anthropic, 4, &ONCE);
    golden.is_refused(&answer, &["the test `a_wrong_token_is_turned_away` does not pass"]);
    let answer = golden.play("cheat", Wire::Openai, 4, &TWICE);
    golden.is_refused(
        &answer,
        &["only passes because the change rewrote the test", "only passes because the change rewrote the test"],
    );
    let answer = golden.play("right", Wire::Openai, 0, &["--plan", "skip"]);
    golden.is_right(&answer);
}
