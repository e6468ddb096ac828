//! What is wrong in one file: native diagnostics and unresolved paths.

use std::ops::Range;

use ra_ap_cfg::CfgExpr;
use ra_ap_ide::{AssistResolveStrategy, Severity};
use ra_ap_ide_db::FileId;
use ra_ap_syntax::ast::{self, HasAttrs as _};
use ra_ap_syntax::{TextRange, TextSize};
use task::TreePath;

use super::resolve;
use crate::analysis::Analysis;
use crate::settings;

/// The code of a path that does not resolve; the compiler has several for it.
const UNRESOLVED: &str = "unresolved";

/// Marked text up to this many bytes completes a message that names nothing.
const MARKED_CAP: usize = 60;

/// One problem in a file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub path: TreePath,
    /// Counted from 1.
    pub line: u32,
    pub code: String,
    pub message: String,
    /// The line itself, to tell occurrences of one signature apart.
    pub line_text: String,
}

impl Finding {
    /// What makes two findings the same problem: no position, no number in it.
    pub fn signature(&self) -> (String, String) {
        (self.code.clone(), self.message.clone())
    }
}

impl Analysis {
    /// Whether a file is reached by a module of some crate.
    pub(crate) fn is_in_a_crate(&self, path: &TreePath) -> bool {
        let semantics = ra_ap_hir::Semantics::new(self.database());
        self.file_id(path).is_some_and(|file| semantics.file_to_module_def(file).is_some())
    }

    /// Everything that is wrong in a file of the present text. When only a part of it differs from the base, inside
    /// bodies, then paths elsewhere mean what they meant and only those of the part are resolved.
    pub(crate) fn findings(&self, path: &TreePath, part: Option<&Range<usize>>) -> Vec<Finding> {
        let Some(file) = self.file_id(path).filter(|_| self.text(path).is_some() && self.is_in_a_crate(path)) else {
            return Vec::new();
        };
        if self.is_switched_off(file) {
            return Vec::new();
        }
        let Ok(diagnostics) = self.ide().full_diagnostics(&settings::diagnostics(), AssistResolveStrategy::None, file)
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut inactive: Vec<TextRange> = Vec::new();
        let mut covered: Vec<TextRange> = Vec::new();
        for diagnostic in diagnostics {
            if diagnostic.code.as_str() == "inactive-code" {
                inactive.push(diagnostic.range.range);
            }
            if diagnostic.severity == Severity::Error && diagnostic.range.file_id == file {
                covered.push(diagnostic.range.range);
                found.extend(self.finding(file, diagnostic.range.range, diagnostic.code.as_str(), diagnostic.message));
            }
        }
        for unresolved in self.attached(|| resolve::unresolved(self.database(), file, &inactive, part)) {
            if !covered
                .iter()
                .any(|range| range.intersect(unresolved.range).is_some_and(|shared| shared.len() > TextSize::new(0)))
            {
                let message = format!("cannot find `{}`", unresolved.name);
                found.extend(self.finding(file, unresolved.range, UNRESOLVED, message));
            }
        }
        found
    }

    /// Whether a `#![cfg(..)]` at its beginning switches a whole file off, as integration tests for one system have it.
    /// No diagnostic says so.
    fn is_switched_off(&self, file: FileId) -> bool {
        let semantics = ra_ap_hir::Semantics::new(self.database());
        let Some(module) = semantics.file_to_module_def(file) else { return false };
        let set = module.krate(self.database()).cfg(self.database());
        let attributes = semantics.parse_guess_edition(file).attrs();
        let conditions = attributes.filter_map(|attribute| match attribute.meta()? {
            ast::Meta::CfgMeta(meta) => meta.cfg_predicate(),
            _ => None,
        });
        conditions.into_iter().any(|condition| set.check(&CfgExpr::parse_from_ast(condition)) == Some(false))
    }

    fn finding(&self, file: FileId, range: TextRange, code: &str, message: String) -> Option<Finding> {
        let site = self.site(file, range)?;
        let text = self.text(&site.path)?.lf();
        let start = usize::from(range.start()).min(text.len());
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        // Some messages do not say what they are about, which would make all of their kind one signature.
        let marked =
            text.get(start..usize::from(range.end())).filter(|marked| !marked.is_empty() && marked.len() <= MARKED_CAP);
        let mut message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(marked) = marked.filter(|marked| !message.contains('`') && !marked.contains('\n')) {
            message = format!("{message}: `{marked}`");
        }
        Some(Finding {
            path: site.path,
            line: site.line,
            code: code.to_owned(),
            message,
            line_text: text[from..to].trim().to_owned(),
        })
    }
}
