//! Making any text safe to print: names and messages come from repositories nobody vouches for.

use std::fmt::Write as _;

/// Characters that could move the cursor, hide text or reorder it: control characters (but for tab and newline) and
/// the bidirectional and zero-width ones.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with every deceptive character written as `\u{..}`, so that a terminal or an editor shows what is there.
/// A carriage return before a newline is dropped, since build tools end lines with it.
///
/// ```
/// assert_eq!(task::printable("a\u{1b}[2Jb\r\n"), "a\\u{1b}[2Jb\n");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if is_deceptive(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
