//! Settings and variables that cannot be understood, and a state folder that cannot be used.

use std::fs;

use support::Running;

use super::{one_sentence, project, refused};

#[test]
fn an_unknown_key_in_the_settings_is_named_with_its_file() {
    let (project, understudy) = project();
    understudy.configure("time_out = 3\n");
    let finished = refused(&understudy, &project, ["run", "fix warnings"], 2, "config.toml");
    assert!(finished.stderr.contains("time_out"), "{}", finished.stderr);
    understudy.configure("timeout = \"long\"\n");
    refused(&understudy, &project, ["tasks", "list"], 2, "config.toml");
    understudy.configure("timeout = 0\n");
    refused(&understudy, &project, ["tasks", "list"], 2, "timeout must be at least 1");
    understudy.configure("= \n");
    refused(&understudy, &project, ["tasks", "list"], 2, "config.toml");
}

#[test]
fn a_variable_that_is_no_number_is_named() {
    let (project, understudy) = project();
    let before = project.fingerprint();
    for name in ["TIMEOUT", "CHECK_TIMEOUT", "CHECK_MEMORY", "MAX_ATTEMPTS"].map(|name| format!("UNDERSTUDY_{name}")) {
        for value in ["soon", "-1", "0", "1e3", "99999999999999999999999"] {
            let variables = [(name.as_str(), value)];
            let finished = understudy.start_with(&project.path(), ["run", "fix warnings"], &variables).finish();
            let finished = finished.ended_with(2);
            one_sentence(&finished, if value == "0" { "at least 1" } else { &name });
        }
    }
    support::assert_same(&before, &project.fingerprint());
}

#[test]
fn without_a_home_the_variable_that_helps_is_named() {
    let (project, _) = project();
    let mut understudy = support::command(env!("CARGO_BIN_EXE_understudy"));
    understudy.env_clear().current_dir(project.path()).args(["tasks", "list"]);
    let finished = Running::start(understudy).finish().ended_with(2);
    one_sentence(&finished, "UNDERSTUDY_STATE_DIR");
}

#[test]
fn a_state_folder_that_is_a_file_is_named() {
    let (project, understudy) = project();
    let file = project.beside("state");
    fs::write(&file, "mine").unwrap();
    let understudy = understudy.with("UNDERSTUDY_STATE_DIR", file.to_str().unwrap());
    refused(&understudy, &project, ["tasks", "list"], 5, "state");
    refused(&understudy, &project, ["run", "fix warnings"], 5, "state");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
fn a_journal_that_is_none_is_named_and_left_alone() {
    let (project, understudy) = project();
    fs::create_dir_all(understudy.state()).unwrap();
    let journal = understudy.state().join("journal.db");
    let bytes = "not a database ".repeat(1000);
    fs::write(&journal, &bytes).unwrap();
    refused(&understudy, &project, ["run", "fix warnings"], 5, "journal.db");
    refused(&understudy, &project, ["tasks", "list"], 5, "journal.db");
    assert_eq!(fs::read_to_string(&journal).unwrap(), bytes);
}

/// Byte 60 of an SQLite file is its `user_version`, where the schema's number stands.
#[test]
fn a_journal_of_a_newer_version_can_be_read_and_is_not_written() {
    let (project, understudy) = project();
    project.replace("src/lib.rs", "let mut sum", "let sum");
    understudy.run(&project.path(), ["prove", "--json"]).ended_with(0);
    let journal = understudy.state().join("journal.db");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[60..64].copy_from_slice(&1_000_000_u32.to_be_bytes());
    fs::write(&journal, &bytes).unwrap();
    refused(&understudy, &project, ["prove"], 5, "newer");
    refused(&understudy, &project, ["tasks", "list"], 0, "verified");
}
