//! What was written for a model, as people read it: evidence carries quotations with marks, output and code; a person is
//! told what failed and finds the rest below the checks.

/// Failures that one line has room for.
const NAMED: usize = 3;

/// What came of a step or an attempt, in one line without quotations: the failures it names, or else its first line.
pub fn plainly(outcome: &str) -> String {
    let lines = unquoted(outcome);
    let mut named = lines.iter().filter_map(|line| line.strip_prefix("- "));
    let first: Vec<&str> = named.by_ref().take(NAMED).collect();
    let more = named.count();
    let text = match (first.as_slice(), more) {
        ([], _) => lines.first().copied().unwrap_or_default().to_owned(),
        (named, 0) => named.join("; "),
        (named, more) => format!("{}; and {more} more", named.join("; ")),
    };
    text.trim().to_owned()
}

/// The lines that say something, without quotations. A quotation ends at the mark that it began with, which nothing within
/// it can name.
fn unquoted(text: &str) -> Vec<&str> {
    let (mut lines, mut end) = (Vec::new(), None);
    for line in text.lines() {
        // One that was cut off before its end runs to the end of the text.
        match &end {
            Some(mark) if line == mark => end = None,
            Some(_) => {}
            None => {
                end = mark_of(line);
                if end.is_none() && !line.trim().is_empty() {
                    lines.push(line);
                }
            }
        }
    }
    lines
}

/// The end of the quotation that this line begins.
fn mark_of(line: &str) -> Option<String> {
    let (word, _) = line.strip_prefix("<quote-")?.split_once(" from=\"")?;
    word.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| format!("</quote-{word}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTED: &str =
        "<quote-8272 from=\"output\" what=\"what was said\">\n- not a failure\n</quote-ffff>\n</quote-8272>\n";

    #[test]
    fn a_person_is_told_what_failed_and_no_marks() {
        let outcome =
            format!("Check `pytest`:\n- a.py::one failed at a.py:3\n{QUOTED}{QUOTED}- also failed: a.py::two\n");
        assert_eq!(plainly(&outcome), "a.py::one failed at a.py:3; also failed: a.py::two");
        let many = format!("{outcome}- three\n- four\n- five\n");
        assert!(plainly(&many).ends_with("; three; and 2 more"), "{}", plainly(&many));
    }

    #[test]
    fn other_words_stay_what_they_are() {
        for text in ["done", "", "verified", "the model calls no tool"] {
            assert_eq!(plainly(text), text);
        }
        assert_eq!(plainly("one\ntwo"), "one");
        // The mark stood in what was cut off.
        assert_eq!(plainly("<quote-8272 from=\"output\" what=\"x\">\nyes"), "");
        assert_eq!(plainly("- <quote-you> from a test"), "<quote-you> from a test");
    }
}
