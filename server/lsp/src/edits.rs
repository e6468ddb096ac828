//! From a tree's bytes to edits of an open document.
//!
//! Editors hold text without its byte order mark, and some with one kind of line ends whatever the file has. A document is
//! compared and edited in the form that its editor gives it.

use std::ops::Range;

use lsp_types::TextEdit;

use crate::position::{Encoding, Lines};

const BOM: &str = "\u{feff}";

/// What is asked of the editor, and what the document says when it has done it.
#[derive(Debug, PartialEq, Eq)]
pub struct Planned {
    pub edits: Vec<TextEdit>,
    pub expected: String,
}

/// Whether a document is the text of a file, but for byte order mark, line ends and final newline.
pub fn is_text_of(document: &str, file: &str) -> bool {
    plain(document) == plain(file)
}

fn plain(text: &str) -> String {
    let text = text.strip_prefix(BOM).unwrap_or(text).replace("\r\n", "\n");
    text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned)
}

/// Whether an editor that shows a file as this document would save a new text of it as exactly that text: some save only
/// one kind of line ends. Lone carriage returns are lines to some and not to others: edits there would miss.
pub fn is_saved_exactly(document: &str, disk: &str, new: &str) -> bool {
    let mut saved = in_the_form_of(document, new);
    // What the editor left out when it read the file it puts back.
    if is_all_windows(disk) && !document.contains("\r\n") {
        saved = saved.replace('\n', "\r\n");
    }
    if disk.starts_with(BOM) && !document.starts_with(BOM) {
        saved.insert_str(0, BOM);
    }
    saved == new && !has_lone_returns(document)
}

pub fn has_lone_returns(document: &str) -> bool {
    document.matches('\r').count() > document.matches("\r\n").count()
}

fn is_all_windows(text: &str) -> bool {
    let windows = text.matches("\r\n").count();
    windows > 0 && windows == text.matches('\n').count()
}

/// The edits that turn a document into a file's text.
///
/// # Errors
/// When the two texts cannot be compared.
pub fn plan(document: &str, file: &str, encoding: Encoding) -> Result<Planned, agent::Error> {
    let expected = in_the_form_of(document, file);
    let lines = Lines::of(document);
    let (old, new) = (starts(document), starts(&expected));
    let mut edits = Vec::new();
    for change in agent::line_changes(document.as_bytes(), expected.as_bytes())? {
        let range = bytes(&old, &change.before);
        let text = &expected[bytes(&new, &change.after)];
        edits.push(TextEdit::new(lines.range(document, range, encoding), text.to_owned()));
    }
    Ok(Planned { edits, expected })
}

/// Whether a document shows a change although its user has typed elsewhere since.
pub fn holds(document: &str, before: &str, expected: &str) -> bool {
    if document == expected {
        return true;
    }
    let wanted = agent::line_changes(before.as_bytes(), expected.as_bytes());
    let since = agent::line_changes(expected.as_bytes(), document.as_bytes());
    let (Ok(wanted), Ok(since)) = (wanted, since) else { return false };
    // What was typed right beside a change may be part of it: only text apart from it leaves it whole.
    let apart = |a: &Range<u32>, b: &Range<u32>| a.end < b.start || b.end < a.start;
    wanted.iter().all(|wanted| since.iter().all(|since| apart(&wanted.after, &since.before)))
}

/// Whether a document shows some of the changes between two texts of its file, and nothing else: what an editor leaves that
/// made a part of an edit.
pub fn is_between(document: &str, before: &str, after: &str) -> bool {
    made(document, before, after).is_some_and(|(_, others)| others == 0)
}

/// Whether a document shows some of the changes, whatever else was typed into it.
pub fn shows_part(document: &str, before: &str, after: &str) -> bool {
    made(document, before, after).is_some_and(|(made, _)| made > 0)
}

/// How many of the changes between two texts a document shows, and how many changes of other origin.
fn made(document: &str, before: &str, after: &str) -> Option<(usize, usize)> {
    let (before, after) = (in_the_form_of(document, before), in_the_form_of(document, after));
    let changes = |to: &str| {
        let lines = starts(to);
        let changes = agent::line_changes(before.as_bytes(), to.as_bytes()).ok()?;
        let texts = changes.into_iter().map(|change| (change.before, to[bytes(&lines, &change.after)].to_owned()));
        Some(texts.collect::<Vec<_>>())
    };
    let (whole, found) = (changes(&after)?, changes(document)?);
    let ours = found.iter().filter(|change| whole.contains(change)).count();
    Some((ours, found.len() - ours))
}

fn in_the_form_of(document: &str, file: &str) -> String {
    let file = if document.starts_with(BOM) { file } else { file.strip_prefix(BOM).unwrap_or(file) };
    let ends = document.matches('\n').count();
    let windows = document.matches("\r\n").count();
    if ends == 0 && document.is_empty() {
        file.to_owned()
    } else if windows == 0 {
        file.replace("\r\n", "\n")
    } else if windows == ends {
        file.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        file.to_owned()
    }
}

