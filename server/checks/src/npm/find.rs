//! The npm projects of a tree, and the checks that their manifests ask for.

use std::collections::{BTreeMap, BTreeSet};

use task::{Check, TreePath};

use crate::files::Files;
use crate::folder::{Folder, file_in, is_fixture, resolve, upwards, within};
use crate::npm::manifest::Manifest;
use crate::npm::script::{Started, runners};
use crate::project::{Project, check};
use crate::tool::{Ecosystem, Tool};

/// Every project that has a check of its own.
pub(crate) fn find(files: &dyn Files) -> Vec<Project> {
    let manifests = manifests(files);
    let mut projects = Vec::new();
    for (folder, manifest) in &manifests {
        let mut project = Project {
            ecosystem: Ecosystem::Npm,
            folder: folder.clone(),
            checks: Vec::new(),
            unavailable: BTreeMap::new(),
            uses: used(folder, &manifests),
            has_manifest: true,
        };
        project.checks.extend(compiled(files, folder, &manifests));
        for started in tested(manifest) {
            let mut check = check(started.tool, folder, &started.env, &started.args);
            let twins = project.checks.iter().filter(|it| Tool::of(it) == Some(started.tool)).count();
            if twins > 0 {
                check.id.0 =
                    check.id.0.replacen(started.tool.name(), &format!("{} ({})", started.tool.name(), twins + 1), 1);
            }
            project.checks.push(check);
        }
        // Tests that nobody can read the results of are owed all the same, except by a folder whose parts have their own.
        if project.checks.iter().all(|check| Tool::of(check) == Some(Tool::Tsc))
            && let Some(script) = manifest.test()
            && !manifests
                .keys()
                .any(|other| other != folder && within(other, folder) && manifests[other].test().is_some())
        {
            let mut unread = check(Tool::Node, folder, &[], &[]);
            unread.id.0 = unread.id.0.replacen(Tool::Node.name(), "npm test", 1);
            unread.command = vec!["npm".to_owned(), "test".to_owned()];
            let shown = task::printable(script);
            let reason =
                format!("`npm test` runs `{shown}`: results are read from `node --test`, vitest, jest and mocha only");
            project.unavailable.insert(unread.id.clone(), reason);
            project.checks.push(unread);
        }
        if !project.checks.is_empty() {
            projects.push(project);
        }
    }
    projects
}

/// Every manifest of a tree by its folder.
fn manifests(files: &dyn Files) -> BTreeMap<Folder, Manifest> {
    let list = files.list().into_iter();
    let own = list.filter(|path| path.file_name() == b"package.json" && !is_installed(path) && !is_fixture(path));
    own.filter_map(|path| Some((path.parent(), Manifest::parse(&files.read(&path)?)?))).collect()
}

/// The folders of the packages that one depends on.
pub(crate) fn uses(files: &dyn Files, folder: &Folder) -> BTreeSet<Folder> {
    used(folder, &manifests(files))
}

/// What a package calls itself, else its folder.
pub(crate) fn name(files: &dyn Files, folder: &Folder) -> String {
    let manifest = file_in(folder, "package.json").and_then(|path| Manifest::parse(&files.read(&path)?));
    let folder = || folder.as_ref().map_or_else(|| "npm".to_owned(), TreePath::to_string);
    manifest.and_then(|manifest| manifest.name).unwrap_or_else(folder)
}

/// Whether a file came with an installed package.
pub(crate) fn is_installed(path: &TreePath) -> bool {
    path.components().any(|part| part == b"node_modules")
}

/// The runners of `npm test`; where there is no such script, the one that is installed.
fn tested(manifest: &Manifest) -> Vec<Started> {
    match manifest.test() {
        Some(script) => runners(script, &manifest.scripts),
        None => {
            let tool = [("vitest", Tool::Vitest), ("jest", Tool::Jest), ("mocha", Tool::Mocha)];
            let tool = tool.into_iter().find(|(name, _)| manifest.dependencies.contains_key(*name));
            tool.map(|(_, tool)| Started { tool, env: Vec::new(), args: Vec::new() }).into_iter().collect()
        }
    }
}

/// The compiler's check, where there is something to compile and a compiler is asked for here or above.
fn compiled(files: &dyn Files, folder: &Folder, manifests: &BTreeMap<Folder, Manifest>) -> Option<Check> {
    let text = files.read(&file_in(folder, "tsconfig.json")?)?;
    let asked = |folder: &Folder| manifests.get(folder).is_some_and(|it| it.dependencies.contains_key("typescript"));
    upwards(folder.clone()).any(|folder| asked(&folder)).then(|| {
        // A file that only refers to others has nothing to compile itself.
        let parts = super::tsc::references(&text);
        let args: Vec<String> = parts.iter().flat_map(|part| ["-p".to_owned(), part.clone()]).collect();
        check(Tool::Tsc, folder, &[], &args)
    })
}

/// The folders of the packages of this tree that one depends on, directly or not.
fn used(folder: &Folder, manifests: &BTreeMap<Folder, Manifest>) -> BTreeSet<Folder> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder];
    while let Some(at) = open.pop() {
        let Some(manifest) = manifests.get(at) else { continue };
        for (name, version) in &manifest.dependencies {
            let path = version.strip_prefix("file:").or_else(|| version.strip_prefix("link:"));
            let by_path = path.and_then(|path| resolve(at, path).ok());
            let mut others = manifests.iter().filter(|(_, other)| other.name.as_ref() == Some(name)).map(|it| it.0);
            let other =
                by_path.and_then(|path| manifests.get_key_value(&path)).map(|it| it.0).or_else(|| others.next());
            if let Some(other) = other.filter(|other| *other != folder && !found.contains(*other)) {
                found.insert(other.clone());
                open.push(other);
            }
        }
    }
    found
}
