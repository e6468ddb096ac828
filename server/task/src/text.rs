//! Making any text safe to print: names and messages come from repositories nobody vouches for.

use std::fmt::Write as _;

/// Characters that could move the cursor, hide text or reorder it: control characters (but for tab and newline), the
/// bidirectional and zero-width ones, line separators, fillers and tags, which show as nothing. The
/// variation selector that colours an emoji is none.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_as_nothing_is_shown_escaped() {
        for hidden in ['\u{61c}', '\u{ad}', '\u{2028}', '\u{3164}', '\u{e0041}', '\u{e0101}', '\u{206a}', '\u{202e}'] {
            assert_eq!(printable(&format!("a{hidden}b")), format!("a\\u{{{:x}}}b", u32::from(hidden)));
        }
        assert_eq!(printable("ü 漢 ❤\u{fe0f}\t\n"), "ü 漢 ❤\u{fe0f}\t\n");
    }
}
