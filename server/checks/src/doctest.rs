//! Doc tests: rustdoc as cargo would start it, one library at a time, so that every result has its package.
//!
//! rustdoc runs each doc test in a process of its own and captures what it prints, so that standard output is the
//! harness's: how many it announces is how many must have a result, and no list is asked for beforehand (it would
//! compile them all a second time). Ids have no line numbers, and equal ones are compared as multisets. A doc test could
//! still write to rustdoc's own descriptors through `/proc`; that code would stand in the diff.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::{Finished, Outcome};
use task::{Item, ItemId, ItemKind, ItemResult, TreePath, Verdict};

use crate::cargo_test::{Tested, is_new, note_flaky, passed};
use crate::commands::{Commands, Ending, first_error, tree_path};
use crate::libtest::{Report, Said, irregular, parse_line, parse_stdout};
use crate::order::{Order, PROCESS};
use crate::programs::Programs;
use crate::recorder::Start;
use crate::signature::signature;
use crate::test_run::{by_id, jailed};
use crate::told::{excerpt, what_failed};
use crate::watch::{Progress, Watch};

/// Runs the doc tests of every library that has them switched on.
pub(crate) fn run_all(
    commands: &Commands<'_>,
    order: &Order<'_>,
    watch: &Watch,
    found: &Programs,
    tested: &mut Tested,
) -> Result<(), Ending> {
    let members = tested.built.metadata.packages.clone();
    for member in members.iter().filter(|member| member.documented().is_some()) {
        let id = |path: &str| ItemId { package: member.name.clone(), target: "doc".to_owned(), path: path.to_owned() };
        let mut library = passed(id(""), ItemKind::Target);
        let mut units = tested.built.items.iter();
        let unit =
            units.find(|item| item.id.package == member.name && item.id.target == "lib" && item.id.path.is_empty());
        if let Some(broken) = unit.filter(|item| item.result != ItemResult::Passed) {
            library = Item { id: library.id, ..broken.clone() };
            tested.items.push(library);
            continue;
        }
        let Some(start) = found.docs.get(&member.id) else {
            // Cargo has none for some kinds of libraries.
            if let Some(said) = &found.no_docs {
                library.result = ItemResult::Failed;
                library.signature = Some(signature(&library.id, "does not start", said, order.shadow));
                library.excerpt.clone_from(said);
                tested.items.push(library);
            }
            continue;
        };
        let what = format!("doc tests of {}", member.name);
        (watch.progress)(Progress::Doing(what.clone()));
        let attempt = || run(commands, start, &what);
        let first = attempt()?;
        let Some(announced) = announced(&first.stdout.bytes()) else {
            // Something that only doc tests need does not build.
            let said = first_error(&first.stderr.lossy());
            library.result = ItemResult::Failed;
            library.signature = Some(signature(&library.id, "does not start", &said, order.shadow));
            library.excerpt = said;
            tested.items.push(library);
            continue;
        };
        tested.items.push(library);
        let mut items = items_of(&first, &announced, &id, order);
        if items.iter().any(|item| is_new(item, order)) {
            let again: Vec<ItemId> = items_of(&attempt()?, &announced, &id, order)
                .into_iter()
                .filter(|item| item.result == ItemResult::Failed)
                .map(|item| item.id)
                .collect();
            let gone = items.iter().filter(|item| is_new(item, order) && !again.contains(&item.id));
            tested.flaky.extend(gone.map(|item| item.id.clone()).collect::<Vec<_>>());
            note_flaky(&mut items, &tested.flaky);
        }
        tested.items.extend(items);
        tested.output.push((what, first.stdout));
    }
    Ok(())
}

fn run(commands: &Commands<'_>, start: &Start, what: &str) -> Result<Finished, Ending> {
    let finished = commands.run(what, jailed(commands, start))?;
    match &finished.outcome {
        Outcome::Signal { .. } => Err(Ending::new(Verdict::Killed, format!("{what}: {}", finished.outcome))),
        _ => Ok(finished),
    }
}

fn items_of(finished: &Finished, announced: &Announced, id: &dyn Fn(&str) -> ItemId, order: &Order<'_>) -> Vec<Item> {
    let stdout = finished.stdout.bytes();
    // Only what the harness says before it turns to the output of failed tests.
    let results = lines_of_results(&stdout).filter_map(|line| parse_line(line, &announced.names)).collect();
    let report = Report { results, ..parse_stdout(&stdout, &announced.names, true) };
    let said: BTreeMap<&str, Option<Said>> = by_id(&report);
    let mut items = Vec::new();
    for name in &announced.names {
        let (path, line) = without_line(name);
        let file = path.split(" - ").next().and_then(|file| tree_path(order.shadow, &order.check.root, file));
        let mut item = passed(id(path), ItemKind::Doctest);
        let section = report.sections.get(name).map_or("", String::as_str);
        match said.get(name.as_str()).copied().flatten() {
            // What does not run proves nothing by passing.
            Some(Said::Ok) if announced.only_compiled.contains(name) => {
                item.result = ItemResult::Ignored;
                item.excerpt = ONLY_COMPILED.to_owned();
            }
            Some(Said::Ok) => {}
            Some(Said::Ignored) => item.result = ItemResult::Ignored,
            Some(Said::Failed) => {
                item.result = ItemResult::Failed;
                let class = if section.contains("Couldn't compile the test") { "does not compile" } else { "failed" };
                item.signature = Some(signature(&item.id, class, &told(section), order.shadow));
                item.excerpt = excerpt(section);
            }
            None => {
                item.result = ItemResult::NoResult;
                item.excerpt = "rustdoc gave no result for it".to_owned();
                item.signature = Some(signature(&item.id, "no result", "", order.shadow));
            }
        }
        item.at = file.zip(line);
        items.push(item);
    }
    let mut process = passed(id(PROCESS), ItemKind::Doctest);
    let short = (announced.count != announced.names.len()).then(|| "the doc tests ended before all had run".to_owned());
    if let Some(problem) = short.or_else(|| irregular(&announced.names, &report, &finished.outcome)) {
        process.result = ItemResult::Failed;
        process.signature = Some(signature(&process.id, "process", &problem, order.shadow));
        process.excerpt = excerpt(&format!("{problem}\n{}", finished.stderr.lossy()));
    }
    items.push(process);
    items
}

