//! One file's text in two shapes: the developer's exact bytes, and the LF-only text the compiler works on.
//!
//! The compiler removes carriage returns and a byte order mark before it parses, so every offset it answers is an
//! offset into that shape. This module owns the way back; nothing else in the crate converts offsets.

use std::ops::Range;
use std::sync::Arc;

/// The three bytes of a UTF-8 byte order mark.
const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Files above this many bytes are kept but never parsed.
pub const PARSED_FILE_CAP: usize = 8 << 20;

/// The compiler's view of a file, with the map back to the developer's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    lf: Arc<str>,
    /// Offsets in `lf` of the line feeds that had a carriage return before them, ascending.
    returns: Vec<usize>,
    bom: usize,
    crlf: bool,
}

impl Text {
    /// `None` when the bytes are not UTF-8 or too many to parse: the compiler never sees such a file.
    pub fn new(bytes: &[u8]) -> Option<Text> {
        if bytes.len() > PARSED_FILE_CAP {
            return None;
        }
        let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let text = std::str::from_utf8(&bytes[bom..]).ok()?;
        let mut lf = String::with_capacity(text.len());
        let mut returns = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("\r\n") {
            lf.push_str(&rest[..at]);
            returns.push(lf.len());
            lf.push('\n');
            rest = &rest[at + 2..];
        }
        lf.push_str(rest);
        let feeds = lf.bytes().filter(|byte| *byte == b'\n').count();
        let crlf = returns.len() * 2 > feeds;
        Some(Text { lf: lf.into(), returns, bom, crlf })
    }

    /// The text as the compiler sees it.
    pub fn lf(&self) -> &Arc<str> {
        &self.lf
    }

    /// The offset in the developer's bytes of an offset in [`Text::lf`].
    ///
    /// An offset at a line feed maps to before its carriage return, so a range never splits a line ending.
    pub fn to_bytes(&self, offset: usize) -> usize {
        self.bom + offset + self.returns.partition_point(|at| *at < offset)
    }

    /// A range of [`Text::lf`] as a range of the developer's bytes.
    pub fn range_to_bytes(&self, range: Range<usize>) -> Range<usize> {
        self.to_bytes(range.start)..self.to_bytes(range.end)
    }

    /// The offset in [`Text::lf`] of an offset in the developer's bytes, clamped to the text.
    pub fn to_lf(&self, offset: usize) -> usize {
        let (mut low, mut high) = (0, self.returns.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.bom + self.returns[middle] + middle < offset { low = middle + 1 } else { high = middle }
        }
        offset.saturating_sub(self.bom + low).min(self.lf.len())
    }

    /// Replacement text with the line endings that most lines of this file have.
    pub fn localise(&self, replacement: &str) -> String {
        if self.crlf { replacement.replace("\r\n", "\n").replace('\n', "\r\n") } else { replacement.to_owned() }
    }

    /// The one-based line of an offset in [`Text::lf`].
    pub fn line(&self, offset: usize) -> u32 {
        let end = offset.min(self.lf.len());
        1 + self.lf.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count() as u32
    }

    /// The offset in [`Text::lf`] of a one-based line and one-based column of UTF-8 bytes.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let (line, column) = (line.checked_sub(1)?, column.checked_sub(1)?);
        let mut start = 0;
        for _ in 0..line {
            start += self.lf[start..].find('\n')? + 1;
        }
        let end = self.lf[start..].find('\n').map_or(self.lf.len(), |at| start + at);
        let offset = start + column as usize;
        (offset <= end && self.lf.is_char_boundary(offset)).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_skip_carriage_returns_and_the_byte_order_mark() {
        let text = Text::new(b"\xEF\xBB\xBFa\r\nbc\r\nd").unwrap();
        assert_eq!(&**text.lf(), "a\nbc\nd");
        assert_eq!(text.to_bytes(0), 3);
        assert_eq!(text.to_bytes(1), 4, "before the carriage return");
        assert_eq!(text.range_to_bytes(2..4), 6..8);
        assert_eq!(text.to_bytes(5), 10);
        assert_eq!(text.localise("x\ny"), "x\r\ny");
    }

    #[test]
    fn a_lone_carriage_return_is_text() {
        let text = Text::new(b"a\rb\n").unwrap();
        assert_eq!(&**text.lf(), "a\rb\n");
        assert_eq!(text.to_bytes(4), 4);
        assert_eq!(text.localise("x\ny"), "x\ny");
    }

    #[test]
    fn lines_and_columns_are_one_based_bytes() {
        let text = Text::new("ä\r\nxy".as_bytes()).unwrap();
        assert_eq!(text.offset(1, 3), Some(2));
        assert_eq!(text.offset(1, 2), None, "inside a character");
        assert_eq!(text.offset(2, 3), Some(5));
        assert_eq!(text.offset(3, 1), None);
        assert_eq!(text.line(3), 2);
    }

    proptest::proptest! {
        #[test]
        fn every_line_feed_offset_survives_the_way_there_and_back(source in "(\u{feff})?[a\r\nä]{0,40}") {
            let text = Text::new(source.as_bytes()).unwrap();
            for (offset, _) in text.lf().char_indices() {
                let there = text.to_bytes(offset);
                proptest::prop_assert!(source.is_char_boundary(there));
                proptest::prop_assert_eq!(text.to_lf(there), offset);
            }
            proptest::prop_assert_eq!(text.to_bytes(text.lf().len()), source.len());
        }
    }
}
