//! Retrieval on real tasks: an issue text, the tree it was written about, and the files that the fix changed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use task::port::{Answer, Change, Excerpt, Generation, Query, Retrieval};

use crate::mirror::{Mirror, Task};
use crate::score::Score;
use crate::table::percentile;
use crate::{Failure, Given};

/// Excerpts that are asked for: enough to rank twenty files and as many symbols.
const MOST: usize = 100;
/// Trees of so many code files and more are a slice of their own.
const LARGE: u64 = 1000;

/// What is ranked: files of these endings outside of the folders below.
const CODE: &str = "rs py ts tsx js jsx mjs cjs go c h cc cpp hpp java";
const ASIDE: &str = "tests test testing __tests__ testdata test_data test-data fixtures fixture snapshots __snapshots__ \
    benches bench benchmarks fuzz e2e integration-tests integration_tests tests-integration tests-build specs spec \
    trybuild test_utils test-utils test_suite testsuite stress-test tests_e2e examples example docs doc website vendor \
    third_party node_modules dist changelog";

pub fn measure(given: &Given) -> Result<Report, Failure> {
    let (file, repositories) = given.tasks.as_ref().ok_or("say which tasks: --tasks FILE --repos DIR")?;
    let mut report = Report::default();
    for (name, tasks) in Task::read(file)? {
        let Some(mirror) = Mirror::find(repositories, &name)? else {
            report.absent.push(format!("{name} ({} tasks)", tasks.len()));
            continue;
        };
        for task in tasks {
            let files = mirror.files(task.word("base_commit"))?;
            let files = files.into_iter().map(|(path, _, bytes)| (path, Some(bytes))).collect();
            report.task(&task, &*given.retrieval, Change { generation: Generation(1), files });
        }
    }
    Ok(report)
}

/// Names of slices are rows, in their order.
#[derive(Default)]
pub struct Report {
    files: BTreeMap<String, Score>,
    symbols: BTreeMap<String, Score>,
    index: Vec<Duration>,
    first: Vec<Duration>,
    again: Vec<Duration>,
    absent: Vec<String>,
}

impl Report {
    fn task(&mut self, task: &Task, retrieval: &dyn Retrieval, whole: Change) {
        let retrieve = retrieval.open();
        let ask = |text: &str, most| {
            let query = Query { text: text.to_owned(), most, source_only: true };
            let start = Instant::now();
            let answer = retrieve.search(&query);
            (start.elapsed(), answer)
        };
        let start = Instant::now();
        retrieve.push(whole);
        // Work that was put off until the first question belongs to the index.
        ask("index", 1);
        self.index.push(start.elapsed());
        let (first, answer) = ask(task.text(), MOST);
        self.first.push(first);
        self.again.push(ask(task.text(), MOST).0);
        let found = match answer {
            Answer::Known { value, .. } => value,
            Answer::Unknown { .. } => Vec::new(),
        };
        let (files, symbols) = ranked(&found);
        let (wanted, wanted_symbols) = (task.list("gold_files"), task.list("gold_symbols"));
        for slice in slices(task) {
            self.files.entry(slice.clone()).or_default().add(&files, &wanted);
            if !wanted_symbols.is_empty() {
                self.symbols.entry(slice).or_default().add(&symbols, &wanted_symbols);
            }
        }
    }
}

fn slices(task: &Task) -> Vec<String> {
    let language = task.word("lang");
    let mut slices = vec![language.to_owned(), format!("{language}: {}", task.word("repo"))];
    if task.0["n_code_files"].as_u64() >= Some(LARGE) {
        slices.push(format!("{language}, {LARGE} files and more"));
    }
    if task.0["names_symbol"] == false {
        slices.push(format!("{language}, names no symbol"));
    }
    slices
}

/// Files and symbols in the order in which they first appear.
fn ranked(found: &[Excerpt]) -> (Vec<String>, Vec<String>) {
    let (mut files, mut symbols) = (Vec::new(), Vec::new());
    for excerpt in found {
        let Some(path) = excerpt.path.to_str().filter(|path| is_candidate(path)) else { continue };
        if !files.iter().any(|file| file == path) {
            files.push(path.to_owned());
        }
        symbols.extend(excerpt.symbol.iter().map(|symbol| format!("{path}#{symbol}")));
    }
    (files, symbols)
}

/// Code that is no test, example or documentation by its path.
fn is_candidate(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let aside = |folder: &str| {
        ASIDE.split(' ').any(|aside| aside == folder) || folder.ends_with("-tests") || folder.ends_with("_tests")
    };
    let test = matches!(ending, "py" | "rs") && stem.starts_with("test_")
        || matches!(ending, "py" | "go" | "rs") && (stem.ends_with("_test") || stem.ends_with("_tests"))
        || stem.ends_with(".test")
        || stem.ends_with(".spec")
        || stem.starts_with("test-")
        || matches!(name, "test.rs" | "tests.rs" | "conftest.py");
    CODE.split(' ').any(|code| code == ending) && !test && !folders.split('/').any(aside)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| tasks of | n | R@1 | R@5 | R@10 | R@20 | Acc@10 | MRR | symbol R@10 |")?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        for (slice, score) in &self.files {
            let symbols = self.symbols.get(slice).map_or(String::new(), |score| format!("{:.1}", score.within_ten()));
            writeln!(f, "| {slice} | {score} | {symbols} |")?;
        }
        let times = |times: &[Duration]| {
            let at = |percent| percentile(times.to_vec(), percent).as_secs_f64() * 1e3;
            format!("{:.0} | {:.0} | {:.0}", at(50), at(95), at(100))
        };
        writeln!(f, "\n| time in ms | median | 95 % | most |\n|---|---|---|---|")?;
        writeln!(f, "| cold index of a whole tree | {} |", times(&self.index))?;
        writeln!(f, "| first query | {} |", times(&self.first))?;
        writeln!(f, "| the same again | {} |", times(&self.again))?;
        if !self.absent.is_empty() {
            writeln!(f, "\nNot measured, because the repository is not there: {}.", self.absent.join(", "))?;
        }
        Ok(())
    }
}
