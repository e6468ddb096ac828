//! The marks of a diff that names alone do not give: what cargo runs while it builds.

use checks::Acting;
use task::{Diff, PublishedFile, Risk, TreeId, TreePath};
use worktree::{Authors, Store};

use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

/// What runs at build time before or after a change.
struct Both([Acting; 2]);

impl Both {
    fn of(store: &Store, base: &TreeId, tree: &TreeId) -> Self {
        Self([base, tree].map(|tree| Acting::of(&TreeFiles { store, tree })))
    }

    fn risks(&self, path: &TreePath) -> Vec<Risk> {
        let mut risks = Risk::of_path(path);
        if self.0.iter().any(|acting| acting.contains(path)) && !risks.contains(&Risk::RunsByItself) {
            risks.push(Risk::RunsByItself);
        }
        risks
    }
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