/// What rustdoc said it would run, and the names that it then gave.
#[derive(Debug, PartialEq, Eq)]
struct Announced {
    count: usize,
    names: BTreeSet<String>,
    /// Those among them that are compiled and not run.
    only_compiled: BTreeSet<String>,
}

/// What is said of a doc test that is compiled and not run.
const ONLY_COMPILED: &str = "it is compiled and not run";

/// `None` if nothing was run at all.
fn announced(stdout: &[u8]) -> Option<Announced> {
    let text = String::from_utf8_lossy(stdout);
    let counts = text.lines().filter_map(|line| {
        let (count, what) = line.strip_prefix("running ")?.split_once(' ')?;
        if matches!(what, "test" | "tests") { count.parse::<usize>().ok() } else { None }
    });
    let counts: Vec<usize> = counts.collect();
    let (mut names, mut only_compiled) = (BTreeSet::new(), BTreeSet::new());
    for line in lines_of_results(stdout) {
        let Some((name, _)) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) else { continue };
        // After the line number stands how it is run.
        let end = name.rfind(" (line ").and_then(|at| Some(at + name[at..].find(')')? + 1)).unwrap_or(name.len());
        if &name[end..] == " - compile" {
            only_compiled.insert(name[..end].to_owned());
        }
        names.insert(name[..end].to_owned());
    }
    (!counts.is_empty()).then(|| Announced { count: counts.iter().sum(), names, only_compiled })
}

/// The lines in which the harness gives results: from each announcement to its summary or to the failures' output.
fn lines_of_results(stdout: &[u8]) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let lines = stdout.split(|&byte| byte == b'\n').map(|line| std::str::from_utf8(line).unwrap_or_default());
    lines.filter(move |line| {
        inside = (inside || line.starts_with("running ")) && *line != "failures:" && !line.starts_with("test result: ");
        inside
    })
}

/// `src/lib.rs - add (line 12)` without its line, and the line.
pub(crate) fn without_line(name: &str) -> (&str, Option<u32>) {
    let split =
        name.rsplit_once(" (line ").and_then(|(path, line)| Some((path, line.strip_suffix(')')?.parse().ok()?)));
    split.map_or((name, None), |(path, line)| (path, Some(line)))
}

/// What identifies the failure of a doc test: the compiler's errors, or what its panic said.
fn told(section: &str) -> String {
    let errors: Vec<&str> = section.lines().filter(|line| line.starts_with("error")).collect();
    if errors.is_empty() { what_failed(section) } else { errors.join("\n") }
}

/// The files that ran doc tests stand in, as far as their ids tell: included ones (a README) are named only here.
pub(crate) fn files(items: &[Item]) -> impl Iterator<Item = TreePath> {
    let ended = |item: &&Item| item.result == ItemResult::Passed || item.excerpt == ONLY_COMPILED;
    let ran = items.iter().filter(|item| item.kind == ItemKind::Doctest).filter(ended);
    ran.filter_map(|item| item.at.as_ref().map(|(path, _)| path.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_counted_over_both_blocks_and_named_without_how_it_runs() {
        let said =
            b"\nrunning 1 test\ntest src/lib.rs - add (line 5) - compile fail ... ok\n\ntest result: ok. 1 passed\n\n\
                     running 3 tests\ntest src/lib.rs - add (line 12) - compile ... ok\n\
                     test src/lib.rs - add (line 9) ... FAILED\n\nfailures:\n\n\
                     ---- src/lib.rs - add (line 9) stdout ----\ntest src/lib.rs - forged (line 1) ... ok\n\n\
                     test result: FAILED. 0 passed\nall doctests ran in 0.69s\n";
        let found = announced(said).unwrap();
        assert_eq!(found.count, 4);
        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        assert_eq!(names, ["src/lib.rs - add (line 12)", "src/lib.rs - add (line 5)", "src/lib.rs - add (line 9)"]);
        assert_eq!(found.only_compiled, BTreeSet::from(["src/lib.rs - add (line 12)".to_owned()]));
        assert_eq!(announced(b"error: could not compile"), None);
    }

    #[test]
    fn ids_of_doc_tests_have_no_lines() {
        assert_eq!(without_line("src/lib.rs - Add::add (line 12)"), ("src/lib.rs - Add::add", Some(12)));
        assert_eq!(without_line("src/lib.rs - (line 3)"), ("src/lib.rs -", Some(3)));
        assert_eq!(without_line("README.md - x"), ("README.md - x", None));
    }
}
