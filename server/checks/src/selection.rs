//! What to ask cargo for where some targets do not build: it starts nothing if anything that it was asked for does not.
//!
//! The whole workspace is asked for each time, less what has to be left out. A package asked for by itself is resolved
//! by itself: with other features than the rest of the check, and where the workspace replaces a published package by one
//! of its own (`[patch]`), sometimes not at all.

use std::collections::{BTreeMap, BTreeSet};

use task::ItemResult;

use crate::cargo_build::Built;
use crate::programs::{is_built, is_held_back, is_test_unit};

/// Whether a plain `cargo test` of the workspace builds. Benches without tests are not among what it builds.
pub(crate) fn everything(built: &Built) -> bool {
    let bench = |item: &task::Item| {
        let members = built.metadata.packages.iter().filter(|member| member.name == item.id.package);
        let mut targets = members.flat_map(|member| &member.targets);
        targets.any(|target| target.is("bench") && !target.test && target.label() == item.id.target)
    };
    built.exit == Some(0) || built.items.iter().all(|item| is_fine(item.result) || bench(item))
}

fn is_fine(result: ItemResult) -> bool {
    matches!(result, ItemResult::Passed | ItemResult::Ignored)
}

/// The options of each command that is needed to start every test program that was built.
pub(crate) fn selections(built: &Built) -> Vec<Vec<String>> {
    let tests = || built.items.iter().filter(|item| is_test_unit(built, item));
    let fine = |item: &task::Item| is_fine(item.result) && !is_held_back(built, item);
    if tests().all(fine) {
        return vec![vec!["--workspace".to_owned(), "--tests".to_owned()]];
    }
    // Targets of one name in several packages are selected together, so packages where that one is broken stay out.
    let mut broken: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in tests() {
        let out = broken.entry(&item.id.target).or_default();
        if !fine(item) {
            out.insert(&item.id.package);
        }
    }
    let mut groups: BTreeMap<&BTreeSet<&str>, Vec<String>> = BTreeMap::new();
    for (target, out) in &broken {
        if tests().any(|item| item.id.target == *target && is_built(item) && fine(item)) {
            let options = groups.entry(out).or_default();
            match target.split_once(' ') {
                Some((kind, name)) => options.extend([format!("--{kind}"), name.to_owned()]),
                None => options.push("--lib".to_owned()),
            }
        }
    }
    let group = |(out, options): (&BTreeSet<&str>, Vec<String>)| {
        let members = built.metadata.packages.iter().filter(|member| out.contains(member.name.as_str()));
        let excluded = members.flat_map(|member| ["--exclude".to_owned(), member.id.clone()]);
        ["--workspace".to_owned()].into_iter().chain(excluded).chain(options).collect()
    };
    groups.into_iter().map(group).collect()
}
