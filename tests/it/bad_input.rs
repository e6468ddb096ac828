//! Bad input gets one clear sentence and the right exit code, and loses nothing.

mod machine;
mod models;
mod places;
mod settings;
mod words;

use std::ffi::OsStr;

use support::{Finished, Project, Understudy, assert_same};

use crate::crash::understudy;

/// What a person sees of a failure: the sentence, no panic, nothing of the program's insides.
#[track_caller]
fn one_sentence(finished: &Finished, part: &str) {
    let said = format!("{}{}", finished.text(), finished.stderr);
    assert!(said.contains(part), "`{part}` in:\n{said}");
    for inside in ["panicked", "RUST_BACKTRACE", "unwrap", "Error {", "Some(", "os error 0"] {
        assert!(!said.contains(inside), "`{inside}` in:\n{said}");
    }
    assert!(finished.stderr.matches("error:").count() <= 1, "more than one sentence:\n{said}");
}

/// Runs the command in the project; it ends with the code, says the part, and changes nothing.
#[track_caller]
fn refused<A: AsRef<OsStr>>(
    understudy: &Understudy,
    project: &Project,
    arguments: impl IntoIterator<Item = A>,
    code: i32,
    part: &str,
) -> Finished {
    let before = project.fingerprint();
    let finished = understudy.run(&project.path(), arguments).ended_with(code);
    one_sentence(&finished, part);
    assert_same(&before, &project.fingerprint());
    finished
}

fn project() -> (Project, Understudy) {
    (Project::data("warns").committed(), understudy())
}
