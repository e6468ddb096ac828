//! A head start: while cargo still builds build scripts and proc macros, the question that waits is gone through with
//! what is known already. Nothing of the outcome is kept; what the compiler worked out on the way is, as far as the
//! better facts leave it as it was.

use ra_ap_hir::{Crate, Impl};
use task::TreePath;
use task::port::Refactored;

use crate::analysis::Analysis;
use crate::questions::Question;

impl Analysis {
    /// Works out what every first question needs of the standard library, then what `expected` needs of the rest.
    /// `stop` is asked between steps, each of which takes seconds at most: then somebody waits for the real thing.
    pub(crate) fn rehearse(&mut self, expected: Option<&Question>, stop: &dyn Fn() -> bool) {
        for library in [true, false] {
            let database = self.database();
            let crates: Vec<Crate> =
                Crate::all(database).into_iter().filter(|krate| krate.origin(database).is_lang() == library).collect();
            for krate in crates {
                if stop() {
                    return;
                }
                let _ = self.attached(|| (krate.modules(database).len(), Impl::all_in_crate(database, krate).len()));
            }
        }
        let edited: Vec<TreePath> = match expected {
            Some(Question::Refactor { refactoring }) if !stop() => match self.refactor(refactoring) {
                Refactored::Edits { edits, .. } => edits.paths().cloned().collect(),
                _ => Vec::new(),
            },
            Some(Question::QuickFixes { problem }) => vec![problem.path.clone()],
            Some(Question::Gate { edited }) => edited.clone(),
            _ => Vec::new(),
        };
        // The gate will compare with what is wrong in these files now.
        for path in edited.iter().filter(|path| path.file_name().ends_with(b".rs")) {
            if stop() {
                return;
            }
            let _ = self.findings(path, None);
        }
    }
}
