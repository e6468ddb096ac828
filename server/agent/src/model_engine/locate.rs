//! Finding the text that an edit speaks of. A model writes it down from what it was shown, and errs in line ends and in
//! spaces at the ends of lines: those are put right here, for nothing. Everything else is an answer that shows what is
//! there.

use std::ops::Range;

/// Lines that are compared one by one with every place of a text: more would take hours in a text of equal lines.
const LOOSE_LINES: usize = 400;
/// Characters of a line that tell how much it is like another, and lines that are looked at.
const LIKE_CHARACTERS: usize = 160;
const LIKE_LINES: usize = 20_000;

/// Where a text stands, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub range: Range<usize>,
    pub replacement: String,
}

/// The only place of `old` in a text, and `new` with the line ends of that text.
///
/// # Errors
/// A sentence for the model: it does not stand there, or several times, with the lines that are nearest.
pub(crate) fn locate(text: &str, old: &str, new: &str) -> Result<Located, String> {
    if old.is_empty() {
        return Err("`old` is empty; to add text, take a line that is there as `old` and repeat it in `new`".to_owned());
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
            return Err(format!(
                "`old` stands there {} times (lines {}); take more lines around it",
                several.len(),
                lines.join(", ")
            ));
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
        [] => Err(format!("`old` does not stand there{}", nearest(text, old))),
        _ => Err("`old` stands there several times but for spaces at the ends of lines; take more lines around it"
            .to_owned()),
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

/// The lines that are most like the first line of what was looked for.
fn nearest(text: &str, old: &str) -> String {
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else { return String::new() };
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
    match best {
        Some((score, at)) if score > 0.6 => {
            let from = at.saturating_sub(1);
            let shown: Vec<&str> = lines[from..lines.len().min(at + old.lines().count() + 1)].to_vec();
            let shown: String = shown.join("\n").chars().take(2000).collect();
            format!("; nearest are lines {}-{}, exactly:\n{shown}", from + 1, from + shown.lines().count())
        }
        _ => "; read the file again".to_owned(),
    }
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
        assert!(twice.contains("several"), "{twice}");
    }

    #[test]
    fn long_lines_and_many_equal_lines_take_no_time() {
        let start = std::time::Instant::now();
        let error = locate(&"a".repeat(4 << 20), &"b".repeat(250_000), "x").unwrap_err();
        assert!(error.contains("does not stand there"), "{error}");
        let error = locate(&"a\n".repeat(2_000_000), &("a\n".repeat(60_000) + "b"), "x").unwrap_err();
        assert!(error.contains("does not stand there"), "{error}");
        // Hours, where every place was compared with every line.
        assert!(start.elapsed() < std::time::Duration::from_secs(120));
    }

    #[test]
    fn indentation_matters() {
        let error = locate("    return x;\n", "return y;", "z").unwrap_err();
        assert!(error.contains("nearest are lines 1-1") && error.contains("    return x;"), "{error}");
    }

    #[test]
    fn what_stands_several_times_is_named_with_its_lines() {
        let error = locate("a\nb\na\n", "a\n", "x").unwrap_err();
        assert!(error.contains("2 times (lines 1, 3)"), "{error}");
    }
}
