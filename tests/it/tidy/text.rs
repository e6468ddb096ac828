//! What may not stand in the files.

use super::assert_none;
use super::sources::{Source, all, product, rust};

/// Files that start processes: the launcher, and one helper for each body of tests. Everything else goes through them.
const STARTERS: [&str; 9] = [
    "server/journal/tests/it/support.rs",
    "server/bench/src/by_hand.rs",
    "server/sandbox/src/process.rs",
    "server/sandbox/tests/jail/lifecycle.rs",
    "server/sandbox/tests/jail/machine.rs",
    "server/worktree/tests/trees/home.rs",
    // Programs of projects under test, as text.
    "tests/it/prove/hostile.rs",
    "tests/it/prove/limits.rs",
    "tests/support/src/process.rs",
];

/// Words that have another name here (the table of words in ARCHITECTURE.md), in what users read.
const FORBIDDEN_WORDS: [&str; 12] = [
    "job",
    "jobs",
    "session",
    "sessions",
    "backend",
    "backends",
    "savepoint",
    "savepoints",
    "quota",
    "quotas",
    "snippet",
    "snippets",
];

fn matching<'a>(sources: &'a [Source], broken: impl Fn(&str) -> bool + 'a) -> Vec<String> {
    let lines = sources.iter().flat_map(|source| source.text.lines().enumerate().map(move |line| (source, line)));
    lines
        .filter(|(_, (_, line))| broken(line))
        .map(|(source, (number, line))| format!("{}:{}: {}", source.path, number + 1, line.trim()))
        .collect()
}

/// Whether a text has this word with no letter, digit or `_` on either side.
fn has_word(line: &str, word: &str) -> bool {
    let part = |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        !part(before.chars().next_back()) && !part(after.chars().next())
    })
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = rust().into_iter().filter(|source| !source.text.starts_with("//! ")).map(|source| source.path);
    assert_none("these files do not open with `//!`", &silent.collect::<Vec<_>>());
}

#[test]
fn no_module_is_called_mod() {
    let found = rust().into_iter().map(|source| source.path).filter(|path| path.ends_with("/mod.rs"));
    assert_none("write NAME.rs beside the folder NAME", &found.collect::<Vec<_>>());
}

#[test]
fn product_code_does_not_panic_on_purpose() {
    let sources = rust();
    let mut broken = Vec::new();
    for (source, lines) in product(&sources) {
        for (number, line) in lines {
            let calls = [".unwrap()", ".unwrap_err()", ".expect("].iter().any(|call| line.contains(call));
            // A text that speaks of these macros has them in quotes.
            let macros = ["todo!(", "unimplemented!("]
                .iter()
                .any(|call| line.match_indices(call).any(|(start, _)| !line[..start].ends_with(['"', '`'])));
            if calls || macros {
                broken.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    assert_none("errors are values", &broken);
}

#[test]
fn only_the_sandbox_and_the_helpers_of_tests_start_processes() {
    let call = concat!("Command::", "new(");
    let clap = concat!("clap::Command::", "new(");
    let starts = |line: &str| line.contains(call) && !line.contains(clap) && !line.trim_start().starts_with("//");
    let found = matching(&rust(), starts);
    let found =
        found.into_iter().filter(|found| !STARTERS.iter().any(|starter| found.starts_with(&format!("{starter}:"))));
    assert_none("these lines start processes", &found.collect::<Vec<_>>());
}

#[test]
fn the_state_of_the_server_has_one_owner() {
    let shared = |line: &str| ["Mutex", "RwLock", "static mut"].iter().any(|word| has_word(line, word));
    let found = matching(&rust(), shared).into_iter().filter(|found| found.starts_with("server/lsp/src"));
    let found: Vec<_> = found.collect();
    assert_none("the loop owns what changes; others post mail", &found);
}

#[test]
fn three_files_of_the_server_name_the_framework() {
    let rust = rust();
    let named = rust.iter().filter(|source| source.path.starts_with("server/lsp/src"));
    let named = named.filter(|source| source.text.contains("tower_lsp") || source.text.contains("tower_service"));
    let mut files: Vec<_> = named.map(|source| source.path.rsplit('/').next().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, ["backend.rs", "guard.rs", "transport.rs"]);
}

#[test]
fn nothing_is_left_to_be_done() {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    assert_none("do it or drop it", &matching(&all(), |line| words.iter().any(|word| has_word(line, word))));
}

#[test]
fn no_path_of_a_build_machine_is_written_down() {
    let folders = [concat!("/", "work/"), concat!("/", "farm/")];
    let named = |line: &str| {
        folders.iter().any(|folder| {
            line.match_indices(folder).any(|(start, _)| {
                let before = line[..start].chars().next_back();
                !before.is_some_and(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
            })
        })
    };
    assert_none("these paths exist on one machine only", &matching(&all(), named));
}

#[test]
fn users_read_our_words() {
    let said = |source: &Source, is_read: fn(&str) -> bool| {
        let mut found = Vec::new();
        for (number, line) in source.text.lines().enumerate().filter(|(_, line)| is_read(line)) {
            let lower = line.to_lowercase();
            let words = FORBIDDEN_WORDS.iter().filter(|word| has_word(&lower, word));
            found.extend(words.map(|word| format!("{}:{}: {word}", source.path, number + 1)));
        }
        found
    };
    let mut broken = Vec::new();
    for source in all() {
        match source.path.as_str() {
            "server/understudy/src/args.rs" => {
                broken.extend(said(&source, |line| line.trim_start().starts_with("///")))
            }
            "README.md" | "CHANGELOG.md" | "SECURITY.md" => broken.extend(said(&source, |_| true)),
            _ => {}
        }
    }
    assert_none("say it with the words of the table", &broken);
}

#[test]
fn a_word_ends_where_its_letters_end() {
    assert!(has_word("a job.", "job") && has_word("job", "job"));
    assert!(!has_word("jobs", "job") && !has_word("my_job", "job"));
}
