//! How the runners of npm are started, with a reporter of ours in them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use sandbox::Jailed;
use task::{TreePath, Verdict};

use crate::commands::Ending;
use crate::folder::{Folder, file_in, matches, upwards};
use crate::installed::{Installed, node_modules, on_disk};
use crate::npm::manifest::Manifest;
use crate::npm::options::options;
use crate::outside::{OURS, Outside, ours};
use crate::tool::{Tool, arguments};
use crate::watch::Watch;

const NODE: &str = include_str!("reporters/node.mjs");
const VITEST: &str = include_str!("reporters/vitest.mjs");
const JEST: &str = include_str!("reporters/jest.cjs");
const MOCHA: &str = include_str!("reporters/mocha.cjs");
const SEEN: &str = include_str!("reporters/seen.cjs");

/// Runs the tests of a check, or only those in some files.
pub(crate) fn test(
    outside: &Outside<'_>,
    tool: Tool,
    only: &[String],
    watch: &Watch,
) -> Result<crate::outside::Run, Ending> {
    let (env, words) = arguments(outside.order.check, tool);
    let args: Vec<String> = if only.is_empty() {
        words.iter().flat_map(|word| expanded(word, outside)).collect()
    } else {
        options(tool, &words)
    };
    let inside = |name: &str| format!("{OURS}/{name}");
    let mut words: Vec<String> = Vec::new();
    let (program, reporter) = match tool {
        Tool::Node => {
            words.extend(["--test".to_owned(), format!("--test-reporter={}", inside("node.mjs"))]);
            words.push("--test-reporter-destination=/proc/self/fd/9".to_owned());
            (None, ours("node.mjs", NODE))
        }
        Tool::Vitest => {
            // What it would keep for the next run lies among what is installed, where nothing can be written.
            let fixed = ["--passWithNoTests", "--coverage.enabled=false", "--watch=false", "--bail=0", "--no-cache"];
            words.push("run".to_owned());
            words.push(format!("--reporter={}", inside("vitest.mjs")));
            words.extend(fixed.map(str::to_owned));
            (Some("vitest/vitest.mjs"), ours("vitest.mjs", VITEST))
        }
        Tool::Mocha => {
            words.push(format!("--reporter={}", inside("mocha.cjs")));
            words.extend(["--no-bail", "--no-color", "--full-trace"].map(str::to_owned));
            (Some("mocha/lib/cli/cli.js"), ours("mocha.cjs", MOCHA))
        }
        _ => {
            let fixed =
                ["--ci", "--passWithNoTests", "--coverage=false", "--watchAll=false", "--watchman=false", "--bail=0"];
            words.push(format!("--reporters={}", inside("jest.cjs")));
            words.extend(fixed.map(str::to_owned));
            words.push("--cacheDirectory=/tmp/jest".to_owned());
            (Some("jest/bin/jest.js"), ours("jest.cjs", JEST))
        }
    };
    words.extend(args);
    if tool == Tool::Jest && !only.is_empty() {
        words.push("--runTestsByPath".to_owned());
    }
    words.extend(only.iter().cloned());
    let mut jailed = command(outside, program, words, &env)?.mount(reporter);
    preload(&mut jailed);
    outside.run_reported(tool, jailed, watch)
}

/// A pattern as the shell would hand it over: the files that it matches, or itself where there are none.
fn expanded(word: &str, outside: &Outside<'_>) -> Vec<String> {
    if !word.contains(['*', '?']) || word.starts_with('-') {
        return vec![word.to_owned()];
    }
    let (folder, list) = (&outside.order.check.root, outside.order.files.list());
    let below = list.iter().filter(|path| !super::is_installed(path)).filter_map(|path| match folder {
        Some(folder) => path.strip_prefix(folder),
        None => Some(path.clone()),
    });
    let named = below.filter(|path| matches(word, &path.components().collect::<Vec<_>>()));
    let mut found: Vec<String> = named.filter_map(|path| path.to_str().map(str::to_owned)).collect();
    found.sort();
    if found.is_empty() { vec![word.to_owned()] } else { found }
}

/// Has every node process note what it reads.
fn preload(jailed: &mut Jailed) {
    let mut options = OsString::from(format!("--require={OURS}/seen.cjs"));
    if let Some(own) = jailed.env.get(std::ffi::OsStr::new("NODE_OPTIONS")) {
        options.push(" ");
        options.push(own);
    }
    jailed.env.insert("NODE_OPTIONS".into(), options);
    jailed.mounts.push(ours("seen.cjs", SEEN));
}

/// Node with a script of an installed package, or with nothing but the words.
pub(crate) fn command(
    outside: &Outside<'_>,
    script: Option<&str>,
    words: Vec<String>,
    env: &[(String, String)],
) -> Result<Jailed, Ending> {
    let root = &outside.order.check.root;
    let node = node(outside, root)?;
    let installed = installed(outside)?;
    let script = script.map(|script| package(outside, root, &installed, script)).transpose()?;
    let mut jailed = outside.program(&node.program, &installed);
    jailed.mounts.extend(node.mounts);
    jailed.args.extend(script.map(PathBuf::into_os_string));
    let mut jailed = jailed.args(words);
    jailed.env.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
    let mut path = OsString::new();
    for folder in upwards(root.clone()).filter_map(|folder| file_in(&folder, "node_modules/.bin")) {
        path.push(on_disk(outside.order.shadow, &folder));
        path.push(":");
    }
    if let Some(bin) = node.program.parent() {
        path.push(bin);
    }
    path.push(":/usr/local/bin:/usr/bin:/bin");
    jailed.env.insert("PATH".into(), path);
    Ok(jailed)
}

