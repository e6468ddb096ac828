//! Occurrences of a name that no compiler resolved: in strings, comments, macro bodies, switched-off code, other files.

use ra_ap_hir::Semantics;
use ra_ap_ide_db::RootDatabase;
use ra_ap_ide_db::defs::IdentClass;
use ra_ap_syntax::ast::{self, AstToken};
use ra_ap_syntax::{AstNode, SyntaxKind, SyntaxToken};
use task::{Limitation, TreePath};

use crate::analysis::Analysis;

/// More places than this are counted and not listed.
const LISTED: usize = 100;
/// Files that are not Rust are searched up to this size in bytes.
const SEARCHED_FILE_CAP: usize = 1 << 20;

/// Whether a word occurs in a text, not as part of a longer one.
pub fn has_word(text: &str, word: &str) -> bool {
    words(text, word).next().is_some()
}

/// Where a word occurs.
pub fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

impl Analysis {
    /// Every place in the present text where `word` is written and that nothing else accounts for.
    ///
    /// Asked after a rename was applied, so that what is left is what the rename did not reach.
    pub(crate) fn unresolved_words(&self, word: &str) -> Vec<Limitation> {
        let semantics = Semantics::new(self.database());
        let mut found = Vec::new();
        for (path, bytes) in self.files() {
            let source = self.text(path).zip(self.file_id(path)).filter(|_| path.file_name().ends_with(b".rs"));
            match source {
                Some((text, file)) if has_word(text.lf(), word) => {
                    let tree = semantics.parse_guess_edition(file);
                    for at in words(text.lf(), word) {
                        let Ok(offset) = u32::try_from(at) else { continue };
                        let Some(token) = tree.syntax().token_at_offset(offset.into()).right_biased() else { continue };
                        if let Some(why) = reason(&semantics, &token) {
                            found.push((path, text.line(at), why));
                        }
                    }
                }
                Some(_) => {}
                None => {
                    if bytes.len() > SEARCHED_FILE_CAP || path.file_name() == b"Cargo.lock" {
                        continue;
                    }
                    let Ok(text) = std::str::from_utf8(bytes) else { continue };
                    let line = |at: usize| 1 + text[..at].matches('\n').count() as u32;
                    found.extend(words(text, word).map(|at| (path, line(at), "in a file that is not compiled")));
                }
            }
        }
        summarised(found, word)
    }
}

fn summarised(found: Vec<(&TreePath, u32, &str)>, word: &str) -> Vec<Limitation> {
    let rest = found.len().saturating_sub(LISTED);
    let mut listed: Vec<Limitation> = found
        .into_iter()
        .take(LISTED)
        .map(|(path, line, why)| Limitation::at(path.clone(), Some(line), format!("`{word}` {why} was left as it is")))
        .collect();
    listed.dedup();
    if rest > 0 {
        listed.push(Limitation::general(format!(
            "`{word}` was left as it is in {rest} more places in text and comments"
        )));
    }
    listed
}

/// Why a written word was not resolved; `None` when the compiler knows what it is.
fn reason(semantics: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> Option<&'static str> {
    match token.kind() {
        SyntaxKind::COMMENT => {
            let comment = ast::Comment::cast(token.clone())?;
            Some(if comment.is_doc() { "in the text of a doc comment" } else { "in a comment" })
        }
        SyntaxKind::STRING | SyntaxKind::BYTE_STRING | SyntaxKind::C_STRING => Some("in a string"),
        SyntaxKind::IDENT => {
            let known = |token: &SyntaxToken| IdentClass::classify_token(semantics, token).is_some();
            if known(token) || semantics.descend_into_macros(token.clone()).iter().any(known) {
                return None;
            }
            let in_tokens = token.parent_ancestors().any(|node| node.kind() == SyntaxKind::TOKEN_TREE);
            Some(if in_tokens {
                "in a macro's tokens"
            } else {
                "in code that analysis did not resolve (switched off by cfg, or unknown)"
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_not_part_of_a_longer_one() {
        assert_eq!(words("matches rematches matches_x matches", "matches").collect::<Vec<_>>(), [0, 28]);
        assert!(has_word("`matches`", "matches"));
        assert!(!has_word("ümatches", "matches"));
    }
}
