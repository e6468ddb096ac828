//! Parsing with a cap: a text that was made to keep a parser busy is given up, always at the same step.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::Language;

/// Larger texts are not parsed: nobody wrote them by hand.
const MOST_BYTES: usize = 2 << 20;

/// The parser reports after each hundred of its steps: in real repositories at most twice in a hundred bytes. Steps and
/// not seconds, so that equal texts have equal answers.
const FREE_REPORTS: usize = 2_000;
const BYTES_A_REPORT: usize = 20;

/// Why a text was not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cap {
    #[error("the text has {0} bytes, and no more than {MOST_BYTES} are parsed")]
    Size(usize),
    #[error("the text keeps the parser busy for too long")]
    Steps,
    #[error("the grammar does not fit the parser")]
    Grammar,
}

pub(super) fn parse(language: Language, text: &[u8]) -> Result<Tree, Cap> {
    if text.len() > MOST_BYTES {
        return Err(Cap::Size(text.len()));
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).map_err(|_| Cap::Grammar)?;
    let most = FREE_REPORTS + text.len() / BYTES_A_REPORT;
    let mut reports = 0;
    let mut count = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options)).ok_or(Cap::Steps)
}
