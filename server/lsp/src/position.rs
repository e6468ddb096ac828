//! Positions: the only place where encodings exist. Inside, offsets are bytes of UTF-8.

use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind, Range as ClientRange};

/// How the client counts characters of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    Utf8,
    /// What the protocol means when nothing was agreed.
    #[default]
    Utf16,
}

impl Encoding {
    pub fn chosen(offered: Option<&[PositionEncodingKind]>) -> Self {
        if offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8)) {
            Self::Utf8
        } else {
            Self::Utf16
        }
    }

    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }
}

/// Where the lines of a text begin. The client ends lines at `\n`, `\r\n` and a lone `\r`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
    len: usize,
}

impl Lines {
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Self { starts, len: text.len() }
    }

    /// The bytes of a line with its end; a line beyond the end is the empty place there.
    pub fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.len);
        start..self.starts.get(line + 1).copied().unwrap_or(self.len)
    }

    /// The line of a byte.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The byte at a position. A place beyond the end of the line is its end, before the line break, as the protocol says.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let range = self.line(position.line as usize);
        let line = text[range.clone()].trim_end_matches(['\n', '\r']);
        let wanted = position.character as usize;
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= wanted {
                return range.start + at;
            }
            units += match encoding {
                Encoding::Utf8 => character.len_utf8(),
                Encoding::Utf16 => character.len_utf16(),
            };
            // Inside a character: its begin.
            if units > wanted {
                return range.start + at;
            }
        }
        range.start + line.len()
    }

    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.line_of(offset);
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        let character = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.encode_utf16().count(),
        };
        Position::new(number(line), number(character))
    }

    pub fn range(&self, text: &str, range: Range<usize>, encoding: Encoding) -> ClientRange {
        ClientRange::new(self.position(text, range.start, encoding), self.position(text, range.end, encoding))
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_count_units_of_the_encoding() {
        let text = "añ𝄞b\r\nz";
        let lines = Lines::of(text);
        let at = |line, character, encoding| lines.offset(text, Position::new(line, character), encoding);
        assert_eq!(at(0, 4, Encoding::Utf16), 7);
        assert_eq!(at(0, 7, Encoding::Utf8), 7);
        // Inside the surrogate pair: its begin. Beyond the end: before the line break.
        assert_eq!(at(0, 3, Encoding::Utf16), 3);
        assert_eq!(at(0, 99, Encoding::Utf16), 8);
        assert_eq!(at(9, 0, Encoding::Utf16), text.len());
        assert_eq!(lines.position(text, 7, Encoding::Utf16), Position::new(0, 4));
        assert_eq!(lines.position(text, text.len(), Encoding::Utf8), Position::new(1, 1));
    }

    proptest! {
        #[test]
        fn every_character_is_found_again(text in "[a-zñ𝄞\r\n\t]{0,40}") {
            let lines = Lines::of(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                for (at, character) in text.char_indices() {
                    // Within a line break there is no place.
                    if !matches!(character, '\n' | '\r') {
                        prop_assert_eq!(lines.offset(&text, lines.position(&text, at, encoding), encoding), at);
                    }
                }
            }
        }
    }
}
