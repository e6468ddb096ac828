//! Models that are not configured, not reachable by their settings, or have no key; and notes to tasks that asked nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use support::Understudy;

use super::{one_sentence, project, refused};

const TASK: [&str; 2] = ["run", "add pagination to /users"];
const QUESTION: [&str; 2] = ["explain", "where are sums made?"];

/// A provider that nobody can reach, should anything ever try.
const MINE: &str = "[model]\nuse = \"mine/claude-sonnet-4-5\"\n[model.providers.mine]\nwire = \"anthropic\"\n\
                    base_url = \"https://mine.invalid\"\nkey_env = \"MINE_KEY\"\n";

/// Puts a key beside the settings.
fn key_file(understudy: &Understudy, name: &str, text: &str, mode: u32) {
    understudy.configure(MINE);
    let folder = understudy.state().ancestors().nth(2).unwrap().join("config/understudy/keys");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn without_a_model_two_lines_say_how_to_get_one() {
    let (project, understudy) = project();
    for words in [&TASK[..], &["run", "--engine", "model", "fix warnings"], &QUESTION] {
        let finished = refused(&understudy, &project, words, 2, "no model is configured");
        for part in ["config/understudy/config.toml", "[model]", "use = \"anthropic\"", "ANTHROPIC_API_KEY"] {
            assert!(finished.stderr.contains(part), "{part} in:\n{}", finished.stderr);
        }
    }
    assert!(!understudy.state().exists(), "what is refused leaves nothing");
}

#[test]
fn a_key_that_lies_around_is_not_used_unasked() {
    let (project, understudy) = project();
    let understudy = understudy.with("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key");
    let finished = refused(&understudy, &project, TASK, 2, "UNDERSTUDY_MODEL=anthropic");
    assert!(finished.stderr.contains("costs money") && !finished.stderr.contains("not-a-real-key"));
    // With the variable it is, and a compiler's task stays a compiler's task.
    let understudy = understudy.with("UNDERSTUDY_MODEL", "anthropic");
    let doctor = understudy.run(&project.path(), ["doctor"]).text();
    assert!(doctor.contains("ANTHROPIC_API_KEY from the environment"), "{doctor}");
    assert!(doctor.contains("for plan, code, diagnose") && !doctor.contains("not-a-real-key"), "{doctor}");
}

#[test]
fn models_that_settings_do_not_make_are_named() {
    let (project, understudy) = project();
    let cases = [
        ("use = \"nobody/x\"", "there is no provider `nobody`"),
        ("use = \"llama\"", "does not say which model"),
        (
            "use = \"mine/x\"\n[model.providers.mine]\nbase_url = \"ftp://example.org\"",
            "base_url of the provider `mine`",
        ),
        (
            "use = \"m\"\n[model.models.m]\nprovider = \"llama\"\nmodel = \"x\"\nwindow = 10\nmax_output = 11",
            "max_output",
        ),
        ("fallback = \"llama/x\"", "no model is configured"),
    ];
    for (section, part) in cases {
        understudy.configure(&format!("[model]\n{section}\n"));
        let finished = refused(&understudy, &project, TASK, 2, part);
        // What is wrong comes first; what a compiler takes is no answer to it.
        assert!(finished.stderr.starts_with("error: the task needs a language model: "), "{}", finished.stderr);
        assert!(!finished.stderr.contains("fix warnings"), "{}", finished.stderr);
        // Whatever stands there, other work goes on.
        refused(&understudy, &project, ["tasks", "list"], 0, "there are no tasks");
        let doctor = understudy.run(&project.path(), ["doctor"]).ended_with(5);
        one_sentence(&doctor, part);
    }
    for (section, part) in [
        ("usee = \"anthropic\"", "usee"),
        ("use = 3", "line 2: invalid type: integer `3`"),
        ("[model.stages.dance]", "dance"),
    ] {
        understudy.configure(&format!("[model]\n{section}\n"));
        let finished = refused(&understudy, &project, ["tasks", "list"], 2, "config.toml");
        assert!(finished.stderr.contains(part), "{part} in:\n{}", finished.stderr);
    }
    let understudy = understudy.with("UNDERSTUDY_MODEL", "claude");
    understudy.configure("");
    refused(&understudy, &project, TASK, 2, "there is no model `claude`");
}

#[test]
fn a_key_file_is_taken_only_from_its_owner_alone() {
    let (project, understudy) = project();
    let name = "MINE_KEY";
    understudy.configure(MINE);
    let finished = refused(&understudy, &project, TASK, 2, "no key for the provider `mine`");
    for part in [name, "keys/MINE_KEY", "keyctl"] {
        assert!(finished.stderr.contains(part), "{part} in:\n{}", finished.stderr);
    }
    for (text, mode, part) in [
        ("sk-secret-of-mine", 0o644, "chmod 600"),
        ("sk-secret-of-mine", 0o640, "chmod 600"),
        ("", 0o600, "is empty"),
        ("sk-secret-of-mine\nsk-other", 0o600, "one line"),
        ("sk-secret\u{7f}of-mine", 0o600, "characters that no key has"),
        ("sk-secret-öf-mine", 0o600, "characters that no key has"),
    ] {
        key_file(&understudy, name, text, mode);
        let finished = refused(&understudy, &project, TASK, 2, part);
        assert!(!finished.stderr.contains("secret"), "{}", finished.stderr);
    }
    key_file(&understudy, name, "sk-secret-of-mine\n", 0o600);
    let doctor = understudy.run(&project.path(), ["doctor"]).text();
    assert!(doctor.contains("MINE_KEY from its file") && !doctor.contains("sk-secret"), "{doctor}");
}

/// A server nearby may need no key, so nothing fails; that there is one and it is not sent is said all the same.
#[test]
fn a_key_that_is_not_taken_is_no_missing_key() {
    let (project, understudy) = project();
    key_file(&understudy, "MINE_KEY", "sk-secret-of-mine", 0o644);
    understudy.configure(
        &MINE.replace("https://mine.invalid", "http://127.0.0.1:9").replace("[model]", "[model]\npatience = 1"),
    );
    let doctor = understudy.run(&project.path(), ["doctor"]).text();
    assert!(doctor.contains("no key: the key file") && doctor.contains("mode 644"), "{doctor}");
    let finished = understudy.run(&project.path(), ["run", "--plan", "skip", TASK[1]]).ended_with(5);
    assert!(finished.stderr.contains("warning: the key file"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("secret-of") && !doctor.contains("secret-of"));
}

#[test]
fn issues_that_are_no_text_are_named() {
    let (project, understudy) = project();
    let issue = project.beside("issue.txt");
    let name = issue.to_str().unwrap();
    refused(&understudy, &project, ["run", "--issue", name], 2, "issue.txt cannot be read");
    for (bytes, part) in [(&b""[..], "is empty"), (b" \n", "is empty"), (b"\xFF\xFE", "UTF-8"), (b"a\0b", "UTF-8")] {
        fs::write(&issue, bytes).unwrap();
        refused(&understudy, &project, ["run", "--issue", name], 2, part);
    }
    fs::write(&issue, "x".repeat(300 << 10)).unwrap();
    refused(&understudy, &project, ["run", "--issue", name], 2, "larger than 256 KiB");
    // The compiler does not obey what somebody wrote into an issue.
    fs::write(&issue, "fix warnings").unwrap();
    refused(&understudy, &project, ["run", "--issue", name], 2, "no model is configured");
    refused(&understudy, &project, ["run", "--issue", name, "--engine", "compiler"], 2, "language model");
    refused(&understudy, &project, ["run", "--issue", name, "fix warnings"], 2, "--issue");
}

#[test]
fn numbers_and_places_that_do_not_exist_are_named() {
    let (project, understudy) = project();
    let understudy = understudy.with("UNDERSTUDY_MODEL", "llama/none");
    let cases: [(&[&str], &str); 6] = [
        (&["--plan", "maybe"], "review, auto, skip"),
        (&["--max-tokens", "0"], "--max-tokens"),
        (&["--max-attempts", "11"], "--max-attempts"),
        (&["--budget-usd", "1e300"], "--budget-usd"),
        (&["--budget-usd", "inf"], "--budget-usd"),
        (&["--timeout", "0"], "--timeout"),
    ];
    for (words, part) in cases {
        refused(&understudy, &project, TASK.into_iter().chain(words.iter().copied()), 2, part);
    }
    for (place, part) in [("src/lib.rs", "PATH:LINE"), ("src/none.rs:3", "no file src/none.rs"), ("../x:1", "..")] {
        refused(&understudy, &project, QUESTION.into_iter().chain(["--at", place]), 2, part);
    }
    let refuses = |variable: (&str, &str), part: &str| {
        let finished = understudy.start_with(&project.path(), TASK, &[variable]).finish().ended_with(2);
        one_sentence(&finished, part);
    };
    refuses(("UNDERSTUDY_PLAN", "maybe"), "UNDERSTUDY_PLAN");
    refuses(("UNDERSTUDY_BUDGET_USD", "much"), "UNDERSTUDY_BUDGET_USD");
    refuses(("UNDERSTUDY_MAX_TOKENS", "many"), "UNDERSTUDY_MAX_TOKENS");
    refuses(("UNDERSTUDY_MAX_ATTEMPTS", "11"), "at most 10");
}

#[test]
fn a_task_that_asks_nothing_takes_no_answer() {
    let (project, understudy) = project();
    project.replace("src/lib.rs", "let mut sum", "let sum");
    let report = understudy.run(&project.path(), ["prove", "--json"]).ended_with(0).json();
    let id = report["task"]["id"].as_str().unwrap();
    let verbs: [&[&str]; 5] = [
        &["answer", id, "yes"],
        &["approve-plan", id],
        &["steer", id, "be quick"],
        &["raise", id, "--budget-usd", "1"],
        &["plan", id, "--amend", "Cargo.toml"],
    ];
    for verb in verbs {
        let part = if verb[0] == "plan" { "does not wait" } else { "patch engine" };
        refused(&understudy, &project, ["tasks"].into_iter().chain(verb.iter().copied()), 2, part);
    }
    refused(&understudy, &project, ["tasks", "plan", id], 0, "# Plan, version 1");
    refused(&understudy, &project, ["tasks", "list", "--waiting"], 0, "no task waits for you");
    refused(&understudy, &project, ["tasks", "raise", id], 2, "--budget-usd");
}
