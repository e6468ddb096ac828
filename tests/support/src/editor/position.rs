//! Positions of the protocol and byte offsets of a text, and edits that are given by positions.

use serde_json::{Value, json};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
        }
    }
}

/// The offset of a position. Stricter than editors are: one that lies behind the end of its line, or in the middle of a
/// character, says that somebody counted wrong.
pub(crate) fn offset(text: &str, position: &Value, encoding: Encoding) -> Result<usize, String> {
    let number = |name: &str| position[name].as_u64().ok_or_else(|| format!("{position} is no position"));
    let (line, column) = (number("line")? as usize, number("character")? as usize);
    let starts = line_starts(text);
    if line == starts.len() && column == 0 {
        return Ok(text.len());
    }
    let start = *starts.get(line).ok_or_else(|| format!("{position} lies behind the last line"))?;
    let mut at = start;
    let mut counted = 0;
    for character in text[start..].chars() {
        if counted >= column || matches!(character, '\r' | '\n') {
            break;
        }
        counted += encoding.width(character);
        at += character.len_utf8();
    }
    if counted == column { Ok(at) } else { Err(format!("{position} is no place in its line, which has {counted}")) }
}

pub(crate) fn position(text: &str, offset: usize, encoding: Encoding) -> Value {
    let starts = line_starts(text);
    let line = starts.partition_point(|start| *start <= offset) - 1;
    let column: usize = text[starts[line]..offset].chars().map(|character| encoding.width(character)).sum();
    json!({"line": line, "character": column})
}

pub(crate) fn range(text: &str, start: usize, end: usize, encoding: Encoding) -> Value {
    json!({"start": position(text, start, encoding), "end": position(text, end, encoding)})
}

/// One edit as offsets into the text before all edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// The edits of one document, last one first, so that each can be made without moving the others.
///
/// # Errors
/// When one lies outside of the text or two overlap.
pub(crate) fn replacements(text: &str, edits: &[Value], encoding: Encoding) -> Result<Vec<Replacement>, String> {
    let mut found = Vec::new();
    for edit in edits {
        let start = offset(text, &edit["range"]["start"], encoding)?;
        let end = offset(text, &edit["range"]["end"], encoding)?;
        let text = edit["newText"].as_str().ok_or_else(|| format!("{edit} has no text"))?.to_owned();
        if start > end {
            return Err(format!("{edit} ends before it begins"));
        }
        found.push(Replacement { start, end, text });
    }
    // Insertions at one place come in the order in which they are given.
    found.sort_by_key(|edit| (edit.start, edit.end));
    if let Some(pair) = found.windows(2).find(|pair| pair[0].end > pair[1].start) {
        return Err(format!("{:?} and {:?} overlap", pair[0], pair[1]));
    }
    found.reverse();
    Ok(found)
}

/// Both ways to end a line, and the old third one, begin a new line.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = |at: &usize| bytes[*at] == b'\n' || (bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|at| at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\r\nä𝄞z\n\nend";

    #[test]
    fn every_offset_has_a_position_that_leads_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (at, character) in TEXT.char_indices() {
                let place = position(TEXT, at, encoding);
                if character != '\n' {
                    assert_eq!(offset(TEXT, &place, encoding), Ok(at), "{place}");
                }
            }
            assert_eq!(offset(TEXT, &position(TEXT, TEXT.len(), encoding), encoding), Ok(TEXT.len()));
        }
        let z = TEXT.find('z').unwrap();
        assert_eq!(position(TEXT, z, Encoding::Utf16), json!({"line": 1, "character": 3}));
        assert_eq!(position(TEXT, z, Encoding::Utf8), json!({"line": 1, "character": 6}));
    }

    #[test]
    fn a_column_that_nobody_can_mean_is_refused() {
        for (line, character) in [(0, 2), (1, 2), (1, 5), (3, 4), (4, 1), (5, 0)] {
            let place = json!({"line": line, "character": character});
            assert!(offset(TEXT, &place, Encoding::Utf16).is_err(), "{place}");
        }
        // The place behind everything, however it is written.
        assert_eq!(offset(TEXT, &json!({"line": 4, "character": 0}), Encoding::Utf16), Ok(TEXT.len()));
    }

    #[test]
    fn edits_come_last_first_and_may_not_overlap() {
        let edit = |start: u32, end: u32, text: &str| {
            let at = |character: u32| json!({"line": 3, "character": character});
            json!({"range": {"start": at(start), "end": at(end)}, "newText": text})
        };
        let found = replacements(TEXT, &[edit(0, 1, "E"), edit(2, 3, "D")], Encoding::Utf8).unwrap();
        assert_eq!(found.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), ["D", "E"]);
        assert!(replacements(TEXT, &[edit(0, 2, "E"), edit(1, 3, "D")], Encoding::Utf8).is_err());
    }
}
