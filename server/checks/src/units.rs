//! The units that a build is asked for, and what was heard of each.

use std::collections::BTreeSet;

use task::{Item, ItemId, ItemKind, ItemResult};

use crate::cargo_build::{UNIT_TESTS, manifest};
use crate::diagnostic::Diagnostic;
use crate::message::{Artifact, Target, unit_label};
use crate::metadata::Member;
use crate::order::Order;
use crate::signature::signature;
use crate::told::excerpt;

/// The units that `--all-targets` asks for: each target, and once more with its own tests.
pub(crate) fn expected_units(target: &Target) -> Vec<(&Target, bool)> {
    let label = target.label();
    match label.split(' ').next() {
        Some("build") => vec![(target, false)],
        Some("test" | "bench") => vec![(target, true)],
        _ if target.test => vec![(target, false), (target, true)],
        _ => vec![(target, false)],
    }
}

#[derive(Default)]
pub(crate) struct Units {
    pub artifacts: Vec<Artifact>,
}

impl Units {
    #[expect(clippy::too_many_arguments, reason = "one judgement that weighs everything that was heard")]
    pub(crate) fn item(
        &self,
        member: &Member,
        target: &Target,
        test: bool,
        given_up: &BTreeSet<(String, String)>,
        diagnostics: &[Diagnostic],
        order: &Order<'_>,
        success: bool,
        broken_script: Option<&str>,
    ) -> Item {
        let label = target.label();
        let path = if test && !label.starts_with("test ") && !label.starts_with("bench ") { UNIT_TESTS } else { "" };
        let id = ItemId { package: member.name.clone(), target: label.clone(), path: path.to_owned() };
        let mut own = self.artifacts.iter().filter(|artifact| artifact.package_id == member.id);
        let failed = given_up.contains(&(member.name.clone(), unit_label(target, test)));
        let built = own.any(|artifact| {
            artifact.target.name == target.name && artifact.target.kind == target.kind && artifact.profile.test == test
        });
        let mut item = Item {
            id,
            kind: ItemKind::Target,
            result: ItemResult::Passed,
            signature: None,
            at: None,
            excerpt: String::new(),
        };
        if let Some(said) = broken_script.filter(|_| label == "build script") {
            item.result = ItemResult::Failed;
            item.excerpt = said.to_owned();
            item.signature = Some(signature(&item.id, "build script", said, order.shadow));
            return item;
        }
        if built && !failed {
            return item;
        }
        let off = self.features_off(member, target, order);
        if success || !off.is_empty() {
            item.result = ItemResult::Ignored;
            item.excerpt = if off.is_empty() {
                "cargo did not ask for it".to_owned()
            } else {
                format!("needs features that are off: {}", off.join(", "))
            };
            return item;
        }
        let error = diagnostics.iter().find(|diagnostic| {
            diagnostic.level == crate::diagnostic::Level::Error
                && diagnostic.package == member.name
                && diagnostic.targets.contains(&label)
        });
        let (class, message) = match error {
            Some(error) => (error.code.clone().unwrap_or_else(|| "error".to_owned()), error.message.clone()),
            None => ("error".to_owned(), String::new()),
        };
        if failed || error.is_some() {
            item.result = ItemResult::Failed;
            item.at = error.and_then(|error| Some((error.path.clone()?, error.line)));
            item.excerpt =
                error.map(|error| excerpt(&error.rendered)).unwrap_or_else(|| "it did not compile".to_owned());
            item.signature = Some(signature(&item.id, &class, &message, order.shadow));
        } else {
            item.result = ItemResult::NoResult;
            item.excerpt = "not built, because something it needs was not".to_owned();
            item.signature = Some(signature(&item.id, "not built", "", order.shadow));
        }
        item
    }

    /// Features that a target requires and that are off: such a target is passed over by cargo.
    fn features_off(&self, member: &Member, target: &Target, order: &Order<'_>) -> Vec<String> {
        if target.required_features.is_empty() || order.check.features == task::Features::All {
            return Vec::new();
        }
        let library = self.artifacts.iter().find(|artifact| {
            artifact.package_id == member.id && artifact.target.label() == "lib" && !artifact.profile.test
        });
        let on: BTreeSet<String> = match library {
            Some(library) => library.features.iter().cloned().collect(),
            None => manifest(member, order).map(|manifest| manifest.default_features).unwrap_or_default(),
        };
        target.required_features.iter().filter(|feature| !on.contains(*feature)).cloned().collect()
    }
}
