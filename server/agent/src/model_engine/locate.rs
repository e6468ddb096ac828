//! Finding the text that an edit speaks of. A model writes it down from what it was shown, and errs in line ends and in
//! spaces at the ends of lines: those are put right here, for nothing. Everything else is an answer that shows what is
//! there.

use std::ops::Range;

/// Lines that are compared one by one with every place of a text: more would take hours in a text of equal lines.
const LOOSE_LINES: usize = 400;
/// Characters of a line that tell how much it is like another, and lines that are looked at.
const LIKE_CHARACTERS: usize = 160;
const LIKE_LINES: usize = 20_000;
/// Lines that are named as the nearest, at most.
const NEAR_LINES: usize = 40;

/// Where a text stands, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub range: Range<usize>,
    pub replacement: String,
}

/// Why a text has no place; what stands in the file is not part of the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missed {
    Absent,
    Said(String),
}

/// The only place of `old` in a text, and `new` with the line ends of that text.
///
/// # Errors
/// It does not stand there, or several times.
pub(crate) fn locate(text: &str, old: &str, new: &str) -> Result<Located, Missed> {
    let said = |text: &str| Err(Missed::Said(text.to_owned()));
    if old.is_empty() {
        return said("`old` is empty; to add text, take a line that is there as `old` and repeat it in `new`");
    }
    let windows = text.contains("\r\n");
    let as_here = |part: &str| {
        if windows { part.replace("\r\n", "\n").replace('\n', "\r\n") } else { part.replace("\r\n", "\n") }
    };
    let replacement = as_here(new);
    let wanted = as_here(old);
    let places: Vec<usize> = text.match_indices(&wanted).map(|(at, _)| at).take(3).collect();
    match places.as_slice() {
        [only] => return Ok(Located { range: *only..only + wanted.len(), replacement }),
        [] => {}
        several => {
            let lines: Vec<String> = several.iter().map(|at| line_of(text, *at).to_string()).collect();
            let (times, lines) = (several.len(), lines.join(", "));
            return said(&format!("`old` stands there {times} times (lines {lines}); take more lines around it"));
        }
    }
    let loose = loosely(text, old);
    match loose.as_slice() {
        [only] => {
            // What was matched ends with its line; what comes instead has to as well.
            let ends = text[only.clone()].ends_with('\n');
            let missing = ends && !replacement.is_empty() && !replacement.ends_with('\n');
            let end = match (missing, windows) {
                (false, _) => "",
                (true, true) => "\r\n",
                (true, false) => "\n",
            };
            Ok(Located { range: only.clone(), replacement: replacement + end })
        }
        [] => Err(Missed::Absent),
        _ => said("`old` stands there several times but for spaces at the ends of lines; take more lines around it"),
    }
}

/// Runs of whole lines that are equal but for spaces at their ends.
fn loosely(text: &str, old: &str) -> Vec<Range<usize>> {
    let wanted: Vec<&str> = old.trim_matches(['\r', '\n']).lines().map(str::trim_end).collect();
    if wanted.len() > LOOSE_LINES || wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at..at + line.len(), line.trim_end()));
        at += line.len();
    }
    let same = |window: &[(Range<usize>, &str)]| window.iter().zip(&wanted).all(|((_, here), line)| here == line);
    let found = lines.windows(wanted.len()).filter(|window| same(window));
    found.map(|window| window[0].0.start..window[window.len() - 1].0.end).collect()
}

/// The lines, counted from 1 and both included, that are most like the first line of what was looked for. The text is
/// one that may be shown.
pub(crate) fn nearest(text: &str, old: &str) -> Option<(u32, u32)> {
    let first = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    let lines: Vec<&str> = text.lines().collect();
    let beginning = |line: &str| line.trim().chars().take(LIKE_CHARACTERS).collect::<String>();
    let first = beginning(first);
    let score = |line: &&str| strsim::normalized_levenshtein(&beginning(line), &first);
    let best = lines
        .iter()
        .enumerate()
        .take(LIKE_LINES)
        .map(|(at, line)| (score(line), at))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, at) = best.filter(|(score, _)| *score > 0.6)?;
    let to = lines.len().min(at + old.lines().count().min(NEAR_LINES) + 1);
    Some((u32::try_from(at.max(1)).ok()?, u32::try_from(to).ok()?))
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, old: &str, new: &str) -> String {
        let located = locate(text, old, new).unwrap();
        format!("{}{}{}", &text[..located.range.start], located.replacement, &text[located.range.end..])
    }

    #[test]
    fn line_ends_follow_the_file() {
        assert_eq!(replaced("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n");
        assert_eq!(replaced("a\nb\n", "a\r\nb", "x\r\ny"), "x\ny\n");
    }

    #[test]
    fn spaces_at_line_ends_do_not_matter_where_the_lines_are_the_only_ones() {
        assert_eq!(replaced("if a {  \n    b\n}\nc", "if a {\n    b\n}", "if z {\n}"), "if z {\n}\nc");
        let twice = locate("a  \nb\na \nb\n", "a\nb", "x").unwrap_err();
        assert!(matches!(&twice, Missed::Said(why) if why.contains("several")), "{twice:?}");
    }

    #[test]
    fn long_lines_and_many_equal_lines_take_no_time() {
        let start = std::time::Instant::now();
        for (text, old) in
            [("a".repeat(4 << 20), "b".repeat(250_000)), ("a\n".repeat(2_000_000), "a\n".repeat(60_000) + "b")]
        {
            assert_eq!(locate(&text, &old, "x"), Err(Missed::Absent));
            nearest(&text, &old);
        }
        // Hours, where every place was compared with every line.
        assert!(start.elapsed() < std::time::Duration::from_secs(120));
    }

    #[test]
    fn indentation_matters() {
        assert_eq!(locate("    return x;\n", "return y;", "z"), Err(Missed::Absent));
        assert_eq!(nearest("    return x;\n", "return y;"), Some((1, 1)));
        assert_eq!(nearest("a\nb\nreturn x;\nc\nd\n", "return y;"), Some((2, 4)));
        assert_eq!(nearest("a\nb\n", "return y;"), None);
    }

    #[test]
    fn what_stands_several_times_is_named_with_its_lines() {
        let error = locate("a\nb\na\n", "a\n", "x").unwrap_err();
        assert!(matches!(&error, Missed::Said(why) if why.contains("2 times (lines 1, 3)")), "{error:?}");
    }
}