/// Where lines begin as diffs count them: at newlines only. The end of the text comes last.
fn starts(text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> = vec![0];
    for line in text.split_inclusive('\n') {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    starts
}

fn bytes(starts: &[usize], lines: &Range<u32>) -> Range<usize> {
    let at = |line: u32| starts.get(line as usize).or(starts.last()).copied().unwrap_or_default();
    at(lines.start)..at(lines.end)
}

#[cfg(test)]
mod tests {
    use lsp_types::{DidChangeTextDocumentParams, TextDocumentContentChangeEvent, TextDocumentItem, Url};
    use proptest::prelude::*;

    use super::*;
    use crate::documents::Documents;

    /// What a client makes of the edits: later ones first, as none may move another.
    fn applied(document: &str, edits: &[TextEdit], encoding: Encoding) -> String {
        let uri = Url::parse("file:///a").unwrap();
        let mut documents = Documents::default();
        let path = documents.opened(TextDocumentItem::new(uri.clone(), String::new(), 1, document.into())).unwrap();
        let changes = edits.iter().rev().map(|edit| TextDocumentContentChangeEvent {
            range: Some(edit.range),
            range_length: None,
            text: edit.new_text.clone(),
        });
        let text_document = lsp_types::VersionedTextDocumentIdentifier::new(uri, 2);
        let params = DidChangeTextDocumentParams { text_document, content_changes: changes.collect() };
        documents.changed(params, encoding);
        documents.get(&path).unwrap().text.to_string()
    }

    proptest! {
        #[test]
        fn applied_edits_give_the_expected_text(
            before in "([ab𝄞é]{0,3}(\n|\r\n)){0,6}[ab]{0,2}",
            after in "([ab𝄞é]{0,3}(\n|\r\n)){0,6}[ab]{0,2}",
        ) {
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                let planned = plan(&before, &after, encoding).unwrap();
                prop_assert_eq!(&applied(&before, &planned.edits, encoding), &planned.expected);
                prop_assert!(is_text_of(&planned.expected, &after));
            }
        }
    }

    #[test]
    fn a_document_keeps_the_form_that_its_editor_gives_it() {
        let file = "\u{feff}a\r\nnew\r\n";
        assert_eq!(plan("a\nold\n", file, Encoding::Utf8).unwrap().expected, "a\nnew\n");
        assert_eq!(plan("a\r\nold\r\n", file, Encoding::Utf8).unwrap().expected, "a\r\nnew\r\n");
        assert_eq!(plan("a\r\nb\n", "c\r\nb\n", Encoding::Utf8).unwrap().expected, "c\r\nb\n");
        assert!(is_text_of("a\nnew", file) && !is_text_of("a\nnew\n\n", file));
    }

    #[test]
    fn what_an_editor_would_save_in_another_form_is_known() {
        for (document, disk, new, exactly) in [
            ("a\nb\n", "a\nb\n", "a\nc\n", true),
            ("a\r\nb\r\n", "\u{feff}a\r\nb\r\n", "\u{feff}a\r\nc\r\n", true),
            ("a\nb\n", "a\r\nb\r\n", "a\r\nc\r\n", true),
            ("a\r\nb\n", "a\r\nb\n", "c\r\nb\n", true),
            // Mixed line ends made one kind, line ends alone, a mark alone, a lone return.
            ("a\nb\n", "a\r\nb\n", "c\r\nb\n", false),
            ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", false),
            ("a\n", "a\n", "\u{feff}a\n", false),
            ("a\rb\nc\n", "a\rb\nc\n", "a\rb\nd\n", false),
        ] {
            assert_eq!(is_saved_exactly(document, disk, new), exactly, "{document:?} {disk:?} {new:?}");
        }
    }

    #[test]
    fn a_part_of_an_edit_lies_between_and_nothing_else_does() {
        let (before, after) = ("a\r\nb\r\nc\r\nd\r\n", "A\r\nb\r\nC\r\nd\r\n");
        for document in ["a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nC\nd\n", "A\nb\nC\nd\n", "A\r\nb\r\nc\r\nd\r\n"] {
            assert!(is_between(document, before, after) && is_between(document, after, before), "{document:?}");
        }
        for document in ["A\nb\nc\nd\ntyped\n", "x\nb\nC\nd\n", ""] {
            assert!(!is_between(document, before, after), "{document:?}");
            assert_eq!(shows_part(document, before, after), !document.is_empty(), "{document:?}");
        }
    }

    #[test]
    fn typing_elsewhere_leaves_a_change_whole_and_typing_into_it_does_not() {
        let (before, expected) = ("a\nb\nc\nd\n", "a\nB\nc\nd\n");
        assert!(holds("a\nB\nc\nd\ntyped\n", before, expected));
        assert!(!holds("a\nBx\nc\nd\n", before, expected));
        assert!(!holds(before, before, expected));
    }
}
