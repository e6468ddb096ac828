//! The unified diff in colour, each place with the ids of the hunks that can be kept or rejected there.

use std::fmt::Write as _;

use agent::HunkRecord;

use super::style::{bold, dim, doubtful, good, place, poor, reversed};

/// Renders a whole unified diff.
pub fn render(diff: &str, hunks: &[HunkRecord]) -> String {
    let mut out = String::with_capacity(diff.len() * 2);
    let mut path = String::new();
    let mut body = false;
    // A run of removed lines and the added ones that follow it, which may pair up.
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for line in diff.lines() {
        match line.as_bytes().first() {
            Some(b'-') if body => {
                // Removed lines after added ones begin the next run.
                if !come.is_empty() {
                    flush(&mut out, &mut gone, &mut come);
                }
                gone.push(task::printable(line));
                continue;
            }
            Some(b'+') if body => {
                come.push(task::printable(line));
                continue;
            }
            _ => flush(&mut out, &mut gone, &mut come),
        }
        let shown = task::printable(line);
        if line.starts_with("diff --git ") {
            body = false;
            let _ = writeln!(out, "{}", bold(&shown));
        } else if let Some(range) = line.strip_prefix("@@ ") {
            body = true;
            let ids = ids_in(hunks, &path, range);
            let _ = writeln!(out, "{} {}", place(&shown), dim(ids));
        } else if !body {
            if let Some(name) = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")) {
                name.clone_into(&mut path);
                path = path.trim_end_matches('\t').to_owned();
            }
            let _ = writeln!(out, "{}", dim(&shown));
        } else {
            let shown = if line.starts_with('\\') { dim(&shown) } else { shown };
            let _ = writeln!(out, "{shown}");
        }
    }
    flush(&mut out, &mut gone, &mut come);
    for hunk in hunks.iter().filter(|hunk| hunk.kind != task::HunkKind::Text) {
        let kind = format!("{:?}", hunk.kind).to_lowercase();
        let _ = writeln!(out, "{} {}", dim(format!("hunk {}", hunk.id)), dim(format!("{kind} {}", hunk.path)));
    }
    let mut last = String::new();
    for hunk in hunks.iter().filter(|hunk| !hunk.risks.is_empty()) {
        let path = hunk.path.to_string();
        if path == last {
            continue;
        }
        for risk in &hunk.risks {
            let consent = if risk.needs_consent() { ": needs its own consent to be written" } else { "" };
            let _ = writeln!(
                out,
                "{}",
                doubtful(format!("  {} {}{consent}", super::theirs::one_line(&path), risk.sentence()))
            );
        }
        last = path;
    }
    out
}

/// Writes a run of removed and added lines. Where as many came as went, the words that differ stand out.
fn flush(out: &mut String, gone: &mut Vec<String>, come: &mut Vec<String>) {
    let paired = gone.len() == come.len();
    let marks: Vec<_> = gone
        .iter()
        .zip(come.iter())
        .filter(|_| paired)
        .map(|(old, new)| worktree::changed_words(&old[1..], &new[1..]))
        .collect();
    for (number, line) in gone.drain(..).enumerate() {
        let _ =
            writeln!(out, "{}", emphasised(&line, marks.get(number).map_or(&[], |(old, _)| old), |text| poor(text)));
    }
    for (number, line) in come.drain(..).enumerate() {
        let _ =
            writeln!(out, "{}", emphasised(&line, marks.get(number).map_or(&[], |(_, new)| new), |text| good(text)));
    }
}

/// The line in its colour, the ranges (counted after the first character) in reverse.
fn emphasised(line: &str, ranges: &[std::ops::Range<usize>], colour: fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut done = 0;
    for range in ranges {
        out.push_str(&colour(&line[done..range.start + 1]));
        out.push_str(&colour(&reversed(&line[range.start + 1..range.end + 1])));
        done = range.end + 1;
    }
    out.push_str(&colour(&line[done..]));
    out
}

/// The ids of the text hunks whose base lines lie in this `-a,b +c,d` range.
fn ids_in(hunks: &[HunkRecord], path: &str, range: &str) -> String {
    let old = range.split_whitespace().next().unwrap_or_default().trim_start_matches('-');
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    let (start, count): (u32, u32) = (start.parse().unwrap_or(0), count.parse().unwrap_or(0));
    let inside = hunks.iter().filter(|hunk| {
        hunk.kind == task::HunkKind::Text
            && (hunk.path.to_str() == Some(path) || hunk.old_path.to_str() == Some(path))
            && (start..=start + count).contains(&hunk.base_start)
    });
    let ids: Vec<&str> = inside.map(|hunk| hunk.id.as_str()).collect();
    if ids.is_empty() { String::new() } else { format!("hunk {}", ids.join(" ")) }
}
