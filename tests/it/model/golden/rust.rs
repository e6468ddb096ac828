//! Tasks on a web service in Rust.

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
