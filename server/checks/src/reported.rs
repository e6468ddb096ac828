//! The test checks of npm and python: one run whose report is read, new failures tried again.

use std::collections::BTreeSet;

use sandbox::Outcome;
use task::{CheckKind, Item, ItemId, ItemResult, TreePath, Verdict};

use crate::cargo_test::{AGAIN, is_new, note_flaky};
use crate::commands::Ending;
use crate::folder::{file_in, suffix, upwards};
use crate::outside::{Found, Outside, Run};
use crate::report::Context;
use crate::tool::{Ecosystem, Tool};
use crate::watch::{Progress, Watch};
use crate::{npm, python};

/// More new failures than this are not tried again.
const MOST_DOUBTFUL: usize = 20;

/// Runs a check of npm or python to its end.
pub(crate) fn check(outside: &Outside<'_>, tool: Tool, watch: &Watch) -> Result<Found, Ending> {
    let (root, files) = (&outside.order.check.root, outside.order.files);
    let missing = match tool.ecosystem() {
        Ecosystem::Npm => file_in(root, "package.json").is_none_or(|path| files.read(&path).is_none()),
        _ => !python::is_there(files, root),
    };
    if missing {
        // A change may add or remove a whole project; the other side then has nothing that could run.
        let what = if tool.ecosystem() == Ecosystem::Npm { "package.json" } else { "project" };
        return Err(Ending::new(Verdict::Failed, format!("there is no {what}{} in this tree", suffix(root))));
    }
    let package = match tool.ecosystem() {
        Ecosystem::Npm => npm::name(files, root),
        _ => python::name(files, root),
    };
    let mut found = match outside.order.check.kind {
        CheckKind::Test => test(outside, tool, &package, watch)?,
        _ => npm::compile(outside, &package, watch)?,
    };
    found.read.extend(configuration(outside, tool));
    found.read.sort();
    found.read.dedup();
    Ok(found)
}

fn test(outside: &Outside<'_>, tool: Tool, package: &str, watch: &Watch) -> Result<Found, Ending> {
    let order = outside.order;
    let context = Context {
        shadow: order.shadow,
        workspace: outside.workspace,
        root: &order.check.root,
        package,
        target: tool.name(),
    };
    let attempt = |only: &[String]| match tool {
        Tool::Pytest => python::test(outside, only, watch),
        _ => npm::test(outside, tool, only, watch),
    };
    let items_of = |run: &Run| run.report.items(&context, &run.finished.outcome, &run.finished.stderr.lossy());
    (watch.progress)(Progress::Doing(format!("running {}", order.check.id)));
    let first = attempt(&[])?;
    let mut items = items_of(&first);
    let mut flaky: BTreeSet<ItemId> = BTreeSet::new();
    for _ in 0..AGAIN {
        let doubtful: Vec<&Item> =
            items.iter().filter(|item| is_new(item, order) && !flaky.contains(&item.id)).collect();
        // Only files can be run by themselves; what went wrong with the run as a whole is believed.
        let only: BTreeSet<String> = doubtful.iter().filter_map(|item| file_of(&item.id, order)).collect();
        // And what fails everywhere does not fail by chance.
        if only.is_empty() || doubtful.len() > MOST_DOUBTFUL {
            break;
        }
        (watch.progress)(Progress::Doing("running tests again to see whether a new failure is flaky".to_owned()));
        let again = items_of(&attempt(&only.into_iter().collect::<Vec<_>>())?);
        let fine = |id: &ItemId| {
            let mut same = again.iter().filter(|item| item.id == *id).peekable();
            same.peek().is_some() && same.all(|item| item.result == ItemResult::Passed)
        };
        flaky.extend(doubtful.iter().filter(|item| fine(&item.id)).map(|item| item.id.clone()).collect::<Vec<_>>());
    }
    note_flaky(&mut items, &flaky);
    let exit_code = match first.finished.outcome {
        Outcome::Exit { code } => Some(code),
        _ => None,
    };
    let read = outside.read(&context, &first.notes);
    let name = tool.name();
    Ok(Found {
        items,
        read,
        exit_code,
        output: vec![(name.to_owned(), first.finished.stdout), (format!("{name} (errors)"), first.finished.stderr)],
        flaky: flaky.iter().map(ToString::to_string).collect(),
    })
}

/// The file that a test stands in, as its project names it.
fn file_of(id: &ItemId, order: &crate::order::Order<'_>) -> Option<String> {
    let file = id.path.split("::").next()?;
    let path = crate::folder::resolve(&order.check.root, file).ok().flatten()?;
    order.files.read(&path).is_some().then(|| file.to_owned())
}

/// Files that decide how the tool works, which it reads before anything of ours is loaded.
fn configuration(outside: &Outside<'_>, tool: Tool) -> Vec<TreePath> {
    let (root, files) = (&outside.order.check.root, outside.order.files);
    let names: &[&str] = match tool {
        Tool::Pytest => &["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"],
        Tool::Tsc => &["package.json", "tsconfig.json"],
        Tool::Jest => &[
            "package.json",
            "jest.config.js",
            "jest.config.ts",
            "jest.config.mjs",
            "jest.config.cjs",
            "jest.config.json",
            "babel.config.js",
            "babel.config.json",
            ".babelrc",
        ],
        Tool::Vitest => &[
            "package.json",
            "vitest.config.ts",
            "vitest.config.mts",
            "vitest.config.js",
            "vitest.config.mjs",
            "vitest.workspace.ts",
            "vite.config.ts",
            "vite.config.mts",
            "vite.config.js",
            "vite.config.mjs",
        ],
        Tool::Mocha => {
            &["package.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", ".mocharc.yaml"]
        }
        _ => &["package.json"],
    };
    let own = names.iter().filter_map(|name| file_in(root, name));
    // Whether a file is a module of the old or the new kind is written in the nearest manifest.
    let above = upwards(root.clone()).skip(1).filter_map(|folder| file_in(&folder, names[0]));
    own.chain(above).filter(|path| files.read(path).is_some()).collect()
}