/// The node of a project.
pub(crate) fn node(outside: &Outside<'_>, root: &Folder) -> Result<sandbox::Interpreter, Ending> {
    let read = |name| upwards(root.clone()).find_map(|folder| outside.order.files.read(&file_in(&folder, name)?));
    let pinned = read(".nvmrc").or_else(|| read(".node-version"));
    let pinned = pinned.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let node = outside.interpreters.node(pinned.as_deref(), outside.workspace);
    node.map_err(|error| Ending::new(Verdict::Unavailable, error.to_string()))
}

/// What is installed for the packages of the tree. Enough for the one that is checked, or why not.
pub(crate) fn installed(outside: &Outside<'_>) -> Result<Vec<Installed>, Ending> {
    let (root, files) = (&outside.order.check.root, outside.order.files);
    let unavailable = |reason| Ending::new(Verdict::Unavailable, reason);
    let mut found = node_modules(files, outside.workspace).map_err(unavailable)?;
    // Those of the project, of the folders above it and of what it uses; a repository may have hundreds.
    let used: BTreeSet<Folder> = super::uses(files, root).into_iter().chain([root.clone()]).flat_map(upwards).collect();
    found.retain(|it| used.contains(&it.at.parent()));
    let manifest = file_in(root, "package.json").and_then(|path| Manifest::parse(&files.read(&path)?));
    let places: BTreeSet<TreePath> = upwards(root.clone()).filter_map(|it| file_in(&it, "node_modules")).collect();
    let here = found.iter().any(|it| places.contains(&it.at))
        || files.list().iter().any(|path| places.iter().any(|place| path.strip_prefix(place).is_some()));
    if !here && manifest.is_some_and(|manifest| !manifest.dependencies.is_empty()) {
        let folder = lock_folder(outside).map_or_else(|| "the top of the repository".to_owned(), |it| it.to_string());
        return Err(unavailable(format!("node_modules is missing: run `{}` in {folder}", install(outside))));
    }
    if let Some(name) = absent(outside, &found) {
        return Err(unavailable(format!("{name} is in package.json and not installed: run `{}`", install(outside))));
    }
    Ok(found)
}

/// A package that the project asks for and that is nowhere: a change may ask for one that nobody installed yet.
fn absent(outside: &Outside<'_>, found: &[Installed]) -> Option<String> {
    let (root, files) = (&outside.order.check.root, outside.order.files);
    let manifest = file_in(root, "package.json").and_then(|path| Manifest::parse(&files.read(&path)?))?;
    let above: Vec<TreePath> = upwards(root.clone()).filter_map(|it| file_in(&it, "node_modules")).collect();
    let list = files.list();
    let there = |name: &str| {
        let Ok(path) = name.parse::<TreePath>() else { return true };
        found.iter().any(|it| above.contains(&it.at) && on_disk(&it.host, &path).symlink_metadata().is_ok())
            || list.iter().any(|file| above.iter().any(|place| file.strip_prefix(&place.join(&path)).is_some()))
    };
    let own = || list.iter().filter(|path| path.file_name() == b"package.json" && !super::is_installed(path));
    let ours = |name: &str| {
        own().any(|path| {
            files.read(path).and_then(|it| Manifest::parse(&it)).is_some_and(|it| it.name.as_deref() == Some(name))
        })
    };
    manifest.required.into_iter().find(|name| !there(name) && !ours(name))
}

/// The nearest folder with a lock file, where packages are installed; else the project's own.
fn lock_folder(outside: &Outside<'_>) -> Folder {
    let root = &outside.order.check.root;
    let locked = |folder: &Folder| LOCKS.iter().any(|(name, _)| has(outside, folder, name));
    upwards(root.clone()).find(locked).unwrap_or_else(|| root.clone())
}

/// The lock files of those who install packages, with the command that does.
pub(crate) const LOCKS: [(&str, &str); 5] = [
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install"),
    ("bun.lock", "bun install"),
];

fn install(outside: &Outside<'_>) -> &'static str {
    let folder = lock_folder(outside);
    LOCKS.iter().find(|(name, _)| has(outside, &folder, name)).map_or("npm install", |(_, command)| command)
}

fn has(outside: &Outside<'_>, folder: &Folder, name: &str) -> bool {
    file_in(folder, name).is_some_and(|path| outside.order.files.read(&path).is_some())
}

/// A script of an installed package, as it is seen in the shadow.
fn package(outside: &Outside<'_>, root: &Folder, installed: &[Installed], script: &str) -> Result<PathBuf, Ending> {
    for place in upwards(root.clone()).filter_map(|folder| file_in(&folder, "node_modules")) {
        let Ok(script) = script.parse::<TreePath>() else { continue };
        let there = installed.iter().find(|it| it.at == place).is_some_and(|it| on_disk(&it.host, &script).is_file());
        let inside = place.join(&script);
        if there || outside.order.files.read(&inside).is_some() {
            return Ok(on_disk(outside.order.shadow, &inside));
        }
    }
    let name = script.split('/').next().unwrap_or(script);
    let reason = format!("{name} is not installed: run `{}`", install(outside));
    Err(Ending::new(Verdict::Unavailable, reason))
}
