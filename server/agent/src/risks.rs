//! The marks of a diff that names alone do not give: what cargo runs while it builds, what a `package.json` has run.

use checks::Acting;
use task::{Diff, PublishedFile, Risk, TreeId, TreePath};
use worktree::{Authors, Store};

use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

/// What of a `package.json` names commands, or settles what the tools that read it load.
const ACTING_KEYS: [&str; 17] = [
    "scripts",
    "bin",
    "gypfile",
    "packageManager",
    "husky",
    "lint-staged",
    "simple-git-hooks",
    "pre-commit",
    "config",
    "jest",
    "mocha",
    "ava",
    "nyc",
    "babel",
    "eslintConfig",
    "prettier",
    "stylelint",
];

/// What runs at build time before or after a change.
struct Both<'a> {
    acting: [Acting; 2],
    store: &'a Store,
    trees: [&'a TreeId; 2],
}

impl<'a> Both<'a> {
    fn of(store: &'a Store, base: &'a TreeId, tree: &'a TreeId) -> Self {
        let trees = [base, tree];
        Self { acting: trees.map(|tree| Acting::of(&TreeFiles { store, tree })), store, trees }
    }

    /// Whether a change of this file changes what runs.
    fn acts(&self, path: &TreePath) -> bool {
        if path.file_name() == b"package.json" {
            let [before, after] = self.trees.map(|tree| acting_keys(self.store, tree, path));
            return before != after;
        }
        self.acting.iter().any(|acting| acting.contains(path))
    }

    fn risks(&self, path: &TreePath) -> Vec<Risk> {
        let mut risks = Risk::of_path(path);
        if self.acts(path) && !risks.contains(&Risk::RunsByItself) {
            risks.push(Risk::RunsByItself);
        }
        risks
    }
}

/// The part of a `package.json` that acts, in order; a file that is not there has none. What cannot be read is compared
/// as it is.
fn acting_keys(store: &Store, tree: &TreeId, path: &TreePath) -> Vec<String> {
    let Ok(Some(bytes)) = store.read(tree, path) else { return Vec::new() };
    let Ok(manifest) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
        return vec![String::from_utf8_lossy(&bytes).into_owned()];
    };
    ACTING_KEYS.iter().filter_map(|key| Some(format!("{key}: {}", manifest.get(key)?))).collect()
}

/// The diff of two trees with all its marks.
pub(crate) fn diff(store: &Store, base: &TreeId, tree: &TreeId, authors: &Authors) -> Result<Diff, Error> {
    let mut diff = worktree::compare(store, base, tree, authors)?;
    let both = Both::of(store, base, tree);
    for file in &mut diff.files {
        for risk in both.risks(&file.path).into_iter().chain(both.risks(&file.old_path)) {
            if !file.risks.contains(&risk) {
                file.risks.push(risk);
            }
        }
        file.risks.sort();
    }
    Ok(diff)
}

impl Walk<'_> {
    /// Files of a publication that need a consent of their own, each with the reason.
    pub(crate) fn needing_consent(
        &self,
        base: &TreeId,
        tree: &TreeId,
        files: &[PublishedFile],
    ) -> Vec<(TreePath, Risk)> {
        let both = Both::of(&self.store, base, tree);
        let needing = |file: &PublishedFile| {
            let risk = both.risks(&file.path).into_iter().find(|risk| risk.needs_consent())?;
            Some((file.path.clone(), risk))
        };
        files.iter().filter_map(needing).collect()
    }
}
