//! What stands at a line and a column.

use ra_ap_hir::{Name, Semantics};
use ra_ap_ide_db::defs::{Definition, IdentClass};
use ra_ap_ide_db::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxKind, TextSize};
use task::{Position, TreePath};

use crate::analysis::{Analysis, Site};

impl Analysis {
    /// The compiler's offset of a line and a column, both from 1; the column counts characters.
    pub(super) fn place(&self, path: &TreePath, line: u32, column: u32) -> Result<(FileId, TextSize), String> {
        let (Some(text), Some(file)) = (self.text(path), self.file_id(path)) else {
            return Err(format!("{path} is not a file that the compiler analyses"));
        };
        let offset = text.offset(line, 1).and_then(|start| {
            let rest = text.lf()[start..].split('\n').next().unwrap_or_default();
            let skipped = usize::try_from(column.checked_sub(1)?).ok()?;
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().nth(skipped).map(|at| start + at)
        });
        let Some(offset) = offset else { return Err(format!("{path} has no line {line} with a column {column}")) };
        let offset = u32::try_from(offset).map_err(|_| format!("{path} is too large"))?;
        Ok((file, offset.into()))
    }

    /// The one definition with this name that what stands at a place means.
    pub(super) fn standing_at<'db>(
        &self,
        semantics: &Semantics<'db, RootDatabase>,
        at: &Position,
        name: &str,
    ) -> Result<Definition<'db>, String> {
        let (file, offset) = self.place(&at.path, at.line, at.column)?;
        let source = semantics.parse_guess_edition(file);
        let tokens = source.syntax().token_at_offset(offset);
        let token = tokens.max_by_key(|token| u8::from(token.kind() == SyntaxKind::IDENT));
        let mut found: Vec<(Option<Site>, Definition<'db>)> = Vec::new();
        for token in token.into_iter().flat_map(|token| semantics.descend_into_macros(token)) {
            let Some(class) = IdentClass::classify_token(semantics, &token) else { continue };
            for (definition, _) in class.definitions() {
                let is_meant = definition.name(semantics.db).as_ref().map(Name::as_str) == Some(name);
                let site = self.definition_site(semantics, definition);
                if is_meant && !found.iter().any(|(known, _)| *known == site) {
                    found.push((site, definition));
                }
            }
        }
        match found.as_slice() {
            [] => Err(format!("what stands at {at} is not called `{name}`")),
            [(_, only)] => Ok(*only),
            _ => Err(format!("`{name}` at {at} is two things at once; name a place where it is only one of them")),
        }
    }
}
